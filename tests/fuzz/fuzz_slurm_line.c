/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_slurm_line.c - the pipe between the daemon and stint-slurm: lines are cut, parsed, printed
 * again and read as requests. What was parsed must come back the same from its own print.
 */
#include "fuzz.h"

#include "engine/slurm/slurm_input.h"
#include "engine/slurm/slurm_line.h"
#include "engine/slurm/slurm_request.h"

static void check_print(const struct slurm_line *line)
{
    struct slurm_text text = { .text = NULL };
    struct slurm_line again;

    slurm_text_begin(&text, line->word);
    for (uint32_t i = 0; i < line->count; i++)
        slurm_text_string(&text, line->field[i].key, line->field[i].value);
    slurm_text_end(&text);
    assert(text.text[text.size - 1] == '\n');
    assert(memchr(text.text, '\n', text.size - 1) == NULL);
    const int error = slurm_line_parse(text.text, text.size - 1, &again, NULL);

    assert(error == 0);
    assert(strcmp(again.word, line->word) == 0);
    assert(again.count == line->count);
    for (uint32_t i = 0; i < line->count; i++) {
        assert(strcmp(again.field[i].key, line->field[i].key) == 0);
        assert(strcmp(again.field[i].value, line->field[i].value) == 0);
    }
    slurm_text_done(&text);
}

static void check_request(const struct slurm_line *line)
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
    struct slurm_line line = { .word = NULL };
    struct error error = { "" };

    if (length == SIZE_MAX)
        return;
    if (slurm_line_parse(text, length, &line, &error) < 0) {
        fuzz_check_error(&error);
        assert(line.word == NULL);
        return;
    }
    check_print(&line);
    check_request(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct slurm_input input; /* its buffer is large: one for all runs */
    size_t room = 0;
    char *line = NULL;
    size_t length = 0;

    if (input.data == NULL)
        slurm_input_init(&input);
    input = (struct slurm_input){ .data = input.data };
    while (size > 0) {
        char *to = slurm_input_room(&input, &room);

        assert(room > 0);
        if (room > size)
            room = size;
        memcpy(to, data, room);
        slurm_input_add(&input, room);
        data += room;
        size -= room;
        while (slurm_input_next(&input, &line, &length))
            check_line(line, length);
    }
    return 0;
}
