/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/resource_price.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

_Static_assert(RES_PRICED == 3, "a corner is where three planes meet");

enum { PLANES_MAX = 24 };

#define SLACK 1e-9

/* What an offer has, in units of what is wanted, is worth at most its price; or a kind is worth at least nothing. */
struct plane {
    double row[RES_PRICED];
    double most;
};

/* The search: corners of the planes so far, of which the first three are those of nothing. Prices are per amount that
 * is wanted, so that all numbers are of about one size. */
struct search {
    const struct resource_offer *offers;
    uint32_t count;
    double wanted[RES_PRICED];
    struct plane plane[PLANES_MAX];
    uint32_t planes;
    double best[RES_PRICED];
};

static double dot(const double a[RES_PRICED], const double b[RES_PRICED])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double determinant(const double a[RES_PRICED], const double b[RES_PRICED],
                          const double c[RES_PRICED])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* The point in which the three planes meet (Cramer's rule); false: there is no single one. */
static bool meet(const struct plane *const planes[RES_PRICED], double ret[RES_PRICED])
{
    const double whole = determinant(planes[0]->row, planes[1]->row, planes[2]->row);

    if (fabs(whole) < 1e-30)
        return false;
    for (int column = 0; column < RES_PRICED; column++) {
        double rows[RES_PRICED][RES_PRICED];

        for (int i = 0; i < RES_PRICED; i++) {
            for (int k = 0; k < RES_PRICED; k++)
                rows[i][k] = k == column ? planes[i]->most : planes[i]->row[k];
        }
        ret[column] = determinant(rows[0], rows[1], rows[2]) / whole;
    }
    return true;
}

static bool is_allowed(const struct search *search, const double point[RES_PRICED])
{
    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (point[kind] < -SLACK * search->plane[RES_PRICED].most)
            return false;
    }
    for (uint32_t i = RES_PRICED; i < search->planes; i++) {
        if (dot(point, search->plane[i].row) > search->plane[i].most * (1 + SLACK))
            return false;
    }
    return true;
}

/* What is wanted is worth so much: one of each kind that is, in the units here. */
static double total(const struct search *search, const double point[RES_PRICED])
{
    double sum = 0;

    for (int kind = 0; kind < RES_PRICED; kind++)
        sum += search->wanted[kind] > 0 ? point[kind] : 0;
    return sum;
}

/* The best corner of the planes so far. */
static void find_corner(struct search *search)
{
    double most = -1;

    for (uint32_t a = 0; a < search->planes; a++) {
        for (uint32_t b = a + 1; b < search->planes; b++) {
            for (uint32_t c = b + 1; c < search->planes; c++) {
                const struct plane *const planes[RES_PRICED] = { &search->plane[a],
                                                                 &search->plane[b],
                                                                 &search->plane[c] };
                double point[RES_PRICED];

                if (!meet(planes, point) || !is_allowed(search, point) ||
                    total(search, point) <= most)
                    continue;
                most = total(search, point);
                for (int kind = 0; kind < RES_PRICED; kind++)
                    search->best[kind] = point[kind];
            }
        }
    }
}

static void add_plane(struct search *search, const struct resource_offer *offer)
{
    struct plane *plane = &search->plane[search->planes++];

    plane->most = offer->price;
    for (int kind = 0; kind < RES_PRICED; kind++)
        plane->row[kind] = search->wanted[kind] > 0
                               ? (double)offer->capacity.amount[kind] / search->wanted[kind]
                               : 0;
}

/* What the offer has is worth so many times its price. */
static double excess(const struct search *search, const struct resource_offer *offer)
{
    double worth = 0;

    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (search->wanted[kind] > 0)
            worth +=
                search->best[kind] * (double)offer->capacity.amount[kind] / search->wanted[kind];
    }
    return worth / offer->price;
}

static const struct resource_offer *worst_offer(const struct search *search)
{
    const struct resource_offer *worst = NULL;
    double most = 0;

    for (uint32_t i = 0; i < search->count; i++) {
        const double now = excess(search, &search->offers[i]);

        if (worst == NULL || now > most) {
            worst = &search->offers[i];
            most = now;
        }
    }
    return worst;
}

/* The offer that has the most of the kind for its price; NULL: none has any. */
static const struct resource_offer *richest_in(const struct search *search, int kind)
{
    const struct resource_offer *best = NULL;

    for (uint32_t i = 0; i < search->count; i++) {
        const struct resource_offer *offer = &search->offers[i];

        if (offer->capacity.amount[kind] > 0 &&
            (best == NULL || (double)offer->capacity.amount[kind] * best->price >
                                 (double)best->capacity.amount[kind] * offer->price))
            best = offer;
    }
    return best;
}

/* The planes of nothing, and one for each kind that keeps its price from being any. */
static void begin(struct search *search)
{
    const struct resource_offer *richest[RES_PRICED];

    for (int kind = 0; kind < RES_PRICED; kind++) {
        richest[kind] = richest_in(search, kind);
        if (richest[kind] == NULL)
            search->wanted[kind] = 0;
        search->plane[kind].row[kind] = 1;
    }
    search->planes = RES_PRICED;
    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (richest[kind] != NULL)
            add_plane(search, richest[kind]);
    }
}

struct resource_price resource_price(const struct resource_offer *offers, uint32_t count,
                                     const double wanted[RES_PRICED])
{
    struct search search = { .offers = offers, .count = count };
    struct resource_price ret = { { 0 } };

    for (int kind = 0; kind < RES_PRICED; kind++)
        search.wanted[kind] = wanted[kind];
    if (count == 0)
        return ret;
    begin(&search);
    if (search.planes == RES_PRICED)
        return ret;
    find_corner(&search);

    const struct resource_offer *worst = worst_offer(&search);

    while (excess(&search, worst) > 1 + 2 * SLACK && search.planes < PLANES_MAX) {
        add_plane(&search, worst);
        find_corner(&search);
        worst = worst_offer(&search);
    }

    const double over = excess(&search, worst);

    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (search.wanted[kind] > 0 && search.best[kind] > 0)
            ret.of[kind] = search.best[kind] / search.wanted[kind] / (over > 1 ? over : 1);
    }
    return ret;
}
