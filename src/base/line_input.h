/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_input.h - bytes from a pipe, cut into lines.
 *
 * A line that is longer than LINE_SIZE_MAX is thrown away up to its end and reported once, as
 * a line of length SIZE_MAX, so that one bad line does not cost the ones behind it.
 *
 * Memory:    owns one buffer of fixed size; a line is good until the next call.
 */
#ifndef STINT_BASE_LINE_INPUT_H
#define STINT_BASE_LINE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct line_input {
    char *data;
    size_t begin; /* of what was not handed out yet */
    size_t end;
    bool is_skipping; /* the rest of a line that is too long */
};

void line_input_init(struct line_input *input);
void line_input_done(struct line_input *input);

/* Where to read to, and how much: never 0 once line_input_next has said that there is no line. */
char *line_input_room(struct line_input *input, size_t *ret_size);

/* 'size' bytes were read there. */
void line_input_add(struct line_input *input, size_t size);

/* The next whole line without its line feed, with room for one byte behind it; false: none yet. */
bool line_input_next(struct line_input *input, char **ret_line, size_t *ret_length);

#endif
