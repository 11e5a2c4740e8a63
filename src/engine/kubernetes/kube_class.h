/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_class.h - whether a machine is what its node class would make today.
 *
 * A provider of Karpenter stamps each claim at launch with a hash of the node class's settings, in an annotation that ends in
 * "nodeclass-hash", and with the version of the rule by which it was computed; it keeps the same two of the node class current. The
 * status of a claim has the image that the machine was started from, and that of the node class the images for new machines.
 * Karpenter compares these for claims of a NodePool only, so for its own claims Stint does.
 *
 * Promises:  a machine is outdated if both hashes are known, their versions are equal and the hashes differ, or if its image is
 *            known and is not among those of the node class, which has some. Whatever is unknown makes no machine outdated.
 * Bounds:    KUBE_STAMPS hashes; images of a node class that has more than KUBE_IMAGES are unknown.
 * Costs:     O(images) for a comparison, which is one of numbers: all texts are names in the caller's 'texts', of which the first
 *            (0) is "" and means unknown.
 * Memory:    the caller's, 28 bytes for a claim.
 */
#ifndef STINT_ENGINE_KUBE_CLASS_H
#define STINT_ENGINE_KUBE_CLASS_H

#include "base/names.h"
#include "engine/kubernetes/kube_object.h"

enum { KUBE_STAMPS = KUBE_HASHES / 2 };

enum kube_age { KUBE_CURRENT, KUBE_OLD_SETTINGS, KUBE_OLD_IMAGE };

/* An annotation, and what KEY and KEY-version say; all 0 if one of the two is missing. */
struct kube_stamp {
    uint32_t key;
    uint32_t hash;
    uint32_t version;
};

/* What a machine was made from. */
struct kube_origin {
    struct kube_stamp stamp[KUBE_STAMPS];
    uint32_t image;
};

struct kube_class {
    struct kube_stamp stamp[KUBE_STAMPS];
    uint32_t image[KUBE_IMAGES];
    uint32_t image_count; /* 0: they are unknown */
};

struct kube_origin kube_class_origin(struct names *texts, const struct kube_object *claim);
struct kube_class kube_class_read(struct names *texts, const struct kube_object *node_class);

enum kube_age kube_class_compare(const struct kube_class *node_class,
                                 const struct kube_origin *origin);

/* The resource of a kind: "ec2nodeclasses" of EC2NodeClass. */
void kube_class_resource(const char *kind, char *buf, size_t size);

/* The label that names the node class, on claims and nodes: "karpenter.k8s.aws/ec2nodeclass". The buffer has room for both and the slash. */
void kube_class_label(const char *group, const char *kind, char *buf, size_t size);

/* Where the node class may be; 'guess' counts API versions from 0. false: there is no such guess. */
bool kube_class_path(const char *group, const char *kind, const char *name, uint32_t guess,
                     char *buf, size_t size);

#endif
