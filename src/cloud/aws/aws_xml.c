/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_xml.h"

#include <errno.h>
#include <expat.h>
#include <limits.h>
#include <string.h>

struct reading {
    XML_Parser parser;
    const struct aws_xml_sink *sink;
    const char *fault;                 /* why we stopped; NULL: we did not */
    uint32_t depth;                    /* elements that are open; the root is 1 */
    uint32_t start[AWS_XML_DEPTH + 1]; /* length of the path before the element of that depth */
    uint32_t path_size;
    uint32_t text_size;
    char path[AWS_XML_PATH];
    char text[AWS_XML_TEXT];
};

static void stop(struct reading *reading, const char *fault)
{
    if (reading->fault == NULL)
        reading->fault = fault;
    (void)XML_StopParser(reading->parser, XML_FALSE);
}

static void on_start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct reading *reading = context;
    const char *colon = strrchr(name, ':');
    const char *plain = colon != NULL ? colon + 1 : name;
    const size_t length = strlen(plain);

    (void)attributes;
    if (reading->fault != NULL)
        return;
    if (reading->depth == AWS_XML_DEPTH) {
        stop(reading, "it is nested too deep");
        return;
    }
    reading->depth++;
    reading->start[reading->depth] = reading->path_size;
    reading->text_size = 0;
    if (reading->depth == 1) {
        if (reading->sink->on_root != NULL)
            reading->sink->on_root(reading->sink->context, plain);
        return;
    }
    if (length + 2 > AWS_XML_PATH - reading->path_size) {
        stop(reading, "its names are too long");
        return;
    }
    if (reading->path_size > 0)
        reading->path[reading->path_size++] = '/';
    memcpy(reading->path + reading->path_size, plain, length + 1);
    reading->path_size += (uint32_t)length;
    reading->sink->on_open(reading->sink->context, reading->path, reading->depth);
}

static void on_end(void *context, const XML_Char *name)
{
    struct reading *reading = context;

    (void)name;
    if (reading->fault != NULL)
        return;
    reading->text[reading->text_size] = '\0';
    if (reading->depth > 1)
        reading->sink->on_close(reading->sink->context, reading->path, reading->depth,
                                reading->text);
    reading->path_size = reading->start[reading->depth];
    reading->path[reading->path_size] = '\0';
    reading->depth--;
    reading->text_size = 0;
}

static void on_text(void *context, const XML_Char *text, int length)
{
    struct reading *reading = context;

    if (reading->fault != NULL)
        return;
    if ((uint32_t)length >= AWS_XML_TEXT - reading->text_size) {
        stop(reading, "one of its texts is too long");
        return;
    }
    memcpy(reading->text + reading->text_size, text, (size_t)length);
    reading->text_size += (uint32_t)length;
}

static void on_doctype(void *context, const XML_Char *name, const XML_Char *system,
                       const XML_Char *public, int has_subset)
{
    (void)name;
    (void)system;
    (void)public;
    (void)has_subset;
    stop(context, "it has a document type");
}

int aws_xml_read(const char *text, size_t size, const struct aws_xml_sink *sink,
                 struct error *reterr)
{
    struct reading reading = { .sink = sink };
    int rc = 0;

    if (size > INT_MAX)
        return error_set(reterr, -E2BIG, "the answer is too long");
    reading.parser = XML_ParserCreate("UTF-8");
    if (reading.parser == NULL)
        return error_set(reterr, -ENOMEM, "no memory to read an answer");
    XML_SetUserData(reading.parser, &reading);
    XML_SetElementHandler(reading.parser, on_start, on_end);
    XML_SetCharacterDataHandler(reading.parser, on_text);
    XML_SetStartDoctypeDeclHandler(reading.parser, on_doctype);
    if (XML_Parse(reading.parser, text, (int)size, 1) != XML_STATUS_OK || reading.fault != NULL) {
        const char *why = reading.fault != NULL ? reading.fault
                                                : XML_ErrorString(XML_GetErrorCode(reading.parser));

        rc = error_set(reterr, -EBADMSG, "the answer cannot be read as XML: %s", why);
    }
    XML_ParserFree(reading.parser);
    explicit_bzero(reading.text, sizeof(reading.text));
    return rc;
}

int aws_xml_ends_in(const char *path, const char *tail)
{
    const size_t length = strlen(path);
    const size_t wanted = strlen(tail);

    return length >= wanted && memcmp(path + length - wanted, tail, wanted) == 0 &&
           (length == wanted || path[length - wanted - 1] == '/');
}
