/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/state_path.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/conf.h"

#define DEFAULT_PATH "/var/lib/stint/stint.db"
#define SHADOW       ".shadow"

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);

    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

int state_path(const char *conf_path, const char *state, char ret[STORE_PATH_ROOM],
               bool *ret_shadow, struct error *reterr)
{
    const char *path = conf_path != NULL ? conf_path : STATE_CONF_PATH;
    struct conf conf = { 0 };

    if (state != NULL) {
        (void)snprintf(ret, STORE_PATH_ROOM, "%s", state);
    } else if (conf_path == NULL && access(path, F_OK) != 0) {
        (void)snprintf(ret, STORE_PATH_ROOM, "%s", DEFAULT_PATH);
    } else {
        const int rc = conf_load(path, &conf, reterr);

        if (rc < 0)
            return rc;
        (void)snprintf(ret, STORE_PATH_ROOM, "%s%s", conf.state,
                       conf.mode == CONF_SHADOW ? SHADOW : "");
        conf_done(&conf);
    }
    *ret_shadow = ends_with(ret, SHADOW);
    return 0;
}
