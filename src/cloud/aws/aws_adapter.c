/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_adapter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cloud/aws/aws_cloud.h"
#include "cloud/aws/aws_examine.h"
#include "cloud/aws/aws_gather.h"
#include "cloud/aws/aws_settings.h"
#include "control/ports/findings.h"
#include "trace/settings.h"

/*
 * Configuration.
 */

static int read_settings(const struct settings *in, const struct doc_node *map, const void **ret)
{
    struct aws_settings *settings = ARENA_ARRAY(in->arena, struct aws_settings, 1);
    int rc = aws_settings_read(map, in->arena, settings, in->reterr);

    if (rc == 0)
        rc = aws_settings_check(in, map, settings);
    if (rc == 0)
        *ret = settings;
    return rc;
}

static bool is_same(const void *a, const void *b)
{
    return aws_settings_same(a, b);
}

static const char *note(const void *settings)
{
    const struct aws_settings *aws = settings;

    if (aws->image == NULL && aws->launch_template == NULL)
        return "kind aws needs 'launch_template' or 'image' in every mode except shadow";
    return NULL;
}

/* As aws_client.h finds it, but for the profile. */
static const char *region(const void *settings)
{
    const struct aws_settings *aws = settings;
    const char *found = aws->region;

    if (found == NULL)
        found = getenv("AWS_REGION");
    if (found == NULL)
        found = getenv("AWS_DEFAULT_REGION");
    return found != NULL ? found : "";
}

/* EC2 may show an instance only some time after it was asked for. */
static msec_t settle_ms(const void *settings)
{
    const struct aws_settings *aws = settings;

    return aws->timing.settle > 0 ? aws->timing.settle : 60 * MSEC_PER_SEC;
}

/*
 * Life.
 */

static int create(const struct cloud_config *config, void **ret, struct error *reterr)
{
    struct aws_cloud *cloud = NULL;

    if (config->loop == NULL)
        return error_set(reterr, -ENOTSUP, "the cloud aws needs a loop to be asked in");

    const int rc = aws_cloud_create(&(struct aws_cloud_config){ .loop = config->loop,
                                                                .catalogue = config->catalogue,
                                                                .cluster = config->cluster,
                                                                .node_prefix = config->node_prefix,
                                                                .settings = config->settings,
                                                                .seed = config->seed,
                                                                .on_event = config->on_event,
                                                                .on_note = config->on_note,
                                                                .on_account = config->on_account,
                                                                .context = config->context },
                                    &cloud, reterr);

    if (rc == 0)
        *ret = cloud;
    return rc;
}

static void destroy(void *self)
{
    aws_cloud_destroy(self);
}

static struct cloud_port port(void *self)
{
    return aws_cloud_port(self);
}

static bool is_usable(const void *self)
{
    return aws_cloud_is_usable(self);
}

static const char *fault(const void *self)
{
    return aws_cloud_fault(self);
}

/*
 * Back-offs.
 */

static void recall(void *self, uint32_t offer, msec_t asked_at, msec_t at, bool was_refused)
{
    aws_cloud_recall(self, offer, asked_at, at, was_refused);
}

static msec_t memory(const void *self)
{
    return aws_cloud_memory(self);
}

static bool refusal(const void *self, uint32_t offer, msec_t now, struct cloud_refusal *ret)
{
    return aws_cloud_refusal(self, offer, now, ret);
}

/*
 * What is wrong.
 */

static int return_fault(const void *self, char *buf, size_t size)
{
    const struct aws_fleet_trouble trouble = aws_cloud_trouble(self);

    if (trouble.refused == 0 || trouble.code[0] == '\0')
        return 0;
    return snprintf(buf, size, "EC2 refuses terminations with %s", trouble.code);
}

static void each_finding(const void *self, const char *cluster, const struct finding_sink *to)
{
    const struct aws_fleet_trouble trouble = aws_cloud_trouble(self);

    if (trouble.refused > 0)
        finding_tell(to, &(struct finding_case){ FINDING_NOT_RETURNED, .subject = cluster },
                     "EC2 refuses to terminate %u machines, so they still cost money: %s",
                     trouble.refused, trouble.code);
    if (trouble.missing > 0)
        finding_tell(to, &(struct finding_case){ FINDING_VANISHED, .subject = cluster },
                     "EC2 no longer lists %u machines, although it never reported their end",
                     trouble.missing);
    to->next_kind(to->context);
}

const struct cloud_adapter aws_adapter = {
    .notice_ms = 120 * MSEC_PER_SEC, /* EC2 warns two minutes before */
    .notice_ppm = 1000000,
    .name = "aws",
    .owner = "AWS",
    .down_advice = "Stint rents and returns machines again when EC2 answers. Run `stint doctor "
                   "--cloud` to check keys and rights.",
    .read = read_settings,
    .is_same = is_same,
    .note = note,
    .examine = aws_examine,
    .gather = aws_gather,
    .gather_help =
        "needs AWS credentials (the usual chain: environment, files, roles) with the rights of "
        "share/aws/iam-catalogue.json, and a region: --region, AWS_REGION or the profile. The API"
        " of EC2 lacks interruption rates. To add them, download spot-advisor-data.json, the data"
        " of the web page \"Spot Instance Advisor\", and name it with --bands. It may be "
        "compressed.",
    .region = region,
    .settle_ms = settle_ms,
    .create = create,
    .destroy = destroy,
    .port = port,
    .is_usable = is_usable,
    .fault = fault,
    .recall = recall,
    .memory = memory,
    .refusal = refusal,
    .return_fault = return_fault,
    .each_finding = each_finding,
};
