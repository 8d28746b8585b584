/* Watches: all events, in order, once each, whatever happens on the way. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "etcd_admin.h"
#include "harness.h"

struct seen {
    int live, events, deletes, progress, broken, compacted, failed, notices_with_events;
    int64_t last_revision, compact_revision, progress_revision;
    int out_of_order, not_consecutive;
    char last_key[64], previous[64];
    size_t last_value_length;
    char message[200];
    struct kv_watch *free_me; /* freed by the first event */
    struct kv_watch *ask_me;  /* asked for its next revision with every event */
    int64_t next_at_first;    /* what it said when the first came */
};

static void note_event(struct seen *seen, const struct kv_event *event)
{
    seen->events++;
    seen->deletes += event->is_delete;
    seen->out_of_order += event->kv.mod_revision < seen->last_revision;
    seen->not_consecutive +=
        seen->last_revision && event->kv.mod_revision != seen->last_revision + 1;
    seen->last_revision = event->kv.mod_revision;
    seen->last_value_length = event->kv.value.length;
    snprintf(seen->last_key, sizeof(seen->last_key), "%.*s", (int)event->kv.key.length,
             (const char *)event->kv.key.data);
    snprintf(seen->previous, sizeof(seen->previous), "%.*s", (int)event->previous.value.length,
             (const char *)event->previous.value.data);
}

static void on_notice(void *context, const struct kv_watch_notice *notice)
{
    struct seen *seen = context;
    seen->live += notice->kind == KV_WATCH_LIVE;
    seen->broken += notice->kind == KV_WATCH_BROKEN;
    seen->compacted += notice->kind == KV_WATCH_COMPACTED;
    seen->failed += notice->kind == KV_WATCH_FAILED;
    if (notice->kind == KV_WATCH_PROGRESS) {
        seen->progress++;
        seen->progress_revision = notice->revision;
    }
    if (notice->kind == KV_WATCH_COMPACTED)
        seen->compact_revision = notice->compact_revision;
    snprintf(seen->message, sizeof(seen->message), "%s", notice->message);
    seen->notices_with_events += notice->event_count > 0;
    for (size_t i = 0; i < notice->event_count; i++)
        note_event(seen, &notice->events[i]);
    if (seen->ask_me && seen->notices_with_events == 1)
        seen->next_at_first = kv_watch_next_revision(seen->ask_me);
    if (seen->free_me && notice->event_count)
        seen->free_me = kv_watch_free(seen->free_me);
}

static struct kv_watch *watch_prefix(struct harness *h, const char *prefix, int64_t start,
                                     struct seen *seen)
{
    struct kv_watch *watch;
    struct kv_watch_config config = {
        .key = kv_text(prefix), .prefix = true, .start_revision = start, .want_previous = true};
    *seen = (struct seen){0};
    assert_int_equal(kv_watch_new(h->client, &config, on_notice, seen, &watch), OK);
    return watch;
}

/* As long as they keep coming. */
static void wait_for_events(struct harness *h, const struct seen *seen, int count)
{
    char what[64];
    for (int before = -1; seen->events < count;) {
        if (seen->events != before)
            harness_begin_wait(h);
        before = seen->events;
        snprintf(what, sizeof(what), "%d events, %d came", count, seen->events);
        harness_turn(h, what, __FILE__, __LINE__);
    }
}

static void puts_and_deletes(void **state)
{
    struct harness *h = *state;
    struct seen seen, other;
    struct kv_watch *watch = watch_prefix(h, "w/", 0, &seen);
    struct kv_watch *elsewhere = watch_prefix(h, "x/", 0, &other);
    harness_wait(h, seen.live == 1 && other.live == 1);
    harness_put(h, "w/a", "1");
    harness_put(h, "w/a", "22");
    harness_wait(h, seen.events == 2);
    assert_string_equal(seen.last_key, "w/a");
    assert_string_equal(seen.previous, "1");
    struct answer gone;
    struct kv_reply reply = answer_reply(&gone);
    assert_int_equal(kv_delete(h->client, &(struct kv_delete){.key = kv_text("w/a")}, &reply, NULL),
                     OK);
    harness_wait(h, seen.deletes == 1);
    assert_string_equal(seen.previous, "22");
    assert_int_equal(other.events, 0);
    assert_int_equal(kv_watch_next_revision(watch), seen.last_revision + 1);
    kv_watch_free(watch);
    harness_put(h, "w/a", "3");
    harness_put(h, "x/a", "3");
    harness_wait(h, other.events == 1);
    assert_int_equal(seen.events, 3);
    /* freed from within its own notice */
    other.free_me = elsewhere;
    harness_put(h, "x/a", "4");
    harness_wait(h, other.events == 2);
    watch = watch_prefix(h, "x/", 0, &seen);
    harness_wait(h, seen.live == 1);
    harness_put(h, "x/a", "5");
    harness_wait(h, seen.events == 1); /* on the same stream */
    assert_int_equal(other.events, 2);
    kv_watch_free(watch);
}

static void twenty_thousand_events_in_order(void **state)
{
    struct harness *h = *state;
    struct seen live, later;
    struct kv_watch *watch = watch_prefix(h, "n/", 0, &live);
    harness_wait(h, live.live == 1);
    int64_t start = harness_get(h, "none").revision + 1;
    harness_fill(h, "n/", 0, 20000, 30);
    wait_for_events(h, &live, 20000);
    assert_int_equal(live.not_consecutive, 0);
    /* and once more, from the past */
    struct kv_watch *past = watch_prefix(h, "n/", start, &later);
    wait_for_events(h, &later, 20000);
    assert_int_equal(later.not_consecutive, 0);
    assert_int_equal(later.last_revision, live.last_revision);
    kv_watch_free(watch);
    kv_watch_free(past);
}

static void many_watches(void **state)
{
    enum { COUNT = 2000 };
    struct harness *h = *state;
    struct seen *seen = calloc(COUNT, sizeof(*seen));
    struct kv_watch **watches = calloc(COUNT, sizeof(*watches));
    int live = 0, events = 0;
    for (int i = 0; i < COUNT; i++) {
        char key[32];
        snprintf(key, sizeof(key), "many/%06d", i);
        watches[i] = watch_prefix(h, key, 0, &seen[i]);
    }
    harness_begin_wait(h);
    while (live < COUNT) {
        harness_turn(h, "all to be live", __FILE__, __LINE__);
        live = 0;
        for (int i = 0; i < COUNT; i++)
            live += seen[i].live;
    }
    harness_fill(h, "many/", 0, COUNT, 3);
    for (int i = 0; i < COUNT; i++)
        harness_wait(h, seen[i].events == 1);
    for (int i = 0; i < COUNT; i += 2)
        watches[i] = kv_watch_free(watches[i]);
    harness_fill(h, "many/", 0, COUNT, 3);
    for (int i = 1; i < COUNT; i += 2)
        harness_wait(h, seen[i].events == 2);
    for (int i = 0; i < COUNT; i++) {
        events += seen[i].events;
        kv_watch_free(watches[i]);
    }
    assert_int_equal(events, COUNT + COUNT / 2);
    free(seen);
    free(watches);
}

/* What is larger than the server likes to send at once comes in fragments. */
static void fragments(void **state)
{
    struct harness *h = *state;
    struct seen seen;
    int64_t start = harness_get(h, "none").revision + 1;
    harness_fill(h, "f/", 0, 12, 900 * 1000);
    struct kv_watch *watch = watch_prefix(h, "f/", start, &seen); /* all at once: 11 MB */
    wait_for_events(h, &seen, 12);
    assert_int_equal(seen.not_consecutive, 0);
    assert_true(seen.notices_with_events > 1);
    assert_int_equal(seen.last_value_length, 900 * 1000);
    assert_int_equal(kv_watch_next_revision(watch), seen.last_revision + 1);
    kv_watch_free(watch);
}

/* One transaction, with the values before it, is too large for one message: the watch may go on
 * after this revision only when all of it was told. A busy etcd sends it whole at times, since it
 * notes that a watch takes fragments a little after it begins to serve it. */
static void one_revision_in_two_fragments(void **state)
{
    struct harness *h = *state;
    struct seen seen;
    struct kv_txn *txn;
    struct answer answer;
    struct kv_reply reply = answer_reply(&answer);
    const size_t length = 450 * 1000;
    char *value = calloc(1, length);
    harness_fill(h, "h/", 0, 3, length);
    assert_int_equal(kv_txn_new(&txn), OK);
    for (int i = 0; i < 3; i++) {
        char key[16];
        snprintf(key, sizeof(key), "h/%06d", i);
        kv_txn_put(txn, &(struct kv_put){kv_text(key), {value, length}, 0, false});
    }
    assert_int_equal(kv_txn_send(h->client, txn, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    check_ok(answer);
    struct kv_watch *watch = NULL;
    for (int tries = 0; tries < 20; tries++) {
        kv_watch_free(watch);
        watch = watch_prefix(h, "h/", answer.revision, &seen);
        seen.ask_me = watch;
        wait_for_events(h, &seen, 3);
        if (seen.notices_with_events == 2)
            break;
    }
    assert_int_equal(seen.notices_with_events, 2); /* else this has tested nothing */
    assert_int_equal(seen.next_at_first, answer.revision);
    assert_int_equal(kv_watch_next_revision(watch), answer.revision + 1);
    kv_watch_free(watch);
    kv_txn_free(txn);
    free(value);
}

/* Killed between two fragments: what was told of the response is not told again. */
static void killed_within_fragments(void **state)
{
    struct harness *h = *state;
    struct seen seen;
    int64_t start = harness_get(h, "none").revision + 1;
    harness_fill(h, "g/", 0, 30, 900 * 1000);
    struct kv_watch *watch = watch_prefix(h, "g/", start, &seen);
    for (int round = 0; round < 3; round++) {
        int before = seen.events;
        harness_wait(h, seen.events > before);
        if (seen.events == 30)
            break;
        etcd_member_kill(&h->cluster, 0);
        harness_wait(h, seen.broken == round + 1);
        etcd_member_restart(&h->cluster, 0, true);
    }
    wait_for_events(h, &seen, 30);
    harness_put(h, "g/last", "1");
    wait_for_events(h, &seen, 31); /* the last one, and nothing twice before it */
    assert_string_equal(seen.last_key, "g/last");
    assert_int_equal(seen.not_consecutive, 0);
    assert_true(seen.broken > 0); /* else this has tested nothing */
    kv_watch_free(watch);
}

/* Changes go on while the server is killed, again and again. */
static void resumes_over_restarts(void **state)
{
    struct harness *h = *state;
    struct seen seen;
    struct kv_watch *watch = watch_prefix(h, "r/", 0, &seen);
    harness_wait(h, seen.live == 1);
    for (int round = 0; round < 3; round++) {
        harness_fill(h, "r/", round * 1000, 500, 10);
        etcd_member_kill(&h->cluster, 0);
        harness_wait(h, seen.broken == round + 1);
        etcd_member_restart(&h->cluster, 0, true);
        harness_fill(h, "r/", round * 1000 + 500, 500, 10); /* some before the watch is back */
        harness_wait(h, seen.live == round + 2);
    }
    wait_for_events(h, &seen, 3000);
    harness_put(h, "r/last", "1");
    wait_for_events(h, &seen, 3001); /* the last one, and nothing twice before it */
    assert_string_equal(seen.last_key, "r/last");
    assert_int_equal(seen.not_consecutive, 0);
    kv_watch_free(watch);
}

static void compaction_while_away(void **state)
{
    struct harness *h = *state;
    struct seen seen, late;
    struct kv_watch *watch = watch_prefix(h, "c/", 0, &seen);
    struct answer answer;
    harness_wait(h, seen.live == 1);
    harness_put(h, "c/1", "1");
    harness_wait(h, seen.events == 1);
    int64_t next = kv_watch_next_revision(watch);
    kv_watch_free(watch); /* away */
    harness_put(h, "c/1", "2");
    harness_put(h, "c/1", "3");
    int64_t newest = harness_put(h, "c/1", "4").revision;
    struct kv_reply reply = answer_reply(&answer);
    assert_int_equal(etcd_compact(h->client, newest, true, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    watch = watch_prefix(h, "c/", next, &late);
    harness_wait(h, late.compacted == 1);
    assert_int_equal(late.compact_revision, newest);
    assert_int_equal(late.events, 0);
    kv_watch_free(watch);
    /* list again, go on from there; other watches on the stream were not disturbed */
    watch = watch_prefix(h, "c/", newest + 1, &late);
    harness_put(h, "c/1", "5");
    harness_wait(h, late.events == 1);
    kv_watch_free(watch);
}

/* The same with a watch that is still there, but whose server was away meanwhile: others write and
 * compact before the watch is back. */
static void compaction_while_disconnected(void **state)
{
    struct harness *h = *state;
    struct seen seen;
    char command[400];
    if (system("command -v etcdctl >/dev/null") != 0) {
        print_message("skipped: there is no etcdctl here; Debian has it in etcd-client\n");
        skip();
    }
    struct kv_watch *watch = watch_prefix(h, "d/", 0, &seen);
    harness_wait(h, seen.live == 1);
    int64_t revision = harness_put(h, "d/1", "1").revision;
    harness_wait(h, seen.events == 1);
    etcd_member_kill(&h->cluster, 0);
    harness_wait(h, seen.broken == 1);
    etcd_member_restart(&h->cluster, 0, true); /* the loop does not run from here on */
    snprintf(command, sizeof(command),
             "export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=%s; for i in 2 3 4; do etcdctl put d/1 $i; "
             "done >/dev/null && etcdctl compact --physical %lld >/dev/null",
             h->cluster.endpoints[0], (long long)revision + 3);
    assert_int_equal(system(command), 0);
    harness_wait(h, seen.compacted == 1);
    assert_int_equal(seen.compact_revision, revision + 3);
    assert_int_equal(seen.events, 1);
    kv_watch_free(watch);
}

static void progress_moves_the_start(void **state)
{
    (void)state;
    static const char *const arguments[] = {"--experimental-watch-progress-notify-interval",
                                            "200ms", NULL};
    struct harness *h = harness_new(1, arguments);
    struct seen seen = {0};
    struct kv_watch *watch;
    struct kv_watch_config config = {.key = kv_text("p"), .want_progress = true};
    assert_int_equal(kv_watch_new(h->client, &config, on_notice, &seen, &watch), OK);
    harness_wait(h, seen.live == 1);
    int64_t revision = harness_put(h, "elsewhere", "1").revision;
    harness_wait(h, seen.progress > 0 && seen.progress_revision >= revision);
    assert_int_equal(kv_watch_next_revision(watch), revision + 1);
    kv_watch_free(watch);
    harness_free(h);
}

/* A watch that is idle for longer than a ping takes: pings must not make the server hang up. */
static void idle_connections_stay(void **state)
{
    struct harness *h = *state;
    struct seen seen;
    struct kv_watch *watch = watch_prefix(h, "idle/", 0, &seen);
    harness_wait(h, seen.live == 1);
    harness_run_for(h, 14000);
    assert_int_equal(seen.broken, 0);
    harness_put(h, "idle/1", "1");
    harness_wait(h, seen.events == 1);
    kv_watch_free(watch);
}

/* A stopped server neither answers nor hangs up: silence is found out, and told. */
static void a_stopped_server_is_found_out(void **state)
{
    struct harness *h = *state;
    struct seen seen;
    struct kv_watch *watch = watch_prefix(h, "s/", 0, &seen);
    harness_wait(h, seen.live == 1);
    etcd_member_signal(&h->cluster, 0, SIGSTOP);
    harness_wait(h, seen.broken == 1);
    assert_non_null(strstr(seen.message, "does not answer"));
    etcd_member_signal(&h->cluster, 0, SIGCONT);
    harness_wait(h, seen.live == 2);
    harness_put(h, "s/1", "1");
    harness_wait(h, seen.events == 1);
    kv_watch_free(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_and_deletes),
        cmocka_unit_test(twenty_thousand_events_in_order),
        cmocka_unit_test(many_watches),
        cmocka_unit_test(fragments),
        cmocka_unit_test(one_revision_in_two_fragments),
        cmocka_unit_test(killed_within_fragments),
        cmocka_unit_test(resumes_over_restarts),
        cmocka_unit_test(compaction_while_away),
        cmocka_unit_test(compaction_while_disconnected),
        cmocka_unit_test(progress_moves_the_start),
        cmocka_unit_test(idle_connections_stay),
        cmocka_unit_test(a_stopped_server_is_found_out),
    };
    harness_require();
    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
