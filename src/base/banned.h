/* SPDX-License-Identifier: Apache-2.0 */
/*
 * banned.h - functions that we do not call, made impossible. Given to every file by the build.
 *
 * They overflow (strcpy, strcat, sprintf), fail silently (atoi), hide state (strtok, rand,
 * localtime) or read a clock behind the decision's back (time).
 */
#ifndef STINT_BASE_BANNED_H
#define STINT_BASE_BANNED_H

/* Declared first, so that poisoning the names does not trip over the system's own headers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* With clang, a fortified libc has these as macros; only a plain name can be poisoned. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atoll gets rand srand
#pragma GCC poison localtime gmtime asctime ctime

#endif
