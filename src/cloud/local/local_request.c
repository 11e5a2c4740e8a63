/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/local/local_request.h"

#include <errno.h>
#include <string.h>

#include "cloud/local/local_protocol.h"

enum { ID_DIGITS_MAX = 20 };

/* Bits of the fields that a word must or may have. */
enum {
    KEY = 1 << 0,
    PROTOCOL = 1 << 1,
    CLUSTER = 1 << 2,
    COUNT = 1 << 3,
    OFFER = 1 << 4,
    PREFIX = 1 << 5,
    ID = 1 << 6,
    NOTICE_MS = 1 << 7,
    FAULTS = 1 << 8,
};

static const struct {
    const char *word;
    enum local_verb verb;
    unsigned must;
    unsigned may;
} words[] = {
    { "hello", LOCAL_HELLO, PROTOCOL | CLUSTER, 0 },
    { "rent", LOCAL_RENT, KEY | OFFER | PREFIX, COUNT },
    { "give-back", LOCAL_GIVE_BACK, KEY, 0 },
    { "list", LOCAL_LIST, KEY, 0 },
    { "revoke", LOCAL_REVOKE, KEY, ID | NOTICE_MS },
    { "fault", LOCAL_FAULT, KEY, FAULTS },
    { "capacity", LOCAL_CAPACITY, KEY | OFFER, COUNT },
};

static const struct {
    const char *key;
    uint32_t max;
} faults[LOCAL_FAULT_KINDS] = {
    [LOCAL_FAULT_REFUSE] = { "refuse", 1000 },
    [LOCAL_FAULT_DUPLICATE] = { "duplicate", 1000 },
    [LOCAL_FAULT_CUT] = { "cut", 1000 },
    [LOCAL_FAULT_DELAY_MS] = { "delay_ms", LOCAL_FAULT_MS_MAX },
    [LOCAL_FAULT_QUOTA] = { "quota", LOCAL_NO_LIMIT },
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* Letters, digits and '-', the first a letter. */
static bool is_name(const char *text, size_t max)
{
    const size_t length = strlen(text);

    if (length == 0 || length > max || text[0] == '-' || (text[0] >= '0' && text[0] <= '9'))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!is_name_letter(text[i]))
            return false;
    }
    return true;
}

/* A cluster's name is only compared and written; it may be of any printable letters. */
static bool is_cluster(const char *text)
{
    const size_t length = strlen(text);

    if (length == 0 || length > LOCAL_CLUSTER_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    }
    return true;
}

static bool read_u32(const char *value, uint32_t min, uint32_t max, uint32_t *ret)
{
    uint64_t number = 0;

    if (line_number(value, max, &number) < 0 || number < min)
        return false;
    *ret = (uint32_t)number;
    return true;
}

enum local_fault local_fault_read(const char *key, const char *value, uint32_t *ret)
{
    for (int i = 0; i < LOCAL_FAULT_KINDS; i++) {
        if (strcmp(key, faults[i].key) == 0)
            return read_u32(value, 0, faults[i].max, ret) ? (enum local_fault)i : LOCAL_FAULT_KINDS;
    }
    return LOCAL_FAULT_KINDS;
}

/* The bit of a field that is a number; 0: none of those. 'ret_good' says whether it is one. */
static unsigned read_number_field(const struct line_field *field, struct local_request *request,
                                  bool *ret_good)
{
    if (strcmp(field->key, "key") == 0) {
        *ret_good = line_number(field->value, LOCAL_KEY_MAX, &request->key) == 0;
        return KEY;
    }
    if (strcmp(field->key, "protocol") == 0) {
        *ret_good = read_u32(field->value, 0, UINT32_MAX, &request->protocol);
        return PROTOCOL;
    }
    if (strcmp(field->key, "count") == 0) {
        const bool is_rent = request->verb == LOCAL_RENT;

        *ret_good = read_u32(field->value, is_rent ? 1 : 0, is_rent ? LOCAL_RENT_MAX : UINT32_MAX,
                             &request->count);
        return COUNT;
    }
    if (strcmp(field->key, "id") == 0) {
        request->has_id = true;
        *ret_good = line_number(field->value, UINT64_MAX, &request->id) == 0;
        return ID;
    }
    if (strcmp(field->key, "notice_ms") == 0) {
        *ret_good = read_u32(field->value, 0, LOCAL_FAULT_MS_MAX, &request->notice_ms);
        return NOTICE_MS;
    }
    return 0;
}

static unsigned read_text_field(const struct line_field *field, struct local_request *request,
                                bool *ret_good)
{
    if (strcmp(field->key, "cluster") == 0) {
        request->cluster = field->value;
        *ret_good = is_cluster(field->value);
        return CLUSTER;
    }
    if (strcmp(field->key, "offer") == 0) {
        request->offer = field->value;
        return OFFER;
    }
    if (strcmp(field->key, "prefix") == 0) {
        request->prefix = field->value;
        *ret_good = is_name(field->value, LOCAL_NAME_MAX - ID_DIGITS_MAX);
        return PREFIX;
    }
    return 0;
}

static unsigned read_field(const struct line_field *field, struct local_request *request,
                           bool *ret_good)
{
    uint32_t value = 0;
    unsigned bit = read_number_field(field, request, ret_good);

    if (bit == 0)
        bit = read_text_field(field, request, ret_good);
    if (bit != 0 || request->verb != LOCAL_FAULT)
        return bit;
    const enum local_fault fault = local_fault_read(field->key, field->value, &value);

    if (fault == LOCAL_FAULT_KINDS)
        return 0;
    request->is_fault_given[fault] = true;
    request->fault[fault] = value;
    return FAULTS;
}

int local_request_read(const struct line *line, struct local_request *ret, struct error *reterr)
{
    struct local_request request = { .count = 1 };
    size_t word = 0;
    unsigned seen = 0;

    while (word < COUNT_OF(words) && strcmp(line->word, words[word].word) != 0)
        word++;
    if (word == COUNT_OF(words))
        return error_set(reterr, -EINVAL, "no request is called '%s'", line->word);
    request.verb = words[word].verb;
    if (request.verb == LOCAL_CAPACITY)
        request.count = LOCAL_NO_LIMIT;
    for (uint32_t i = 0; i < line->count; i++) {
        bool is_good = true;
        const unsigned bit = read_field(&line->field[i], &request, &is_good);

        if ((bit & (words[word].must | words[word].may)) == 0)
            return error_set(reterr, -EINVAL, "'%s' has no field '%s', or not such a value",
                             line->word, line->field[i].key);
        if (!is_good)
            return error_set(reterr, -EINVAL, "'%s' cannot have that value", line->field[i].key);
        seen |= bit;
    }
    if ((words[word].must & ~seen) != 0)
        return error_set(reterr, -EINVAL, "'%s' lacks a field", line->word);
    *ret = request;
    return 0;
}
