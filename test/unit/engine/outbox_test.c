/* Requests to the store: filled, sent, and answered in the turn in which answers are handed back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "outbox.h"

static const struct now later = {{2000}, {200}};

/* A store that keeps what it is asked. */
struct fake {
    struct store store;
    struct store_request *asked[16];
    size_t count;
};

static void submit(struct store *store, struct store_request *request)
{
    struct fake *fake = (struct fake *)store;
    fake->asked[fake->count++] = request;
}

static const struct store_ops ops = {.submit = submit};

/* A stage that writes down what it is answered. */
struct stage {
    struct outbox_sender sender;
    char answers[64];
    size_t released;
};

static void answered(void *context, struct outbox_batch *batch, enum status st, struct now now)
{
    struct stage *stage = context;
    size_t used = strlen(stage->answers);
    snprintf(stage->answers + used, sizeof(stage->answers) - used, "%zu %s at %d; ",
             outbox_count(batch), st == OK ? "ok" : "failed", (int)now.boot.ms);
}

static void release(struct outbox_batch *batch)
{
    ((struct stage *)batch->sender->stage)->released += outbox_count(batch);
}

static const struct outbox_kind kind = {.op = STORE_FORGET,
                                        .item_size = sizeof(struct store_forget),
                                        .note_size = sizeof(int),
                                        .answered = answered,
                                        .release = release};

static void send_some(struct stage *stage, int count)
{
    struct outbox_batch *batch = NULL;
    for (int i = 0; i < count; i++) {
        struct store_forget *forget = outbox_add(&batch, &stage->sender, &kind);
        assert_non_null(forget);
        assert_int_equal(forget->id.bytes[0], 0);
        forget->id.bytes[0] = (uint8_t)(i + 1);
        ((int *)batch->notes)[i] = i;
    }
    outbox_send(&batch, (struct now){{1000}, {100}});
    assert_null(batch);
}

static void set_up(struct fake *fake, struct outbox *outbox, struct stage *stage)
{
    *fake = (struct fake){.store = {&ops}};
    outbox_init(outbox, &fake->store);
    *stage = (struct stage){.released = 0};
    outbox_sender_init(&stage->sender, outbox, stage);
}

static void answers_wait_for_the_turn(void **state)
{
    struct fake fake;
    struct outbox outbox;
    struct stage stage;
    (void)state;
    set_up(&fake, &outbox, &stage);
    send_some(&stage, 100);
    send_some(&stage, 2);
    assert_int_equal(fake.count, 2);
    assert_int_equal(fake.asked[0]->count, 100);
    for (size_t i = 0; i < 100; i++) /* also those that were there when it grew */
        assert_int_equal(fake.asked[0]->items.forgets[i].id.bytes[0], i + 1);
    fake.asked[1]->done(fake.asked[1], OK);
    fake.asked[0]->done(fake.asked[0], OK);
    assert_string_equal(stage.answers, "");
    assert_int_equal(stage.sender.in_flight, 2);
    outbox_hand_back(&outbox, later);
    assert_string_equal(stage.answers, "2 ok at 200; 100 ok at 200; ");
    assert_int_equal(stage.sender.in_flight, 0);
    assert_int_equal(stage.released, 102);
    outbox_release(&outbox);
}

static void large_batches_are_used_again(void **state)
{
    struct fake fake;
    struct outbox outbox;
    struct stage stage;
    (void)state;
    set_up(&fake, &outbox, &stage);
    for (size_t i = 0; i < 3; i++) {
        send_some(&stage, OUTBOX_MAX);
        fake.asked[i]->done(fake.asked[i], OK);
        outbox_hand_back(&outbox, later);
        assert_ptr_equal(fake.asked[i], fake.asked[0]);
    }
    assert_int_equal(stage.released, 3 * OUTBOX_MAX);
    for (size_t i = 3; i < 5 + OUTBOX_SPARE; i++) /* more at once than are kept */
        send_some(&stage, OUTBOX_MAX);
    for (size_t i = 3; i < 5 + OUTBOX_SPARE; i++)
        fake.asked[i]->done(fake.asked[i], OK);
    outbox_hand_back(&outbox, later);
    assert_int_equal(outbox.spare_count, OUTBOX_SPARE);
    outbox_release(&outbox);
}

static void a_failure_is_waited_out(void **state)
{
    struct fake fake;
    struct outbox outbox;
    struct stage stage;
    struct outage away = {0, -OUTAGE_MERGE_MS};
    (void)state;
    set_up(&fake, &outbox, &stage);
    send_some(&stage, 1);
    fake.asked[0]->done(fake.asked[0], E_UNREACHABLE);
    outbox_note_outage((struct outbox_batch *)fake.asked[0], E_UNREACHABLE, later, &away);
    assert_int_equal(away.since_ms, 1900);
    outbox_hand_back(&outbox, later);
    assert_int_equal(stage.sender.retry_at.ms, 200 + RETRY_FIRST_MS);
    assert_int_equal(stage.sender.failures, 1);
    send_some(&stage, 1);
    fake.asked[1]->done(fake.asked[1], OK);
    outbox_hand_back(&outbox, later);
    assert_int_equal(stage.sender.failures, 0);
    outbox_release(&outbox);
}

static void nothing_is_sent_of_nothing(void **state)
{
    struct fake fake;
    struct outbox outbox;
    struct stage stage;
    struct outbox_batch *batch = NULL;
    (void)state;
    set_up(&fake, &outbox, &stage);
    outbox_send(&batch, later);
    assert_non_null(outbox_add(&batch, &stage.sender, &kind));
    outbox_drop_last(batch);
    outbox_send(&batch, later);
    assert_null(batch);
    assert_int_equal(fake.count, 0);
    assert_int_equal(stage.sender.in_flight, 0);
}

static void an_answer_may_come_too_late(void **state)
{
    struct fake fake;
    struct outbox outbox;
    struct stage stage;
    (void)state;
    set_up(&fake, &outbox, &stage);
    send_some(&stage, 3);
    fake.asked[0]->done(fake.asked[0], OK); /* the store is closed */
    outbox_release(&outbox);
    assert_string_equal(stage.answers, "");
    assert_int_equal(stage.released, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_wait_for_the_turn),
        cmocka_unit_test(large_batches_are_used_again),
        cmocka_unit_test(a_failure_is_waited_out),
        cmocka_unit_test(nothing_is_sent_of_nothing),
        cmocka_unit_test(an_answer_may_come_too_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
