/* The codec: what is encoded is decoded, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spawn_message.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static char *const arguments[] = {(char *)"/bin/echo", (char *)"", (char *)"two words", NULL};
static char *const variables[] = {(char *)"A=1", (char *)"B=", NULL};

static void make_request(struct spawn_request *request)
{
    spawn_request_init(request);
    request->id = "run-1";
    request->job = "team/job";
    request->user = "nobody";
    request->is_default_user = true;
    request->cwd = "/tmp";
    request->argv = arguments;
    request->env = variables;
    request->deadline_boot_ms = 12345;
    request->limits_set = 1u << SPAWN_LIMIT_CPU;
    request->limits[SPAWN_LIMIT_CPU] = 99;
    request->is_merged = true;
    request->has_values = true;
    request->linger_s = SPAWN_LINGER_S_MAX;
}

static char *make_start(size_t *ret_length)
{
    struct spawn_request request;
    void *packet;
    make_request(&request);
    assert_int_equal(spawn_encode_start(&request, &packet, ret_length), OK);
    return packet;
}

static enum status decode_start(const void *packet, size_t length, struct spawn_request *request,
                                void **block)
{
    struct spawn_message message;
    enum status st = spawn_decode(packet, length, &message);
    return st == OK ? spawn_decode_start(&message, request, block) : st;
}

static void a_start_comes_back(void **state)
{
    (void)state;
    size_t length;
    char *packet = make_start(&length);
    struct spawn_request got;
    void *block;
    assert_int_equal(decode_start(packet, length, &got, &block), OK);
    assert_string_equal(got.id, "run-1");
    assert_string_equal(got.job, "team/job");
    assert_string_equal(got.user, "nobody");
    assert_true(got.is_default_user);
    assert_string_equal(got.cwd, "/tmp");
    for (size_t i = 0; arguments[i]; i++)
        assert_string_equal(got.argv[i], arguments[i]);
    assert_null(got.argv[3]);
    assert_string_equal(got.env[1], "B=");
    assert_null(got.env[2]);
    assert_null(got.stdin_bytes);
    assert_int_equal(got.deadline_boot_ms, 12345);
    assert_int_equal(got.grace_ms, 10000);
    assert_int_equal(got.limits[SPAWN_LIMIT_CPU], 99);
    assert_true(got.is_merged);
    assert_true(got.has_values);
    assert_int_equal(got.linger_s, SPAWN_LINGER_S_MAX);
    free(block);
    free(packet);
}

/* Copied to a block of its own size, so that the sanitizer sees a byte too many that is read. */
static enum status decode_copy(const char *bytes, size_t length)
{
    char *exact = malloc(length ? length : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, length);
    struct spawn_request request;
    void *block = NULL;
    enum status st = decode_start(exact, length, &request, &block);
    if (st == OK)
        free(block);
    free(exact);
    return st;
}

static void every_shortened_start_is_refused(void **state)
{
    (void)state;
    size_t length;
    char *packet = make_start(&length);
    for (size_t cut = 0; cut < length; cut++) {
        if (decode_copy(packet, cut) == OK)
            fail_msg("cut to %zu of %zu", cut, length);
        /* a header that agrees with the wrong length does not help */
        char *copy = malloc(length);
        assert_non_null(copy);
        memcpy(copy, packet, length);
        uint32_t wrong = (uint32_t)cut;
        memcpy(copy + offsetof(struct spawn_header, length), &wrong, sizeof(wrong));
        if (decode_copy(copy, cut) == OK)
            fail_msg("cut to %zu of %zu, header too", cut, length);
        free(copy);
    }
    free(packet);
}

/* Where the flags are: at the end of the part of fixed size, before the texts. */
static char *find_flags(char *packet, size_t length)
{
    char *cwd = memmem(packet, length, "/tmp", sizeof("/tmp"));
    assert_non_null(cwd);
    return cwd - sizeof(uint32_t);
}

/* An agent of an earlier version names no job, and its user is never the operator's. */
static void a_start_without_a_job_is_read(void **state)
{
    (void)state;
    static const char job[] = "team/job";
    static const uint32_t none = 0;
    size_t length;
    char *packet = make_start(&length);
    char *at = memmem(packet, length, job, sizeof(job));
    assert_non_null(at);
    memmove(at, at + sizeof(job), (size_t)(packet + length - at) - sizeof(job));
    length -= sizeof(job);
    uint32_t shorter = (uint32_t)length;
    memcpy(packet + offsetof(struct spawn_header, length), &shorter, sizeof(shorter));
    memcpy(find_flags(packet, length), &none, sizeof(none));
    struct spawn_request got;
    void *block;
    assert_int_equal(decode_start(packet, length, &got, &block), OK);
    assert_string_equal(got.job, "");
    assert_string_equal(got.user, "nobody");
    assert_false(got.is_default_user);
    assert_false(got.is_merged);
    assert_int_equal(got.linger_s, SPAWN_LINGER_S);
    assert_string_equal(got.argv[0], arguments[0]);
    free(block);
    free(packet);
}

static void unknown_flags_are_refused(void **state)
{
    (void)state;
    size_t length;
    char *packet = make_start(&length);
    *find_flags(packet, length) |= 64;
    assert_int_equal(decode_copy(packet, length), E_CORRUPT);
    free(packet);
}

/* Its time is the last 8 bytes; without one it is a start like any other. */
static void a_start_has_a_time(void **state)
{
    (void)state;
    static const struct {
        int line;
        int64_t us;
        unsigned features;
        int64_t want;
    } cases[] = {
        {__LINE__, 0, SPAWN_KNOWS_TIMES | SPAWN_KNOWS_OUTPUT, 0},
        {__LINE__, 1, SPAWN_KNOWS_TIMES | SPAWN_KNOWS_OUTPUT, 1},
        {__LINE__, INT64_MAX, SPAWN_KNOWS_TIMES, INT64_MAX},
        {__LINE__, 1, SPAWN_KNOWS_OUTPUT, 0},
        {__LINE__, INT64_MAX, SPAWN_KNOWS_JOBS, 0},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct spawn_request request, got;
        void *packet, *block;
        size_t length;
        make_request(&request);
        request.at_boot_us = cases[i].us;
        assert_int_equal(spawn_encode_start(&request, &packet, &length), OK);
        length = spawn_start_suit(packet, length, cases[i].features);
        assert_int_equal(decode_copy(packet, length), OK);
        assert_int_equal(decode_copy(packet, length - 1), E_CORRUPT);
        assert_int_equal(decode_start(packet, length, &got, &block), OK);
        if (got.at_boot_us != cases[i].want)
            fail_msg("line %d: %lld", cases[i].line, (long long)got.at_boot_us);
        assert_string_equal(got.env[1], "B=");
        free(block);
        free(packet);
    }
}

static void a_time_that_is_none_is_refused(void **state)
{
    (void)state;
    static const int64_t times[] = {0, -1};
    for (size_t i = 0; i < ROWS(times); i++) {
        struct spawn_request request;
        void *packet;
        size_t length;
        make_request(&request);
        request.at_boot_us = 1;
        assert_int_equal(spawn_encode_start(&request, &packet, &length), OK);
        memcpy((char *)packet + length - sizeof(times[i]), &times[i], sizeof(times[i]));
        assert_int_equal(decode_copy(packet, length), E_CORRUPT);
        free(packet);
    }
}

/* What a run may take of the machine, beside secrets and a time. */
static void a_start_has_a_share(void **state)
{
    (void)state;
    static const struct {
        int line;
        struct spawn_share share;
        unsigned needs; /* besides SPAWN_KNOWS_SHARE; SPAWN_IS_STOPPING: it is refused */
    } cases[] = {
        {__LINE__, {.memory_bytes = 1 << 30}, SPAWN_LIMITS_MEMORY},
        {__LINE__, {.cpu_milli = 1500}, SPAWN_LIMITS_CPU},
        {__LINE__, {.processes = 100}, SPAWN_LIMITS_PIDS},
        {__LINE__, {.io_weight = 10000}, SPAWN_LIMITS_IO},
        {__LINE__, {.ioprio = 2 << 13 | 7}, 0},
        {__LINE__, {.ioprio = 3 << 13}, 0},
        {__LINE__,
         {.memory_bytes = 1, .processes = 2, .ioprio = 3 << 13},
         SPAWN_LIMITS_MEMORY | SPAWN_LIMITS_PIDS},
        {__LINE__, {.ioprio = 1 << 13}, SPAWN_IS_STOPPING}, /* realtime */
        {__LINE__, {.ioprio = 2 << 13 | 8}, SPAWN_IS_STOPPING},
        {__LINE__, {.io_weight = 10001}, SPAWN_IS_STOPPING},
        {__LINE__, {.cpu_milli = 1024001}, SPAWN_IS_STOPPING},
        {__LINE__, {.memory_bytes = UINT64_MAX}, SPAWN_IS_STOPPING},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct spawn_request request, got;
        void *packet, *block;
        size_t length;
        bool is_refused = cases[i].needs == SPAWN_IS_STOPPING;
        make_request(&request);
        request.share = cases[i].share;
        request.secret_count = 1;
        request.at_boot_us = 7;
        enum status st = spawn_encode_start(&request, &packet, &length);
        if ((st == OK) == is_refused)
            fail_msg("line %d: %s", cases[i].line, status_text(st));
        if (is_refused)
            continue;
        unsigned needs = SPAWN_KNOWS_SECRETS | SPAWN_KNOWS_SHARE | cases[i].needs;
        if (spawn_start_needs(&request) != needs)
            fail_msg("line %d: needs %x", cases[i].line, spawn_start_needs(&request));
        assert_int_equal(decode_copy(packet, length - 1), E_CORRUPT);
        assert_int_equal(decode_start(packet, length, &got, &block), OK);
        assert_memory_equal(&got.share, &cases[i].share, sizeof(got.share));
        assert_int_equal(got.secret_count, 1);
        assert_int_equal(got.at_boot_us, 7);
        assert_string_equal(got.env[1], "B=");
        free(block);
        free(packet);
    }
    assert_int_equal(spawn_enforced(SPAWN_KNOWS_SHARE | SPAWN_LIMITS_MEMORY | SPAWN_LIMITS_IO), 9);
    assert_int_equal(spawn_enforced(SPAWN_LIMITS_MEMORY), 0); /* not said by one that knows */
}

/* One spelling for each start: a share of nothing is none. */
static void an_empty_share_is_refused(void **state)
{
    (void)state;
    struct spawn_request request;
    void *packet;
    size_t length;
    make_request(&request);
    request.share.processes = 1;
    assert_int_equal(spawn_encode_start(&request, &packet, &length), OK);
    memset((char *)packet + length - sizeof(request.share), 0, sizeof(request.share));
    assert_int_equal(decode_copy(packet, length), E_CORRUPT);
    free(packet);
}

/* It has the two flags that earlier spawners know, and no others. */
static void a_start_is_made_to_suit_an_earlier_spawner(void **state)
{
    (void)state;
    size_t length;
    uint32_t before, after;
    char *packet = make_start(&length);
    memcpy(&before, find_flags(packet, length), sizeof(before));
    assert_int_equal(spawn_start_suit(packet, length,
                                      SPAWN_KNOWS_JOBS | SPAWN_KNOWS_OUTPUT | SPAWN_KNOWS_VALUES),
                     length);
    memcpy(&after, find_flags(packet, length), sizeof(after));
    assert_int_equal(after, before);
    assert_int_equal(spawn_start_suit(packet, length, SPAWN_KNOWS_JOBS), length);
    memcpy(&after, find_flags(packet, length), sizeof(after));
    assert_int_equal(after, 3);
    assert_int_equal(decode_copy(packet, length), OK);
    free(packet);
}

static void damaged_headers_are_refused(void **state)
{
    (void)state;
    static const struct {
        int line;
        size_t offset;
        uint8_t value;
        enum status want;
    } cases[] = {
        {__LINE__, offsetof(struct spawn_header, magic), 0, E_CORRUPT},
        {__LINE__, offsetof(struct spawn_header, version), SPAWN_VERSION + 1, E_VERSION},
        {__LINE__, offsetof(struct spawn_header, type), 0, E_CORRUPT},
        {__LINE__, offsetof(struct spawn_header, type), SPAWN_KILL, E_CORRUPT},
        {__LINE__, offsetof(struct spawn_header, type), SPAWN_BUILD + 1, E_CORRUPT},
        {__LINE__, offsetof(struct spawn_header, type) + 1, 0xff, E_CORRUPT},
        {__LINE__, offsetof(struct spawn_header, length), 0, E_CORRUPT},
        {__LINE__, offsetof(struct spawn_header, zero), 1, E_CORRUPT},
        {__LINE__, sizeof(struct spawn_header), '/', E_CORRUPT},      /* in the id */
        {__LINE__, sizeof(struct spawn_header), '\0', E_CORRUPT},     /* an empty one */
        {__LINE__, sizeof(struct spawn_header) + 39, 'x', E_CORRUPT}, /* behind its end */
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        size_t length;
        char *packet = make_start(&length);
        packet[cases[i].offset] = (char)cases[i].value;
        enum status got = decode_copy(packet, length);
        if (got != cases[i].want)
            fail_msg("line %d: %s", cases[i].line, status_text(got));
        free(packet);
    }
}

static void oversized_packets_are_refused(void **state)
{
    (void)state;
    char *big = calloc(1, SPAWN_MESSAGE_MAX + 1);
    assert_non_null(big);
    size_t length;
    char *packet = make_start(&length);
    memcpy(big, packet, length);
    uint32_t wrong = SPAWN_MESSAGE_MAX + 1;
    memcpy(big + offsetof(struct spawn_header, length), &wrong, sizeof(wrong));
    struct spawn_message message;
    assert_int_equal(spawn_decode(big, SPAWN_MESSAGE_MAX + 1, &message), E_CORRUPT);
    free(packet);
    free(big);
}

static void requests_out_of_range_are_not_encoded(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *id;
        int64_t timeout_ms;
        int32_t grace_ms, nice;
        uint32_t umask;
    } cases[] = {
        {__LINE__, "", 0, 0, 0, 0},     {__LINE__, "a b", 0, 0, 0, 0},
        {__LINE__, ".", 0, 0, 0, 0},    {__LINE__, "123456789012345678901234567890123", 0, 0, 0, 0},
        {__LINE__, "ok", -1, 0, 0, 0},  {__LINE__, "ok", INT64_MAX, 0, 0, 0},
        {__LINE__, "ok", 0, -1, 0, 0},  {__LINE__, "ok", 0, 0, 20, 0},
        {__LINE__, "ok", 0, 0, -21, 0}, {__LINE__, "ok", 0, 0, 0, 01000},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct spawn_request request;
        void *packet;
        size_t length;
        make_request(&request);
        request.id = cases[i].id;
        request.timeout_ms = cases[i].timeout_ms;
        request.grace_ms = cases[i].grace_ms;
        request.nice = cases[i].nice;
        request.umask = cases[i].umask;
        if (spawn_encode_start(&request, &packet, &length) != E_INVALID)
            fail_msg("line %d: encoded", cases[i].line);
    }
}

static void a_run_comes_back_if_it_makes_sense(void **state)
{
    (void)state;
    static const struct {
        int line;
        uint32_t change, reason, step, disk_full;
        enum status want;
    } cases[] = {
        {__LINE__, SPAWN_CHANGE_ENDED, SPAWN_KILLED, SPAWN_STEP_NONE, 1, OK},
        {__LINE__, SPAWN_CHANGE_COUNT, SPAWN_KILLED, SPAWN_STEP_NONE, 0, E_CORRUPT},
        {__LINE__, SPAWN_CHANGE_ENDED, SPAWN_REASON_COUNT, SPAWN_STEP_NONE, 0, E_CORRUPT},
        {__LINE__, SPAWN_CHANGE_ENDED, SPAWN_KILLED, SPAWN_STEP_COUNT, 0, E_CORRUPT},
        {__LINE__, SPAWN_CHANGE_ENDED, SPAWN_KILLED, SPAWN_STEP_NONE, 2, E_CORRUPT},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct spawn_run run = {
            .id = "r",
            .change = cases[i].change,
            .reason = cases[i].reason,
            .step = cases[i].step,
            .disk_full = cases[i].disk_full,
        };
        char buf[SPAWN_FIXED_MAX];
        struct spawn_message message;
        struct spawn_run got;
        size_t length = spawn_encode(SPAWN_RUN, &run, buf);
        assert_int_equal(spawn_decode(buf, length, &message), OK);
        enum status st = spawn_decode_run(&message, &got);
        if (st != cases[i].want || (st == OK && memcmp(&got, &run, sizeof(run)) != 0))
            fail_msg("line %d: %s", cases[i].line, status_text(st));
    }
}

/* A frame with a start, which needs padding, and an acknowledgement; returns its length. */
static size_t make_frame(char *packet)
{
    char *const argv[] = {(char *)"/bin/true", (char *)"odd", NULL}, *const env[] = {NULL};
    struct spawn_ack ack = {.id = "run-1"};
    struct spawn_header header;
    struct spawn_request request;
    void *start;
    size_t start_length, length = sizeof(header);
    spawn_request_init(&request);
    request.id = "run-2";
    request.argv = argv;
    request.env = env;
    assert_int_equal(spawn_encode_start(&request, &start, &start_length), OK);
    assert_true(spawn_frame_padding(start_length) > 0);
    memset(packet, 0, 4096);
    memcpy(packet + length, start, start_length);
    free(start);
    length += start_length + spawn_frame_padding(start_length);
    length += spawn_encode(SPAWN_ACK, &ack, packet + length);
    spawn_frame_begin(length - sizeof(header), &header);
    memcpy(packet, &header, sizeof(header));
    return length;
}

static void a_frame_has_its_messages(void **state)
{
    char packet[4096] __attribute__((aligned(16)));
    struct spawn_message frame, message;
    struct spawn_ack ack;
    size_t at = 0, length = make_frame(packet);
    (void)state;
    assert_int_equal(spawn_decode(packet, length, &frame), OK);
    assert_int_equal(frame.type, SPAWN_FRAME);
    assert_int_equal(spawn_frame_next(&frame, &at, &message), OK);
    assert_int_equal(message.type, SPAWN_START);
    assert_int_equal(spawn_frame_next(&frame, &at, &message), OK);
    assert_int_equal(spawn_decode_ack(&message, &ack), OK);
    assert_string_equal(ack.id, "run-1");
    assert_int_equal(spawn_frame_next(&frame, &at, &message), E_NOT_FOUND);
}

/* Its first message that can't be read ends it. */
static void damaged_frames_are_refused(void **state)
{
    static const struct {
        int line;
        size_t at; /* after the frame's header */
        uint32_t value;
    } cases[] = {
        {__LINE__, 0, 0},                                              /* no magic */
        {__LINE__, offsetof(struct spawn_header, length), 8},          /* less than a header */
        {__LINE__, offsetof(struct spawn_header, length), 5000},       /* beyond the frame */
        {__LINE__, offsetof(struct spawn_header, length), UINT32_MAX}, /* with its padding */
        {__LINE__, offsetof(struct spawn_header, zero), 1},            /* not zero */
        {__LINE__, offsetof(struct spawn_header, version), SPAWN_VERSION | SPAWN_FRAME << 16},
    };
    char packet[4096] __attribute__((aligned(16)));
    struct spawn_message frame, message;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t at = 0, length = make_frame(packet);
        memcpy(packet + sizeof(struct spawn_header) + cases[i].at, &cases[i].value,
               sizeof(cases[i].value));
        assert_int_equal(spawn_decode(packet, length, &frame), OK);
        if (spawn_frame_next(&frame, &at, &message) != E_CORRUPT)
            fail_msg("line %d: taken", cases[i].line);
    }
    for (size_t cut = 1; cut < 56; cut++) { /* in the last message */
        size_t at = 0, length = make_frame(packet) - cut;
        struct spawn_header header;
        spawn_frame_begin(length - sizeof(header), &header);
        memcpy(packet, &header, sizeof(header));
        assert_int_equal(spawn_decode(packet, length, &frame), OK);
        assert_int_equal(spawn_frame_next(&frame, &at, &message), OK);
        assert_int_equal(spawn_frame_next(&frame, &at, &message), E_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_comes_back),
        cmocka_unit_test(every_shortened_start_is_refused),
        cmocka_unit_test(a_start_without_a_job_is_read),
        cmocka_unit_test(unknown_flags_are_refused),
        cmocka_unit_test(a_start_has_a_time),
        cmocka_unit_test(a_time_that_is_none_is_refused),
        cmocka_unit_test(a_start_has_a_share),
        cmocka_unit_test(an_empty_share_is_refused),
        cmocka_unit_test(a_start_is_made_to_suit_an_earlier_spawner),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(oversized_packets_are_refused),
        cmocka_unit_test(requests_out_of_range_are_not_encoded),
        cmocka_unit_test(a_frame_has_its_messages),
        cmocka_unit_test(damaged_frames_are_refused),
        cmocka_unit_test(a_run_comes_back_if_it_makes_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
