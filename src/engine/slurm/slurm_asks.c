/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to stint-slurm. Each is kept as the line that it was sent as until it is answered, so
 * that it can be sent again to the next stint-slurm, or when slurmctld is back: a repeated request
 * under its key is done once, and the 'run' in it keeps a late one from doing harm.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"

enum { COMPACT_AT = 1024 };

static void push(struct slurm_engine *engine, const char *text, uint32_t size)
{
    engine->stats.requests++;
    engine->config.on_send(engine->config.context, text, size);
}

static uint64_t next_key(const struct slurm_engine *engine)
{
    return engine->asks.first_key + engine->asks.count;
}

uint64_t slurm_ask_begin(struct slurm_engine *engine, const char *word)
{
    const uint64_t key = next_key(engine);

    line_text_reset(&engine->out);
    line_text_begin(&engine->out, word);
    line_text_number(&engine->out, "key", key);
    return key;
}

void slurm_ask_end(struct slurm_engine *engine, enum slurm_ask_kind kind, uint64_t subject)
{
    struct slurm_asks *asks = &engine->asks;
    const uint32_t row = asks->head + asks->count;

    line_text_end(&engine->out);
    MEM_ROOM(asks->row, asks->room, row + 1);
    asks->row[row] = (struct slurm_ask){
        .kind = kind,
        .subject = subject,
        .text = mem_alloc(engine->out.size, 1),
        .size = engine->out.size,
    };
    memcpy(asks->row[row].text, engine->out.text, engine->out.size);
    asks->count++;
    engine->stats.open++;
    if (engine->is_greeted)
        push(engine, engine->out.text, engine->out.size);
}

struct slurm_ask *slurm_ask_find(struct slurm_engine *engine, uint64_t key)
{
    struct slurm_asks *asks = &engine->asks;

    if (key < asks->first_key || key - asks->first_key >= asks->count)
        return NULL;
    struct slurm_ask *ask = &asks->row[asks->head + (uint32_t)(key - asks->first_key)];

    return ask->is_done ? NULL : ask;
}

void slurm_ask_close(struct slurm_engine *engine, struct slurm_ask *ask)
{
    struct slurm_asks *asks = &engine->asks;

    assert(!ask->is_done);
    ask->is_done = true;
    mem_free(ask->text);
    ask->text = NULL;
    engine->stats.open--;
    while (asks->count > 0 && asks->row[asks->head].is_done) {
        asks->head++;
        asks->count--;
        asks->first_key++;
    }
    if (asks->head >= COMPACT_AT && asks->head >= asks->count) {
        memmove(asks->row, asks->row + asks->head, asks->count * sizeof(*asks->row));
        asks->head = 0;
    }
}

/* A list is requested from its beginning, not continued: half of the first may have come. */
void slurm_ask_cancel_lists(struct slurm_engine *engine)
{
    const uint64_t first = engine->asks.first_key;
    const uint32_t count = engine->asks.count;

    for (uint32_t i = 0; i < count; i++) {
        struct slurm_ask *ask = slurm_ask_find(engine, first + i);

        if (ask != NULL && (ask->kind == ASK_LIST_NODES || ask->kind == ASK_LIST_JOBS))
            slurm_ask_close(engine, ask);
    }
}

void slurm_asks_resend(struct slurm_engine *engine, bool is_all)
{
    for (uint32_t i = 0; i < engine->asks.count; i++) {
        struct slurm_ask *ask = &engine->asks.row[engine->asks.head + i];

        if (ask->is_done || (!is_all && !ask->is_unsure))
            continue;
        ask->is_unsure = false;
        push(engine, ask->text, ask->size);
    }
}

void slurm_asks_done(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->asks.count; i++)
        mem_free(engine->asks.row[engine->asks.head + i].text);
    mem_free(engine->asks.row);
}
