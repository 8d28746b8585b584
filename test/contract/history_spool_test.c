/* The contract through a spool, and a history behind it that is away now and then. */
#include "spool/history_spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "history_world.h"

static void make_place(char place[128])
{
    snprintf(place, 128, "/tmp/peal-spool-XXXXXX");
    assert_non_null(mkdtemp(place));
}

static void remove_files(const char *dir)
{
    char path[512];
    DIR *folder = opendir(dir);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(path, sizeof(path), "%.200s/%s", dir, entry->d_name);
        unlink(path);
    }
    if (folder)
        closedir(folder);
}

static void remove_place(const char *place)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/spool", place);
    remove_files(path);
    rmdir(path);
    remove_files(place);
    assert_int_equal(rmdir(place), 0);
}

static const struct history_spool_limits limits = {
    .max_bytes = 1 << 20, .retry_first_ms = 5, .retry_last_ms = 50};

/* ---- a history that can be away ---- */

struct switched {
    struct history base;
    struct history *real;
    struct history_wake wake;
    enum status away; /* OK: it is there */
    struct refused {
        struct history_append *items[64];
        size_t count;
    } refused;
};

static struct switched *switched; /* of the test that runs */

static void switched_submit(struct history *history, struct history_request *request)
{
    struct switched *self = (struct switched *)history;
    if (self->away == OK || request->kind != HISTORY_APPEND) {
        history_submit(self->real, request);
        return;
    }
    assert_true(self->refused.count < 64);
    self->refused.items[self->refused.count++] = history_request_of(request, history_append);
    self->wake.wake(self->wake.context);
}

static void switched_dispatch(struct history *history)
{
    struct switched *self = (struct switched *)history;
    struct refused now = self->refused;
    self->refused.count = 0;
    for (size_t i = 0; i < now.count; i++)
        now.items[i]->done(now.items[i], self->away == OK ? E_UNREACHABLE : self->away);
    history_dispatch(self->real);
}

static enum status switched_health(struct history *history, struct strbuf *why)
{
    struct switched *self = (struct switched *)history;
    if (self->away != OK)
        strbuf_adds(why, "The database is away.");
    return self->away;
}

static struct history *switched_free(struct history *history)
{
    struct switched *self = (struct switched *)history;
    switched_dispatch(history);
    history_free(self->real);
    free(self);
    switched = NULL;
    return NULL;
}

static const struct history_ops switched_ops = {
    .submit = switched_submit,
    .dispatch = switched_dispatch,
    .health = switched_health,
    .free = switched_free,
};

static enum status open_inner(const char *place, struct history_wake wake, struct history **ret)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = history_sqlite_open(place, wake, ret, &why);
    strbuf_release(&why);
    return st;
}

static enum status open_spool(const char *place, struct history_wake wake, struct history **ret)
{
    struct strbuf why;
    struct history *inner;
    strbuf_init(&why);
    assert_int_equal(open_inner(place, wake, &inner), OK);
    enum status st = history_spool_open(place, &limits, inner, wake, ret, &why);
    strbuf_release(&why);
    return st;
}

static enum status open_switched(const char *place, struct history_wake wake, struct history **ret)
{
    struct strbuf why;
    strbuf_init(&why);
    switched = calloc(1, sizeof(*switched));
    assert_non_null(switched);
    *switched = (struct switched){.base = {&switched_ops}, .wake = wake};
    assert_int_equal(open_inner(place, wake, &switched->real), OK);
    enum status st = history_spool_open(place, &limits, &switched->base, wake, ret, &why);
    strbuf_release(&why);
    return st;
}

static const struct history_backend plain_backend = {
    .name = "spool before SQLite",
    .make_place = make_place,
    .open = open_spool,
    .remove_place = remove_place,
    .durable = true,
};

static const struct history_backend switched_backend = {
    .name = "spool before what is away",
    .make_place = make_place,
    .open = open_switched,
    .remove_place = remove_place,
    .durable = true,
};

/* ---- waiting ---- */

static struct history_spool_stats stats_of(struct history_world *world)
{
    struct history_spool_stats stats;
    history_spool_stats(world->history, &stats);
    return stats;
}

/* Requests keep it going until nothing waits. */
static void wait_until_delivered(struct history_world *world)
{
    for (int i = 0; stats_of(world).waiting_records; i++) {
        struct history_read read = {.query.limit = 1};
        assert_true(i < 20000);
        assert_int_equal(world_read(world, &read), OK);
        history_read_release(&read);
        usleep(1000);
    }
}

static void assert_health(struct history_world *world, enum status want, const char *words)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = history_health(world->history, &why);
    if (st != want || !strstr(why.text, words))
        fail_msg("%s: \"%s\" is not in: %s", status_text(st), words, why.text);
    strbuf_release(&why);
}

/* ---- away ---- */

/* The last five runs wait, and are shown as such; the others only if the database can be asked. */
static void assert_waiting(struct history_world *world, size_t runs, bool is_alone)
{
    struct history_read read = {.query = {.limit = 1000}}, page = {.query = {.limit = 3}};
    assert_int_equal(world_read(world, &read), OK);
    assert_int_equal(read.count, is_alone ? 5 : runs);
    assert_int_equal(read.absent.count, is_alone);
    for (size_t i = 0; i < read.count; i++)
        assert_int_equal(read.rows[i].is_spooled, i < 5);
    assert_int_equal(world_read(world, &page), OK);
    assert_int_equal(page.count, 3);
    assert_true(page.more);
    page.query.before = page.next;
    history_read_release(&page);
    assert_int_equal(world_read(world, &page), OK);
    assert_memory_equal(&page.rows[0].run.id, &read.rows[3].run.id, sizeof(struct id));
    assert_true(page.rows[1].is_spooled);
    history_read_release(&page);
    history_read_release(&read);
}

static void test_away(void **state)
{
    static const enum status failures[] = {E_UNREACHABLE, E_IO, E_VERSION, E_NOMEM, E_BUSY};
    struct history_world *world = *state;
    uint32_t number = 0;
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        switched->away = failures[i];
        for (int k = 0; k < 5; k++, number++) {
            struct run run = sample_run(1, number);
            struct ledger_entry entry = sample_entry(1, number);
            struct history_record both[] = {{.run = &run}, {.entry = &entry}};
            assert_int_equal(world_append(world, both, 2), OK);
        }
        assert_health(world, failures[i], "The database is away. 10 records wait on disk");
        assert_waiting(world, number, failures[i] == E_UNREACHABLE);
        switched->away = OK;
        wait_until_delivered(world);
        assert_health(world, OK, "");
        assert_int_equal(world_count(world, (struct history_query){.with_entries = true}),
                         2 * number);
    }
    struct history_spool_stats stats = stats_of(world);
    assert_int_equal(stats.delivered_records, 2 * number);
    assert_int_equal(stats.spooled_records, 2 * number);
    assert_int_equal(stats.waiting_bytes, 0);
    struct run run = sample_run(2, 1); /* straight again */
    assert_int_equal(world_append_run(world, &run), OK);
    assert_int_equal(stats_of(world).spooled_records, 2 * number);
}

/* What was recorded later about the same run is there in the end. */
static void test_order(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1), found;
    const struct output_chunk chunk = {OUTPUT_STDERR, SAMPLE_MS, 0, "words", 5};
    struct history_record record = {.run = &run, .chunks = &chunk, .chunk_count = 1};
    switched->away = E_UNREACHABLE;
    run.exit_code = 1;
    assert_int_equal(world_append(world, &record, 1), OK);
    struct history_log waiting = {.run_id = run.id, .offset = 1, .limit = 3};
    assert_int_equal(world_log(world, &waiting), OK);
    assert_true(waiting.found && waiting.is_spooled);
    assert_same_run(&waiting.run, &run);
    assert_int_equal(waiting.kept_bytes, 5);
    assert_int_equal(waiting.count, 1);
    assert_int_equal(waiting.chunks[0].length, 3);
    assert_memory_equal(waiting.chunks[0].bytes, "ord", 3);
    history_log_release(&waiting);
    switched->away = OK; /* the next one must not overtake it */
    run.exit_code = 2;
    assert_int_equal(world_append_run(world, &run), OK);
    run.exit_code = 3;
    assert_int_equal(world_append_run(world, &run), OK);
    wait_until_delivered(world);
    assert_true(world_has_run(world, &run.id, &found));
    assert_int_equal(found.exit_code, 3);
    assert_same_run(&found, &run);
    struct history_log log = {.run_id = run.id, .limit = 100};
    assert_int_equal(world_log(world, &log), OK);
    assert_int_equal(log.count, 1);
    assert_false(log.is_spooled);
    assert_memory_equal(log.chunks[0].bytes, "words", 5);
    assert_int_equal(log.chunks[0].stream, OUTPUT_STDERR);
    history_log_release(&log);
}

/* Changes wait with everything else, and have their definitions. */
static void test_changes_away(void **state)
{
    struct history_world *world = *state;
    struct change_record change = sample_change(1, 1), login = sample_change(1, 2);
    struct run run = sample_run(1, 1);
    login.before = login.after = NULL;
    struct history_record records[] = {{.change = &change}, {.run = &run}, {.change = &login}};
    switched->away = E_UNREACHABLE;
    assert_int_equal(world_append(world, records, 3), OK);
    world_close(world);
    world_open(world);
    wait_until_delivered(world);
    struct history_changes changes = {.query = {.with_definitions = true, .limit = 10}};
    assert_int_equal(world_changes(world, &changes), OK);
    assert_int_equal(changes.count, 2);
    assert_null(changes.items[0].before);
    assert_string_equal(changes.items[0].actor, "Ann");
    assert_string_equal(changes.items[1].before, change.before);
    assert_string_equal(changes.items[1].after, change.after);
    assert_int_equal(changes.items[1].at_ms, change.at_ms);
    history_changes_release(&changes);
    assert_true(world_has_run(world, &run.id, NULL));
}

/* What waits is there after a restart. */
static void test_reopened(void **state)
{
    struct history_world *world = *state;
    switched->away = E_UNREACHABLE;
    for (uint32_t i = 0; i < 300; i++) {
        struct run run = sample_run(1, i);
        assert_int_equal(world_append_run(world, &run), OK);
    }
    world_close(world);
    world_open(world);
    wait_until_delivered(world);
    assert_int_equal(world_count(world, (struct history_query){0}), 300);
    assert_int_equal(stats_of(world).delivered_records, 300);
}

/* What the inner history calls invalid goes, but nothing else. */
static void test_refused(void **state)
{
    struct history_world *world = *state;
    struct run open = sample_run(1, 1);
    open.state = RUN_RUNNING;
    assert_int_equal(world_append_run(world, &open), E_INVALID);
    switched->away = E_UNREACHABLE;
    for (uint32_t i = 0; i < 10; i++) {
        struct run run = sample_run(1, i);
        assert_int_equal(world_append_run(world, &run), OK);
    }
    switched->away = E_INVALID; /* of each, one by one */
    struct history_read read = {.query.limit = 1};
    while (!stats_of(world).refused_records) {
        assert_int_equal(world_read(world, &read), OK);
        history_read_release(&read);
    }
    switched->away = OK;
    wait_until_delivered(world);
    struct history_spool_stats stats = stats_of(world);
    assert_int_equal(stats.refused_records + stats.delivered_records, 10);
    assert_int_equal(world_count(world, (struct history_query){0}), stats.delivered_records);
}

/* ---- the limit ---- */

static void test_output_dropped(void **state)
{
    struct history_world *world = *state;
    static char bytes[100 * 1000];
    const struct output_chunk chunk = {OUTPUT_STDOUT, SAMPLE_MS, 0, bytes, sizeof(bytes)};
    switched->away = E_UNREACHABLE;
    for (uint32_t i = 0; i < 30; i++) {
        struct run run = sample_run(1, i);
        struct history_record record = {.run = &run, .chunks = &chunk, .chunk_count = 1};
        assert_int_equal(world_append(world, &record, 1), OK);
    }
    assert_health(world, E_UNREACHABLE, "bytes of output were dropped");
    assert_true(stats_of(world).dropped_chunks >= 20);
    switched->away = OK;
    wait_until_delivered(world);
    assert_int_equal(world_count(world, (struct history_query){0}), 30);
    struct history_log log = {.run_id = sample_run(1, 0).id, .limit = 1};
    assert_int_equal(world_log(world, &log), OK);
    assert_int_equal(log.chunks[0].gap_bytes, sizeof(bytes)); /* it says so */
    history_log_release(&log);
    log = (struct history_log){.run_id = sample_run(1, 29).id, .limit = 1};
    assert_int_equal(world_log(world, &log), OK);
    assert_int_equal(log.kept_bytes, sizeof(bytes));
    history_log_release(&log);
}

static void test_full(void **state)
{
    struct history_world *world = *state;
    static struct run runs[500];
    static struct history_record records[500];
    enum status st = OK;
    uint32_t batches = 0;
    switched->away = E_UNREACHABLE;
    for (; st == OK; batches += st == OK) {
        for (uint32_t i = 0; i < 500; i++) {
            runs[i] = sample_run(i, batches);
            records[i] = (struct history_record){.run = &runs[i]};
        }
        st = world_append(world, records, 500);
    }
    assert_int_equal(st, E_TOO_LARGE); /* the store keeps them */
    assert_true(batches >= 5);
    assert_health(world, E_UNREACHABLE, "spool is full");
    assert_int_equal(stats_of(world).waiting_records, 500 * batches); /* all or none */
    switched->away = OK;
    wait_until_delivered(world);
    assert_int_equal(world_append(world, records, 500), OK);
    assert_int_equal(world_count(world, (struct history_query){0}), 500 * (batches + 1));
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Files may not grow: as good as a full disk. */
static void test_disk_full(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    signal(SIGXFSZ, SIG_IGN);
    switched->away = E_UNREACHABLE;
    assert_int_equal(world_append_run(world, &run), OK);
    limit_files(400);
    run = sample_run(1, 2);
    assert_int_equal(world_append_run(world, &run), E_IO);
    assert_health(world, E_UNREACHABLE, "cannot be written");
    limit_files(RLIM_INFINITY);
    run = sample_run(1, 3);
    assert_int_equal(world_append_run(world, &run), OK);
    switched->away = OK;
    wait_until_delivered(world);
    assert_int_equal(world_count(world, (struct history_query){0}), 2);
}

/* The disk has room again, and the database is back before anything is written to the spool. */
static void test_disk_full_once(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    signal(SIGXFSZ, SIG_IGN);
    switched->away = E_UNREACHABLE;
    limit_files(4);
    assert_int_equal(world_append_run(world, &run), E_IO);
    assert_health(world, E_UNREACHABLE, "cannot be written");
    limit_files(RLIM_INFINITY);
    switched->away = OK;
    assert_int_equal(world_append_run(world, &run), OK);
    struct strbuf why;
    strbuf_init(&why);
    for (int i = 0; i < 1000 && history_health(world->history, &why) != OK; i++)
        usleep(10000);
    assert_int_equal(history_health(world->history, &why), OK);
    strbuf_release(&why);
}

/* ---- a killed process ---- */

static void spool_until_killed(struct history_world *world, uint32_t first, int fd)
{
    world_open(world);
    switched->away = E_UNREACHABLE;
    for (uint32_t i = first;; i++) {
        struct run run = sample_run(1, i);
        const struct output_chunk chunk = {OUTPUT_STDOUT, SAMPLE_MS, 0, "output", 6};
        struct history_record record = {.run = &run, .chunks = &chunk, .chunk_count = 1};
        if (world_append(world, &record, 1) != OK || write(fd, &i, sizeof(i)) != sizeof(i))
            _exit(1);
    }
}

static void test_killed(void **state)
{
    struct history_world *world = *state;
    uint32_t number, first = 0;
    world_close(world);
    for (int round = 0; round < 5; round++) {
        int fds[2], status;
        assert_int_equal(pipe(fds), 0);
        pid_t child = fork();
        if (child == 0)
            spool_until_killed(world, first, fds[1]);
        close(fds[1]);
        while (read(fds[0], &number, sizeof(number)) == sizeof(number)) {
            if (number == first + 20)
                kill(child, SIGKILL);
            if (number > first + 20)
                first = number - 20;
        }
        first += 21;
        close(fds[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
    }
    world_open(world);
    wait_until_delivered(world);
    for (uint32_t i = 0; i < first; i++) {
        struct history_log log = {.run_id = sample_run(1, i).id, .limit = 10};
        assert_int_equal(world_log(world, &log), OK);
        assert_true(log.found);
        assert_int_equal(log.kept_bytes, 6);
        history_log_release(&log);
    }
}

int main(void)
{
#define WITH_WORLD(test)                                                                           \
    cmocka_unit_test_prestate_setup_teardown(test, history_world_setup, history_world_teardown,    \
                                             (void *)&switched_backend)
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_away),     WITH_WORLD(test_order),     WITH_WORLD(test_changes_away),
        WITH_WORLD(test_reopened), WITH_WORLD(test_refused),   WITH_WORLD(test_output_dropped),
        WITH_WORLD(test_full),     WITH_WORLD(test_disk_full), WITH_WORLD(test_disk_full_once),
        WITH_WORLD(test_killed),
    };
    int failed = history_contract_run(&plain_backend);
    return failed + cmocka_run_group_tests_name("a spool", tests, NULL, NULL);
}
