/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test/check.h"

#include "engine/slurm/slurm_release.h"

TEST(releases_are_ordered_as_their_numbers)
{
    assert_true(slurm_release_parse("22.05.8") == SLURM_VERSION_NUM(22, 5, 8));
    assert_true(slurm_release_parse("24.11.5") > slurm_release_parse("24.05.12"));
    assert_true(slurm_release_parse("26.05") == slurm_release_parse("26.05.0-0rc1"));
}

TEST(what_is_no_release_counts_as_the_oldest)
{
    assert_true(slurm_release_parse(NULL) == 0);
    assert_true(slurm_release_parse("") == 0);
    assert_true(slurm_release_parse("master") == 0);
    assert_true(slurm_release_revokes_late(0));
}

TEST(a_stopped_job_starts_at_once_where_slurmctld_is_new_enough)
{
    assert_true(slurm_release_revokes_late(slurm_release_parse("22.05.8")));
    assert_true(slurm_release_revokes_late(slurm_release_parse("25.05.3")));
    assert_false(slurm_release_revokes_late(slurm_release_parse("25.11.0")));
    assert_false(slurm_release_revokes_late(slurm_release_parse("26.05.5")));
}

CHECK_MAIN(RUN(releases_are_ordered_as_their_numbers), RUN(what_is_no_release_counts_as_the_oldest),
           RUN(a_stopped_job_starts_at_once_where_slurmctld_is_new_enough))
