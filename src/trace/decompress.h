/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompress.h - the text inside a compressed file, which is known by its first bytes.
 *
 * gzip and zstd are undone, several of them one behind the other too, as `cat` and parallel
 * compressors make them. bzip2, xz and zip are only recognised, so that the error can say what to
 * do.
 *
 * Promises:  pure but for memory; checksums are checked; a result is whole. On failure nothing is
 *            kept and the outputs are untouched. Text in UTF-8 is never taken for gzip or zstd.
 * Bounds:    O(bytes in + bytes out); never more than about twice 'size_max' bytes of memory, and
 *            a window of 128 MiB for zstd. A file that would unfold beyond 'size_max' is refused
 *            there and then.
 */
#ifndef STINT_TRACE_DECOMPRESS_H
#define STINT_TRACE_DECOMPRESS_H

#include <stddef.h>

#include "base/error.h"

enum compression {
    COMPRESSION_NONE,
    COMPRESSION_GZIP,
    COMPRESSION_ZSTD,
    COMPRESSION_BZIP2,
    COMPRESSION_XZ,
    COMPRESSION_ZIP,
};

/* What the first bytes say. */
enum compression compression_of(const char *bytes, size_t length);

/*
 * Undo 'kind', which is not COMPRESSION_NONE. 'ret_text' is a fresh block with a zero behind the
 * text, to be freed by mem_free. Errors do not name the file, but what is wrong with it: "is
 * damaged: incorrect data check".
 */
int decompress(enum compression kind, const char *bytes, size_t length, size_t size_max,
               char **ret_text, size_t *ret_length, struct error *reterr);

#endif
