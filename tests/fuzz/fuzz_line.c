/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_line.c - the pipe between the daemon and stint-slurm: lines are cut, parsed, printed
 * again and read as requests. What was parsed must come back the same from its own print.
 */
#include "fuzz.h"

#include "base/line.h"
#include "base/line_input.h"
#include "engine/slurm/slurm_request.h"

static void check_print(const struct line *line)
{
    struct line_text text = { .text = NULL };
    struct line again;

    line_text_begin(&text, line->word);
    for (uint32_t i = 0; i < line->count; i++)
        line_text_string(&text, line->field[i].key, line->field[i].value);
    line_text_end(&text);
    assert(text.text[text.size - 1] == '\n');
    assert(memchr(text.text, '\n', text.size - 1) == NULL);
    const int error = line_parse(text.text, text.size - 1, &again, NULL);

    assert(error == 0);
    assert(strcmp(again.word, line->word) == 0);
    assert(again.count == line->count);
    for (uint32_t i = 0; i < line->count; i++) {
        assert(strcmp(again.field[i].key, line->field[i].key) == 0);
        assert(strcmp(again.field[i].value, line->field[i].value) == 0);
    }
    line_text_done(&text);
}

static void check_request(const struct line *line)
{
    struct slurm_request request = { .key = 0 };
    struct error error = { "" };
    char job[SLURM_JOB_ID_SIZE];

    if (slurm_request_read(line, &request, &error) < 0) {
        fuzz_check_error(&error);
        return;
    }
    assert(request.grace_ms <= SLURM_GRACE_MS_MAX);
    const char *rest = request.jobs;

    while (rest != NULL && (rest = slurm_request_next_job(rest, job)) != NULL)
        assert(job[0] >= '0' && job[0] <= '9');
}

static void check_line(char *text, size_t length)
{
    struct line line = { .word = NULL };
    struct error error = { "" };

    if (length == SIZE_MAX)
        return;
    if (line_parse(text, length, &line, &error) < 0) {
        fuzz_check_error(&error);
        assert(line.word == NULL);
        return;
    }
    check_print(&line);
    check_request(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct line_input input; /* its buffer is large: one for all runs */
    size_t room = 0;
    char *line = NULL;
    size_t length = 0;

    if (input.data == NULL)
        line_input_init(&input);
    input = (struct line_input){ .data = input.data };
    while (size > 0) {
        char *to = line_input_room(&input, &room);

        assert(room > 0);
        if (room > size)
            room = size;
        memcpy(to, data, room);
        line_input_add(&input, room);
        data += room;
        size -= room;
        while (line_input_next(&input, &line, &length))
            check_line(line, length);
    }
    return 0;
}
