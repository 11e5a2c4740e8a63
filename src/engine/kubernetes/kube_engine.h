/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine.h - the engine port over the lines of stint-kubernetes.
 *
 * Whoever owns the pipe hands every line in and sends what on_send is given; docs/reference/protocols/kubernetes.md has the
 * lines. The adapter keeps no clock and makes no I/O. What it must know after a restart the API server tells it.
 *
 * Words:     a pod is a job with one task, by the id that is made of its uid; pods of one controller with the annotation
 *            stint.dev/gang are one job, a gang, with a task for each; pods with a promise are one job too, with a task for
 *            each pod that is promised (kube_engine_services.c). Else a pod that was evicted and the one that its controller
 *            creates instead are two jobs. A machine's slot is its name, "st-17".
 *
 * How actions and events go together:
 *  1. acts only note what is asked for; kube_engine_flush sends it. Events come from kube_engine_line and kube_engine_tick;
 *  2. a placement opens the gate of a pod and cannot be undone: a pod whose placement is taken back, or which the
 *     scheduler does not bind in time, is deleted, and its controller creates another, which waits at the gate;
 *  3. a stop is an eviction. One that a disruption budget refuses is reported as kept;
 *  4. a placement on a machine that has as many pods as its node takes is lost at once, and the machine is reported to have no
 *     more than these request;
 *  5. what Stint does not understand, or no machine of the catalogue can hold, is released: the scheduler gets it as it is.
 *
 * Promises:  any line may be given. Nothing is deleted or evicted but pods that have a controller.
 * Costs:     a line is O(its length), that of a new pod O(offers); a tick O(pods that were placed and are not bound, nodes).
 */
#ifndef STINT_ENGINE_KUBE_ENGINE_H
#define STINT_ENGINE_KUBE_ENGINE_H

#include "engine/engine_adapter.h"

struct kube_engine;

struct kube_engine *kube_engine_create(const struct engine_config *config);
void kube_engine_destroy(struct kube_engine *engine);
struct engine_port kube_engine_port(struct kube_engine *engine);

void kube_engine_connected(struct kube_engine *engine, msec_t now);
void kube_engine_disconnected(struct kube_engine *engine, msec_t now);
void kube_engine_line(struct kube_engine *engine, msec_t now, char *text, size_t length);
void kube_engine_flush(struct kube_engine *engine, msec_t now);
msec_t kube_engine_next_wake(const struct kube_engine *engine);
void kube_engine_tick(struct kube_engine *engine, msec_t now);

/* Whether everything there is was reported, and the API server answers. */
bool kube_engine_is_up(const struct kube_engine *engine);

/* "space/name" of the pod; returns its length. And back; 0: there is none. O(pods). */
int kube_engine_label(const struct kube_engine *engine, uint64_t task, char *buf, size_t size);
uint64_t kube_engine_find(const struct kube_engine *engine, const char *label);

void kube_engine_each_stray(const struct kube_engine *engine,
                            void (*each)(void *context, uint64_t instance, bool is_up),
                            void *context);

#endif
