/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_input.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "engine/slurm/slurm_line.h"

void slurm_input_init(struct slurm_input *input)
{
    *input = (struct slurm_input){ .data = mem_alloc(SLURM_LINE_SIZE_MAX, 1) };
}

void slurm_input_done(struct slurm_input *input)
{
    mem_free(input->data);
    *input = (struct slurm_input){ .data = NULL };
}

char *slurm_input_room(struct slurm_input *input, size_t *ret_size)
{
    if (input->begin > 0) {
        memmove(input->data, input->data + input->begin, input->end - input->begin);
        input->end -= input->begin;
        input->begin = 0;
    }
    *ret_size = SLURM_LINE_SIZE_MAX - input->end;
    return input->data + input->end;
}

void slurm_input_add(struct slurm_input *input, size_t size)
{
    assert(size <= SLURM_LINE_SIZE_MAX - input->end);
    input->end += size;
}

bool slurm_input_next(struct slurm_input *input, char **ret_line, size_t *ret_length)
{
    char *line = input->data + input->begin;
    const size_t have = input->end - input->begin;
    const char *feed = memchr(line, '\n', have);

    if (feed == NULL) {
        if (have == SLURM_LINE_SIZE_MAX || input->is_skipping) {
            input->is_skipping = true;
            input->begin = input->end;
        }
        return false;
    }
    const size_t length = (size_t)(feed - line);

    input->begin += length + 1;
    *ret_line = line;
    *ret_length = input->is_skipping ? SIZE_MAX : length;
    input->is_skipping = false;
    return true;
}
