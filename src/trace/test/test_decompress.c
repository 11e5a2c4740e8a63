/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/test/check.h"
#include "trace/decompress.h"
#include "trace/input_file.h"

enum { ROOM = 1 << 20, PLENTY = 1 << 24 };

static char packed[ROOM];

/* Compress into 'packed' from 'at' on; the length of it. */
static size_t gzip(const char *text, size_t length, size_t at)
{
    z_stream stream = { 0 };

    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);

    Bytef *copy = mem_alloc(length, 1);

    memcpy(copy, text, length);
    stream.next_in = copy;
    stream.avail_in = (unsigned)length;
    stream.next_out = (Bytef *)packed + at;
    stream.avail_out = (unsigned)(ROOM - at);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);

    const size_t size = stream.total_out;

    (void)deflateEnd(&stream);
    mem_free(copy);
    return size;
}

static size_t zstd(const char *text, size_t length, size_t at)
{
    const size_t size = ZSTD_compress(packed + at, ROOM - at, text, length, 3);

    assert_false(ZSTD_isError(size));
    return size;
}

/* Undo what is in 'packed'; the text is the caller's. */
static char *undo(size_t length, size_t *ret_length)
{
    char *text = NULL;
    struct error error = { "" };

    if (decompress(compression_of(packed, length), packed, length, PLENTY, &text, ret_length,
                   &error) < 0)
        fail_msg("%s", error.text);
    return text;
}

static void check_failure(size_t length, size_t size_max, int code, const char *what)
{
    char untouched = 'u';
    char *text = &untouched;
    size_t text_length = 42;
    struct error error = { "" };

    assert_int_equal(decompress(compression_of(packed, length), packed, length, size_max, &text,
                                &text_length, &error),
                     code);
    if (strstr(error.text, what) == NULL)
        fail_msg("'%s' is not in: %s", what, error.text);
    assert_ptr_equal(text, &untouched);
    assert_int_equal(text_length, 42);
}

TEST(the_first_bytes_tell_the_kind)
{
    assert_int_equal(compression_of("\x1f\x8b", 2), COMPRESSION_GZIP);
    assert_int_equal(compression_of("\x28\xb5\x2f\xfd", 4), COMPRESSION_ZSTD);
    assert_int_equal(compression_of("BZh91AY&SY", 10), COMPRESSION_BZIP2);
    assert_int_equal(compression_of("\xfd\x37zXZ\x00", 6), COMPRESSION_XZ);
    assert_int_equal(compression_of("PK\x03\x04", 4), COMPRESSION_ZIP);
    assert_int_equal(compression_of("\x1f", 1), COMPRESSION_NONE);
    assert_int_equal(compression_of("", 0), COMPRESSION_NONE);
    assert_int_equal(compression_of("BZh,workload", 12), COMPRESSION_NONE);
    assert_int_equal(compression_of("job_id,workload\n", 16), COMPRESSION_NONE);
}

TEST(gzip_and_zstd_give_the_text_back)
{
    static const char text[] = "workload,arrival_s,duration_s,cpu\na,0,1,2\n";
    size_t (*const pack[])(const char *, size_t, size_t) = { gzip, zstd };

    for (size_t i = 0; i < 2; i++) {
        size_t length = 0;

        char *got = undo(pack[i](text, strlen(text), 0), &length);

        assert_int_equal(length, strlen(text));
        assert_string_equal(got, text);
        mem_free(got);
    }
}

TEST(an_empty_text_comes_back_empty)
{
    size_t (*const pack[])(const char *, size_t, size_t) = { gzip, zstd };

    for (size_t i = 0; i < 2; i++) {
        size_t length = 42;

        char *got = undo(pack[i]("", 0, 0), &length);

        assert_int_equal(length, 0);
        assert_string_equal(got, "");
        mem_free(got);
    }
}

TEST(what_is_larger_than_the_first_guess_comes_back_whole)
{
    enum { SIZE = 5 << 20 };
    char *text = mem_alloc(SIZE, 1);
    size_t (*const pack[])(const char *, size_t, size_t) = { gzip, zstd };
    memset(text, 'x', SIZE);
    text[SIZE - 1] = 'y';

    for (size_t i = 0; i < 2; i++) {
        size_t length = 0;

        char *got = undo(pack[i](text, SIZE, 0), &length);

        assert_int_equal(length, SIZE);
        assert_memory_equal(got, text, SIZE);
        mem_free(got);
    }
    mem_free(text);
}

TEST(several_members_are_one_text)
{
    size_t (*const pack[])(const char *, size_t, size_t) = { gzip, zstd };

    for (size_t i = 0; i < 2; i++) {
        const size_t first = pack[i]("one\n", 4, 0);
        size_t length = 0;

        char *got = undo(first + pack[i]("two\n", 4, first), &length);

        assert_int_equal(length, 8);
        assert_string_equal(got, "one\ntwo\n");
        mem_free(got);
    }
}

TEST(a_bomb_is_refused)
{
    enum { SIZE = 1 << 22 };
    char *text = mem_alloc(SIZE, 1);
    size_t (*const pack[])(const char *, size_t, size_t) = { gzip, zstd };

    for (size_t i = 0; i < 2; i++) {
        const size_t size = pack[i](text, SIZE, 0);

        assert_true(size < 8192);
        check_failure(size, 100000, -EFBIG, "unfolds to more than 100000 bytes");
        check_failure(size, SIZE - 1, -EFBIG, "decompress it and split it");
    }
    mem_free(text);
}

TEST(a_text_of_exactly_the_bound_is_read)
{
    enum { SIZE = 1 << 18 };
    char *text = mem_alloc(SIZE, 1);
    size_t (*const pack[])(const char *, size_t, size_t) = { gzip, zstd };

    for (size_t i = 0; i < 2; i++) {
        const size_t size = pack[i](text, SIZE, 0);
        char *got = NULL;
        size_t length = 0;

        assert_int_equal(
            decompress(compression_of(packed, size), packed, size, SIZE, &got, &length, NULL), 0);

        assert_int_equal(length, SIZE);
        mem_free(got);
    }
    mem_free(text);
}

TEST(every_cut_is_seen)
{
    static const char text[] = "a text that is cut somewhere";
    size_t (*const pack[])(const char *, size_t, size_t) = { gzip, zstd };

    for (size_t i = 0; i < 2; i++) {
        const size_t size = pack[i](text, strlen(text), 0);

        for (size_t cut = 4; cut < size; cut++)
            check_failure(cut, PLENTY, -EINVAL, "cut short");
    }
}

TEST(damage_is_seen)
{
    static const char text[] = "a text that is going to be damaged";

    size_t size = gzip(text, strlen(text), 0);
    packed[size - 5] ^= 1;
    check_failure(size, PLENTY, -EINVAL, "damaged (incorrect data check)");
    packed[size - 5] ^= 1;
    packed[size] = 'x';
    packed[size + 1] = 'y';
    check_failure(size + 2, PLENTY, -EINVAL, "damaged (incorrect header check)");
    size = zstd(text, strlen(text), 0);
    packed[4] = (char)0xff;
    check_failure(size, PLENTY, -EINVAL, "damaged (");
}

TEST(what_is_not_read_says_what_to_do)
{
    (void)memcpy(packed, "BZh91AY&SY", 10);
    check_failure(10, PLENTY, -EINVAL, "bzip2, which is not read: give it as plain text");
    (void)memcpy(packed, "\xfd\x37zXZ\x00", 6);
    check_failure(6, PLENTY, -EINVAL, "xz, which is not read: give it as plain text");
    (void)memcpy(packed, "PK\x03\x04", 4);
    check_failure(4, PLENTY, -EINVAL, "is a zip archive: unpack it");
}

TEST(a_compressed_file_is_read_as_the_text_inside)
{
    char path[] = "/tmp/stint-test-XXXXXX";
    const int fd = mkstemp(path);
    const size_t size = gzip("a,b\n1,2\n", 8, 0);
    struct input_file file;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, packed, size), size);

    assert_int_equal(input_file_read(path, &file, NULL), 0);

    assert_int_equal(file.length, 8);
    assert_string_equal(file.text, "a,b\n1,2\n");
    input_file_done(&file);
    (void)close(fd);
    (void)unlink(path);
}

TEST(a_compressed_file_that_is_cut_short_is_named)
{
    char path[] = "/tmp/stint-test-XXXXXX";
    const int fd = mkstemp(path);
    const size_t size = zstd("a,b\n1,2\n", 8, 0);
    struct input_file file = { .length = 42 };
    struct error error = { "" };
    assert_true(fd >= 0);
    assert_int_equal(write(fd, packed, size - 1), size - 1);

    assert_int_equal(input_file_read(path, &file, &error), -EINVAL);

    assert_ptr_equal(strstr(error.text, path), error.text);
    assert_non_null(strstr(error.text, ": is compressed and cut short: copy it again"));
    assert_int_equal(file.length, 42);
    (void)close(fd);
    (void)unlink(path);
}

CHECK_MAIN(RUN(the_first_bytes_tell_the_kind), RUN(gzip_and_zstd_give_the_text_back),
           RUN(an_empty_text_comes_back_empty),
           RUN(what_is_larger_than_the_first_guess_comes_back_whole),
           RUN(several_members_are_one_text), RUN(a_bomb_is_refused),
           RUN(a_text_of_exactly_the_bound_is_read), RUN(every_cut_is_seen), RUN(damage_is_seen),
           RUN(what_is_not_read_says_what_to_do), RUN(a_compressed_file_is_read_as_the_text_inside),
           RUN(a_compressed_file_that_is_cut_short_is_named))
