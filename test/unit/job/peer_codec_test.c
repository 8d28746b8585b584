#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hash.h"
#include "peer.h"

static const char instance[] = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

static struct peer some_peer(void)
{
    struct peer peer = {.name = "node-1",
                        .home = UINT64_C(0xfedcba9876543210),
                        .address = "http://10.0.0.1:7777",
                        .has_history = true,
                        .history_address = "10.0.0.1:7778",
                        .fingerprint = "ab12",
                        .version = "1.2.3",
                        .spawner_version = "1.2.2",
                        .labels = "disk=ssd,zone=eu",
                        .roles = PEER_API | PEER_WORKER,
                        .capacity = 4,
                        .max_running = 7,
                        .running = 2,
                        .refusal = PEER_FULL,
                        .started_ms = 1774706523123,
                        .wall_ms = 1774706999123,
                        .boot_ms = 123456,
                        .skew_ms = -17,
                        .lag_ms = 3,
                        .cpu_pressure = 41,
                        .memory_pressure = -1,
                        .cpu_load = 130,
                        .memory_used = 62};
    assert_int_equal(id_parse(instance, &peer.instance), OK);
    return peer;
}

/* As the text is and, with a blank before it, the long way. */
static enum status decode(const char *text, size_t length, struct peer *ret)
{
    char blank[4096] = " ";
    struct peer other, peer;
    memset(&peer, 0, sizeof(peer));
    memset(&other, 0, sizeof(other));
    memcpy(blank + 1, text, length);
    enum status st = peer_decode("node-1", text, length, &peer);
    enum status other_st = peer_decode("node-1", blank, length + 1, &other);
    if (st != other_st || (st == OK && memcmp(&peer, &other, sizeof(peer)) != 0))
        fail_msg("two ways of reading differ: %.*s", (int)length, text);
    if (st == OK)
        *ret = peer;
    return st;
}

static void test_round_trip(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "plain", "\"quoted\" \\ and \n lines", "\u00e4\u65e5",
                                        "\x7f"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct peer peer = some_peer(), again;
        struct strbuf out, out_again;
        strbuf_init(&out);
        strbuf_init(&out_again);
        snprintf(peer.version, sizeof(peer.version), "%s", texts[i]);
        assert_int_equal(peer_encode(&peer, &out), OK);
        assert_int_equal(decode(out.text, out.length, &again), OK);
        assert_string_equal(again.version, texts[i]);
        assert_int_equal(again.home, peer.home);
        assert_int_equal(again.refusal, PEER_FULL);
        assert_int_equal(again.skew_ms, -17);
        assert_int_equal(again.cpu_load, 130);
        assert_int_equal(again.memory_used, 62);
        assert_int_equal(peer_encode(&again, &out_again), OK);
        assert_string_equal(out_again.text, out.text);
        strbuf_release(&out);
        strbuf_release(&out_again);
    }
}

static void test_bad_text_is_not_written(void **state)
{
    (void)state;
    struct peer peer = some_peer();
    struct strbuf out;
    strbuf_init(&out);
    snprintf(peer.version, sizeof(peer.version), "\xff");
    assert_int_not_equal(peer_encode(&peer, &out), OK);
    strbuf_release(&out);
}

#define WITH(rest) "{\"instance\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"" rest "}"

static const struct {
    int line;
    const char *text;
    enum status want;
    int capacity;
    int64_t lag_ms;
    enum peer_refusal refusal;
} documents[] = {
    {__LINE__, WITH(""), OK, 1, -1, PEER_ACCEPTS},
    {__LINE__, WITH(",\"capacity\":5,\"lag_ms\":0"), OK, 5, 0, PEER_ACCEPTS},
    {__LINE__, WITH(",\"capacity\":-3,\"lag_ms\":-1"), OK, 1, -1, PEER_ACCEPTS},
    {__LINE__, WITH(",\"capacity\":99999999999"), OK, 1000000, -1, PEER_ACCEPTS},
    {__LINE__, WITH(",\"lag_ms\":9007199254740991"), OK, 1, 9007199254740991, PEER_ACCEPTS},
    {__LINE__, WITH(",\"lag_ms\":9223372036854775807"), OK, 1, 9007199254740992, PEER_ACCEPTS},
    {__LINE__, WITH(",\"lag_ms\":-9223372036854775807"), OK, 1, -9007199254740992, PEER_ACCEPTS},
    {__LINE__, WITH(",\"lag_ms\":9223372036854775808"), E_CORRUPT, 0, 0, PEER_ACCEPTS},
    {__LINE__, WITH(",\"lag_ms\":01"), E_CORRUPT, 0, 0, PEER_ACCEPTS},
    {__LINE__, WITH(",\"lag_ms\":-"), E_CORRUPT, 0, 0, PEER_ACCEPTS},
    {__LINE__, WITH(",\"lag_ms\":7,\"lag_ms\":8"), OK, 1, 8, PEER_ACCEPTS},
    {__LINE__, WITH(",\"refusal\":\"full\""), OK, 1, -1, PEER_FULL},
    {__LINE__, WITH(",\"refusal\":\"of a newer version\""), OK, 1, -1, PEER_OTHER},
    {__LINE__, WITH(",\"refusal\":\"\\u0066ull\""), OK, 1, -1, PEER_FULL},
    {__LINE__, WITH(",\"new\":{\"a\":[1,\"}\"]},\"lag_ms\":2"), OK, 1, 2, PEER_ACCEPTS},
    {__LINE__, WITH(",\"new\":null,\"lag_ms\":2"), OK, 1, 2, PEER_ACCEPTS},
    {__LINE__, WITH(",\"new\":true,\"lag_ms\":2"), OK, 1, 2, PEER_ACCEPTS},
    {__LINE__, WITH(",\"lag_ms\":2.5"), OK, 1, -1, PEER_ACCEPTS},
    {__LINE__, WITH(",\"lag_ms\":\"2\",\"refusal\":3"), OK, 1, -1, PEER_ACCEPTS},
    {__LINE__, WITH(","), E_CORRUPT, 0, 0, PEER_ACCEPTS},
    {__LINE__, WITH("") "x", E_CORRUPT, 0, 0, PEER_ACCEPTS},
    {__LINE__, "{\"instance\":\"01ARZ3NDEKTSV4RRFFQ69G5FA\"}", E_CORRUPT, 0, 0, PEER_ACCEPTS},
    {__LINE__, "{\"instance\":7}", E_CORRUPT, 0, 0, PEER_ACCEPTS},
    {__LINE__, "{}", E_CORRUPT, 0, 0, PEER_ACCEPTS},
    {__LINE__, "[]", E_CORRUPT, 0, 0, PEER_ACCEPTS},
    {__LINE__, "", E_CORRUPT, 0, 0, PEER_ACCEPTS},
};

static void test_documents(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        struct peer peer;
        enum status st = decode(documents[i].text, strlen(documents[i].text), &peer);
        bool is_well =
            st == documents[i].want && (st != OK || (peer.capacity == documents[i].capacity &&
                                                     peer.lag_ms == documents[i].lag_ms &&
                                                     peer.refusal == documents[i].refusal));
        if (!is_well)
            fail_msg("line %d: %s", documents[i].line, documents[i].text);
    }
}

/* Whatever a byte is changed into, both ways of reading agree. */
static void test_any_byte_changed(void **state)
{
    (void)state;
    struct peer peer = some_peer(), ret;
    struct strbuf out;
    strbuf_init(&out);
    assert_int_equal(peer_encode(&peer, &out), OK);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t random = hash_bytes(i, &i, sizeof(i));
        char *at = &out.text[random % out.length], before = *at;
        *at = (char)(random >> 32);
        if (decode(out.text, out.length, &ret) == OK)
            assert_string_equal(ret.name, "node-1");
        *at = before;
    }
    strbuf_release(&out);
}

/* What agents say is as short as before; an older heartbeat is an agent's. */
static void test_programs(void **state)
{
    (void)state;
    struct peer peer = some_peer(), again;
    struct strbuf out;
    strbuf_init(&out);
    assert_int_equal(peer_encode(&peer, &out), OK);
    assert_null(strstr(out.text, "program"));
    assert_int_equal(decode(out.text, out.length, &again), OK);
    assert_false(peer_is_program(&again));
    assert_true(peer_runs_jobs(&again) && peer_is_agent_worker(&again) && peer_can_lead(&again));
    strbuf_reset(&out);
    snprintf(peer.program, sizeof(peer.program), "billing");
    peer.program_version = 7;
    snprintf(peer.lacks, sizeof(peer.lacks), "0123abcd+");
    peer.roles = 0;
    snprintf(peer.via, sizeof(peer.via), "web-1");
    snprintf(peer.progress, sizeof(peer.progress), "01ARZ3NDEKTSV4RRFFQ69G5FAV40%% \"rows\";");
    assert_int_equal(peer_encode(&peer, &out), OK);
    assert_int_equal(decode(out.text, out.length, &again), OK);
    assert_string_equal(again.program, "billing");
    assert_int_equal(again.program_version, 7);
    assert_string_equal(again.lacks, "0123abcd+");
    assert_string_equal(again.via, "web-1");
    assert_string_equal(again.progress, peer.progress);
    assert_true(peer_runs_jobs(&again) && !peer_is_agent_worker(&again) && !peer_can_lead(&again));
    again.stands = true;
    assert_true(peer_can_lead(&again));
    again.refusal = PEER_STOPPING;
    assert_false(peer_can_lead(&again));
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_bad_text_is_not_written),
        cmocka_unit_test(test_documents),        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_any_byte_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
