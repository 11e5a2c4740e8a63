/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_input.h - bytes from a pipe, cut into lines.
 *
 * A line that is longer than SLURM_LINE_SIZE_MAX is thrown away up to its end and reported once, as
 * a line of length SIZE_MAX, so that one bad line does not cost the ones behind it.
 *
 * Memory:    owns one buffer of fixed size; a line is good until the next call.
 */
#ifndef STINT_ENGINE_SLURM_INPUT_H
#define STINT_ENGINE_SLURM_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct slurm_input {
    char *data;
    size_t begin; /* of what was not handed out yet */
    size_t end;
    bool is_skipping; /* the rest of a line that is too long */
};

void slurm_input_init(struct slurm_input *input);
void slurm_input_done(struct slurm_input *input);

/* Where to read to, and how much: never 0 once slurm_input_next has said that there is no line. */
char *slurm_input_room(struct slurm_input *input, size_t *ret_size);

/* 'size' bytes were read there. */
void slurm_input_add(struct slurm_input *input, size_t size);

/* The next whole line without its line feed, with room for one byte behind it; false: none yet. */
bool slurm_input_next(struct slurm_input *input, char **ret_line, size_t *ret_length);

#endif
