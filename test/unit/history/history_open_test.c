#include "history_open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spool/history_spool.h"

static int setup(void **state)
{
    char *dir = strdup("/tmp/peal-history-XXXXXX");
    assert_non_null(dir);
    assert_non_null(mkdtemp(dir));
    *state = dir;
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
    assert_int_equal(system(command), 0);
    free(*state);
    return 0;
}

static void test_wrong(void **state)
{
    static const struct {
        int line;
        const char *url, *words;
    } cases[] = {
        {__LINE__, "mysql://ann:secret@host/db", "no history at \"mysql:\""},
        {__LINE__, "mongodb:secret", "no history at \"mongodb:\""},
        {__LINE__, "mongodb://ann:secret%zz@host/db", "%40 for @"},
        {__LINE__, "mongodb://ann:secret@host/db?expire_days=soon", "expire_days is a number"},
        {__LINE__, "mongodb://ann:secret@host/db?expire_days=-1", "expire_days is a number"},
        {__LINE__, "mongodb://ann:secret@host/db?password_file=secret", "an absolute path"},
        {__LINE__, "ann:secret@host/db", "starts with postgresql://"},
        {__LINE__, "secret", "this is no address"},
        {__LINE__, "/var/lib/secret", "this is no address"},
        {__LINE__, "postgresql:secret", "Name one that starts with postgresql://"},
        {__LINE__, "POSTGRESQL://ann:secret@host/db", "starts with postgresql://"},
        {__LINE__, "postgresql://ann:secret%zz@host/db", "%40 for @"},
        {__LINE__, "postgresql://ann:secret@host/db?nothing=secret", "only parameters that libpq"},
        {__LINE__, "postgresql://ann:secret@[::1/db", "cannot be read"},
        {__LINE__, "postgresql://ann:secret@host/db?schema=", "a schema is named by"},
        {__LINE__, "postgresql://ann:secret@host/db?schema=Peal", "a schema is named by"},
        {__LINE__, "postgresql://ann:secret@host/db?schema=a;drop", "a schema is named by"},
        {__LINE__, "postgresql://ann:secret@host/db?schema=pg_peal", "a schema is named by"},
        {__LINE__, "postgresql://ann:secret@host/db?sslmode=require&schema=1a", "a schema is"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct history *history = NULL;
        struct strbuf why;
        strbuf_init(&why);
        enum status st =
            history_open(cases[i].url, *state, (struct history_wake){0}, &history, &why);
        if (st != E_INVALID || history || !strstr(why.text, cases[i].words) ||
            strstr(why.text, "secret"))
            fail_msg("line %d: %s: %s", cases[i].line, status_text(st), why.text);
        strbuf_release(&why);
    }
}

/* Nothing listens there: it opens all the same, and says so. */
static void test_right(void **state)
{
    static const char *const urls[] = {
        NULL,
        "",
        "postgresql://ann:secret@127.0.0.1:1/db",
        "postgres://127.0.0.1:1",
        "postgresql://127.0.0.1:1/db?schema=peal_2",
        "postgresql://127.0.0.1:1/db?schema=peal_2&sslmode=disable",
        "postgresql://127.0.0.1:1,127.0.0.1:2/db?target_session_attrs=read-write&schema=x",
    };
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        struct history *history = NULL;
        struct strbuf why;
        strbuf_init(&why);
        enum status st = history_open(urls[i], *state, (struct history_wake){0}, &history, &why);
        if (st != OK || !history || why.length)
            fail_msg("%s: %s", urls[i], why.text);
        history_free(history);
        strbuf_release(&why);
    }
}

/* Folders that cannot be used. */
static void test_no_folder(void **state)
{
    static const char *const urls[] = {NULL, "postgresql://127.0.0.1:1/db"};
    char dir[128];
    snprintf(dir, sizeof(dir), "%s/none", (char *)*state);
    for (size_t i = 0; i < 2; i++) {
        struct history *history = NULL;
        struct strbuf why;
        strbuf_init(&why);
        assert_int_equal(history_open(urls[i], dir, (struct history_wake){0}, &history, &why),
                         E_IO);
        assert_null(history);
        assert_non_null(strstr(why.text, "permissions of its folder"));
        strbuf_release(&why);
    }
}

struct answer {
    bool done;
    enum status st;
};

static void append_done(struct history_append *append, enum status st)
{
    *(struct answer *)append->context = (struct answer){true, st};
}

static void log_done(struct history_log *log, enum status st)
{
    *(struct answer *)log->context = (struct answer){true, st};
}

/* Recorded while a database is away, then peal is told to keep the history by itself. */
static void test_spool_is_not_forgotten(void **state)
{
    struct history *history;
    struct strbuf why;
    struct answer answer = {0};
    struct run run = {.state = RUN_OK, .id = {{1}}, .job_uid = {{2}}, .job_name = "job"};
    struct history_record record = {.run = &run};
    struct history_append append = {
        .records = &record, .count = 1, .done = append_done, .context = &answer};
    struct history_wake none = {0};
    strbuf_init(&why);
    assert_int_equal(history_open("postgresql://127.0.0.1:1/db", *state, none, &history, &why), OK);
    history_append(history, &append);
    history_free(history);
    assert_true(answer.done);
    assert_int_equal(answer.st, OK);

    assert_int_equal(history_open(NULL, *state, none, &history, &why), OK);
    struct history_spool_stats stats;
    do {
        usleep(1000);
        history_dispatch(history);
        history_spool_stats(history, &stats);
    } while (stats.waiting_records);
    history_free(history);
    assert_int_equal(history_open(NULL, *state, none, &history, &why), OK); /* without a spool */
    struct history_log log = {.run_id = run.id, .done = log_done, .context = &answer};
    answer.done = false;
    history_log(history, &log);
    while (!answer.done) {
        usleep(1000);
        history_dispatch(history);
    }
    assert_true(log.found);
    history_log_release(&log);
    history_free(history);
    strbuf_release(&why);
}

int main(void)
{
#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_DIR(test_wrong),
        WITH_DIR(test_right),
        WITH_DIR(test_no_folder),
        WITH_DIR(test_spool_is_not_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
