/* When a mute is over follows from its times, and from the job's last success, alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mute.h"

#define UID "01ARZ3NDEKTSV4RRFFQ69G5FAV"

static void test_ends(void **state)
{
    static const struct {
        int line;
        enum mute_kind kind;
        int64_t until_ms, ended_ms, succeeded_ms, now_ms; /* it is from 1000 */
        enum mute_end want;
        int64_t want_ms;
    } cases[] = {
        {__LINE__, MUTE_MUTE, 2000, 0, 0, 1000, MUTE_GOES_ON, 2000},
        {__LINE__, MUTE_MUTE, 2000, 0, 0, 1999, MUTE_GOES_ON, 2000},
        {__LINE__, MUTE_MUTE, 2000, 0, 0, 2000, MUTE_RAN_OUT, 2000},
        {__LINE__, MUTE_MUTE, 2000, 0, 1500, 1600, MUTE_GOES_ON, 2000}, /* a success is no end */
        {__LINE__, MUTE_MUTE, 2000, 1500, 0, 1600, MUTE_TAKEN_BACK, 1500},
        {__LINE__, MUTE_MUTE, 2000, 1500, 0, 9000, MUTE_TAKEN_BACK, 1500},
        {__LINE__, MUTE_ACK, 0, 0, 0, 9000, MUTE_GOES_ON, 0},
        {__LINE__, MUTE_ACK, 0, 0, 999, 9000, MUTE_GOES_ON, 0}, /* of before */
        {__LINE__, MUTE_ACK, 0, 0, 1000, 9000, MUTE_GOES_ON, 0},
        {__LINE__, MUTE_ACK, 0, 0, 1001, 9000, MUTE_RECOVERED, 1001},
        {__LINE__, MUTE_ACK, 0, 0, 9100, 9000, MUTE_RECOVERED, 9100}, /* by a clock ahead */
        {__LINE__, MUTE_ACK, 2000, 0, 0, 1999, MUTE_GOES_ON, 2000},
        {__LINE__, MUTE_ACK, 2000, 0, 0, 2000, MUTE_RAN_OUT, 2000},
        {__LINE__, MUTE_ACK, 2000, 0, 3000, 4000, MUTE_RAN_OUT, 2000},
        {__LINE__, MUTE_ACK, 5000, 0, 3000, 4000, MUTE_RECOVERED, 3000},
        {__LINE__, MUTE_ACK, 5000, 2500, 3000, 4000, MUTE_TAKEN_BACK, 2500},
        {__LINE__, MUTE_ACK, 0, 3500, 3000, 4000, MUTE_RECOVERED, 3000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mute mute = {.kind = cases[i].kind,
                            .from_ms = 1000,
                            .until_ms = cases[i].until_ms,
                            .ended_ms = cases[i].ended_ms};
        int64_t end_ms = -1;
        enum mute_end end = mute_state(&mute, cases[i].succeeded_ms, cases[i].now_ms, &end_ms);
        if (end != cases[i].want || end_ms != cases[i].want_ms)
            fail_msg("line %d: %d at %lld", cases[i].line, end, (long long)end_ms);
        assert_int_equal(mute_is_active(&mute, cases[i].succeeded_ms, cases[i].now_ms),
                         end == MUTE_GOES_ON);
    }
}

static void test_what_is_taken(void **state)
{
    const struct mute mute = {.kind = MUTE_MUTE}, ack = {.kind = MUTE_ACK};
    (void)state;
    for (int event = 0; event < NOTIFY_EVENTS; event++) {
        bool is_good = event == NOTIFY_RECOVERY || event == NOTIFY_SUCCESS;
        assert_true(mute_takes(&mute, (enum notify_event)event));
        assert_int_equal(mute_takes(&ack, (enum notify_event)event), !is_good);
    }
}

#define GOOD                                                                                       \
    "{\"kind\":\"mute\",\"job\":\"a/"                                                              \
    "b\",\"from_ms\":1,\"until_ms\":2,\"ended_ms\":0,\"by\":\"eve\","                              \
    "\"ended_by\":\"\",\"reason\":\"x\"}"

static void test_documents(void **state)
{
    static const struct {
        int line;
        const char *uid, *json;
        bool is_good;
    } cases[] = {
        {__LINE__, UID, GOOD, true},
        {__LINE__, "x", GOOD, false},
        {__LINE__, UID, "", false},
        {__LINE__, UID, "[]", false},
        {__LINE__, UID,
         "{\"kind\":\"ack\",\"job\":\"a\",\"from_ms\":1,\"until_ms\":0,\"ended_ms\":0,\"by\":\"\","
         "\"ended_by\":\"\",\"reason\":\"\",\"newer\":1}",
         true},
        {__LINE__, UID, /* a mute has a time */
         "{\"kind\":\"mute\",\"job\":\"a\",\"from_ms\":1,\"until_ms\":0,\"ended_ms\":0,\"by\":\"\","
         "\"ended_by\":\"\",\"reason\":\"\"}",
         false},
        {__LINE__, UID, /* of a newer version */
         "{\"kind\":\"snooze\",\"job\":\"a\",\"from_ms\":1,\"until_ms\":2,\"ended_ms\":0,\"by\":"
         "\"\","
         "\"ended_by\":\"\",\"reason\":\"\"}",
         false},
        {__LINE__, UID,
         "{\"kind\":\"mute\",\"job\":\"a b\\n\",\"from_ms\":1,\"until_ms\":2,\"ended_ms\":0,"
         "\"by\":\"\",\"ended_by\":\"\",\"reason\":\"\"}",
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mute mute = {.revision = 7};
        enum status st = mute_decode(cases[i].uid, cases[i].json, &mute);
        if ((st == OK) != cases[i].is_good)
            fail_msg("line %d: %d", cases[i].line, st);
    }
    struct mute mute, again;
    assert_int_equal(mute_decode(UID, GOOD, &mute), OK);
    char *text = mute_encode(&mute);
    assert_non_null(text);
    assert_int_equal(mute_decode(UID, text, &again), OK);
    assert_memory_equal(&mute, &again, sizeof(mute));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_what_is_taken),
        cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
