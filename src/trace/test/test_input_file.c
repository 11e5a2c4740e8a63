/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/test/check.h"
#include "trace/input_file.h"

static int open_temporary(char path[32])
{
    (void)snprintf(path, 32, "/tmp/stint-test-XXXXXX");

    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    return fd;
}

TEST(a_file_is_read_whole)
{
    char path[32];
    const int fd = open_temporary(path);
    struct input_file file;
    assert_int_equal(write(fd, "a\0b\n", 4), 4);

    assert_int_equal(input_file_read(path, &file, NULL), 0);

    assert_int_equal(file.length, 4);
    assert_memory_equal(file.text, "a\0b\n", 5);
    input_file_done(&file);
    (void)close(fd);
    (void)unlink(path);
}

TEST(a_pipe_is_read_to_its_end)
{
    enum { SIZE = 200000 };
    FILE *pipe = popen("head -c 200000 /dev/zero | tr '\\0' x", "r");
    struct input_file file;
    char path[32];
    assert_non_null(pipe);
    (void)snprintf(path, sizeof(path), "/dev/fd/%d", fileno(pipe));

    assert_int_equal(input_file_read(path, &file, NULL), 0);

    assert_int_equal(file.length, SIZE);
    assert_int_equal(file.text[SIZE - 1], 'x');
    input_file_done(&file);
    (void)pclose(pipe);
}

TEST(an_empty_file_has_an_empty_text)
{
    struct input_file file;

    assert_int_equal(input_file_read("/dev/null", &file, NULL), 0);

    assert_int_equal(file.length, 0);
    assert_string_equal(file.text, "");
    input_file_done(&file);
}

TEST(errors_name_the_file_and_what_is_wrong)
{
    struct input_file file = { .length = 42 };
    struct error error;

    assert_int_equal(input_file_read("/nowhere/x.csv", &file, &error), -ENOENT);
    assert_string_equal(error.text, "/nowhere/x.csv: there is no such file");
    assert_int_equal(input_file_read("/", &file, &error), -EISDIR);
    assert_string_equal(error.text, "/: is a directory; name a file in it");
    assert_int_equal(input_file_read("/dev/null/x", &file, &error), -ENOTDIR);
    assert_string_equal(error.text, "/dev/null/x: cannot be opened: Not a directory");
    assert_int_equal(file.length, 42);
}

TEST(a_file_that_is_too_large_is_refused_unread)
{
    char path[32];
    const int fd = open_temporary(path);
    struct input_file file;
    struct error error;
    assert_int_equal(ftruncate(fd, (off_t)LIMIT_FILE_BYTES + 1), 0);

    assert_int_equal(input_file_read(path, &file, &error), -EFBIG);

    assert_non_null(strstr(error.text, ": is larger than 1024 MiB: split the file"));
    (void)close(fd);
    (void)unlink(path);
}

CHECK_MAIN(RUN(a_file_is_read_whole), RUN(a_pipe_is_read_to_its_end),
           RUN(an_empty_file_has_an_empty_text), RUN(errors_name_the_file_and_what_is_wrong),
           RUN(a_file_that_is_too_large_is_refused_unread))
