/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/slurm/slurm_settings.h"
#include "trace/doc.h"

static struct slurm_settings read_text(const char *text, struct arena *arena)
{
    struct error error = { "" };
    const struct doc_node *map = NULL;
    const struct settings in = { .path = "stint.conf", .arena = arena, .reterr = &error };
    struct slurm_settings settings = { 0 };

    if (doc_parse(text, strlen(text), arena, &map, &error) < 0 ||
        slurm_settings_read(&in, map, &settings) < 0)
        fail_msg("%s", error.text);
    return settings;
}

/* The arguments of stint-slurm for this map, with spaces between. */
static void check_argv(const char *text, const char *expected)
{
    struct arena arena;
    char joined[512] = "";
    size_t used = 0;

    arena_init(&arena);

    const struct slurm_settings settings = read_text(text, &arena);
    const char *const *argv = slurm_settings_argv(&settings, "db", &arena);

    for (int i = 0; argv[i] != NULL; i++)
        used += (size_t)snprintf(joined + used, sizeof(joined) - used, "%s%s", i > 0 ? " " : "",
                                 argv[i]);
    assert_string_equal(joined, expected);
    arena_done(&arena);
}

TEST(the_program_is_told_what_is_set_and_no_more)
{
    check_argv("kind: slurm\n", "stint-slurm --poll 0.500 --raised db.raised --lease db.lease");
    check_argv("{ kind: slurm, program: /bin/x, poll: 2s, partition: p }",
               "/bin/x --poll 2.000 --raised db.raised --lease db.lease --place-in p");
    check_argv(
        "{ kind: slurm, program: x, partition: p, only_partitions: [a, b],\n"
        "  ignore_partitions: [c], ignore_users: [d, e, f] }",
        "x --poll 0.500 --raised db.raised --lease db.lease --partitions a,b --ignore-partitions c --ignore-users d,e,f "
        "--place-in p");
}

TEST(what_differs_is_seen)
{
    static const char *const others[] = {
        "{ kind: slurm, program: x }",
        "{ kind: slurm, poll: 1s }",
        "{ kind: slurm, partition: p }",
        "{ kind: slurm, stop: { signal: USR1 } }",
        "{ kind: slurm, stop: { grace: 1s } }",
        "{ kind: slurm, only_partitions: [a] }",
        "{ kind: slurm, tmp_gib: 1 }",
        "{ kind: slurm, ignore_users: [a] }",
        "{ kind: slurm, ignore_partitions: [a] }",
    };
    struct arena arena;

    arena_init(&arena);

    const struct slurm_settings plain = read_text("kind: slurm\n", &arena);
    const struct slurm_settings again = read_text("kind: slurm\n", &arena);

    assert_true(slurm_settings_same(&plain, &again));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct slurm_settings other = read_text(others[i], &arena);

        assert_false(slurm_settings_same(&plain, &other));
    }
    arena_done(&arena);
}

CHECK_MAIN(RUN(the_program_is_told_what_is_set_and_no_more), RUN(what_differs_is_seen))
