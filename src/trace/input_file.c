/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/decompress.h"

enum { FIRST_ROOM = 64 * 1024 };

static int too_large(const char *path, struct error *reterr)
{
    return error_set(reterr, -EFBIG, "%s: is larger than %d MiB: split the file", path,
                     LIMIT_FILE_BYTES >> 20);
}

/* Read to the end; 'room' is a first guess of the size. */
static int read_all(int fd, const char *path, size_t room, struct input_file *ret,
                    struct error *reterr)
{
    char *text = mem_resize(NULL, room + 1, 1);
    size_t used = 0;

    for (;;) {
        if (used == room) {
            room *= 2;
            text = mem_resize(text, room + 1, 1);
        }

        const ssize_t got = read(fd, text + used, room - used);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            const int failure = errno;

            mem_free(text);
            return error_set(reterr, -failure, "%s: cannot be read: %s", path, strerror(failure));
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (used > LIMIT_FILE_BYTES) {
            mem_free(text);
            return too_large(path, reterr);
        }
    }
    text[used] = 0;
    *ret = (struct input_file){ text, used };
    return 0;
}

/* Put the text that is inside in place of what was read, if that is compressed. */
static int unfold(const char *path, struct input_file *file, struct error *reterr)
{
    const enum compression kind = compression_of(file->text, file->length);
    struct input_file inside = { 0 };

    if (kind == COMPRESSION_NONE)
        return 0;

    const int rc = decompress(kind, file->text, file->length, LIMIT_FILE_BYTES, &inside.text,
                              &inside.length, reterr);

    if (rc < 0)
        return error_prefix(reterr, rc, path);
    input_file_done(file);
    *file = inside;
    return 0;
}

/* Open 'path' and read what it holds. */
static int read_path(const char *path, struct input_file *ret, struct error *reterr)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return error_set(reterr, -ENOENT, "%s: there is no such file", path);
    if (fd < 0) {
        const int failure = errno;

        return error_set(reterr, -failure, "%s: cannot be opened: %s", path, strerror(failure));
    }

    struct stat about;
    int rc;

    if (fstat(fd, &about) < 0) {
        const int failure = errno;

        rc = error_set(reterr, -failure, "%s: cannot be read: %s", path, strerror(failure));
    } else if (S_ISDIR(about.st_mode)) {
        rc = error_set(reterr, -EISDIR, "%s: is a directory; name a file in it", path);
    } else if (about.st_size > LIMIT_FILE_BYTES) {
        rc = too_large(path, reterr);
    } else {
        /* One byte more than the file, so that the end is seen without growing. */
        const size_t size = about.st_size > 0 ? (size_t)about.st_size + 1 : FIRST_ROOM;

        rc = read_all(fd, path, size, ret, reterr);
    }
    (void)close(fd);
    return rc;
}

int input_file_read(const char *path, struct input_file *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = read_path(path, &file, reterr);

    if (rc == 0)
        rc = unfold(path, &file, reterr);
    if (rc < 0) {
        input_file_done(&file);
        return rc;
    }
    *ret = file;
    return 0;
}

void input_file_done(struct input_file *file)
{
    mem_free(file->text);
    *file = (struct input_file){ 0 };
}
