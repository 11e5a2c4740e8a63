/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_term.h - which pods a term of required (anti-)affinity or a spread constraint is about, as a text.
 *
 * The text is the label of nodes (topologyKey), then after line feeds "S" and a namespace, "*" (every namespace), and what is
 * required of labels of pods: "+key", "-key" with values after tabs (one of these, none of these), "?key" (it is there),
 * "!key" (it is not). No namespace: that of the pod that has the term. What is too long to be kept requires less of other
 * pods, and "" is about every label of nodes and every pod.
 *
 * Promises:  pure; texts of a hostile object are read as something harmless. A term is never about fewer pods than it says.
 */
#ifndef STINT_ENGINE_KUBE_TERM_H
#define STINT_ENGINE_KUBE_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KUBE_NAME = 256, KUBE_TERM_TEXT = 2048 };

#define KUBE_HOSTNAME "kubernetes.io/hostname"
#define KUBE_ZONE     "topology.kubernetes.io/zone"

struct kube_pair {
    const char *key;
    const char *value;
};

enum kube_operator {
    KUBE_IN,
    KUBE_NOT_IN,
    KUBE_EXISTS,
    KUBE_ABSENT,
    KUBE_STRANGE_OPERATOR, /* Gt, Lt, and what is to come */
};

/* While it is read. */
struct kube_term {
    char text[KUBE_TERM_TEXT]; /* without the label of nodes, which may come last */
    size_t used;
    char key[KUBE_NAME]; /* of the expression at hand */
    char values[KUBE_TERM_TEXT];
    size_t values_used;
    enum kube_operator comparison;
    bool has_selector;  /* without one it is about no pod */
    bool is_everywhere; /* in every namespace, or in more than there is room for */
    bool is_cut;        /* there are more values than there is room for */
    bool is_loose;      /* the text is about more pods than it should be */
};

void kube_term_begin(struct kube_term *term);
void kube_term_space(struct kube_term *term, const char *text, size_t length);
void kube_term_label(struct kube_term *term, const char *key, const char *text, size_t length);

/* An expression: begin, its key, comparison and values in any order, end. */
void kube_term_expression_begin(struct kube_term *term);
void kube_term_value(struct kube_term *term, const char *text, size_t length);
void kube_term_expression_end(struct kube_term *term);

/* How long the text is; KUBE_NAME + KUBE_TERM_TEXT are enough for it. */
int kube_term_write(const struct kube_term *term, const char *topology_key, char *buf, size_t size);

/* Whether the topologyKey of a text is this one. */
bool kube_term_is_by(const char *text, const char *topology_key);

/* Whether the term of a pod in the namespace 'own' is about a pod in 'space' with these labels. */
bool kube_term_is_about(const char *text, const char *own, const char *space,
                        const struct kube_pair *labels, uint32_t count);

#endif
