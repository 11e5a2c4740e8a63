/* SPDX-License-Identifier: Apache-2.0 */
#include "base/line_input.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/line.h"
#include "base/mem.h"

void line_input_init(struct line_input *input)
{
    *input = (struct line_input){ .data = mem_alloc(LINE_SIZE_MAX, 1) };
}

void line_input_done(struct line_input *input)
{
    mem_free(input->data);
    *input = (struct line_input){ .data = NULL };
}

char *line_input_room(struct line_input *input, size_t *ret_size)
{
    if (input->begin > 0) {
        memmove(input->data, input->data + input->begin, input->end - input->begin);
        input->end -= input->begin;
        input->begin = 0;
    }
    *ret_size = LINE_SIZE_MAX - input->end;
    return input->data + input->end;
}

void line_input_add(struct line_input *input, size_t size)
{
    assert(size <= LINE_SIZE_MAX - input->end);
    input->end += size;
}

bool line_input_next(struct line_input *input, char **ret_line, size_t *ret_length)
{
    char *line = input->data + input->begin;
    const size_t have = input->end - input->begin;
    const char *feed = memchr(line, '\n', have);

    if (feed == NULL) {
        if (have == LINE_SIZE_MAX || input->is_skipping) {
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
