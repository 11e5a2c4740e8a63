/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/slurm/slurm_raised.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    VERSION = 1,
    FILE_MAX = 1 << 27,       /* bytes; two million jobs */
    LOOK_MAX = UINT32_MAX / 2 /* so that looks can go on to be counted */
};

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

void slurm_raised_done(struct slurm_raised *raised)
{
    mem_free(raised->rows);
    map_done(&raised->index_of);
    *raised = (struct slurm_raised){ .rows = NULL };
}

/* By set, and in it those first that were raised last, so that the first one tells whether any was. */
static int compare(const void *left, const void *right)
{
    const struct slurm_raise_row *a = left;
    const struct slurm_raise_row *b = right;

    if (a->set != b->set)
        return ORDER(a->set, b->set);
    return a->raised != b->raised ? ORDER(b->raised, a->raised) : ORDER(a->id, b->id);
}

/* Keep the rows of the sets in which one was raised, at the front; how many. */
static uint32_t keep_sets(struct slurm_raise_row *rows, uint32_t count)
{
    uint32_t kept = 0;
    uint64_t set = 0;
    bool is_kept = false;

    if (count > 0)
        qsort(rows, count, sizeof(*rows), compare);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].set != set)
            is_kept = rows[i].raised != 0;
        set = rows[i].set;
        if (is_kept)
            rows[kept++] = rows[i];
    }
    return kept;
}

/* The look before the first one that counts: numbers begin there, lest they grow from run to run. */
static uint32_t first_look(const struct slurm_raise_row *rows, uint32_t count, uint32_t look)
{
    uint32_t first = look;

    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].seen < first)
            first = rows[i].seen;
        if (rows[i].raised != 0 && rows[i].raised < first)
            first = rows[i].raised;
    }
    return first > 0 ? first - 1 : 0;
}

void slurm_raised_print(struct slurm_raise_row *rows, uint32_t count, uint32_t look,
                        struct line_text *out)
{
    const uint32_t kept = keep_sets(rows, count);
    const uint32_t before = first_look(rows, kept, look);

    line_text_begin(out, "raised");
    line_text_number(out, "version", VERSION);
    line_text_number(out, "look", look - before);
    line_text_end(out);
    for (uint32_t i = 0; i < kept; i++) {
        const struct slurm_raise_row *row = &rows[i];

        line_text_begin(out, "job");
        line_text_number(out, "id", row->id);
        line_text_number(out, "run", row->run);
        line_text_number(out, "submit", row->submitted > 0 ? (uint64_t)row->submitted : 0);
        line_text_number(out, "nice", row->nice);
        line_text_number(out, "seen", row->seen - before);
        line_text_number(out, "raised", row->raised == 0 ? 0 : row->raised - before);
        line_text_end(out);
    }
    line_text_begin(out, "end");
    line_text_number(out, "count", kept);
    line_text_end(out);
}

static int take_number(const struct line *line, const char *key, uint64_t max, uint64_t *ret)
{
    const char *value = line_get(line, key);

    return value == NULL ? -EINVAL : line_number(value, max, ret);
}

static int take_small(const struct line *line, const char *key, uint64_t max, uint32_t *ret)
{
    uint64_t number = 0;
    const int rc = take_number(line, key, max, &number);

    if (rc == 0)
        *ret = (uint32_t)number;
    return rc;
}

static int take_head(struct slurm_raised *raised, const struct line *line)
{
    uint32_t version = 0;

    if (strcmp(line->word, "raised") != 0 || take_small(line, "version", VERSION, &version) < 0 ||
        version != VERSION)
        return -EINVAL;
    return take_small(line, "look", LOOK_MAX, &raised->look);
}

static int take_job(struct slurm_raised *raised, const struct line *line)
{
    struct slurm_raise_row row = { .id = 0 };
    uint64_t submitted = 0;

    if (take_small(line, "id", UINT32_MAX, &row.id) < 0 ||
        take_small(line, "run", UINT32_MAX, &row.run) < 0 ||
        take_number(line, "submit", INT64_MAX, &submitted) < 0 ||
        take_small(line, "nice", UINT32_MAX, &row.old_nice) < 0 ||
        take_small(line, "seen", raised->look, &row.seen) < 0 || row.seen == 0 ||
        take_small(line, "raised", raised->look, &row.raised) < 0 ||
        map_get(&raised->index_of, row.id) != MAP_NONE)
        return -EINVAL;
    row.submitted = (int64_t)submitted;
    MEM_ROOM(raised->rows, raised->room, raised->count + 1);
    map_put(&raised->index_of, row.id, raised->count);
    raised->rows[raised->count++] = row;
    return 0;
}

/* Above 0: that was the end. */
static int take_line(struct slurm_raised *raised, const struct line *line, uint32_t number)
{
    uint32_t count = 0;

    if (number == 1)
        return take_head(raised, line);
    if (strcmp(line->word, "job") == 0)
        return take_job(raised, line);
    if (strcmp(line->word, "end") != 0 || take_small(line, "count", UINT32_MAX, &count) < 0 ||
        count != raised->count)
        return -EINVAL;
    return 1;
}

int slurm_raised_parse(char *text, size_t length, struct slurm_raised *ret, struct error *reterr)
{
    struct slurm_raised raised = { .rows = NULL };
    char *const end = text + length;
    uint32_t number = 0;
    int rc = 0;

    map_init(&raised.index_of);
    while (rc == 0) {
        char *feed = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
        struct line line;

        number++;
        rc = feed == NULL ? -EINVAL : line_parse(text, (size_t)(feed - text), &line, NULL);
        if (rc == 0)
            rc = take_line(&raised, &line, number);
        if (rc > 0 && feed + 1 != end)
            rc = -EINVAL;
        if (feed != NULL)
            text = feed + 1;
    }
    if (rc > 0) {
        *ret = raised;
        return 0;
    }
    slurm_raised_done(&raised);
    return error_set(reterr, -EINVAL, "line %u has been damaged", number);
}

static int write_all(int file, const struct line_text *text)
{
    uint32_t done = 0;

    while (done < text->size) {
        const ssize_t n = write(file, text->text + done, text->size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        done += (uint32_t)n;
    }
    return fsync(file) == 0 ? 0 : -errno;
}

int slurm_raised_save(const char *path, struct slurm_raise_row *rows, uint32_t count, uint32_t look,
                      struct error *reterr)
{
    char part[PATH_MAX];
    struct line_text text = { .text = NULL };

    if ((size_t)snprintf(part, sizeof(part), "%s.part", path) >= sizeof(part))
        return error_set(reterr, -ENAMETOOLONG, "%s: the name is too long", path);
    const int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = file < 0 ? -errno : 0;

    if (rc == 0) {
        slurm_raised_print(rows, count, look, &text);
        rc = write_all(file, &text);
        if (close(file) != 0 && rc == 0)
            rc = -errno;
        if (rc == 0 && rename(part, path) != 0)
            rc = -errno;
        line_text_done(&text);
    }
    return rc == 0 ? 0 : error_set(reterr, rc, "cannot write %s: %s", path, strerror(-rc));
}

/* All of the file, with room for one byte more; NULL: errno says why. */
static char *read_all(int file, size_t *ret_length)
{
    struct stat known;
    size_t length = 0;

    if (fstat(file, &known) != 0)
        return NULL;
    if (!S_ISREG(known.st_mode) || known.st_size > FILE_MAX) {
        errno = EFBIG;
        return NULL;
    }
    const size_t size = (size_t)known.st_size;
    char *text = mem_alloc(size + 1, 1);

    while (length < size) {
        const ssize_t n = read(file, text + length, size - length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            mem_free(text);
            return NULL;
        }
        if (n == 0)
            break;
        length += (size_t)n;
    }
    *ret_length = length;
    return text;
}

int slurm_raised_load(const char *path, struct slurm_raised *ret, struct error *reterr)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t length = 0;

    if (file < 0 && errno == ENOENT)
        return 0;
    char *text = file < 0 ? NULL : read_all(file, &length);
    const int why = errno;

    if (file >= 0)
        (void)close(file);
    if (text == NULL)
        return error_set(reterr, -why, "cannot read %s: %s", path, strerror(why));
    const int rc = slurm_raised_parse(text, length, ret, reterr);

    mem_free(text);
    return rc == 0 ? 0 : error_prefix(reterr, rc, path);
}

bool slurm_raised_recall(const struct slurm_raised *raised, struct slurm_raise_row *row)
{
    const uint32_t index = raised->count == 0 ? MAP_NONE : map_get(&raised->index_of, row->id);
    const struct slurm_raise_row *known = index == MAP_NONE ? NULL : &raised->rows[index];

    /* Slurm gives a job that it puts back another time of submission. */
    if (known == NULL || (known->submitted != row->submitted && row->run <= known->run))
        return false;
    row->old_nice = known->old_nice;
    row->seen = known->seen;
    row->raised = known->raised;
    return true;
}
