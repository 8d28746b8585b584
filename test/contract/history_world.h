/* A history under test, with requests that wait for their answer. */
#ifndef PEAL_HISTORY_WORLD_H
#define PEAL_HISTORY_WORLD_H

#include "history_contract.h"

struct history_world {
    const struct history_backend *backend;
    char place[128];
    struct history *history;
    int wake_fd; /* an eventfd */
};

/* cmocka's set-up and tear-down; the initial state is the backend. */
int history_world_setup(void **state);
int history_world_teardown(void **state);

/* Its eventfd alone, for further worlds in the same place. */
int history_world_wake_init(struct history_world *world);
void history_world_wake_release(struct history_world *world);

/* For a history that is opened in another way. */
struct history_wake history_world_wake(struct history_world *world);

void world_open(struct history_world *world);
void world_close(struct history_world *world);

/* Dispatches until *done; fails the test after half a minute. */
void world_wait(struct history_world *world, const bool *done);

enum status world_append(struct history_world *world, struct history_record *records, size_t count);
enum status world_append_run(struct history_world *world, const struct run *run);
enum status world_append_entry(struct history_world *world, const struct ledger_entry *entry);
enum status world_read(struct history_world *world, struct history_read *read);
enum status world_log(struct history_world *world, struct history_log *log);
enum status world_stats(struct history_world *world, struct history_stats *stats);
enum status world_changes(struct history_world *world, struct history_changes *changes);
enum status world_append_change(struct history_world *world, const struct change_record *change);
enum status world_prune_as(struct history_world *world, struct history_prune *prune);
int64_t world_prune(struct history_world *world, const struct id *job_uid, int64_t keep_runs,
                    int64_t before_ms);

/* How many rows the query has, all pages of it. */
size_t world_count(struct history_world *world, struct history_query query);
bool world_has_run(struct history_world *world, const struct id *id, struct run *ret);

/* ---- samples ---- */

#define SAMPLE_MS INT64_C(1800000000000)

struct id sample_id(int64_t made_ms, uint32_t number);
struct id sample_uid(uint32_t job);

/* Run number n of a job: made and due n seconds after SAMPLE_MS, every field set. */
struct run sample_run(uint32_t job, uint32_t number);
struct ledger_entry sample_entry(uint32_t job, uint32_t number);

/* Change number n of a job, n seconds after SAMPLE_MS, every field set. */
struct change_record sample_change(uint32_t job, uint32_t number);

void assert_same_run(const struct run *a, const struct run *b);

#endif
