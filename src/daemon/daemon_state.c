/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state file: what the daemon keeps of itself from one run to the next.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/daemon_private.h"
#include "daemon/log.h"
#include "store/store_report.h"

enum { WORD_SIZE = 128 };

/* The virtual world has books of its own: its machines must never be taken for real ones. */
const char *daemon_state_file(struct daemon *daemon)
{
    const size_t size = strlen(daemon->conf.state) + sizeof(".shadow");
    char *path = arena_alloc(&daemon->arena, size, 1);

    (void)snprintf(path, size, "%s%s", daemon->conf.state,
                   daemon->conf.mode == CONF_SHADOW ? ".shadow" : "");
    return path;
}

/*
 * Where machines are. Under another name, at another cloud, in another region or with another account's
 * keys nobody would find them, and they would be paid for until somebody looks. With another prefix
 * nobody would know their nodes. The account is known only when the cloud was asked: see daemon_check_account.
 */

struct home {
    char cluster[WORD_SIZE];
    char cloud[WORD_SIZE];
    char region[WORD_SIZE]; /* empty: there are none, or it is for the profile to say */
    char prefix[WORD_SIZE];
};

static struct home home_of(const struct conf *conf)
{
    struct home home;

    (void)snprintf(home.cluster, sizeof(home.cluster), "%s", conf->cluster);
    (void)snprintf(home.cloud, sizeof(home.cloud), "%s", conf->cloud.kind->name);
    (void)snprintf(home.region, sizeof(home.region), "%s",
                   conf->cloud.kind->region(conf->cloud.settings));
    (void)snprintf(home.prefix, sizeof(home.prefix), "%s", conf->node_prefix);
    return home;
}

static bool is_same(const struct home *a, const struct home *b)
{
    return strcmp(a->cluster, b->cluster) == 0 && strcmp(a->cloud, b->cloud) == 0 &&
           (a->region[0] == '\0' || b->region[0] == '\0' || strcmp(a->region, b->region) == 0) &&
           (a->prefix[0] == '\0' || strcmp(a->prefix, b->prefix) == 0); /* 'a' may be older */
}

static void count_instance(void *context, const struct store_instance *instance)
{
    unsigned *count = context;

    (void)instance;
    ++*count;
}

static void count_rent(void *context, const struct store_intent *intent)
{
    unsigned *count = context;

    *count += intent->kind == STORE_RENT ? 1 : 0;
}

/* Machines that are rented, or may be. */
static int count_machines(struct daemon *daemon, unsigned *ret, struct error *reterr)
{
    const int rc = store_each_instance(daemon->store, count_instance, ret, reterr);

    return rc < 0 ? rc : store_each_open_intent(daemon->store, count_rent, ret, reterr);
}

static int check_home(struct daemon *daemon, const struct home *now, struct error *reterr)
{
    struct home last;
    unsigned count = 0;
    const int rc = count_machines(daemon, &count, reterr);

    if (rc < 0)
        return rc;
    store_marked(daemon->store, MARK_CLUSTER, last.cluster, sizeof(last.cluster));
    store_marked(daemon->store, MARK_CLOUD, last.cloud, sizeof(last.cloud));
    store_marked(daemon->store, MARK_REGION, last.region, sizeof(last.region));
    store_marked(daemon->store, MARK_PREFIX, last.prefix, sizeof(last.prefix));
    if (count == 0 || last.cluster[0] == '\0' || is_same(&last, now))
        return 0;
    return error_set(
        reterr, -EBUSY,
        "%s: %u machines are still rented as cluster %.32s at cloud %s %.32s with node prefix "
        "'%.32s', where this configuration (%.32s, %s %.32s, '%.32s') would not find them. Start "
        "stintd with the old one, 'stint drain', and wait until 'stint status' shows none; or "
        "give them back by hand and move the file away",
        daemon->conf.state, count, last.cluster, last.cloud, last.region, last.prefix, now->cluster,
        now->cloud, now->region, now->prefix);
}

int daemon_check_account(struct daemon *daemon, const char *account, struct error *reterr)
{
    char last[WORD_SIZE];
    unsigned count = 0;
    const int rc = count_machines(daemon, &count, reterr);

    if (rc < 0)
        return rc;
    store_marked(daemon->store, MARK_ACCOUNT, last, sizeof(last));
    if (strcmp(last, account) == 0)
        return 0;
    if (count > 0 && last[0] != '\0')
        return error_set(reterr, -EBUSY,
                         "the %s keys are of account %s, and %u machines are still rented in "
                         "account %.16s: nothing is rented, listed or ended. Put the keys of the "
                         "old account back; to move, 'stint drain' with those first",
                         daemon->cloud_kind->owner, account, count, last);
    journal_mark(&daemon->journal, MARK_ACCOUNT, account);
    daemon->write_at = daemon->now;
    return 0;
}

/* Nothing is written that is there already, so that a start on a full disk succeeds. */
static void keep_mark(struct store *store, enum store_mark mark, const char *value)
{
    char kept[WORD_SIZE];

    store_marked(store, mark, kept, sizeof(kept));
    if (strcmp(kept, value) != 0)
        store_mark(store, mark, value);
}

static int keep_home(struct daemon *daemon, struct error *reterr)
{
    const struct home home = home_of(&daemon->conf);
    const int rc = check_home(daemon, &home, reterr);

    if (rc < 0)
        return rc;
    store_begin(daemon->store);
    keep_mark(daemon->store, MARK_CLUSTER, home.cluster);
    keep_mark(daemon->store, MARK_CLOUD, home.cloud);
    keep_mark(daemon->store, MARK_REGION, home.region);
    keep_mark(daemon->store, MARK_PREFIX, home.prefix);
    return store_commit(daemon->store, reterr);
}

int daemon_open_state(struct daemon *daemon, struct error *reterr)
{
    char draining[WORD_SIZE];
    int rc = store_open(daemon_state_file(daemon), &daemon->store, reterr);

    if (rc == 0 && daemon->conf.mode != CONF_SHADOW) /* virtual machines are nowhere */
        rc = keep_home(daemon, reterr);
    if (rc == 0)
        rc = store_warm(daemon->store, reterr);
    if (rc < 0)
        return rc;
    store_marked(daemon->store, MARK_DRAINING, draining, sizeof(draining));
    daemon->is_draining = strcmp(draining, "yes") == 0;
    if (daemon->is_draining)
        LOG_INFO("still draining: no machine is rented, empty ones are returned");
    return 0;
}
