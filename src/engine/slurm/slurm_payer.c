/* SPDX-License-Identifier: Apache-2.0 */
/* To whom a job is charged, beside its user: Slurm's account, partition and QOS. */
#include <string.h>

#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_job_line.h"

static uint32_t name_of(struct names *names, const char *text)
{
    return text != NULL && text[0] != '\0' ? names_add(names, text, strlen(text)) : NAME_NONE;
}

void slurm_payer_take(struct slurm_engine *engine, struct slurm_job *job,
                      const struct slurm_job_line *line)
{
    job->account = name_of(&engine->payers, line->account);
    job->partition = name_of(&engine->payers, line->partition);
    job->qos = name_of(&engine->payers, line->qos);
}
