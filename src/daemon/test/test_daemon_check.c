/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/test/check.h"
#include "daemon/daemon_check.h"

static const char catalogue_text[] =
    "types:\n  - { name: small, cpu: 2, mem_gib: 4, price: 0.1 }\n";

static char folder[64];
static char conf_path[96];

static void write_file(const char *name, const char *text, mode_t mode)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)unlink(path);

    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);

    assert_true(file >= 0);
    assert_int_equal(fchmod(file, mode), 0); /* whatever the umask */
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

/* What is said of a configuration with these lines more; "": it is good. */
static int check(const char *more, struct error *reterr)
{
    char text[1024];
    struct conf conf = { 0 };

    (void)snprintf(text, sizeof(text),
                   "cluster: lab\ncatalogue: machines.yaml\npolicy: stint\n"
                   "engine: { kind: slurm }\n%s",
                   more);
    reterr->text[0] = '\0';
    if (conf_parse(conf_path, text, strlen(text), &conf, reterr) < 0)
        fail_msg("%s", reterr->text);

    const int rc = daemon_check(&conf, reterr);

    conf_done(&conf);
    return rc;
}

static void refuse(const char *more, int code, const char *expected)
{
    struct error error;

    assert_int_equal(check(more, &error), code);
    if (strstr(error.text, expected) == NULL)
        fail_msg("expected '%s' in '%s'", expected, error.text);
}

static void accept_this(const char *more)
{
    struct error error;

    if (check(more, &error) != 0)
        fail_msg("%s", error.text);
}

#define LOCAL  "cloud: { kind: local }\n"
#define LISTEN "http: { listen: '127.0.0.1:0', "

TEST(files_of_the_api_must_be_there_and_be_guarded)
{
    write_file("secret", "0123456789abcdef\n", 0600);
    write_file("open", "0123456789abcdef\n", 0644);
    write_file("short", "01234\n", 0600);
    accept_this(LOCAL LISTEN "token_file: secret, tls_certificate: open, tls_key: secret }\n");
    refuse(LOCAL LISTEN "token_file: none }\n", -ENOENT, "/none: No such file");
    refuse(LOCAL LISTEN "read_token_file: short }\n", -EINVAL, "token of 16 to 512 characters");
    refuse(LOCAL LISTEN "token_file: open }\n", -EPERM, "/open: every user may read it");
    refuse(LOCAL LISTEN "token_file: short }\n", -EINVAL, "token of 16 to 512 characters");
    refuse(LOCAL LISTEN "tls_certificate: none, tls_key: secret }\n", -ENOENT, "/none: No such");
    refuse(LOCAL LISTEN "tls_certificate: open, tls_key: none }\n", -ENOENT, "/none: No such file");
    refuse(LOCAL LISTEN "tls_certificate: open, tls_key: open }\n", -EPERM, "every user may read");
}

TEST(the_accounting_must_be_there_if_it_is_read)
{
    write_file("sacct.txt", "this is no table\n", 0600);
    refuse(LOCAL "estimates: { accounting: none }\n", -ENOENT, "/none");
    refuse(LOCAL "estimates: { accounting: sacct.txt }\n", -EINVAL, "/sacct.txt: ");
    accept_this(LOCAL "estimates: { accounting: none, learn: false }\n");
}

TEST(in_shadow_an_image_may_still_be_missing_but_is_noted)
{
    static const char text[] = "cluster: lab\ncatalogue: machines.yaml\npolicy: stint\n"
                               "engine: { kind: slurm }\ncloud: { kind: aws }\n";
    static const char whole[] = "cluster: lab\ncatalogue: machines.yaml\npolicy: stint\n"
                                "engine: { kind: slurm }\ncloud: { kind: aws, image: ami-1 }\n";
    struct conf conf = { 0 };

    accept_this("cloud: { kind: aws }\n");
    assert_int_equal(conf_parse(conf_path, text, strlen(text), &conf, NULL), 0);
    assert_non_null(strstr(daemon_check_note(&conf), "needs 'launch_template' or 'image'"));
    conf_done(&conf);
    assert_int_equal(conf_parse(conf_path, whole, strlen(whole), &conf, NULL), 0);
    assert_null(daemon_check_note(&conf));
    conf_done(&conf);
}

/* The catalogue is put back for the tests that follow. */
static void refuse_type(const char *type, const char *expected)
{
    char text[256];

    (void)snprintf(text, sizeof(text),
                   "types:\n  - { name: small, cpu: 2, mem_gib: 4, price: 0.1 }\n  - { %s }\n",
                   type);
    write_file("machines.yaml", text, 0600);
    refuse(LOCAL, -EINVAL, expected);
    write_file("machines.yaml", catalogue_text, 0600);
}

TEST(a_price_that_nobody_asks_is_refused)
{
    refuse_type("name: free, cpu: 2, mem_gib: 4, price: 0", "type 'free' has the price 0");
    refuse_type("name: later, cpu: 2, mem_gib: 4, price: [[0, 0.1], [1d, 0]]",
                "type 'later' has the price 0");
    refuse_type("name: slip, cpu: 2, mem_gib: 4, price: 1000000.5",
                "type 'slip' has a price above $10000 an hour");
    refuse_type("name: none, cpu: 0, mem_gib: 4, price: 0.1", "type 'none' has no CPU");
    write_file(
        "machines.yaml",
        "types:\n  - name: paid\n    cpu: 2\n    mem_gib: 4\n    offers: [{ market: reserved, "
        "price: 0 }]\n",
        0600);
    accept_this(LOCAL);
    write_file("machines.yaml", catalogue_text, 0600);
}

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/stint-check-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(conf_path, sizeof(conf_path), "%s/stint.conf", folder);
    write_file("machines.yaml", catalogue_text, 0600);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = { "machines.yaml", "secret", "open", "short", "sacct.txt" };
    char path[128];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(files_of_the_api_must_be_there_and_be_guarded),
        RUN(the_accounting_must_be_there_if_it_is_read),
        RUN(in_shadow_an_image_may_still_be_missing_but_is_noted),
        RUN(a_price_that_nobody_asks_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
