/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test/check.h"

#include "engine/slurm/slurm_fields.h"

TEST(a_count_is_read_from_the_list_that_slurm_writes)
{
    const char *tres = "cpu=4,mem=2G,node=3,billing=4,gres/gpu=8";

    assert_int_equal(slurm_fields_tres(tres, "cpu", 1), 4);
    assert_int_equal(slurm_fields_tres(tres, "node", 1), 3);
    assert_int_equal(slurm_fields_tres(tres, "gres/gpu", 0), 8);
}

TEST(what_is_not_in_the_list_is_what_the_caller_says)
{
    assert_int_equal(slurm_fields_tres(NULL, "node", 7), 7);
    assert_int_equal(slurm_fields_tres("", "node", 7), 7);
    assert_int_equal(slurm_fields_tres("nodes=3,xnode=4", "node", 7), 7);
}

TEST(memory_per_node_is_taken_as_it_is)
{
    assert_int_equal(slurm_fields_mem_mib(4096, 8, 2), 4096);
    assert_int_equal(slurm_fields_mem_mib(0, 8, 2), 0);
}

TEST(memory_per_cpu_is_multiplied_by_the_cpus_of_the_fullest_node)
{
    const uint64_t per_cpu = (uint64_t)1 << 63;

    assert_int_equal(slurm_fields_mem_mib(per_cpu | 512, 8, 2), 2048);
    assert_int_equal(slurm_fields_mem_mib(per_cpu | 512, 9, 2), 2560);
    assert_int_equal(slurm_fields_mem_mib(per_cpu | 512, 8, 0), 4096);
    assert_true(slurm_fields_mem_mib(UINT64_MAX, 8, 1) == UINT64_MAX);
}

TEST(different_lines_have_different_hashes)
{
    assert_true(slurm_fields_hash("a", 1) != slurm_fields_hash("b", 1));
    assert_true(slurm_fields_hash("ab", 2) != slurm_fields_hash("ba", 2));
    assert_true(slurm_fields_hash("ab", 2) == slurm_fields_hash("abc", 2));
}

CHECK_MAIN(RUN(a_count_is_read_from_the_list_that_slurm_writes),
           RUN(what_is_not_in_the_list_is_what_the_caller_says),
           RUN(memory_per_node_is_taken_as_it_is),
           RUN(memory_per_cpu_is_multiplied_by_the_cpus_of_the_fullest_node),
           RUN(different_lines_have_different_hashes))
