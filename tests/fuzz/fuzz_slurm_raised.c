/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_slurm_raised.c - the file in which stint-slurm keeps what "scontrol top" raised. What is read can be used, and printed
 * again it is the same for every job.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "engine/slurm/slurm_raised.h"

static void check_rows(struct slurm_raised *raised)
{
    for (uint32_t i = 0; i < raised->count; i++) {
        struct slurm_raise_row *row = &raised->rows[i];
        struct slurm_raise_row again = { .id = row->id, .submitted = row->submitted };

        assert(row->seen >= 1 && row->seen <= raised->look && row->raised <= raised->look);
        assert(slurm_raised_recall(raised, &again));
        assert(again.seen == row->seen && again.raised == row->raised);
        row->rank = row->id % 100 + 1;
        row->nice = row->old_nice;
    }
    const bool is_changed = slurm_raise(raised->rows, raised->count, raised->look + 1);

    assert(!is_changed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slurm_raised raised = { .rows = NULL };
    struct error error = { "" };
    char *text = mem_alloc(size + 1, 1);

    if (size > 0)
        memcpy(text, data, size);
    if (slurm_raised_parse(text, size, &raised, &error) < 0)
        fuzz_check_error(&error);
    else
        check_rows(&raised);
    slurm_raised_done(&raised);
    mem_free(text);
    return 0;
}
