/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both libraries stream: they are given what is left of the input and of the room for output, and
 * take what they can. The room doubles when it is used up, until it is one byte above the bound:
 * only who fills that last byte is too large.
 */
#include "trace/decompress.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

enum { FIRST_ROOM = 64 * 1024 };

enum compression compression_of(const char *bytes, size_t length)
{
    static const struct {
        const char *magic;
        size_t length;
        enum compression kind;
    } magics[] = {
        { "\x1f\x8b", 2, COMPRESSION_GZIP },
        { "\x28\xb5\x2f\xfd", 4, COMPRESSION_ZSTD },
        { "\xfd\x37zXZ\x00", 6, COMPRESSION_XZ },
        { "PK\x03\x04", 4, COMPRESSION_ZIP },
    };

    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        if (length >= magics[i].length && memcmp(bytes, magics[i].magic, magics[i].length) == 0)
            return magics[i].kind;
    }
    /* "BZh", the level, then the number that opens a block. */
    if (length >= 10 && memcmp(bytes, "BZh", 3) == 0 && memcmp(bytes + 4, "1AY&SY", 6) == 0)
        return COMPRESSION_BZIP2;
    return COMPRESSION_NONE;
}

/* ---- what both have in common ---- */

struct output {
    char *text;
    size_t used;
    size_t room; /* without the final zero */
    size_t size_max;
};

static int too_large(const struct output *out, struct error *reterr)
{
    return error_set(reterr, -EFBIG,
                     "unfolds to more than %zu bytes, which is as much as can be read: decompress "
                     "it and split it",
                     out->size_max);
}

static int cut_short(struct error *reterr)
{
    return error_set(reterr, -EINVAL, "is compressed and cut short: copy it again");
}

static int damaged(const char *how, struct error *reterr)
{
    return error_set(reterr, -EINVAL, "is compressed and damaged (%s): copy it again",
                     how != NULL ? how : "no reason given");
}

/* See to it that there is room for one byte at least, or say that there never will be. */
static int make_room(struct output *out, struct error *reterr)
{
    if (out->used < out->room)
        return 0;
    if (out->used > out->size_max)
        return too_large(out, reterr);
    out->room = out->room < out->size_max / 2 ? out->room * 2 : out->size_max + 1;
    out->text = mem_resize(out->text, out->room + 1, 1);
    return 0;
}

/* ---- gzip ---- */

static unsigned at_most_uint(size_t size)
{
    return size < UINT_MAX ? (unsigned)size : UINT_MAX;
}

/* Go on until the end of the input, which must be the end of a member. */
static int inflate_members(z_stream *stream, const char *bytes, size_t length, struct output *out,
                           struct error *reterr)
{
    size_t taken = 0;

    for (;;) {
        int rc = make_room(out, reterr);

        if (rc < 0)
            return rc;

        const unsigned in = at_most_uint(length - taken);
        const unsigned free = at_most_uint(out->room - out->used);

        stream->next_in = (const Bytef *)bytes + taken;
        stream->avail_in = in;
        stream->next_out = (Bytef *)out->text + out->used;
        stream->avail_out = free;
        rc = inflate(stream, Z_NO_FLUSH);
        taken += in - stream->avail_in;
        out->used += free - stream->avail_out;
        if (rc == Z_STREAM_END && taken == length)
            return out->used > out->size_max ? too_large(out, reterr) : 0;
        if (rc == Z_STREAM_END)
            rc = inflateReset(stream);
        if (rc == Z_BUF_ERROR && taken == length)
            return cut_short(reterr);
        if (rc != Z_OK && rc != Z_BUF_ERROR)
            return damaged(stream->msg, reterr);
    }
}

static int undo_gzip(const char *bytes, size_t length, struct output *out, struct error *reterr)
{
    enum { GZIP_ONLY = 16 }; /* added to the size of the window: no zlib, no raw stream */
    z_stream stream = { 0 };

    if (inflateInit2(&stream, MAX_WBITS + GZIP_ONLY) != Z_OK)
        return error_set(reterr, -ENOMEM, "cannot be decompressed: zlib does not start");

    const int rc = inflate_members(&stream, bytes, length, out, reterr);

    (void)inflateEnd(&stream);
    return rc;
}

/* ---- zstd ---- */

static int stream_frames(ZSTD_DStream *stream, const char *bytes, size_t length, struct output *out,
                         struct error *reterr)
{
    ZSTD_inBuffer in = { bytes, length, 0 };

    for (;;) {
        const int rc = make_room(out, reterr);

        if (rc < 0)
            return rc;

        ZSTD_outBuffer to = { out->text, out->room, out->used };
        const size_t taken = in.pos;
        const size_t left = ZSTD_decompressStream(stream, &to, &in);
        const bool moved = in.pos > taken || to.pos > out->used;

        out->used = to.pos;
        if (ZSTD_isError(left))
            return damaged(ZSTD_getErrorName(left), reterr);
        if (left == 0 && in.pos == in.size)
            return out->used > out->size_max ? too_large(out, reterr) : 0;
        if (!moved && in.pos == in.size && out->used < out->room)
            return cut_short(reterr);
    }
}

static int undo_zstd(const char *bytes, size_t length, struct output *out, struct error *reterr)
{
    ZSTD_DStream *stream = ZSTD_createDStream();

    if (stream == NULL)
        return error_set(reterr, -ENOMEM, "cannot be decompressed: libzstd does not start");

    const int rc = stream_frames(stream, bytes, length, out, reterr);

    (void)ZSTD_freeDStream(stream);
    return rc;
}

/* ---- all ---- */

static int undo(enum compression kind, const char *bytes, size_t length, struct output *out,
                struct error *reterr)
{
    switch (kind) {
    case COMPRESSION_GZIP:
        return undo_gzip(bytes, length, out, reterr);
    case COMPRESSION_ZSTD:
        return undo_zstd(bytes, length, out, reterr);
    case COMPRESSION_BZIP2:
        return error_set(reterr, -EINVAL,
                         "is compressed by bzip2, which is not read: give it as plain text, .gz or "
                         ".zst");
    case COMPRESSION_XZ:
        return error_set(
            reterr, -EINVAL,
            "is compressed by xz, which is not read: give it as plain text, .gz or .zst");
    case COMPRESSION_ZIP:
        return error_set(reterr, -EINVAL, "is a zip archive: unpack it and name a file of it");
    case COMPRESSION_NONE:
        break;
    }
    assert(kind != COMPRESSION_NONE);
    return -EINVAL;
}

int decompress(enum compression kind, const char *bytes, size_t length, size_t size_max,
               char **ret_text, size_t *ret_length, struct error *reterr)
{
    assert(size_max > 0);
    assert(size_max < SIZE_MAX / 2);

    /* Text shrinks to about a quarter. */
    const size_t guess = length < size_max / 4 ? length * 4 : size_max;
    struct output out = { .size_max = size_max, .room = guess > FIRST_ROOM ? guess : FIRST_ROOM };

    if (out.room > size_max)
        out.room = size_max + 1;
    out.text = mem_resize(NULL, out.room + 1, 1);

    const int rc = undo(kind, bytes, length, &out, reterr);

    if (rc < 0) {
        mem_free(out.text);
        return rc;
    }
    out.text[out.used] = 0;
    *ret_text = out.text;
    *ret_length = out.used;
    return 0;
}
