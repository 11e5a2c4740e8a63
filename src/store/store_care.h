/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_care.h - look after a state file from outside: check it, copy it, put a copy back.
 *
 *     store_check("/var/lib/stint/stint.db", &report, &error);       while the daemon runs, or not
 *     store_backup("/var/lib/stint/stint.db", "monday.db", &error);  likewise
 *     store_restore("/var/lib/stint/stint.db", "monday.db", now, &restored, &error);   it must not run
 *
 * Promises:  a backup is one file, whole, as of one commit of the daemon, and was checked before it got
 *            its name; what is there already is not overwritten. A restore refuses a damaged backup and
 *            a running daemon, and keeps the file that it replaces.
 * Keys:      after a backup was taken the daemon used more keys, for machines that may be gone by now and
 *            are in no list. No key may be used twice (the cloud would take the second request for a
 *            repetition of the first), so a restored file begins above all that can have been used since:
 *            above those of the replaced file, if it can be read, and by STORE_KEYS_PER_SECOND for the
 *            time between the backup's last entry and now.
 * Costs:     O(size of the file).
 */
#ifndef STINT_STORE_STORE_CARE_H
#define STINT_STORE_STORE_CARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"

enum {
    STORE_KEYS_PER_SECOND = 100, /* far more than a Slurm cluster starts */
    STORE_KEYS_STEP = 1000000,   /* at least so many keys are left out */
    STORE_REPORT_TABLES = 6,
    STORE_PATH_ROOM = 4096,
};

struct store_report {
    int64_t bytes;
    int64_t version; /* of the schema */
    bool
        is_sealed; /* false: written by a version without checksums; only the structure was checked */
    struct {
        const char *name;
        uint64_t rows;
        money_t money;
    } tables[STORE_REPORT_TABLES];
    uint64_t next_key;
    uint64_t open_intents;
    uint64_t living;  /* machines that are rented, by these books */
    msec_t newest_at; /* of all entries; -1: there is none */
};

/* -EBADMSG: it is damaged, and 'reterr' says how. */
int store_check(const char *path, struct store_report *ret, struct error *reterr);

/* -EEXIST: there is something called 'to'. */
int store_backup(const char *path, const char *to, struct error *reterr);

struct store_restored {
    struct store_report report;     /* of what was restored */
    uint64_t first_key;             /* the next one that is used */
    char replaced[STORE_PATH_ROOM]; /* where the file went that was there; "": there was none */
};

/* -EBUSY: a daemon has the file. 'now' is the time of day. */
int store_restore(const char *path, const char *from, msec_t now, struct store_restored *ret,
                  struct error *reterr);

#endif
