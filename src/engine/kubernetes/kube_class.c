/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_class.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define VERSION_END "-version"

static uint32_t name_of(struct names *texts, const char *text)
{
    assert(texts->count > 0 && names_text(texts, 0)[0] == '\0');
    return text != NULL ? names_add(texts, text, strlen(text)) : 0;
}

/* What the annotation KEY-version says; NULL: it is not there. */
static const char *version_of(const struct kube_object *object, const char *key)
{
    const size_t length = strlen(key);

    for (uint32_t i = 0; i < object->hash_count; i++) {
        if (strncmp(object->hash[i].key, key, length) == 0 &&
            strcmp(object->hash[i].key + length, VERSION_END) == 0)
            return object->hash[i].value;
    }
    return NULL;
}

static void read_stamps(struct names *texts, const struct kube_object *object,
                        struct kube_stamp stamps[KUBE_STAMPS])
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < object->hash_count && count < KUBE_STAMPS; i++) {
        const struct kube_stamp stamp = {
            .key = name_of(texts, object->hash[i].key),
            .hash = name_of(texts, object->hash[i].value),
            .version = name_of(texts, version_of(object, object->hash[i].key)),
        };

        if (stamp.key != 0 && stamp.hash != 0 && stamp.version != 0)
            stamps[count++] = stamp;
    }
}

struct kube_origin kube_class_origin(struct names *texts, const struct kube_object *claim)
{
    struct kube_origin origin = { .image = name_of(texts, claim->image) };

    read_stamps(texts, claim, origin.stamp);
    return origin;
}

struct kube_class kube_class_read(struct names *texts, const struct kube_object *node_class)
{
    struct kube_class found = { .image_count = 0 };

    read_stamps(texts, node_class, found.stamp);
    if (node_class->has_more_images)
        return found;
    for (uint32_t i = 0; i < node_class->class_image_count; i++)
        found.image[found.image_count++] = name_of(texts, node_class->class_image[i]);
    return found;
}

static bool has_other_settings(const struct kube_class *node_class, const struct kube_stamp *stamp)
{
    for (uint32_t i = 0; i < KUBE_STAMPS && stamp->key != 0; i++) {
        const struct kube_stamp *now = &node_class->stamp[i];

        if (now->key == stamp->key && now->version == stamp->version && now->hash != stamp->hash)
            return true;
    }
    return false;
}

static bool has_other_images(const struct kube_class *node_class, uint32_t image)
{
    for (uint32_t i = 0; i < node_class->image_count; i++) {
        if (node_class->image[i] == image)
            return false;
    }
    return image != 0 && node_class->image_count > 0;
}

enum kube_age kube_class_compare(const struct kube_class *node_class,
                                 const struct kube_origin *origin)
{
    for (uint32_t i = 0; i < KUBE_STAMPS; i++) {
        if (has_other_settings(node_class, &origin->stamp[i]))
            return KUBE_OLD_SETTINGS;
    }
    return has_other_images(node_class, origin->image) ? KUBE_OLD_IMAGE : KUBE_CURRENT;
}

static void lower(char *text)
{
    for (; *text != '\0'; text++)
        *text = (char)tolower((unsigned char)*text);
}

void kube_class_resource(const char *kind, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%ses", kind);
    lower(buf);
}

void kube_class_label(const char *group, const char *kind, char *buf, size_t size)
{
    const int used = snprintf(buf, size, "%s/", group);

    (void)snprintf(buf + used, size - (size_t)used, "%s", kind);
    lower(buf + used);
}

/* Of AWS, of Azure, and of kwok, which the tests use. */
bool kube_class_path(const char *group, const char *kind, const char *name, uint32_t guess,
                     char *buf, size_t size)
{
    static const char *const versions[] = { "v1", "v1beta1", "v1alpha1" };
    char resource[KUBE_NAME + 4];

    if (guess >= sizeof(versions) / sizeof(versions[0]))
        return false;
    kube_class_resource(kind, resource, sizeof(resource));
    (void)snprintf(buf, size, "/apis/%s/%s/%s/%s", group, versions[guess], resource, name);
    return true;
}
