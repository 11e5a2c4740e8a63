/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_xml.h - the XML that AWS answers with, element by element, while it is read.
 *
 * Every element is reported when it opens and when it closes, with its path ("instancesSet/item") and,
 * when it closes, its text. What stands in it beside its children is its text.
 *
 * Promises:  any bytes may be read; a failure has a text. A document type is refused, and with it
 *            every entity of one's own. Names lose their prefix ("ns:item" is "item").
 * Bounds:    AWS_XML_DEPTH levels, AWS_XML_PATH bytes of path, AWS_XML_TEXT bytes of one text;
 *            beyond them the document is refused. O(bytes), memory does not grow with them.
 */
#ifndef STINT_CLOUD_AWS_XML_H
#define STINT_CLOUD_AWS_XML_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    AWS_XML_DEPTH = 24,
    AWS_XML_PATH = 512,
    AWS_XML_TEXT = 16384,
};

struct aws_xml_sink {
    /* 'path' is that of the document from its root's children on; its own name is the last part. */
    void (*on_open)(void *context, const char *path, uint32_t depth);
    void (*on_close)(void *context, const char *path, uint32_t depth, const char *text);
    void *context;
    void (*on_root)(void *context, const char *name); /* before all else; may be NULL */
};

int aws_xml_read(const char *text, size_t size, const struct aws_xml_sink *sink,
                 struct error *reterr);

/* Whether 'path' ends in 'tail', at a border of its parts. */
int aws_xml_ends_in(const char *path, const char *tail);

#endif
