#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "definition/retry.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- items of `on` ---- */

static const struct {
    int line;
    const char *text;
    bool is_good;
} items[] = {
    {__LINE__, "failed", true},
    {__LINE__, "timed_out", true},
    {__LINE__, "lost", true},
    {__LINE__, "no_start", true},
    {__LINE__, "exit 1", true},
    {__LINE__, "exit 0,75-78,255", true},
    {__LINE__, "signal KILL", true},
    {__LINE__, "signal SIGTERM,9", true},
    {__LINE__, "signal 1-3", true},
    {__LINE__, "no_response", true},
    {__LINE__, "http 503", true},
    {__LINE__, "http 429,500-599", true},
    {__LINE__, "http", false},
    {__LINE__, "http 99", false},
    {__LINE__, "http 600", false},
    {__LINE__, "http 5xx", false},
    {__LINE__, "http 503,", false},
    {__LINE__, "", false},
    {__LINE__, "ok", false},
    {__LINE__, "killed", false}, /* a person wanted that */
    {__LINE__, "Failed", false},
    {__LINE__, "exit", false},
    {__LINE__, "exit ", false},
    {__LINE__, "exit 256", false},
    {__LINE__, "exit 99999999999999999999", false},
    {__LINE__, "exit 1,", false},
    {__LINE__, "exit ,1", false},
    {__LINE__, "exit 5-3", false},
    {__LINE__, "exit 1-", false},
    {__LINE__, "exit -1", false},
    {__LINE__, "exit 1 2", false},
    {__LINE__, "exit KILL", false},
    {__LINE__, "signal SIG", false},
    {__LINE__, "signal NOPE", false},
    {__LINE__, "signal 65", false},
};

static void test_items(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(items); i++) {
        bool is_good = retry_on_complaint(items[i].text) == NULL;
        if (is_good != items[i].is_good)
            fail_msg("line %d: \"%s\"", items[i].line, items[i].text);
    }
}

/* ---- which ends ---- */

#define END(end_state, end_reason, code, number)                                                   \
    {                                                                                              \
        .attempt = 1, .state = end_state, .reason = end_reason, .exit_code = code,                 \
        .term_signal = number                                                                      \
    }

static const struct run exit_1 = END(RUN_FAILED, REASON_EXIT_CODE, 1, 0);
static const struct run exit_76 = END(RUN_FAILED, REASON_EXIT_CODE, 76, 0);
static const struct run by_kill = END(RUN_FAILED, REASON_SIGNAL, -1, SIGKILL);
static const struct run no_start = END(RUN_FAILED, REASON_NO_START, -1, 0);
static const struct run timed_out = END(RUN_TIMED_OUT, REASON_TIMEOUT, -1, SIGTERM);
static const struct run lost = END(RUN_LOST, REASON_NODE_DIED, -1, 0);
static const struct run ok = END(RUN_OK, REASON_NONE, 0, 0);
static const struct run killed = END(RUN_KILLED, REASON_USER, -1, SIGTERM);
static const struct run missed = END(RUN_MISSED, REASON_DEADLINE, -1, 0);
static const struct run too_late = END(RUN_MISSED, REASON_START_WINDOW, -1, 0);
static const struct run skipped = END(RUN_SKIPPED, REASON_PAUSED, -1, 0);

/* How the end of an HTTP call is told. */
#define CALL_END(end_reason, text)                                                                 \
    {                                                                                              \
        .attempt = 1, .state = RUN_FAILED, .reason = end_reason, .exit_code = -1, .detail = (text) \
    }

static const struct run http_503 = CALL_END(REASON_HTTP_STATUS, "HTTP 503, expected 200-299");
static const struct run bad_body =
    CALL_END(REASON_HTTP_BODY, "HTTP 200, but the body holds \"no\"");
static const struct run unanswered = CALL_END(REASON_HTTP_ERROR, "could not connect to 192.0.2.1");
static const struct run pretends = CALL_END(REASON_HTTP_ERROR, "HTTP 503, says the error");
static const struct run cut_short = CALL_END(REASON_HTTP_STATUS, "HTTP ");
static const struct run says_http = {.attempt = 1,
                                     .state = RUN_FAILED,
                                     .reason = REASON_EXIT_CODE,
                                     .exit_code = 1,
                                     .detail = "HTTP 503"};

static const struct {
    int line;
    char *on[3];
    const struct run *end;
    bool is_wanted;
} matches[] = {
    {__LINE__, {0}, &exit_1, true},
    {__LINE__, {0}, &by_kill, true},
    {__LINE__, {0}, &no_start, true},
    {__LINE__, {0}, &timed_out, true},
    {__LINE__, {0}, &lost, false}, /* it may have done its work */
    {__LINE__, {0}, &ok, false},
    {__LINE__, {0}, &killed, false},
    {__LINE__, {0}, &missed, false},
    {__LINE__, {0}, &too_late, true}, /* it never was a process */
    {__LINE__, {"no_start"}, &too_late, true},
    {__LINE__, {"lost"}, &too_late, false},
    {__LINE__, {0}, &skipped, false},
    {__LINE__, {"lost"}, &lost, true},
    {__LINE__, {"lost"}, &exit_1, false},
    {__LINE__, {"no_start"}, &no_start, true},
    {__LINE__, {"no_start"}, &exit_1, false},
    {__LINE__, {"exit 75-78"}, &exit_76, true},
    {__LINE__, {"exit 75-78"}, &exit_1, false},
    {__LINE__, {"exit 0-255"}, &by_kill, false},
    {__LINE__, {"exit 0-255"}, &ok, false},
    {__LINE__, {"signal KILL"}, &by_kill, true},
    {__LINE__, {"signal TERM"}, &by_kill, false},
    {__LINE__, {"signal TERM"}, &timed_out, false}, /* that was peal */
    {__LINE__, {"signal TERM"}, &killed, false},
    {__LINE__, {"exit 2", "timed_out"}, &timed_out, true},
    {__LINE__, {0}, &http_503, true},
    {__LINE__, {"http 500-599"}, &http_503, true},
    {__LINE__, {"http 500-502"}, &http_503, false},
    {__LINE__, {"http 200"}, &bad_body, true},
    {__LINE__, {"http 100-599"}, &unanswered, false},
    {__LINE__, {"http 100-599"}, &pretends, false},
    {__LINE__, {"http 100-599"}, &cut_short, false},
    {__LINE__, {"http 100-599"}, &says_http, false},
    {__LINE__, {"no_response"}, &unanswered, true},
    {__LINE__, {"no_response"}, &http_503, false},
    {__LINE__, {"no_response"}, &exit_1, false},
};

static void test_matches(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(matches); i++) {
        struct job_retries retries = {.count = 2,
                                      .on = matches[i].on[0] ? (char **)matches[i].on : NULL};
        struct run last = *matches[i].end;
        last.attempt = 3;
        if (retry_is_wanted(&retries, matches[i].end) != matches[i].is_wanted)
            fail_msg("line %d", matches[i].line);
        if (retry_is_wanted(&retries, &last))
            fail_msg("line %d: there are two retries", matches[i].line);
    }
}

/* ---- when ---- */

static const struct {
    int line;
    struct job_retries retries;
    int attempt;
    int64_t least_ms, most_ms;
} waits[] = {
    {__LINE__, {.wait_s = 10}, 1, 10000, 10000},
    {__LINE__, {.wait_s = 10}, 7, 10000, 10000},
    {__LINE__, {.wait_s = 0, .jitter_percent = 100}, 1, 0, 0},
    {__LINE__, {.wait_s = 10, .jitter_percent = 20}, 1, 10000, 11999},
    {__LINE__, {.wait_s = 10, .backoff = BACKOFF_EXPONENTIAL, .max_wait_s = 60}, 1, 10000, 10000},
    {__LINE__, {.wait_s = 10, .backoff = BACKOFF_EXPONENTIAL, .max_wait_s = 60}, 3, 40000, 40000},
    {__LINE__, {.wait_s = 10, .backoff = BACKOFF_EXPONENTIAL, .max_wait_s = 60}, 4, 60000, 60000},
    {__LINE__,
     {.wait_s = 1, .backoff = BACKOFF_EXPONENTIAL, .max_wait_s = INT64_C(36500) * 86400},
     100,
     INT64_C(36500) * 86400 * 1000,
     INT64_C(36500) * 86400 * 1000},
    {__LINE__, {.wait_s = 100, .backoff = BACKOFF_EXPONENTIAL, .max_wait_s = 60}, 1, 60000, 60000},
};

static void test_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(waits); i++) {
        for (uint64_t random = 0; random < 100; random++) {
            int64_t wait_ms = retry_wait_ms(&waits[i].retries, waits[i].attempt,
                                            random * UINT64_C(0x9e3779b97f4a7c15));
            if (wait_ms < waits[i].least_ms || wait_ms > waits[i].most_ms)
                fail_msg("line %d: %lld ms", waits[i].line, (long long)wait_ms);
        }
    }
}

static const struct {
    int line;
    enum run_state state;
    enum run_cause cause;
    int64_t finished_ms, within_s;
    int64_t want_ms;
} times[] = {
    {__LINE__, RUN_FAILED, CAUSE_TICK, 2000, 0, 3000},
    {__LINE__, RUN_LOST, CAUSE_TICK, 2000, 0, 9000}, /* its start window must be over */
    {__LINE__, RUN_FAILED, CAUSE_TICK, 2000, 3, 3000},
    {__LINE__, RUN_FAILED, CAUSE_TICK, 2001, 3, -1},
    {__LINE__, RUN_LOST, CAUSE_TICK, 2000, 3, -1},
    {__LINE__, RUN_FAILED, CAUSE_CATCH_UP, 100000, 3, 101000},
    {__LINE__, RUN_FAILED, CAUSE_BACKFILL, 100000, 3, 101000},
    {__LINE__, RUN_FAILED, CAUSE_MANUAL, 100000, 3, -1},
};

static void test_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(times); i++) {
        struct job_retries retries = {.count = 1, .wait_s = 1, .within_s = times[i].within_s};
        struct run end = {.attempt = 1,
                          .state = times[i].state,
                          .cause = times[i].cause,
                          .finished_ms = times[i].finished_ms};
        int64_t at_ms = retry_at_ms(&retries, &end, 1, 7000);
        if (at_ms != times[i].want_ms)
            fail_msg("line %d: %lld", times[i].line, (long long)at_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
