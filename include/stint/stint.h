/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint.h - all of libstint: which machines to rent for a cluster's work, what runs where, and what it costs.
 *
 *     catalogue.h   what could be rented
 *     settings.h    the policy, its options, limits
 *     ports.h       what the controller asks of your engine and your cloud
 *     events.h      what you tell it of them
 *     controller.h  the loop, and what is known
 *     plan.h        what the last decision said, and why
 *
 * The library decides and keeps the books. It makes no input or output, reads no clock, starts no thread, logs
 * nothing and has no global state; it needs libc and libm. docs/internals/library.md is the guide, examples/embed/toy.c
 * a whole program.
 */
#ifndef STINT_STINT_H
#define STINT_STINT_H

#include <stint/catalogue.h>
#include <stint/common.h>
#include <stint/controller.h>
#include <stint/events.h>
#include <stint/plan.h>
#include <stint/ports.h>
#include <stint/settings.h>

#endif
