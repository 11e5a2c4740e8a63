/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/check.h"
#include "trace/commitments_file.h"
#include "trace/input_file.h"

static void read_text(struct commitments *commitments, const char *text)
{
    struct error error = { "" };

    if (commitments_read(text, strlen(text), commitments, &error) < 0)
        fail_msg("%s", error.text);
}

TEST(classes_stand_behind_on_demand)
{
    struct commitments commitments;
    read_text(&commitments, "title: mine\n"
                            "on_demand: 2.40\n"
                            "classes:\n"
                            "  - {name: light, term: 1095d, upfront: 2710, per_used_hour: 0.884}\n"
                            "  - {name: heavy, term: 8760h, upfront: 5000, per_hour: 0.361}\n");

    assert_string_equal(commitments.title, "mine");
    assert_int_equal(commitments.class_count, 3);
    assert_int_equal(commitments.classes[0].per_used_hour, 2400000);
    assert_int_equal(commitments.classes[0].term_hours, 0);
    assert_string_equal(commitments.classes[1].name, "light");
    assert_int_equal(commitments.classes[1].term_hours, 26280);
    assert_int_equal(commitments.classes[1].upfront, 2710 * MONEY_PER_USD);
    assert_int_equal(commitments.classes[1].per_used_hour, 884000);
    assert_int_equal(commitments.classes[2].per_hour, 361000);
    commitments_done(&commitments);
}

TEST(a_type_has_its_own_price_and_the_classes_follow)
{
    struct commitment classes[COMMITMENT_CLASSES_MAX];
    struct commitments commitments;
    read_text(&commitments, "on_demand: 1\n"
                            "types: {web: 0.5, big one: 4}\n"
                            "classes:\n"
                            "  - {name: a, term: 365d, upfront: 1000, per_hour: 0.4}\n"
                            "  - {name: b, term: 365d, unit: dollar, discount: 0.25}\n");

    assert_int_equal(commitments_price(&commitments, "web"), 500000);
    assert_int_equal(commitments_price(&commitments, "big one"), 4000000);
    assert_int_equal(commitments_price(&commitments, "other"), 1000000);
    commitments_at(&commitments, 4000000, classes);
    assert_int_equal(classes[0].per_used_hour, 4000000);
    assert_int_equal(classes[1].upfront, 4000 * MONEY_PER_USD);
    assert_int_equal(classes[1].per_hour, 1600000);
    assert_int_equal(classes[2].per_hour, 3000000);
    assert_int_equal(classes[2].unit, COMMITMENT_INSTANCE);
    commitments_done(&commitments);
}

TEST(dollars_that_are_paid_in_advance_are_not_paid_again)
{
    struct commitments commitments;
    read_text(&commitments,
              "on_demand: 1\n"
              "classes: [{name: b, term: 365d, unit: dollar, discount: 0.3, upfront: 8760}]\n");

    assert_int_equal(commitments.classes[1].per_hour, 0);
    assert_int_equal(commitments.classes[1].upfront, 8760 * MONEY_PER_USD);
    commitments_done(&commitments);
}

TEST(bad_classes_are_refused_with_the_line)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        { "classes: []\n", "line 1: the document lacks the key 'on_demand'" },
        { "on_demand: 0\nclasses: []\n",
          "line 1: 'on_demand' must be above 0: it is the price on demand" },
        { "on_demand: 1\nclasses:\n  - {name: a}\n",
          "line 3: entry 1 of 'classes' lacks the key 'term'" },
        { "on_demand: 1\nclasses:\n  - {name: a, term: 90m}\n",
          "line 3: 'term' must be whole hours, such as 365d" },
        { "on_demand: 1\nclasses:\n  - {name: a, term: 1d}\n  - {name: a, term: 1d}\n",
          "line 4: the class 'a' is there twice" },
        { "on_demand: 1\nclasses:\n  - {name: on demand, term: 1d}\n",
          "line 3: the class 'on demand' is there twice" },
        { "on_demand: 1\nclasses:\n  - {name: a, term: 1d, unit: euro}\n",
          "line 3: 'unit' must be instance or dollar, not 'euro'" },
        { "on_demand: 1\nclasses:\n  - {name: a, term: 1d, unit: dollar}\n",
          "line 3: 'unit: dollar' needs a 'discount', such as 0.28 off the on-demand price" },
        { "on_demand: 1\nclasses:\n  - {name: a, term: 1d, discount: 0.1}\n",
          "line 3: 'discount' is for 'unit: dollar'; the price of an instance is given by "
          "'upfront', 'per_hour' and 'per_used_hour'" },
        { "on_demand: 1\nclasses:\n  - {name: a, term: 1d, per_used_hour: 1.01}\n",
          "line 3: 'per_used_hour' is above the price on demand, so that using the commitment costs "
          "more than not to" },
        { "on_demand: 1\ntypes: {a: 0}\nclasses: []\n",
          "line 2: 'a' must be above 0: it is the price on demand" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct commitments commitments = { .class_count = 42 };
        struct error error = { "" };

        assert_int_equal(
            commitments_read(cases[i].text, strlen(cases[i].text), &commitments, &error), -EINVAL);
        assert_string_equal(error.text, cases[i].error);
        assert_int_equal(commitments.class_count, 42);
    }
}

TEST(classes_have_a_limit)
{
    char text[4096] = "on_demand: 1\nclasses:\n";
    size_t used = strlen(text);
    struct commitments commitments;
    struct error error = { "" };

    for (int i = 0; i < COMMITMENT_CLASSES_MAX; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "- {name: c%d, term: 1d}\n", i);

    assert_int_equal(commitments_read(text, used, &commitments, &error), -E2BIG);
    assert_string_equal(error.text, "line 34: there are more than 31 classes");
}

TEST(the_example_of_the_document_is_what_the_document_says)
{
    const char *folder = getenv("STINT_FORMATS");
    struct commitment classes[COMMITMENT_CLASSES_MAX];
    struct commitments commitments;
    struct input_file file;
    struct error error = { "" };
    char path[4096];

    assert_non_null(folder);
    (void)snprintf(path, sizeof(path), "%s/commitments.example.yaml", folder);
    if (input_file_read(path, &file, &error) < 0)
        fail_msg("%s", error.text);
    read_text(&commitments, file.text);
    commitments_at(&commitments, commitments_price(&commitments, "web"), classes);

    assert_int_equal(commitments.class_count, 4);
    assert_int_equal(classes[1].upfront, 677500000);
    assert_int_equal(classes[1].per_used_hour, 221000);
    assert_int_equal(classes[3].per_hour, 432000);
    commitments_done(&commitments);
    input_file_done(&file);
}

CHECK_MAIN(RUN(classes_stand_behind_on_demand),
           RUN(a_type_has_its_own_price_and_the_classes_follow),
           RUN(dollars_that_are_paid_in_advance_are_not_paid_again),
           RUN(bad_classes_are_refused_with_the_line), RUN(classes_have_a_limit),
           RUN(the_example_of_the_document_is_what_the_document_says))
