/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/join_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/line.h"
#include "cloud/aws/aws_clock.h"
#include "cloud/aws/aws_fleet.h"

#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const char alphabet[] = LETTERS DIGITS "._-";

enum { MEM_MIB_MAX = 1 << 28 };

/* A word that may stand alone in a command: it begins with a letter or a digit. */
static bool is_word(const char *text, size_t length, size_t most)
{
    char copy[JOIN_VALUE_SIZE];

    if (length == 0 || length > most || length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return strlen(copy) == length && strspn(copy, alphabet) == length &&
           strchr("._-", copy[0]) == NULL;
}

/* ---- user data ---- */

struct known {
    const char *key;
    char *place;
    size_t most;
};

/* What stands behind the key on this line; NULL: it is not that line. */
static const char *value_of(const char *line, size_t length, const char *key)
{
    const size_t size = strlen(key);

    return length >= size && memcmp(line, key, size) == 0 ? line + size : NULL;
}

static int take_value(const struct known *known, const char *value, size_t length,
                      struct error *reterr)
{
    const int shown = (int)strlen(known->key) - 1; /* without '=' */

    if (length == 0)
        return 0; /* as if it were not there: an offer without a zone */
    if (!is_word(value, length, known->most))
        return error_set(reterr, -EINVAL,
                         "user data: %.*s must have 1 to %zu letters, digits, '.', '_' and '-', "
                         "and begin with a letter or digit",
                         shown, known->key, known->most);
    if (known->place[0] != '\0' &&
        (strlen(known->place) != length || memcmp(known->place, value, length) != 0))
        return error_set(reterr, -EINVAL, "user data: %.*s is there twice, and different", shown,
                         known->key);
    memcpy(known->place, value, length);
    known->place[length] = '\0';
    return 0;
}

static int take_line(const struct known *known, size_t count, const char *line, size_t length,
                     struct error *reterr)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    for (size_t i = 0; i < count; i++) {
        const char *value = value_of(line, length, known[i].key);

        if (value != NULL)
            return take_value(&known[i], value, length - (size_t)(value - line), reterr);
    }
    return 0;
}

int join_facts_read(const char *text, size_t size, struct join_facts *ret, struct error *reterr)
{
    struct join_facts facts = { 0 };
    const struct known known[] = {
        { "STINT_CLUSTER=", facts.cluster, AWS_FLEET_CLUSTER_MAX },
        { "STINT_NODE=", facts.node, JOIN_VALUE_SIZE - 1 },
        { "STINT_TYPE=", facts.type, JOIN_VALUE_SIZE - 1 },
        { "STINT_ZONE=", facts.zone, JOIN_VALUE_SIZE - 1 },
        { "STINT_MARKET=", facts.market, JOIN_VALUE_SIZE - 1 },
        { "STINT_IDLE=", facts.idle, 9 },
    };
    size_t from = 0;

    if (size > JOIN_USER_DATA_MAX)
        return error_set(reterr, -E2BIG, "user data is longer than any that EC2 has");
    while (from < size) {
        const char *feed = memchr(text + from, '\n', size - from);
        const size_t length = feed != NULL ? (size_t)(feed - text) - from : size - from;
        const int rc =
            take_line(known, sizeof(known) / sizeof(*known), text + from, length, reterr);

        if (rc < 0)
            return rc;
        from += length + 1;
    }
    if (memcmp(&facts, &(struct join_facts){ 0 }, sizeof(facts)) == 0)
        return error_set(reterr, -ENOENT, "user data: there is no line STINT_NODE=...");
    if (facts.cluster[0] == '\0' || facts.node[0] == '\0')
        return error_set(reterr, -EINVAL,
                         "user data: the line STINT_%s=... is missing; see stint-join(8)",
                         facts.node[0] == '\0' ? "NODE" : "CLUSTER");
    *ret = facts;
    return 0;
}

/* ---- the launch index ---- */

int join_index_read(const char *text, size_t size, uint32_t *ret, struct error *reterr)
{
    char copy[8];
    uint64_t index = 0;

    if (size < sizeof(copy) && memchr(text, '\0', size) == NULL) {
        memcpy(copy, text, size);
        copy[size] = '\0';
        if (line_number(copy, JOIN_INDEX_MAX, &index) == 0) {
            *ret = (uint32_t)index;
            return 0;
        }
    }
    return error_set(reterr, -EINVAL, "the launch index is no number from 0 to %d", JOIN_INDEX_MAX);
}

int join_facts_count_on(struct join_facts *facts, uint32_t index, struct error *reterr)
{
    const size_t length = strlen(facts->node);
    char name[JOIN_VALUE_SIZE + 24]; /* with as many digits as a number has */
    uint64_t number = 0;
    size_t at = length;

    if (index == 0)
        return 0;
    while (at > 0 && strchr(DIGITS, facts->node[at - 1]) != NULL)
        at--;
    if (at == length)
        return error_set(reterr, -EINVAL,
                         "STINT_NODE ends in no number that the launch index could be added to");
    while (at + 1 < length && facts->node[at] == '0')
        at++;
    if (line_number(facts->node + at, UINT64_MAX - index, &number) < 0)
        return error_set(reterr, -ERANGE, "the number that STINT_NODE ends in is too large");
    (void)snprintf(name, sizeof(name), "%.*s%" PRIu64, (int)at, facts->node, number + index);
    if (strlen(name) >= sizeof(facts->node))
        return error_set(reterr, -E2BIG, "STINT_NODE is too long with the launch index");
    memcpy(facts->node, name, strlen(name) + 1);
    return 0;
}

/* ---- tags ---- */

const char *join_tag_path(enum join_tag tag)
{
    static const char *const paths[JOIN_TAGS] = {
        [JOIN_TAG_CLUSTER] = "/latest/meta-data/tags/instance/stint:cluster",
        [JOIN_TAG_NODE] = "/latest/meta-data/tags/instance/stint:node",
        [JOIN_TAG_OFFER] = "/latest/meta-data/tags/instance/stint:offer",
        [JOIN_TAG_ZONE] = "/latest/meta-data/placement/availability-zone",
    };

    return paths[tag];
}

/* Copy what is a word into a place of JOIN_VALUE_SIZE. */
static bool take_word(const char *text, size_t length, size_t most, char *place)
{
    if (!is_word(text, length, most))
        return false;
    memcpy(place, text, length);
    place[length] = '\0';
    return true;
}

/* "m7i.large//spot": type and market, and the zone that was asked for, if any. */
static bool take_offer(const char *text, size_t size, struct join_facts *facts)
{
    const char *first = memchr(text, '/', size);
    const size_t most = JOIN_VALUE_SIZE - 1;

    if (first == NULL)
        return false;

    const size_t left = size - (size_t)(first + 1 - text);
    const char *second = memchr(first + 1, '/', left);

    if (second == NULL)
        return false;

    const size_t zone = (size_t)(second - first) - 1;

    return (zone == 0 || is_word(first + 1, zone, most)) &&
           take_word(text, (size_t)(first - text), most, facts->type) &&
           take_word(second + 1, left - zone - 1, most, facts->market);
}

int join_facts_take_tag(enum join_tag tag, const char *text, size_t size, struct join_facts *facts,
                        struct error *reterr)
{
    const size_t most = JOIN_VALUE_SIZE - 1;
    struct join_facts told = *facts;
    bool is_good = false;

    if (tag == JOIN_TAG_CLUSTER)
        is_good = take_word(text, size, AWS_FLEET_CLUSTER_MAX, told.cluster);
    else if (tag == JOIN_TAG_NODE)
        is_good = take_word(text, size, most, told.node);
    else if (tag == JOIN_TAG_OFFER)
        is_good = take_offer(text, size, &told);
    else
        is_good = take_word(text, size, most, told.zone);
    if (!is_good)
        return error_set(reterr, -EINVAL, "%s: that value cannot be used", join_tag_path(tag));
    *facts = told;
    return 0;
}

bool join_token_is_good(const char *text, size_t size)
{
    if (size == 0 || size >= JOIN_TOKEN_SIZE)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] <= ' ' || text[i] >= 0x7f)
            return false;
    }
    return true;
}

/* ---- notices ---- */

static int read_action(const json_t *document, struct join_notice *ret)
{
    static const char *const actions[] = { "terminate", "stop", "hibernate" };
    const char *action = json_string_value(json_object_get(document, "action"));

    for (size_t i = 0; action != NULL && i < sizeof(actions) / sizeof(*actions); i++) {
        if (strcmp(actions[i], action) == 0) {
            (void)snprintf(ret->action, sizeof(ret->action), "%s", actions[i]);
            return 0;
        }
    }
    return -EINVAL;
}

int join_notice_read(enum join_notice_kind kind, const char *text, size_t size,
                     struct join_notice *ret, struct error *reterr)
{
    struct join_notice notice = { .kind = kind, .action = "rebalance", .at = -1 };
    json_t *document = size <= JOIN_NOTICE_MAX ? json_loadb(text, size, 0, NULL) : NULL;
    const char *at = json_string_value(
        json_object_get(document, kind == JOIN_INTERRUPTION ? "time" : "noticeTime"));

    if (at != NULL && strlen(at) < 32)
        notice.at = aws_clock_read(at);

    const bool is_good =
        notice.at >= 0 && (kind == JOIN_REBALANCE || read_action(document, &notice) == 0);

    json_decref(document);
    if (!is_good)
        return error_set(reterr, -EINVAL, "a notice of %s cannot be read",
                         kind == JOIN_INTERRUPTION ? "interruption" : "rebalance");
    *ret = notice;
    return 0;
}

bool join_notice_is_same(const struct join_notice *a, const struct join_notice *b)
{
    return a->kind == b->kind && a->at == b->at && strcmp(a->action, b->action) == 0;
}

void join_notice_reason(const struct join_notice *notice, char *ret)
{
    char at[32];

    aws_clock_print(notice->at, at);
    (void)snprintf(ret, 128, "aws-%s-%s", notice->action, at);
}

/* ---- what slurmd says ---- */

bool join_features_are_good(const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, ",");

        if (!is_word(text, length, JOIN_VALUE_SIZE - 1))
            return false;
        text += length;
        if (*text == ',' && *++text == '\0')
            return false;
    }
    return true;
}

uint64_t join_read_meminfo(const char *text)
{
    const char *line = strstr(text, "MemTotal:");
    unsigned long long kib = 0;
    char *end = NULL;

    if (line == NULL)
        return 0;
    errno = 0;
    kib = strtoull(line + strlen("MemTotal:"), &end, 10);
    return errno == 0 && strncmp(end, " kB", 3) == 0 ? kib / 1024 : 0;
}

int join_conf_line(const struct join_facts *facts, const struct join_machine *machine,
                   const char *features, uint32_t mem_percent, char ret[JOIN_CONF_SIZE],
                   struct error *reterr)
{
    const size_t family = strcspn(facts->type, ".");
    const uint64_t mem = machine->mem_mib * mem_percent / 100;
    const char *words[] = { features, facts->type, "", facts->market, facts->zone };
    char family_word[JOIN_VALUE_SIZE];
    char list[JOIN_CONF_SIZE] = "";
    char line[JOIN_CONF_SIZE];
    char gres[32] = "";
    size_t used = 0;

    if (machine->cpus == 0 || mem == 0 || machine->mem_mib > MEM_MIB_MAX)
        return error_set(reterr, -EINVAL, "this machine does not tell its processors and memory");
    if (facts->type[family] != '\0') {
        (void)snprintf(family_word, sizeof(family_word), "%.*s", (int)family, facts->type);
        words[2] = family_word;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (words[i][0] == '\0')
            continue;
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? "," : "",
                                 words[i]);
        if (used >= sizeof(list))
            return error_set(reterr, -E2BIG, "the list of features is too long");
    }
    if (machine->gpus > 0)
        (void)snprintf(gres, sizeof(gres), " Gres=gpu:%" PRIu32, machine->gpus);

    const int length = snprintf(line, sizeof(line), "CPUs=%" PRIu32 " RealMemory=%" PRIu64 "%s%s%s",
                                machine->cpus, mem, used > 0 ? " Feature=" : "", list, gres);

    if ((size_t)length >= sizeof(line))
        return error_set(reterr, -E2BIG, "the list of features is too long");
    memcpy(ret, line, (size_t)length + 1);
    return 0;
}

/* ---- commands ---- */

/* A command that is being written. */
struct writing {
    struct join_command *command;
    size_t used;
    size_t words;
};

static bool put(struct writing *writing, const char *text, size_t length)
{
    if (length > JOIN_COMMAND_MAX - writing->used)
        return false;
    memcpy(writing->command->text + writing->used, text, length);
    writing->used += length;
    return true;
}

/* The filling that stands at 'text'; NULL: none. */
static const struct join_filling *filling_at(const char *text, size_t length,
                                             const struct join_filling *fillings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(fillings[i].name);

        if (size <= length && memcmp(fillings[i].name, text, size) == 0)
            return &fillings[i];
    }
    return NULL;
}

static int put_word(struct writing *writing, const char *word, size_t length,
                    const struct join_filling *fillings, size_t count, struct error *reterr)
{
    bool is_put = writing->words < JOIN_WORDS_MAX;

    if (is_put)
        writing->command->words[writing->words++] = writing->command->text + writing->used;
    for (size_t i = 0; is_put && i < length;) {
        const struct join_filling *filling =
            word[i] == '{' ? filling_at(word + i, length - i, fillings, count) : NULL;

        if (word[i] == '{' && filling == NULL)
            return error_set(reterr, -EINVAL, "a command has a {name} that is not known");
        is_put = filling != NULL ? put(writing, filling->value, strlen(filling->value))
                                 : put(writing, word + i, 1);
        i += filling != NULL ? strlen(filling->name) : 1;
    }
    if (!is_put || !put(writing, "", 1))
        return error_set(reterr, -E2BIG, "a command is too long");
    return 0;
}

int join_command_make(const char *pattern, const struct join_filling *fillings, size_t count,
                      struct join_command *ret, struct error *reterr)
{
    struct writing writing = { .command = ret };

    for (;;) {
        pattern += strspn(pattern, " \t\n");
        if (*pattern == '\0')
            break;

        const size_t length = strcspn(pattern, " \t\n");
        const int rc = put_word(&writing, pattern, length, fillings, count, reterr);

        if (rc < 0)
            return rc;
        pattern += length;
    }
    if (writing.words == 0)
        return error_set(reterr, -EINVAL, "a command is empty");
    ret->words[writing.words] = NULL;
    return 0;
}
