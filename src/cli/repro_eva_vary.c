/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of `stint repro eva --vary`: what of the trace is another than published.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/repro_eva.h"

enum { WORDS_MAX = 256 };

static const double ppm = 1e6;

static void set(struct eva_variation *variation, const char *what, double value)
{
    if (strcmp(what, "delays") == 0)
        variation->delay_factor = value;
    else if (strcmp(what, "arrivals") == 0)
        variation->rate_factor = value;
    else if (strcmp(what, "half") == 0)
        variation->half = (uint32_t)value;
    else if (strcmp(what, "redraw") == 0)
        variation->redrawn = value > 0;
    else if (strcmp(what, "multi-gpu") == 0)
        variation->multi_gpu_share = value;
    else if (strcmp(what, "multi-task") == 0)
        variation->multi_task_share = value;
    else if (strcmp(what, "drift") == 0)
        variation->drift_days = value;
    else if (strcmp(what, "spot") == 0)
        variation->spot = value > 0;
    else
        variation->rate_noise_ppm = (uint32_t)llround(value * ppm);
}

/* What there is, and from where to where. */
static const struct {
    const char *what;
    double least;
    double most;
    bool is_whole;
} known[] = {
    { "delays", 0.01, 100, false }, { "arrivals", 0.01, 100, false }, { "half", 1, 2, true },
    { "redraw", 0, 1, true },       { "multi-gpu", 0, 1, false },     { "multi-task", 0, 1, false },
    { "noise", 0, 1, false },       { "drift", 1, 1000, false },      { "spot", 0, 1, true },
};

static const char *const durations[] = {
    [EVA_DURATIONS_OWN] = "own",
    [EVA_DURATIONS_ALIBABA_2023] = "alibaba2023",
    [EVA_DURATIONS_PHILLY] = "philly",
};

static int read_durations(struct eva_variation *variation, const char *value, struct error *reterr)
{
    for (size_t i = 0; value != NULL && i < sizeof(durations) / sizeof(durations[0]); i++) {
        if (strcmp(value, durations[i]) == 0) {
            variation->durations = (enum eva_durations)i;
            return 0;
        }
    }
    return error_set(reterr, -EINVAL, "durations takes own, alibaba2023 or philly");
}

static int read_word(struct eva_variation *variation, char *word, struct error *reterr)
{
    char *value = strchr(word, '=');
    char *end = NULL;

    if (value != NULL)
        *value++ = '\0';
    if (strcmp(word, "durations") == 0)
        return read_durations(variation, value, reterr);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(word, known[i].what) != 0)
            continue;

        const double number = value != NULL ? strtod(value, &end) : 0;

        if (value == NULL || end == value || *end != '\0' || !(number >= known[i].least) ||
            !(number <= known[i].most) || (known[i].is_whole && floor(number) < number))
            return error_set(reterr, -EINVAL, "%s takes a %snumber from %g to %g", word,
                             known[i].is_whole ? "whole " : "", known[i].least, known[i].most);
        set(variation, word, number);
        return 0;
    }
    return error_set(
        reterr, -EINVAL,
        "there is no '%s'; there are delays, arrivals, half, redraw, multi-gpu, multi-task, "
        "noise, drift, durations and spot",
        word);
}

int eva_variation_read(struct eva_variation *variation, const char *words, struct error *reterr)
{
    char text[WORDS_MAX];
    char *rest = text;
    char *word;
    int rc = 0;

    if (words == NULL)
        return 0;
    if (snprintf(text, sizeof(text), "%s", words) >= (int)sizeof(text))
        return error_set(reterr, -EINVAL, "that is too long");
    while (rc == 0 && (word = strsep(&rest, ",")) != NULL)
        rc = read_word(variation, word, reterr);
    return rc;
}
