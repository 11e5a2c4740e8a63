/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_facts.h - what a rented instance is given, and what it says of itself to Slurm.
 *
 * User data, tags, notices and tokens come from the metadata service. What they say ends in the arguments
 * of other programs, so every value must keep to a small alphabet, and no shell is involved.
 *
 * Promises:  pure; any bytes may be read. A failure has a text, which repeats nothing of what was
 *            read, and leaves the result as it was. A value never becomes two words of a command, nor
 *            a word that begins with '-'.
 * Bounds:    JOIN_USER_DATA_MAX bytes of user data, JOIN_WORDS_MAX words of a command. O(bytes).
 */
#ifndef STINT_CLOUD_JOIN_FACTS_H
#define STINT_CLOUD_JOIN_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"

enum {
    JOIN_USER_DATA_MAX = 65536, /* EC2 has at most 16 KiB */
    JOIN_NOTICE_MAX = 4096,
    JOIN_TAG_MAX = 1024, /* bytes of a tag's value, of the zone, of the launch index */
    JOIN_INDEX_MAX = 99999,
    JOIN_TOKEN_SIZE = 512,
    JOIN_VALUE_SIZE = 64,
    JOIN_CONF_SIZE = 512,
    JOIN_WORDS_MAX = 64,
    JOIN_COMMAND_MAX = 4096, /* letters of a filled command */
};

/* Those that are empty were not given. */
struct join_facts {
    char cluster[JOIN_VALUE_SIZE];
    char node[JOIN_VALUE_SIZE];
    char type[JOIN_VALUE_SIZE];
    char zone[JOIN_VALUE_SIZE];
    char market[JOIN_VALUE_SIZE];
    char idle[JOIN_VALUE_SIZE]; /* seconds after which it ends itself; see stint-join(8) */
};

/* The machine as it is. */
struct join_machine {
    uint32_t cpus;
    uint64_t mem_mib;
    uint32_t gpus;
};

enum join_notice_kind { JOIN_INTERRUPTION, JOIN_REBALANCE };

struct join_notice {
    enum join_notice_kind kind;
    char action[JOIN_VALUE_SIZE]; /* "terminate", "stop", "hibernate", "rebalance" */
    msec_t at;                    /* when it happens; of a recommendation: when it was made */
};

/* What stands in for {name} in a command. */
struct join_filling {
    const char *name; /* "{node}" */
    const char *value;
};

struct join_command {
    char text[JOIN_COMMAND_MAX];     /* the words, a zero behind each */
    char *words[JOIN_WORDS_MAX + 1]; /* into 'text'; NULL behind the last */
};

/*
 * The lines STINT_CLUSTER=, STINT_NODE=, STINT_TYPE=, STINT_ZONE=, STINT_MARKET= and STINT_IDLE= of user data;
 * other lines are passed over, so they may stand in a script. Cluster and node must be there.
 * -ENOENT: there is none of the six; -EINVAL: cluster or node lacks, or a value is wrong, or there
 * twice and different.
 */
int join_facts_read(const char *text, size_t size, struct join_facts *ret, struct error *reterr);

/* The launch index: digits, at most JOIN_INDEX_MAX. */
int join_index_read(const char *text, size_t size, uint32_t *ret, struct error *reterr);

/*
 * Instances of one request are given the name of the first one: st-9 is st-12 for the one with launch
 * index 3. Zeros before the number stay what they are, as stintd writes none there: n09 and 1 is n010.
 * With index 0 any name stays. -EINVAL: no number ends the name; -ERANGE: it becomes too large;
 * -E2BIG: the name becomes too long.
 */
int join_facts_count_on(struct join_facts *facts, uint32_t index, struct error *reterr);

/* Where the facts are if user data has none: a fleet gives its instances tags only. */
enum join_tag {
    JOIN_TAG_CLUSTER,
    JOIN_TAG_NODE,
    JOIN_TAG_OFFER, /* "TYPE/ZONE/MARKET"; the zone is that which was asked for, and may be empty */
    JOIN_TAG_ZONE,  /* no tag, but where the instance stands */
    JOIN_TAGS,
};

/* The path of such a document. */
const char *join_tag_path(enum join_tag tag);

/* Take what one of them says; -EINVAL: it is wrong. */
int join_facts_take_tag(enum join_tag tag, const char *text, size_t size, struct join_facts *facts,
                        struct error *reterr);

/* The document of spot/instance-action or of events/recommendations/rebalance. */
int join_notice_read(enum join_notice_kind kind, const char *text, size_t size,
                     struct join_notice *ret, struct error *reterr);

bool join_notice_is_same(const struct join_notice *a, const struct join_notice *b);

/* "aws-terminate-2024-05-01T12:34:56Z" into 'ret' of 128 bytes. */
void join_notice_reason(const struct join_notice *notice, char *ret);

/* A session token of the metadata service: printable, without spaces. */
bool join_token_is_good(const char *text, size_t size);

/* Whether 'text' may be a list of features: words of letters, digits, '_', '.', '-', with commas. */
bool join_features_are_good(const char *text);

/*
 * What slurmd says of itself: "CPUs=4 RealMemory=15800 Feature=cloud,m7i.xlarge,m7i,spot,us-east-1a
 * Gres=gpu:1". 'features' go before those of the instance and must be good; may be empty.
 * 'mem_percent' of the memory may be asked for by jobs.
 */
int join_conf_line(const struct join_facts *facts, const struct join_machine *machine,
                   const char *features, uint32_t mem_percent, char ret[JOIN_CONF_SIZE],
                   struct error *reterr);

/* Memory from the text of /proc/meminfo, in MiB; 0: it does not say. */
uint64_t join_read_meminfo(const char *text);

/* Split 'pattern' at spaces, then fill in. -EINVAL: it is empty, too long, or has an unknown {name}. */
int join_command_make(const char *pattern, const struct join_filling *fillings, size_t count,
                      struct join_command *ret, struct error *reterr);

#endif
