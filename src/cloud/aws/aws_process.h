/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_process.h - a program that prints keys (credential_process), run beside the loop.
 *
 * Promises:  there is no shell. The program gets our environment, no input, and its errors are not read:
 *            they might hold what no log may. What it printed is wiped after use. A program that
 *            prints too much or takes too long is killed, and what it started with it; of one that has
 *            ended nothing more is killed, since its number may be another's by then.
 * Bounds:    AWS_PROCESS_OUTPUT_MAX bytes, AWS_PROCESS_MS of time, AWS_PROCESS_WORDS_MAX words.
 */
#ifndef STINT_CLOUD_AWS_PROCESS_H
#define STINT_CLOUD_AWS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct uv_loop_s;
struct aws_process;

enum {
    AWS_PROCESS_OUTPUT_MAX = 16384,
    AWS_PROCESS_MS = 30000,
    AWS_PROCESS_WORDS_MAX = 64,
};

struct aws_process_config {
    struct uv_loop_s *loop;
    const char *command;
    uint32_t timeout_ms; /* 0: AWS_PROCESS_MS */
    /* Once, unless it is dropped: what was printed, or NULL and why not. The process is gone then. */
    void (*on_done)(void *context, const char *text, size_t size, const char *why);
    void *context;
};

/* Cut 'command' into words in place, NULL behind the last: space divides them unless it stands in double
 * quotes. What a shell would treat otherwise, a backslash or a single quote, is refused. */
int aws_process_split(char *command, char *ret_words[AWS_PROCESS_WORDS_MAX + 1],
                      struct error *reterr);

/* No callback before it returns; an error: there will be none. */
int aws_process_start(const struct aws_process_config *config, struct aws_process **ret,
                      struct error *reterr);

/* Kill it and say nothing. The loop must turn until it has ended. Takes NULL. */
void aws_process_drop(struct aws_process *process);

#endif
