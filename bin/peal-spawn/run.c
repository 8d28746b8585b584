#include "run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "slots.h"

#define TO(state)       (1u << (state))
#define START_BEFORE_MS 20
#define START_AFTER_MS  1000

static const unsigned may_move[] = {
    [RUN_RUNNING] = TO(RUN_STOPPING) | TO(RUN_DRAINING) | TO(RUN_ENDED),
    [RUN_STOPPING] = TO(RUN_KILLING) | TO(RUN_DRAINING) | TO(RUN_ENDED),
    [RUN_KILLING] = TO(RUN_DRAINING) | TO(RUN_ENDED),
    [RUN_DRAINING] = TO(RUN_STOPPING) | TO(RUN_ENDED),
    [RUN_ENDED] = 0,
};

static struct run **id_bucket(const struct run_table *table, const char *id)
{
    return (struct run **)&table->by_id[hash_text(0, id) % RUN_BUCKETS];
}

static struct run **pid_bucket(const struct run_table *table, pid_t pid)
{
    return (struct run **)&table->by_pid[(unsigned)pid % RUN_BUCKETS];
}

void run_table_init(struct run_table *table)
{
    *table = (struct run_table){0};
    TAILQ_INIT(&table->all);
    TAILQ_INIT(&table->buried);
}

void run_table_release(struct run_table *table)
{
    struct run *run;
    while ((run = TAILQ_FIRST(&table->all))) {
        TAILQ_REMOVE(&table->all, run, all);
        output_close(&run->output);
        masking_free(run->masking);
        free(run);
    }
    run_sweep(table);
}

struct run *run_new(struct run_table *table, const char *id)
{
    struct run *run = calloc(1, sizeof(*run));
    if (!run)
        return NULL;
    memcpy(run->info.id, id, strlen(id) + 1);
    run->slot = SLOT_NONE;
    run->linger_ms = SPAWN_LINGER_S * 1000;
    run->timer_place = HEAP_NONE;
    run->pidfd.fd = -1;
    output_init(&run->output, 0, 0);
    for (int i = 0; i < 2; i++) {
        run->streams[i].watch.fd = -1;
        run->streams[i].run = run;
        run->streams[i].stream = i == 0 ? SPAWN_STDOUT : SPAWN_STDERR;
    }
    struct run **bucket = id_bucket(table, id);
    run->next_by_id = *bucket;
    *bucket = run;
    TAILQ_INSERT_TAIL(&table->all, run, all);
    table->known++;
    table->active++;
    return run;
}

void run_bury(struct run_table *table, struct run *run)
{
    assert(run->streams[0].watch.fd < 0 && run->streams[1].watch.fd < 0 && run->state == RUN_ENDED);
    run_drop_id(table, run);
    run_drop_pid(table, run);
    TAILQ_REMOVE(&table->all, run, all);
    TAILQ_INSERT_TAIL(&table->buried, run, all);
    output_close(&run->output);
    run->masking = masking_free(run->masking);
}

void run_sweep(struct run_table *table)
{
    struct run *run;
    while ((run = TAILQ_FIRST(&table->buried))) {
        TAILQ_REMOVE(&table->buried, run, all);
        free(run);
    }
}

struct run *run_first(const struct run_table *table)
{
    return TAILQ_FIRST(&table->all);
}

struct run *run_next(const struct run *run)
{
    return TAILQ_NEXT(run, all);
}

struct run *run_by_id(const struct run_table *table, const char *id)
{
    struct run *run = *id_bucket(table, id);
    while (run && strcmp(run->info.id, id) != 0)
        run = run->next_by_id;
    return run;
}

struct run *run_by_pid(const struct run_table *table, pid_t pid)
{
    struct run *run = *pid_bucket(table, pid);
    while (run && run->info.pid != pid)
        run = run->next_by_pid;
    return run;
}

void run_add_pid(struct run_table *table, struct run *run)
{
    struct run **bucket = pid_bucket(table, run->info.pid);
    run->next_by_pid = *bucket;
    *bucket = run;
}

void run_drop_pid(struct run_table *table, struct run *run)
{
    for (struct run **at = pid_bucket(table, run->info.pid); *at; at = &(*at)->next_by_pid) {
        if (*at != run)
            continue;
        *at = run->next_by_pid;
        return;
    }
}

void run_drop_id(struct run_table *table, struct run *run)
{
    for (struct run **at = id_bucket(table, run->info.id); *at; at = &(*at)->next_by_id) {
        if (*at != run)
            continue;
        *at = run->next_by_id;
        table->known--;
        return;
    }
}

bool run_started_at(int64_t noted_boot_ms, int64_t at_boot_ms)
{
    return at_boot_ms >= noted_boot_ms - START_BEFORE_MS &&
           at_boot_ms <= noted_boot_ms + START_AFTER_MS;
}

void run_move(struct run_table *table, struct run *run, enum run_state next)
{
    assert(may_move[run->state] & TO(next));
    run->state = next;
    if (next == RUN_ENDED)
        table->active--;
}

struct journal_record run_record(const struct run *run)
{
    bool is_read = run->state != RUN_ENDED;
    return (struct journal_record){
        .type = (run->state == RUN_ENDED ? JOURNAL_ENDED
                 : run->info.pid         ? JOURNAL_STARTED
                                         : JOURNAL_STARTING) |
                (run->has_secrets ? JOURNAL_SECRET : 0),
        .info = run->info,
        .timeout_at_boot_ms = run->timeout_at_boot_ms,
        .head_bytes = run->output.head_limit,
        .tail_bytes = run->output.tail_limit,
        .pipes = {is_read ? run->pipes[0] : 0, is_read ? run->pipes[1] : 0},
        .grace_ms = run->grace_ms,
        .linger_ms = run->linger_ms,
    };
}
