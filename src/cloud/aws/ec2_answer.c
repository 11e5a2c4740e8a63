/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row opens where one of row_places stands and closes with the same element; in between, the path from
 * the row on is looked up among the fields of that kind of row. Fields are described by where they
 * go in the struct, so that a further one is one line here. Most elements of an answer are no field:
 * a path is compared only with those that are as long.
 */
#include "cloud/aws/ec2_answer.h"

#include <errno.h>
#include <string.h>

#include "cloud/aws/aws_clock.h"
#include "cloud/aws/aws_xml.h"
#include "trace/number.h"

enum row_kind { ROW_NONE, ROW_INSTANCE, ROW_TYPE, ROW_OFFERING, ROW_PRICE, ROW_FLEET };

static const struct {
    const char *tail;
    enum row_kind kind;
} row_places[] = {
    { "instancesSet/item", ROW_INSTANCE },
    { "instanceTypeSet/item", ROW_TYPE },
    { "instanceTypeOfferingSet/item", ROW_OFFERING },
    { "spotPriceHistorySet/item", ROW_PRICE },
    { "fleetInstanceSet/item", ROW_FLEET },
    { "errorSet/item", ROW_FLEET },
};

enum field_form {
    FORM_TEXT,
    FORM_WORDS,
    FORM_NUMBER,
    FORM_SUM,
    FORM_TRUE,
    FORM_TIME,
    FORM_MONEY,
    FORM_STATE
};

struct field {
    enum row_kind row;
    enum field_form form;
    const char *path; /* from the row on */
    size_t length;    /* of the path */
    size_t offset;
    size_t size;      /* FORM_TEXT, FORM_WORDS */
    const char *word; /* FORM_TRUE: the text that counts */
};

#define FIELD(row, form, type, path, member, size, word)                             \
    {                                                                                \
        row, form, path, sizeof(path) - 1, offsetof(struct type, member), size, word \
    }
#define TEXT(row, type, path, member) \
    FIELD(row, FORM_TEXT, type, path, member, sizeof(((struct type *)0)->member), NULL)
#define WORDS(row, type, path, member) \
    FIELD(row, FORM_WORDS, type, path, member, sizeof(((struct type *)0)->member), NULL)
#define OTHER(row, form, type, path, member) FIELD(row, form, type, path, member, 0, NULL)
#define FLAG(row, type, path, member, word)  FIELD(row, FORM_TRUE, type, path, member, 0, word)

/* Those of a kind of row stand together. */
static const struct field fields[] = {
    TEXT(ROW_INSTANCE, ec2_instance, "instanceId", id),
    TEXT(ROW_INSTANCE, ec2_instance, "instanceType", type),
    TEXT(ROW_INSTANCE, ec2_instance, "placement/availabilityZone", zone),
    TEXT(ROW_INSTANCE, ec2_instance, "clientToken", client_token),
    TEXT(ROW_INSTANCE, ec2_instance, "stateReason/code", reason),
    OTHER(ROW_INSTANCE, FORM_STATE, ec2_instance, "instanceState/name", state),
    OTHER(ROW_INSTANCE, FORM_STATE, ec2_instance, "currentState/name", state),
    OTHER(ROW_INSTANCE, FORM_TIME, ec2_instance, "launchTime", launched_at),
    OTHER(ROW_INSTANCE, FORM_TIME, ec2_instance, "reason", changed_at),
    OTHER(ROW_INSTANCE, FORM_NUMBER, ec2_instance, "amiLaunchIndex", launch_index),
    FLAG(ROW_INSTANCE, ec2_instance, "instanceLifecycle", is_spot, "spot"),
    TEXT(ROW_TYPE, ec2_type, "instanceType", name),
    WORDS(ROW_TYPE, ec2_type, "processorInfo/supportedArchitectures/item", arch),
    OTHER(ROW_TYPE, FORM_NUMBER, ec2_type, "vCpuInfo/defaultVCpus", cpus),
    OTHER(ROW_TYPE, FORM_NUMBER, ec2_type, "memoryInfo/sizeInMiB", mem_mib),
    OTHER(ROW_TYPE, FORM_SUM, ec2_type, "gpuInfo/gpus/item/count", gpus),
    OTHER(ROW_TYPE, FORM_SUM, ec2_type, "inferenceAcceleratorInfo/accelerators/item/count",
          accelerators),
    OTHER(ROW_TYPE, FORM_SUM, ec2_type, "neuronInfo/neuronDevices/item/count", accelerators),
    FLAG(ROW_TYPE, ec2_type, "supportedUsageClasses/item", has_spot, "spot"),
    FLAG(ROW_TYPE, ec2_type, "supportedUsageClasses/item", has_on_demand, "on-demand"),
    FLAG(ROW_TYPE, ec2_type, "bareMetal", is_bare_metal, "true"),
    FLAG(ROW_TYPE, ec2_type, "currentGeneration", is_current, "true"),
    TEXT(ROW_OFFERING, ec2_offering, "instanceType", type),
    TEXT(ROW_OFFERING, ec2_offering, "location", location),
    TEXT(ROW_PRICE, ec2_spot_price, "instanceType", type),
    TEXT(ROW_PRICE, ec2_spot_price, "availabilityZone", zone),
    TEXT(ROW_PRICE, ec2_spot_price, "productDescription", product),
    OTHER(ROW_PRICE, FORM_MONEY, ec2_spot_price, "spotPrice", price),
    OTHER(ROW_PRICE, FORM_TIME, ec2_spot_price, "timestamp", at),
    TEXT(ROW_FLEET, ec2_fleet_row, "instanceIds/item", id),
    TEXT(ROW_FLEET, ec2_fleet_row, "errorCode", code),
    TEXT(ROW_FLEET, ec2_fleet_row, "launchTemplateAndOverrides/overrides/instanceType", type),
    TEXT(ROW_FLEET, ec2_fleet_row, "launchTemplateAndOverrides/overrides/availabilityZone", zone),
    { .row = ROW_NONE },
};

struct reading {
    const struct ec2_sink *sink;
    struct ec2_answer *answer;
    enum row_kind kind;
    const struct field *fields; /* the first of that kind */
    uint32_t row_depth;         /* of the element that opened the row */
    size_t row_path;            /* length of its path, with the slash behind it */
    bool is_full;
    const char *action;         /* that was asked for; NULL: any */
    bool is_of_action;          /* the root element says so */
    bool is_error;              /* or that it is an error's */
    char owner[EC2_OWNER_SIZE]; /* of the reservation whose instances are read */
    char root[EC2_NAME_SIZE];
    char tag_key[EC2_NAME_SIZE];
    char tag_value[256];
    union {
        struct ec2_instance instance;
        struct ec2_type type;
        struct ec2_offering offering;
        struct ec2_spot_price price;
        struct ec2_fleet_row fleet;
    } row;
};

static void copy_text(char *ret, size_t size, const char *text)
{
    size_t i = 0;

    for (; i + 1 < size && text[i] != '\0'; i++) {
        ret[i] = text[i];
        if (text[i] < 0x20 || text[i] >= 0x7f)
            ret[i] = '?';
    }
    ret[i] = '\0';
}

static enum ec2_state state_of(const char *text)
{
    static const char *const names[] = { "",           "pending",  "running", "shutting-down",
                                         "terminated", "stopping", "stopped" };

    for (size_t i = 1; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(text, names[i]) == 0)
            return (enum ec2_state)i;
    }
    return EC2_UNKNOWN;
}

static uint32_t number_of(const char *text)
{
    uint64_t value = 0;

    return number_id(text, strlen(text), &value) == 0 && value <= UINT32_MAX / 2 ? (uint32_t)value
                                                                                 : 0;
}

static money_t money_of(const char *text)
{
    int64_t value = 0;

    return number_nearest(text, strlen(text), 6, &value) == 0 && value >= 0 ? value : -1;
}

/* One more of a list, with a comma; what does not fit is left out. */
static void add_word(char *words, size_t size, const char *text)
{
    const size_t used = strlen(words);

    if (used + strlen(text) + 2 > size)
        return;
    if (used > 0)
        words[used] = ',';
    copy_text(words + used + (used > 0), size - used - (used > 0), text);
}

static void set_field(struct reading *reading, const struct field *field, const char *text)
{
    char *place = (char *)&reading->row + field->offset;
    uint32_t sum = 0;

    switch (field->form) {
    case FORM_TEXT:
        if (place[0] == '\0')
            copy_text(place, field->size, text);
        break;
    case FORM_WORDS:
        add_word(place, field->size, text);
        break;
    case FORM_SUM:
        memcpy(&sum, place, sizeof(sum));
        sum += number_of(text) < UINT16_MAX && sum < UINT16_MAX ? number_of(text) : 0;
        memcpy(place, &sum, sizeof(sum));
        break;
    case FORM_NUMBER:
        memcpy(place, &(uint32_t){ number_of(text) }, sizeof(uint32_t));
        break;
    case FORM_TRUE:
        if (strcmp(text, field->word) == 0)
            memcpy(place, &(bool){ true }, sizeof(bool));
        break;
    case FORM_TIME:
        memcpy(place, &(msec_t){ aws_clock_read(text) }, sizeof(msec_t));
        break;
    case FORM_MONEY:
        memcpy(place, &(money_t){ money_of(text) }, sizeof(money_t));
        break;
    case FORM_STATE:
        memcpy(place, &(enum ec2_state){ state_of(text) }, sizeof(enum ec2_state));
        break;
    }
}

static void set_tag(struct reading *reading)
{
    struct ec2_instance *instance = &reading->row.instance;

    if (strcmp(reading->tag_key, "stint:cluster") == 0)
        copy_text(instance->tag_cluster, sizeof(instance->tag_cluster), reading->tag_value);
    else if (strcmp(reading->tag_key, "stint:key") == 0)
        copy_text(instance->tag_key, sizeof(instance->tag_key), reading->tag_value);
    else if (strcmp(reading->tag_key, "stint:offer") == 0)
        copy_text(instance->tag_offer, sizeof(instance->tag_offer), reading->tag_value);
    reading->tag_key[0] = '\0';
    reading->tag_value[0] = '\0';
}

static void close_in_row(struct reading *reading, const char *path, const char *text)
{
    if (reading->kind == ROW_INSTANCE && strncmp(path, "tagSet/", 7) == 0) {
        if (strcmp(path, "tagSet/item/key") == 0)
            copy_text(reading->tag_key, sizeof(reading->tag_key), text);
        else if (strcmp(path, "tagSet/item/value") == 0)
            copy_text(reading->tag_value, sizeof(reading->tag_value), text);
        else if (strcmp(path, "tagSet/item") == 0)
            set_tag(reading);
        return;
    }

    const size_t length = strlen(path);

    for (const struct field *field = reading->fields; field->row == reading->kind; field++) {
        if (field->length == length && memcmp(field->path, path, length) == 0)
            set_field(reading, field, text);
    }
}

static void on_root(void *context, const char *name)
{
    static const char tail[] = "Response";
    struct reading *reading = context;
    const size_t length = reading->action != NULL ? strlen(reading->action) : 0;

    copy_text(reading->root, sizeof(reading->root), name);
    reading->is_error = strcmp(name, tail) == 0 || strcmp(name, "ErrorResponse") == 0;
    reading->is_of_action =
        reading->action == NULL ||
        (strncmp(name, reading->action, length) == 0 && strcmp(name + length, tail) == 0);
}

static void open_row(struct reading *reading, enum row_kind kind, const char *path, uint32_t depth)
{
    memset(&reading->row, 0, sizeof(reading->row));
    reading->kind = kind;
    reading->fields = fields;
    while (reading->fields->row != kind)
        reading->fields++;
    reading->row_depth = depth;
    reading->row_path = strlen(path) + 1;
    if (kind == ROW_INSTANCE) {
        reading->row.instance.launched_at = -1;
        reading->row.instance.changed_at = -1;
        memcpy(reading->row.instance.owner, reading->owner, sizeof(reading->owner));
    } else if (kind == ROW_PRICE) {
        reading->row.price.price = -1;
        reading->row.price.at = -1;
    }
}

static void tell_row(const struct reading *reading)
{
    const struct ec2_sink *sink = reading->sink;

    switch (reading->kind) {
    case ROW_INSTANCE:
        if (sink->on_instance != NULL)
            sink->on_instance(sink->context, &reading->row.instance);
        break;
    case ROW_TYPE:
        if (sink->on_type != NULL)
            sink->on_type(sink->context, &reading->row.type);
        break;
    case ROW_OFFERING:
        if (sink->on_offering != NULL)
            sink->on_offering(sink->context, &reading->row.offering);
        break;
    case ROW_PRICE:
        if (sink->on_spot_price != NULL)
            sink->on_spot_price(sink->context, &reading->row.price);
        break;
    case ROW_FLEET:
        if (sink->on_fleet != NULL)
            sink->on_fleet(sink->context, &reading->row.fleet);
        break;
    case ROW_NONE:
        break;
    }
}

static void on_open(void *context, const char *path, uint32_t depth)
{
    struct reading *reading = context;

    if (reading->kind != ROW_NONE || !reading->is_of_action || !aws_xml_ends_in(path, "item"))
        return;
    if (aws_xml_ends_in(path, "reservationSet/item"))
        reading->owner[0] = '\0';
    for (size_t i = 0; i < sizeof(row_places) / sizeof(*row_places); i++) {
        if (aws_xml_ends_in(path, row_places[i].tail)) {
            open_row(reading, row_places[i].kind, path, depth);
            return;
        }
    }
}

static void close_outside(struct reading *reading, const char *path, const char *text)
{
    struct ec2_answer *answer = reading->answer;

    if (aws_xml_ends_in(path, "Error/Code"))
        copy_text(answer->code, sizeof(answer->code), text);
    else if (aws_xml_ends_in(path, "Error/Message"))
        copy_text(answer->message, sizeof(answer->message), text);
    else if (aws_xml_ends_in(path, "nextToken"))
        copy_text(answer->next_token, sizeof(answer->next_token), text);
    else if (aws_xml_ends_in(path, "reservationSet/item/ownerId") || strcmp(path, "ownerId") == 0)
        copy_text(reading->owner, sizeof(reading->owner), text);
}

static void on_close(void *context, const char *path, uint32_t depth, const char *text)
{
    struct reading *reading = context;

    if (reading->kind == ROW_NONE) {
        close_outside(reading, path, text);
        return;
    }
    if (depth > reading->row_depth) {
        close_in_row(reading, path + reading->row_path, text);
        return;
    }
    if (reading->answer->rows < EC2_ROWS_MAX) {
        tell_row(reading);
        reading->answer->rows++;
    } else {
        reading->is_full = true;
    }
    reading->kind = ROW_NONE;
}

int ec2_answer_read(const char *text, size_t size, const char *action, const struct ec2_sink *sink,
                    struct ec2_answer *ret, struct error *reterr)
{
    struct reading reading = { .sink = sink, .answer = ret, .action = action };
    const struct aws_xml_sink xml = { on_open, on_close, &reading, on_root };

    *ret = (struct ec2_answer){ 0 };

    const int rc = aws_xml_read(text, size, &xml, reterr);

    if (rc == 0 && !reading.is_of_action && !(reading.is_error && ret->code[0] != '\0'))
        return error_set(reterr, -EBADMSG, "the answer is a %s, not a %sResponse", reading.root,
                         action);

    if (rc == 0 && reading.is_full)
        return error_set(reterr, -E2BIG, "the answer has more than %d rows", EC2_ROWS_MAX);
    return rc;
}
