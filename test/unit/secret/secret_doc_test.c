/* Secrets as documents: what is read back, and what anybody without the key may do to one in vain;
 * which job may use which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "secret_doc.h"
#include "strbuf.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static char key_file[] = "/tmp/peal-secret-test-XXXXXX";
static struct secret_keys keys;

static int set_up(void **unused)
{
    struct strbuf why;
    (void)unused;
    int fd = mkstemp(key_file);
    if (fd < 0)
        return -1;
    close(fd);
    unlink(key_file);
    strbuf_init(&why);
    enum status st = secret_keys_add(key_file, &keys, &why);
    strbuf_release(&why);
    return st == OK ? 0 : -1;
}

static int tear_down(void **unused)
{
    (void)unused;
    unlink(key_file);
    return 0;
}

static struct secret make(const char *name, const char *value)
{
    struct secret secret = {.version = 3, .set_ms = 1000, .by = "anna"};
    snprintf(secret.name, sizeof(secret.name), "%s", name);
    assert_int_equal(secret_set_value(&secret, &keys, value, strlen(value)), OK);
    return secret;
}

static void test_round_trip(void **unused)
{
    struct secret secret = make("billing/db", "hunter22"), read;
    char *value, *json = secret_encode(&secret);
    size_t length;
    (void)unused;
    assert_non_null(json);
    assert_null(strstr(json, "hunter22"));
    assert_int_equal(secret_decode("billing/db", json, &read), OK);
    assert_int_equal(read.version, 3);
    assert_int_equal(secret_value(&read, &keys, &value, &length), OK);
    assert_string_equal(value, "hunter22");
    free(value);
    free(json);
    secret_release(&read);
    secret_release(&secret);
}

static void expect_changed(const struct secret *secret, int line)
{
    char *value = NULL;
    size_t length;
    if (secret_value(secret, &keys, &value, &length) != E_CORRUPT)
        fail_msg("line %d: was taken", line);
}

/* All that is beside the value is authenticated with it. */
static void test_moved(void **unused)
{
    static char all[] = "*";
    char *shares[] = {all, NULL};
    struct secret secret = make("billing/db", "hunter22");
    struct secret changed = secret;
    (void)unused;
    snprintf(changed.name, sizeof(changed.name), "thief/db");
    expect_changed(&changed, __LINE__);
    changed = secret;
    changed.version++;
    expect_changed(&changed, __LINE__);
    changed = secret;
    changed.set_ms++;
    expect_changed(&changed, __LINE__);
    changed = secret;
    changed.by[0] = 'A';
    expect_changed(&changed, __LINE__);
    changed = secret;
    changed.shares = shares;
    expect_changed(&changed, __LINE__);
    changed = secret;
    changed.nonce[0] ^= 1;
    expect_changed(&changed, __LINE__);
    changed = secret;
    for (size_t i = 0; i < secret.sealed_length; i++) {
        changed.sealed[i] ^= 1;
        expect_changed(&changed, __LINE__);
        changed.sealed[i] ^= 1;
    }
    secret_release(&secret);
}

static void test_keys(void **unused)
{
    struct secret secret = make("db", "hunter22");
    struct secret_keys more = keys, read;
    struct strbuf why;
    char *value = NULL;
    size_t length;
    (void)unused;
    strbuf_init(&why);
    assert_int_equal(secret_keys_add(key_file, &more, &why), OK);
    assert_int_equal(secret_keys_load(key_file, &read, &why), OK);
    assert_int_equal(read.count, 2);
    assert_string_equal(read.items[1].id, keys.items[0].id);
    assert_int_equal(secret_value(&secret, &read, &value, &length), OK);
    free(value);
    assert_int_equal(secret_keys_keep_first(key_file, &more, &why), OK);
    assert_int_equal(secret_keys_load(key_file, &read, &why), OK);
    assert_int_equal(read.count, 1);
    assert_int_equal(secret_value(&secret, &read, &value, &length), E_NOT_FOUND);
    assert_int_equal(chmod(key_file, 0640), 0);
    assert_int_equal(secret_keys_load(key_file, &read, &why), E_INVALID);
    assert_int_equal(unlink(key_file), 0);
    assert_int_equal(secret_keys_load(key_file, &read, &why), E_NOT_FOUND);
    strbuf_release(&why);
    secret_release(&secret);
}

static void test_serves(void **unused)
{
    static const struct {
        int line;
        const char *name, *share, *job;
        bool want;
    } cases[] = {
        {__LINE__, "billing/db", NULL, "billing/in", true},
        {__LINE__, "billing/db", NULL, "billing/eu/in", true},
        {__LINE__, "billing/eu/db", NULL, "billing/in", false},
        {__LINE__, "billing/db", NULL, "billings/in", false},
        {__LINE__, "billing/db", NULL, "billing", false},
        {__LINE__, "billing/db", NULL, "in", false},
        {__LINE__, "db", NULL, "in", true},
        {__LINE__, "db", NULL, "billing/in", false},
        {__LINE__, "db", "billing", "billing/in", true},
        {__LINE__, "db", "billing", "team/in", false},
        {__LINE__, "db", "*", "team/in", true},
        {__LINE__, "team/db", "*", "in", true},
    };
    (void)unused;
    for (size_t i = 0; i < ROWS(cases); i++) {
        char *shares[] = {(char *)cases[i].share, NULL};
        struct secret secret = {.shares = shares};
        snprintf(secret.name, sizeof(secret.name), "%s", cases[i].name);
        if (secret_serves(&secret, cases[i].job) != cases[i].want)
            fail_msg("line %d: not %d", cases[i].line, cases[i].want);
    }
}

static void test_candidates(void **unused)
{
    static const struct {
        int line;
        const char *job, *name, *want;
    } cases[] = {
        {__LINE__, "in", "db", "db;"},
        {__LINE__, "a/in", "db", "a/db;db;"},
        {__LINE__, "a/b/c/in", "db", "a/b/c/db;a/b/db;a/db;db;"},
        {__LINE__, "a/b/in", "x/db", "x/db;"},
    };
    (void)unused;
    for (size_t i = 0; i < ROWS(cases); i++) {
        char name[SECRET_NAME_SIZE];
        struct strbuf got;
        strbuf_init(&got);
        for (unsigned k = 0; secret_candidate(cases[i].job, cases[i].name, k, name); k++)
            strbuf_addf(&got, "%s;", name);
        if (strcmp(got.text, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, got.text);
        strbuf_release(&got);
    }
}

static void test_uses(void **unused)
{
    static const struct {
        int line;
        const char *item, *variable, *name; /* variable NULL: it is wrong */
    } cases[] = {
        {__LINE__, "db-password", "DB_PASSWORD", "db-password"},
        {__LINE__, "billing/db.pw", "DB_PW", "billing/db.pw"},
        {__LINE__, "PGPASSWORD=db", "PGPASSWORD", "db"},
        {__LINE__, "2nd", NULL, NULL},
        {__LINE__, "SECOND=2nd", "SECOND", "2nd"},
        {__LINE__, "=db", NULL, NULL},
        {__LINE__, "A B=db", NULL, NULL},
        {__LINE__, "A=", NULL, NULL},
        {__LINE__, "A=../db", NULL, NULL},
        {__LINE__, "a/../db", NULL, NULL},
        {__LINE__, "PEAL_JOB=db", NULL, NULL},
        {__LINE__, "PEAL_TOKEN=db", "PEAL_TOKEN", "db"},
        {__LINE__, "peal-job", NULL, NULL},
    };
    (void)unused;
    for (size_t i = 0; i < ROWS(cases); i++) {
        const char *complaint = secret_use_complaint(cases[i].item);
        if (!complaint != (cases[i].variable != NULL))
            fail_msg("line %d: %s", cases[i].line, complaint ? complaint : "was taken");
        if (complaint)
            continue;
        struct secret_use use = secret_use_read(cases[i].item);
        assert_string_equal(use.variable, cases[i].variable);
        assert_string_equal(use.name, cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_moved),
        cmocka_unit_test(test_serves),     cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_uses),       cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
