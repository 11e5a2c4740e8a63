/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_conf_check.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "control/ports/findings.h"

enum {
    FIXED_RELEASE = 2302, /* its backfill scheduler survives a node that is deleted */
    SELDOM_S = 600,       /* backfill that runs no more often hardly meets such a deletion */
    UNIT_LINE = 1024
};

static uint32_t number_of(const struct line *line, const char *key)
{
    const char *text = line_get(line, key);
    uint64_t number = 0;

    return text != NULL && line_number(text, UINT32_MAX, &number) == 0 ? (uint32_t)number : 0;
}

static uint32_t release_of(const char *text)
{
    unsigned year = 0;
    unsigned month = 0;

    if (text == NULL || sscanf(text, "%2u.%2u", &year, &month) != 2)
        return 0;
    return year * 100 + month;
}

struct slurm_conf_facts slurm_conf_facts_read(const struct line *line)
{
    return (struct slurm_conf_facts){
        .is_known = true,
        .release = release_of(line_get(line, "release")),
        .backfill_s = number_of(line, "backfill_s"),
        .has_gpu = number_of(line, "gpu") != 0,
        .has_words = number_of(line, "words") != 0,
    };
}

void slurm_conf_check(const struct slurm_conf_facts *facts, bool offers_gpu, bool observes,
                      const struct finding_sink *to)
{
    const char *severity = observes ? "note" : NULL; /* of what is urgent otherwise */

    if (!facts->is_known)
        return;
    if (facts->release != 0 && facts->release < FIXED_RELEASE && facts->backfill_s != 0 &&
        facts->backfill_s < SELDOM_S)
        finding_tell(to,
                     &(struct finding_case){ FINDING_SLURMCTLD_CRASH, .subject = "slurm.conf",
                                             .severity = severity },
                     "slurmctld %02u.%02u can crash when Stint deletes a node, because its "
                     "backfill scheduler runs every %u s",
                     facts->release / 100, facts->release % 100, facts->backfill_s);
    if (offers_gpu && !facts->has_gpu)
        finding_tell(to,
                     &(struct finding_case){ FINDING_NO_GRES_TYPES, .subject = "slurm.conf",
                                             .severity = severity },
                     "Slurm refuses jobs with --gres=gpu:N at submission, although the catalogue "
                     "has machines with GPUs");
    if (!facts->has_words)
        finding_tell(to, &(struct finding_case){ FINDING_NO_WORDS, .subject = "slurm.conf" },
                     "Slurm refuses jobs with -C spot or another feature of Stint at submission, "
                     "because no node has the feature");
    to->next_kind(to->context);
}

/* The last word of a unit file on Restart=; 'was' if it has none. */
static bool restarts_by(const char *path, bool was, bool *is_there)
{
    FILE *file = fopen(path, "re");
    char line[UNIT_LINE];

    if (file == NULL)
        return was;
    *is_there = true;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "Restart=", 8) == 0)
            was = strncmp(line + 8, "no", 2) != 0 && line[8] != '\n';
    }
    (void)fclose(file);
    return was;
}

bool slurm_conf_is_restarted(const char *const *roots)
{
    bool is_there = false;
    bool ret = false;

    for (; *roots != NULL; roots++) {
        char path[PATH_MAX];
        DIR *folder;
        const struct dirent *entry;

        (void)snprintf(path, sizeof(path), "%s/slurmctld.service", *roots);
        ret = restarts_by(path, ret, &is_there);
        (void)snprintf(path, sizeof(path), "%s/slurmctld.service.d", *roots);
        folder = opendir(path);
        while (folder != NULL && (entry = readdir(folder)) != NULL) {
            char file[PATH_MAX + NAME_MAX + 2];

            (void)snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
            if (strstr(entry->d_name, ".conf") != NULL)
                ret = restarts_by(file, ret, &is_there);
        }
        if (folder != NULL)
            (void)closedir(folder);
    }
    return ret || !is_there;
}
