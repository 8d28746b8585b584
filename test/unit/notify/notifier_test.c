/* From an end to the receiver, with all that can go wrong in between. The receiver and the loop are
 * real; the pauses between attempts are short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "frame.h"
#include "message_log.h"
#include "notifier.h"
#include "receiver.h"

enum { PATIENCE_MS = 50000 }; /* it only ends a hang */

struct world {
    char folder[64];
    struct loop *loop;
    struct loop_timer *tick; /* so that a turn of the loop ends */
    struct notifier *notifier;
    struct receiver receiver;
    struct sender_config sender;
    size_t waiting_max;
    int64_t runs; /* made so far */
    char log[4096];
};

static int64_t wall_set_by_ms; /* what somebody has set the wall clock by */

/* In place of the library's. */
struct now clock_now(void)
{
    struct timespec wall, boot;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    return (struct now){
        .wall.ms = (int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000 + wall_set_by_ms,
        .boot.ms = (int64_t)boot.tv_sec * 1000 + boot.tv_nsec / 1000000,
    };
}

static void on_tick(void *context)
{
    struct world *world = context;
    loop_timer_set(world->tick, 10);
}

static void note(void *context, const char *event, const char *particulars)
{
    struct world *world = context;
    size_t used = strlen(world->log);
    snprintf(world->log + used, sizeof(world->log) - used, "%s %s\n", event, particulars);
}

static void open_notifier(struct world *world)
{
    struct strbuf why;
    struct notifier_config config = {.data_dir = world->folder,
                                     .node = "web-1",
                                     .sender = world->sender,
                                     .retry_first_ms = 20,
                                     .retry_last_ms = 100,
                                     .waiting_max = world->waiting_max,
                                     .log = note,
                                     .log_context = world};
    strbuf_init(&why);
    if (notifier_new(world->loop, &config, &world->notifier, &why) != OK)
        fail_msg("%s", why.text);
    strbuf_release(&why);
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    wall_set_by_ms = 0;
    snprintf(world->folder, sizeof(world->folder), "/tmp/peal-notify.XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    assert_int_equal(loop_new(&world->loop), OK);
    assert_int_equal(loop_timer_new(world->loop, on_tick, world, &world->tick), OK);
    loop_timer_set(world->tick, 10);
    world->receiver.status = 200;
    receiver_start(&world->receiver, world->loop);
    open_notifier(world);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    char path[128];
    notifier_free(world->notifier);
    receiver_release(&world->receiver);
    loop_timer_free(world->tick);
    loop_free(world->loop);
    snprintf(path, sizeof(path), "%s/notify/queue", world->folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/notify", world->folder);
    rmdir(path);
    rmdir(world->folder);
    free(world);
    return 0;
}

/* A channel to the receiver, with more of its fields: ",\"quiet\":\"1s\"". */
static void put_channel(struct world *world, const char *name, const char *more)
{
    char json[512];
    snprintf(json, sizeof(json), "{\"type\":\"webhook\",\"url\":\"http://127.0.0.1:%d/\"%s}",
             world->receiver.port, more);
    notifier_take_channel(world->notifier, name, json, 1);
}

static void done(void *context)
{
    (*(int *)context)++;
}

static struct run make_run(struct world *world, const char *job, enum run_state state)
{
    struct run run = {.state = state, .attempt = 1, .exit_code = -1, .cause = CAUSE_TICK};
    uint8_t random[10] = {(uint8_t)++world->runs};
    run.id = id_make((struct wall_ms){1000 + world->runs}, random);
    memcpy(run.job_uid.bytes, job, strlen(job));
    snprintf(run.job_name, sizeof(run.job_name), "%s", job);
    return run;
}

/* On disk when it returns. */
static void tell(struct world *world, const char *job, const char *channel, enum run_state state,
                 bool was_bad)
{
    int count = 0;
    char *names[] = {(char *)channel, NULL};
    struct job_notify notify = {.to = names};
    struct run run = make_run(world, job, state);
    struct ending ending = {.run = &run, .was_bad = was_bad, .notify = channel ? &notify : NULL};
    notifier_tell(world->notifier, &ending, clock_now().wall.ms);
    notifier_sync(world->notifier, done, &count);
    while (!count)
        loop_run_once(world->loop);
}

/* Until the receiver has so many, or as many attempts; fails after a while. */
static void wait_for(struct world *world, const size_t *what, size_t count)
{
    int64_t until_ms = clock_now().boot.ms + PATIENCE_MS;
    while (*what < count) {
        if (clock_now().boot.ms > until_ms)
            fail_msg("%zu of %zu after %d s; log:\n%s", *what, count, PATIENCE_MS / 1000,
                     world->log);
        loop_run_once(world->loop);
    }
}

static void wait_for_log(struct world *world, const char *text)
{
    int64_t until_ms = clock_now().boot.ms + PATIENCE_MS;
    while (!strstr(world->log, text)) {
        if (clock_now().boot.ms > until_ms)
            fail_msg("no \"%s\" in the log:\n%s", text, world->log);
        loop_run_once(world->loop);
    }
}

static bool body_has(const struct world *world, size_t i, const char *text)
{
    return strstr(world->receiver.bodies[i], text) != NULL;
}

static struct channel_stats stats_of(const struct world *world, const char *channel)
{
    struct channel_stats stats;
    notifier_stats(world->notifier, channel, &stats);
    return stats;
}

/* Until the answers of the receiver, too, have come. */
static void wait_until_sent(struct world *world, const char *channel, uint64_t count)
{
    wait_for(world, &world->receiver.count, count);
    while (stats_of(world, channel).sent < count)
        loop_run_once(world->loop);
}

/* ---- */

static void who_is_named_is_told_and_nobody_else(void **state)
{
    struct world *world = *state;
    put_channel(world, "all", ",\"default\":true,\"on\":[\"success\"]");
    put_channel(world, "ops", "");
    notifier_go_live(world->notifier);
    tell(world, "a", "ops", RUN_FAILED, false);
    tell(world, "a", "ops", RUN_OK, true);
    tell(world, "a", "ops", RUN_OK, false); /* ops does not want to hear of it */
    tell(world, "a", "gone", RUN_FAILED, false);
    tell(world, "b", NULL, RUN_OK, true); /* a success for who did not ask for recoveries */
    wait_for(world, &world->receiver.count, 3);
    while (stats_of(world, "ops").waiting)
        loop_run_once(world->loop);
    size_t from_all = 0;
    for (size_t i = 0; i < 3; i++)
        from_all += strstr(world->receiver.keys[i], "-success-all") != NULL;
    assert_int_equal(from_all, 1);
    assert_int_equal(stats_of(world, "ops").sent, 2);
    assert_int_equal(stats_of(world, "ops").waiting, 0);
}

static void what_waits_is_sent_in_order_once_the_receiver_is_back(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", "");
    notifier_go_live(world->notifier);
    receiver_stop(&world->receiver);
    tell(world, "a", "ops", RUN_FAILED, false);
    tell(world, "a", "ops", RUN_OK, true);
    wait_for_log(world, "try=3");
    assert_int_equal(stats_of(world, "ops").waiting, 2);
    assert_true(stats_of(world, "ops").error[0]);
    receiver_start(&world->receiver, world->loop);
    wait_for(world, &world->receiver.count, 2);
    assert_true(body_has(world, 0, "\"failure\"") && body_has(world, 1, "\"recovery\""));
}

static void a_new_agent_sends_what_the_old_one_left(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", "");
    world->receiver.status = 503;
    notifier_go_live(world->notifier);
    for (int i = 0; i < 5; i++)
        tell(world, "a", "ops", RUN_FAILED, false);
    world->notifier = notifier_free(world->notifier);
    world->receiver.status = 200;
    open_notifier(world);
    assert_int_equal(stats_of(world, "ops").waiting, 5);
    put_channel(world, "ops", "");
    assert_int_equal(world->receiver.count, 0); /* not before all channels are known */
    notifier_go_live(world->notifier);
    wait_until_sent(world, "ops", 5);
    world->notifier = notifier_free(world->notifier);
    open_notifier(world); /* and nothing twice */
    assert_int_equal(stats_of(world, "ops").waiting, 0);
}

/* A receiver that never answers costs its own channel the time, and no other. */
static void one_that_hangs_is_in_nobody_elses_way(void **state)
{
    struct world *world = *state;
    struct receiver hangs = {0};
    char json[128];
    notifier_free(world->notifier);
    world->sender.whole_ms = 300;
    open_notifier(world);
    receiver_start(&hangs, world->loop);
    snprintf(json, sizeof(json), "{\"type\":\"webhook\",\"url\":\"http://127.0.0.1:%d/\"}",
             hangs.port);
    notifier_take_channel(world->notifier, "hangs", json, 1);
    put_channel(world, "ops", "");
    notifier_go_live(world->notifier);
    tell(world, "a", "hangs", RUN_FAILED, false);
    wait_for(world, &hangs.attempts, 1);
    tell(world, "a", "ops", RUN_FAILED, false);
    wait_for(world, &world->receiver.count, 1);
    wait_for_log(world, "notification_failed channel=hangs");
    hangs.status = 200;
    wait_for(world, &hangs.count, 1);
    world->notifier = notifier_free(world->notifier);
    open_notifier(world);
    receiver_release(&hangs);
}

/* What the receiver does not like is tried again by itself; what comes behind it is not held up. */
static void one_that_is_refused_lets_others_pass(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", "");
    notifier_go_live(world->notifier);
    world->receiver.refuse = "\"job\":\"bad\"";
    tell(world, "bad", "ops", RUN_FAILED, false);
    tell(world, "good", "ops", RUN_FAILED, false);
    wait_for(world, &world->receiver.count, 1);
    assert_true(body_has(world, 0, "\"job\":\"good\""));
    world->receiver.refuse = NULL;
    wait_for(world, &world->receiver.count, 2);
}

static void it_is_given_up_after_a_while(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", ",\"give_up\":\"1s\"");
    notifier_go_live(world->notifier);
    world->receiver.status = 500;
    tell(world, "a", "ops", RUN_FAILED, false);
    tell(world, "b", "ops", RUN_FAILED, false);
    wait_for_log(world, "notification_given_up channel=ops job=a of=failure");
    wait_for_log(world, "notification_given_up channel=ops job=b of=failure");
    assert_int_equal(stats_of(world, "ops").given_up, 2);
    assert_int_equal(stats_of(world, "ops").waiting, 0);
    assert_string_equal(stats_of(world, "ops").error, "HTTP status 500");
}

static void flapping_is_told_once_with_a_count(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", ",\"quiet\":\"1s\"");
    notifier_go_live(world->notifier);
    for (int i = 0; i < 13; i++)
        tell(world, "a", "ops", RUN_FAILED, false);
    tell(world, "b", "ops", RUN_FAILED, false); /* another job is another matter */
    wait_until_sent(world, "ops", 2);
    assert_int_equal(stats_of(world, "ops").waiting, 1);
    wait_for(world, &world->receiver.count, 3);
    assert_true(body_has(world, 2, "\"held_back\":11"));
    assert_true(body_has(world, 2, "(and 11 more)"));
}

static size_t count_of(const struct world *world, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < world->receiver.count; i++)
        count += body_has(world, i, text);
    return count;
}

/* Of many messages the first go alone at once, the others become one with counts and names: also
 * when the agent is killed while they are gathered. */
static void many_become_one(void **state)
{
    struct world *world = *state;
    char job[16];
    put_channel(world, "ops", ",\"group\":\"1h\"");
    notifier_go_live(world->notifier);
    for (int i = 0; i < 20; i++) {
        snprintf(job, sizeof(job), "j%d", i);
        tell(world, job, "ops", i % 10 ? RUN_FAILED : RUN_LOST, false);
    }
    wait_until_sent(world, "ops", 5);
    assert_int_equal(count_of(world, "\"grouped\":0"), 5);
    assert_int_equal(stats_of(world, "ops").waiting, 1);
    world->notifier = notifier_free(world->notifier);
    open_notifier(world);
    put_channel(world, "ops", ",\"group\":\"1h\"");
    notifier_go_live(world->notifier);
    tell(world, "last", "ops", RUN_OK, true);
    wall_set_by_ms = 5000;
    put_channel(world, "ops", ",\"group\":\"1h\"");
    wait_for(world, &world->receiver.count, 6);
    assert_true(body_has(world, 5, "\"grouped\":16"));
    assert_true(body_has(world, 5, "16 more messages: 14 failed, 1 lost, 1 recovered"));
    assert_true(body_has(world, 5,
                         "j5, j6, j7, j8, j9, j10, j11, j12, j13, j14, j15, j16, j17, j18, "
                         "j19, last"));
    assert_int_equal(stats_of(world, "ops").given_up, 0);
}

/* Those who take each message, or an incident for each job, have no groups unless they want to. */
static void a_webhook_gets_each_message(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", "");
    notifier_go_live(world->notifier);
    for (int i = 0; i < 12; i++)
        tell(world, "a", "ops", RUN_FAILED, false);
    wait_for(world, &world->receiver.count, 12);
    assert_int_equal(count_of(world, "\"grouped\":0"), 12);
}

/* What a mute takes is counted, one line for each job and event; what it does not take is sent. */
static void what_is_muted_is_not_sent(void **state)
{
    struct world *world = *state;
    struct mute mute = {.kind = MUTE_ACK, .from_ms = 1, .by = "eve", .reason = "known"};
    struct message_query query = {.limit = 10};
    const char *unknown;
    size_t length;
    char *names[] = {"ops", NULL};
    struct job_notify notify = {.to = names};
    int count = 0;
    put_channel(world, "ops", "");
    notifier_go_live(world->notifier);
    for (int i = 0; i < 4; i++) {
        struct run run = make_run(world, "a", i < 3 ? RUN_FAILED : RUN_OK);
        notifier_tell(
            world->notifier,
            &(struct ending){.run = &run, .was_bad = true, .notify = &notify, .mute = &mute}, 1000);
    }
    notifier_sync(world->notifier, done, &count);
    wait_until_sent(world, "ops", 1);
    assert_true(body_has(world, 0, "\"recovery\""));
    assert_int_equal(stats_of(world, "ops").muted, 3);
    assert_int_equal(stats_of(world, "ops").given_up, 0);
    assert_int_equal(message_states_parse("muted", &query.states, &unknown, &length), OK);
    json_t *list = message_list(world->notifier, &query, clock_now());
    char *text = json_dumps(list, JSON_COMPACT);
    assert_int_equal(json_array_size(json_object_get(list, "items")), 1);
    assert_non_null(strstr(text, "\"held_back\":2"));
    assert_non_null(strstr(text, "\"answer\":\"acknowledged by eve: known\""));
    free(text);
    json_decref(list);
}

/* Held back on disk: a restart neither loses the count nor tells early. */
static void what_is_held_back_outlives_the_agent(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", ",\"quiet\":\"2s\"");
    notifier_go_live(world->notifier);
    for (int i = 0; i < 4; i++)
        tell(world, "a", "ops", RUN_FAILED, false);
    wait_for(world, &world->receiver.count, 1);
    notifier_free(world->notifier);
    open_notifier(world);
    put_channel(world, "ops", ",\"quiet\":\"2s\"");
    notifier_go_live(world->notifier);
    tell(world, "a", "ops", RUN_FAILED, false);
    assert_int_equal(stats_of(world, "ops").held, 1);
    wait_for(world, &world->receiver.count, 2);
    assert_true(body_has(world, 1, "\"held_back\":3"));
}

static void too_many_are_refused_and_counted(void **state)
{
    struct world *world = *state;
    notifier_free(world->notifier);
    world->waiting_max = 3;
    open_notifier(world);
    put_channel(world, "ops", "");
    world->receiver.status = 503;
    notifier_go_live(world->notifier);
    for (int i = 0; i < 5; i++)
        tell(world, "a", "ops", RUN_FAILED, false);
    assert_int_equal(stats_of(world, "ops").waiting, 3);
    assert_int_equal(stats_of(world, "ops").given_up, 2);
    assert_non_null(strstr(world->log, "too many messages wait already"));
}

static void what_a_deleted_channel_had_is_given_up(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", "");
    world->receiver.status = 503;
    notifier_go_live(world->notifier);
    tell(world, "a", "ops", RUN_FAILED, false);
    wait_for(world, &world->receiver.attempts, 1);
    notifier_take_channel(world->notifier, "ops", NULL, 0);
    assert_null(notifier_channel(world->notifier, "ops"));
    wait_for_log(world, "error=\"the channel was deleted\"");
}

/* A journal that was cut off, or damaged at its end, gives what is whole. */
static void a_damaged_journal_gives_what_is_whole(void **state)
{
    struct world *world = *state;
    char path[128];
    put_channel(world, "ops", "");
    world->receiver.status = 503;
    notifier_go_live(world->notifier);
    for (int i = 0; i < 3; i++)
        tell(world, "a", "ops", RUN_FAILED, false);
    notifier_free(world->notifier);
    snprintf(path, sizeof(path), "%s/notify/queue", world->folder);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, -40, SEEK_END), 0);
    assert_true(fputs("damaged", file) >= 0);
    fclose(file);
    open_notifier(world);
    assert_int_equal(stats_of(world, "ops").waiting, 2);
    put_channel(world, "ops", "");
    world->receiver.status = 200;
    notifier_go_live(world->notifier);
    tell(world, "b", "ops", RUN_FAILED, false);
    wait_for(world, &world->receiver.count, 3);
}

/* As a newer peal might leave it. */
static void add_to_journal(const char *path, const char *text)
{
    struct strbuf payload, frame;
    strbuf_init(&payload);
    strbuf_init(&frame);
    strbuf_adds(&payload, text);
    frame_add(&frame, &payload);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_int_equal(fwrite(frame.text, 1, frame.length, file), frame.length);
    fclose(file);
    strbuf_release(&payload);
    strbuf_release(&frame);
}

static bool journal_has(const char *path, const char *text)
{
    static char bytes[1 << 20];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    return memmem(bytes, length, text, strlen(text)) != NULL;
}

/* The journal is written anew when it is mostly of what is gone. What can't be read stays in it. */
static void the_journal_stays_small(void **state)
{
    struct world *world = *state;
    char path[128];
    snprintf(path, sizeof(path), "%s/notify/queue", world->folder);
    notifier_free(world->notifier);
    add_to_journal(path, "{\"put\":1,\"notice\":{\"event\":\"newer-event\"}}");
    add_to_journal(path, "{\"put\":2,\"notice\":{\"event\":\"sent-event\"}}");
    add_to_journal(path, "{\"done\":2}");
    open_notifier(world);
    wait_for_log(world, "count=1");
    put_channel(world, "ops", "");
    notifier_go_live(world->notifier);
    for (size_t i = 0; i < 900; i++) {
        struct ending ending;
        struct run run = make_run(world, "a", RUN_FAILED);
        char *names[] = {"ops", NULL};
        struct job_notify notify = {.to = names};
        int count = 0;
        run.id = id_make((struct wall_ms){(int64_t)i + 5000}, (const uint8_t[10]){0});
        ending = (struct ending){.run = &run, .notify = &notify};
        notifier_tell(world->notifier, &ending, clock_now().wall.ms);
        notifier_sync(world->notifier, done, &count);
        while (!count)
            loop_run_once(world->loop);
    }
    wait_for(world, &world->receiver.attempts, 900);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    fclose(file);
    assert_true(size < 450 * 1024);
    assert_true(journal_has(path, "newer-event"));
    assert_false(journal_has(path, "sent-event"));
}

/* ---- what became of messages ---- */

static json_t *list_of(const struct world *world, const struct message_query *query)
{
    json_t *list = message_list(world->notifier, query, clock_now());
    assert_non_null(list);
    return list;
}

static const json_t *listed(const json_t *list, size_t i, const char *member)
{
    return json_object_get(json_array_get(json_object_get(list, "items"), i), member);
}

static size_t count_listed(const json_t *list)
{
    return json_array_size(json_object_get(list, "items"));
}

/* The last ones of each channel are kept, in memory and over restarts and compactions. */
static void the_last_messages_are_kept(void **state)
{
    struct world *world = *state;
    struct message_query all = {.limit = MESSAGES_MAX}, some = {.channel = "quiet", .limit = 3};
    put_channel(world, "ops", "");
    put_channel(world, "quiet", ",\"quiet\":\"1h\"");
    notifier_go_live(world->notifier);
    for (int i = 0; i < MESSAGES_KEPT + 20; i++)
        tell(world, "a", "ops", RUN_FAILED, false);
    while (stats_of(world, "ops").sent < MESSAGES_KEPT + 20)
        loop_run_once(world->loop);
    tell(world, "b", "quiet", RUN_FAILED, false);
    tell(world, "b", "quiet", RUN_FAILED, false);
    while (stats_of(world, "quiet").sent < 1)
        loop_run_once(world->loop);
    for (int round = 0; round < 3; round++) {
        json_t *list = list_of(world, &all);
        assert_int_equal(count_listed(list), MESSAGES_KEPT + 2);
        json_decref(list);
        list = list_of(world, &some);
        assert_int_equal(count_listed(list), 2);
        assert_string_equal(json_string_value(listed(list, 0, "state")), "held");
        assert_true(json_integer_value(listed(list, 0, "next_try_ms")) > clock_now().wall.ms);
        assert_string_equal(json_string_value(listed(list, 1, "state")), "sent");
        assert_string_equal(json_string_value(listed(list, 1, "channel")), "quiet");
        assert_string_equal(json_string_value(listed(list, 1, "answer")), "HTTP status 200");
        assert_int_equal(json_integer_value(listed(list, 1, "tries")), 1);
        json_decref(list);
        notifier_free(world->notifier);
        open_notifier(world);
        put_channel(world, "quiet", ",\"quiet\":\"1h\"");
    }
}

static void a_question_of_another_node_is_answered(void **state)
{
    struct world *world = *state;
    struct message_query query = {
        .channel = "ops", .job = "a", .states = 1 << MESSAGE_WAITING, .limit = 5};
    struct strbuf answer;
    strbuf_init(&answer);
    world->receiver.status = 503;
    put_channel(world, "ops", "");
    notifier_go_live(world->notifier);
    tell(world, "a", "ops", RUN_FAILED, false);
    tell(world, "b", "ops", RUN_FAILED, false);
    json_t *question = message_question(&query);
    char *text = json_dumps(question, 0);
    assert_int_equal(message_answer(world->notifier, text, strlen(text), &answer), OK);
    json_t *list = json_loads(answer.text, 0, NULL);
    assert_int_equal(count_listed(list), 1);
    assert_string_equal(json_string_value(listed(list, 0, "job")), "a");
    assert_string_equal(json_string_value(listed(list, 0, "node")), "web-1");
    assert_int_equal(message_answer(world->notifier, "[]", 2, &answer), E_INVALID);
    assert_int_equal(message_answer(world->notifier, "{", 1, &answer), E_INVALID);
    json_decref(list);
    json_decref(question);
    free(text);
    strbuf_release(&answer);
}

/* A channel of a newer version loses nothing here. */
static void what_an_unreadable_channel_has_waits(void **state)
{
    struct world *world = *state;
    world->receiver.status = 503;
    put_channel(world, "ops", "");
    notifier_go_live(world->notifier);
    tell(world, "a", "ops", RUN_FAILED, false);
    wait_for(world, &world->receiver.attempts, 1);
    notifier_take_channel(world->notifier, "ops", "{\"type\":\"of-tomorrow\"}", 2);
    wait_for_log(world, "channel_broken");
    for (int i = 0; i < 20; i++)
        loop_run_once(world->loop);
    assert_int_equal(stats_of(world, "ops").waiting, 1);
    world->receiver.status = 200;
    put_channel(world, "ops", "");
    wait_until_sent(world, "ops", 1);
}

/* ---- trying ---- */

struct trial {
    bool is_over;
    enum verdict verdict;
    char why[200];
};

static void tried(void *context, const struct outcome *outcome)
{
    struct trial *trial = context;
    trial->is_over = true;
    trial->verdict = outcome->verdict;
    snprintf(trial->why, sizeof(trial->why), "%s", outcome->answer);
}

static struct trial try_channel(struct world *world)
{
    struct trial trial = {0};
    const struct channel *channel = notifier_channel(world->notifier, "ops");
    assert_int_equal(notifier_try(world->notifier, channel,
                                  &(struct sample_about){.event = NOTIFY_FAILURE},
                                  clock_now().wall.ms, tried, &trial),
                     OK);
    while (!trial.is_over)
        loop_run_once(world->loop);
    return trial;
}

static void a_sample_says_what_the_receiver_said(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", "");
    assert_int_equal(try_channel(world).verdict, VERDICT_SENT);
    assert_true(body_has(world, 0, "\"test\":true"));
    world->receiver.status = 404;
    struct trial refused = try_channel(world);
    assert_int_equal(refused.verdict, VERDICT_REFUSED);
    assert_int_equal(strncmp(refused.why, "HTTP status 404", 15), 0);
    receiver_stop(&world->receiver);
    assert_int_equal(try_channel(world).verdict, VERDICT_TROUBLE);
    assert_int_equal(stats_of(world, "ops").sent, 0); /* samples don't count */
}

/* ---- a clock that is set back ---- */

enum { HOUR_MS = 3600 * 1000 };

static void a_clock_set_back_does_not_put_off_the_next_try(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", "");
    notifier_go_live(world->notifier);
    world->receiver.status = 503;
    tell(world, "a", "ops", RUN_FAILED, false);
    wait_for_log(world, "try=1");
    wall_set_by_ms -= HOUR_MS;
    world->receiver.status = 200;
    wait_for(world, &world->receiver.count, 1);
}

static void a_clock_set_back_does_not_make_it_quiet_for_longer(void **state)
{
    struct world *world = *state;
    put_channel(world, "ops", ",\"quiet\":\"1s\"");
    notifier_go_live(world->notifier);
    tell(world, "a", "ops", RUN_FAILED, false);
    tell(world, "a", "ops", RUN_FAILED, false); /* held back */
    wait_for(world, &world->receiver.count, 1);
    wall_set_by_ms -= HOUR_MS;
    wait_for(world, &world->receiver.count, 2);
    wall_set_by_ms -= HOUR_MS;
    tell(world, "a", "ops", RUN_FAILED, false); /* for as long as that, too */
    wait_for(world, &world->receiver.count, 3);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(who_is_named_is_told_and_nobody_else),
        IN_WORLD(what_waits_is_sent_in_order_once_the_receiver_is_back),
        IN_WORLD(a_new_agent_sends_what_the_old_one_left),
        IN_WORLD(one_that_hangs_is_in_nobody_elses_way),
        IN_WORLD(one_that_is_refused_lets_others_pass),
        IN_WORLD(it_is_given_up_after_a_while),
        IN_WORLD(flapping_is_told_once_with_a_count),
        IN_WORLD(what_is_muted_is_not_sent),
        IN_WORLD(many_become_one),
        IN_WORLD(a_webhook_gets_each_message),
        IN_WORLD(what_is_held_back_outlives_the_agent),
        IN_WORLD(too_many_are_refused_and_counted),
        IN_WORLD(what_a_deleted_channel_had_is_given_up),
        IN_WORLD(a_damaged_journal_gives_what_is_whole),
        IN_WORLD(the_journal_stays_small),
        IN_WORLD(the_last_messages_are_kept),
        IN_WORLD(a_question_of_another_node_is_answered),
        IN_WORLD(what_an_unreadable_channel_has_waits),
        IN_WORLD(a_sample_says_what_the_receiver_said),
        IN_WORLD(a_clock_set_back_does_not_put_off_the_next_try),
        IN_WORLD(a_clock_set_back_does_not_make_it_quiet_for_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
