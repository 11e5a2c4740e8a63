/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tournament.h"

#include <assert.h>

enum { LEAVES_LEAST = 16 };

static uint32_t *make_nodes(struct arena *arena, uint32_t leaves)
{
    uint32_t *winner = ARENA_ARRAY(arena, uint32_t, 2 * (size_t)leaves);

    for (size_t i = 0; i < 2 * (size_t)leaves; i++)
        winner[i] = TOURNAMENT_NONE;
    return winner;
}

void tournament_init(struct tournament *tournament, struct arena *arena,
                     bool (*beats)(const void *context, uint32_t a, uint32_t b),
                     const void *context)
{
    *tournament = (struct tournament){
        .arena = arena,
        .winner = make_nodes(arena, LEAVES_LEAST),
        .leaves = LEAVES_LEAST,
        .beats = beats,
        .context = context,
    };
}

/* The left child has the lower numbers: the right one must be better, not just as good. */
static void play(struct tournament *tournament, uint32_t node)
{
    const uint32_t left = tournament->winner[2 * (size_t)node];
    const uint32_t right = tournament->winner[2 * (size_t)node + 1];
    const bool right_wins =
        left == TOURNAMENT_NONE ||
        (right != TOURNAMENT_NONE && tournament->beats(tournament->context, right, left));

    tournament->winner[node] = right_wins ? right : left;
}

static void play_up(struct tournament *tournament, uint32_t number)
{
    for (uint32_t node = (tournament->leaves + number) / 2; node >= 1; node /= 2)
        play(tournament, node);
}

static void grow(struct tournament *tournament, uint32_t number)
{
    const uint32_t *old = tournament->winner + tournament->leaves;
    const uint32_t count = tournament->leaves;

    assert(number < UINT32_MAX / 4);
    while (tournament->leaves <= number)
        tournament->leaves *= 2;
    tournament->winner = make_nodes(tournament->arena, tournament->leaves);
    for (uint32_t i = 0; i < count; i++)
        tournament->winner[tournament->leaves + i] = old[i];
    for (uint32_t node = tournament->leaves - 1; node >= 1; node--)
        play(tournament, node);
}

void tournament_enter(struct tournament *tournament, uint32_t number)
{
    if (number >= tournament->leaves)
        grow(tournament, number);
    tournament->winner[tournament->leaves + number] = number;
    play_up(tournament, number);
}

void tournament_drop(struct tournament *tournament, uint32_t number)
{
    if (number >= tournament->leaves ||
        tournament->winner[tournament->leaves + number] == TOURNAMENT_NONE)
        return;
    tournament->winner[tournament->leaves + number] = TOURNAMENT_NONE;
    play_up(tournament, number);
}

uint32_t tournament_best(const struct tournament *tournament)
{
    return tournament->winner[1];
}
