/* SPDX-License-Identifier: Apache-2.0 */
/* What stint-join reads from the metadata service, and the commands that become of it. */
#include "fuzz.h"

#include <stdlib.h>

#include "cloud/aws/join_facts.h"

static void check_word(const char *text)
{
    assert(strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
           strlen(text));
    assert(text[0] != '-');
}

static void check_facts(const struct join_facts *facts)
{
    const struct join_machine machine = { 4, 16000, 1 };
    const struct join_filling fillings[] = { { "{node}", facts->node }, { "{conf}", NULL } };
    struct join_command command;
    char line[JOIN_CONF_SIZE];

    assert(facts->cluster[0] != '\0' && facts->node[0] != '\0');
    check_word(facts->cluster);
    check_word(facts->node);
    check_word(facts->type);
    check_word(facts->zone);
    check_word(facts->market);
    assert(join_conf_line(facts, &machine, "cloud", 100, line, NULL) == 0);
    assert(join_command_make("slurmd -N {node}", fillings, 1, &command, NULL) == 0);
    assert(strcmp(command.words[2], facts->node) == 0 && command.words[3] == NULL);
}

/* The first bytes of the input as a launch index, from which a name that was told goes on. */
static void check_count_on(struct join_facts *facts, const char *text, size_t size)
{
    struct error error = { "" };
    uint32_t index = 0;

    if (join_index_read(text, size < 5 ? size : 5, &index, &error) < 0)
        index = (uint32_t)(size % JOIN_INDEX_MAX);
    assert(index <= JOIN_INDEX_MAX);
    if (join_facts_count_on(facts, index, &error) < 0)
        fuzz_check_error(&error);
    check_facts(facts);
}

static void check_tags(const char *text, size_t size)
{
    struct join_facts facts = { .cluster = "lab", .node = "st-1" };
    struct error error = { "" };

    for (int tag = 0; tag < JOIN_TAGS; tag++) {
        if (join_facts_take_tag((enum join_tag)tag, text, size, &facts, &error) < 0)
            fuzz_check_error(&error);
    }
    check_count_on(&facts, text, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct error error = { "" };
    struct join_facts facts = { 0 };
    struct join_notice notice = { 0 };
    struct join_command command;

    if (join_facts_read(text, size, &facts, &error) == 0) {
        check_facts(&facts);
        check_count_on(&facts, text, size);
    } else {
        fuzz_check_error(&error);
    }
    check_tags(text, size);
    for (int kind = JOIN_INTERRUPTION; kind <= JOIN_REBALANCE; kind++) {
        char reason[128];

        if (join_notice_read((enum join_notice_kind)kind, text, size, &notice, &error) < 0)
            continue;
        join_notice_reason(&notice, reason);
        assert(strchr(reason, ' ') == NULL);
    }
    (void)join_token_is_good(text, size);

    char *copy = malloc(size + 1);

    assert(copy != NULL);
    memcpy(copy, data, size);
    copy[size] = '\0';
    (void)join_features_are_good(copy);
    (void)join_read_meminfo(copy);
    if (join_command_make(copy, &(struct join_filling){ "{node}", "st-1" }, 1, &command, &error) <
        0)
        fuzz_check_error(&error);
    free(copy);
    return 0;
}
