/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_act.h - an order on its way from the controller to the engine or the cloud.
 */
#ifndef STINT_DAEMON_GATE_ACT_H
#define STINT_DAEMON_GATE_ACT_H

#include <stdint.h>

enum gate_act_kind {
    GATE_ADMIT,
    GATE_RETIRE,
    GATE_FORGET,
    GATE_PLACE,
    GATE_QUEUE,
    GATE_CANCEL,
    GATE_STOP,
    GATE_LIST_ENGINE,
    GATE_RENT,
    GATE_GIVE_BACK,
    GATE_LIST_CLOUD,
};

struct gate_act {
    enum gate_act_kind kind;
    uint64_t key;      /* of place, queue, cancel, stop, lists */
    uint64_t task;     /* of place, queue, cancel, stop */
    uint64_t instance; /* of rent (the first), return, place, admit, retire, forget */
    uint32_t count;    /* of rent */
    uint32_t offer;    /* of rent */
};

#endif
