/* SPDX-License-Identifier: Apache-2.0 */
#include "control/ports/findings.h"

#include <stdio.h>
#include <string.h>

#include "base/test/check.h"

static void keep(void *context, const struct finding *finding)
{
    (void)snprintf(context, 1024, "%s|%s|%s|%s|%s|%s", finding->severity, finding->kind,
                   finding->subject, finding->text, finding->advice,
                   strrchr(finding->address, '/'));
}

TEST(a_finding_has_severity_advice_and_address_of_its_kind)
{
    char got[1024];
    const struct finding_sink sink = { .tell = keep, .context = got };

    finding_tell(&sink, &(struct finding_case){ FINDING_STUCK_NODE, .subject = "st-1" }, "%s %d",
                 "gone", 7);

    assert_string_equal(got, "warning|stuck-node|st-1|gone 7|It does no harm. Remove it with "
                             "`scontrol delete nodename=NAME`.|/findings-slurm.md#stuck-node");
}

TEST(a_case_may_have_its_own)
{
    char got[1024];
    const struct finding_sink sink = { .tell = keep, .context = got };

    finding_tell(&sink,
                 &(struct finding_case){ FINDING_OUTDATED, .subject = "lab", .severity = "note",
                                         .advice = "Wait." },
                 "old");

    assert_string_equal(got, "note|outdated|lab|old|Wait.|/findings.md#outdated");
}

TEST(every_kind_is_complete_and_unlike_the_others)
{
    for (int i = 0; i < FINDING_KINDS; i++) {
        assert_non_null(finding_kinds[i].name);
        assert_non_null(finding_kinds[i].about);
        assert_non_null(finding_kinds[i].page);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(finding_kinds[i].name, finding_kinds[j].name);
    }
}

CHECK_MAIN(RUN(a_finding_has_severity_advice_and_address_of_its_kind), RUN(a_case_may_have_its_own),
           RUN(every_kind_is_complete_and_unlike_the_others))
