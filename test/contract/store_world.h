/* A store under test, with the picture that its change feed has drawn so far. */
#ifndef PEAL_STORE_WORLD_H
#define PEAL_STORE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store_contract.h"

struct seen_job {
    struct id uid;
    int64_t revision, cursor_ms;
    struct rewinds rewinds;
    struct last_run last;
    uint32_t last_node;
    char name[128], json[256];
    bool deleted;
};

struct seen_run {
    struct run run;
    enum run_reason kill_reason;
    char kill_by[64];
};

struct seen_doc {
    char kind[DOC_KIND_SIZE], name[DOC_NAME_SIZE];
    int64_t revision;
    char *json;
};

/* What the feed has told, by now. */
struct picture {
    struct seen_job *jobs;
    size_t job_count;
    struct seen_run *runs;
    size_t run_count;
    struct ledger_entry *entries;
    size_t entry_count;
    struct store_set_meta metas[8];
    size_t meta_count;
    struct store_drain drains[8]; /* those that hold */
    size_t drain_count;
    struct seen_doc docs[16]; /* those that are there */
    size_t doc_count;
    struct peer peers[8]; /* as they were told last, also those that are gone */
    size_t peer_count;
    char leader[64]; /* empty: nobody */
    bool loaded;
    size_t changes[STORE_CHANGE_LOADED + 1]; /* of each kind, since the last world_mark */
};

struct world {
    const struct store_backend *backend;
    char place[128];
    struct store *store;
    struct picture picture;
    bool without_picture; /* too large to be drawn */
    size_t restored;      /* changes of jobs of a restored store, also without a picture */
    bool is_other;        /* another node at the place of a world that was there before */
    uint64_t last_number; /* of ids and nonces */
    int wake_fd;          /* an eventfd */
};

struct world *world_new(const struct store_backend *backend);
void world_free(struct world *world);
void world_open(struct world *world);

/* Another node's view of the same store, to be freed first. NULL: the backend has none. */
struct world *world_open_other(struct world *first);

/* Has everything fed again, and checks that the picture is the same: all but the peers, which leave
 * with their store. */
void world_reopen(struct world *world);

struct store_wake world_wake(struct world *world);

/* Waits for a wake, at most ten seconds; then calls store_dispatch. */
void world_wait(struct world *world);

/* Lets a moment pass, answers, and reads the feed; fails the test after the boot time `until_ms`:
 *
 *     for (int64_t until_ms = soon_ms(); !happened(world);)
 *         world_pass(world, until_ms);
 */
void world_pass(struct world *world, int64_t until_ms);
int64_t soon_ms(void); /* in ten seconds */

/* Reads the feed until there is nothing new. */
void world_read_feed(struct world *world);
void world_mark(struct world *world); /* forgets how many changes there were */

/* Submits, waits for the answer, and reads the feed. */
enum status world_do(struct world *world, enum store_op op, void *items, size_t count);

/* The same, for one item that must be answered OK. */
void world_do_one(struct world *world, enum store_op op, void *item);

/* An item for each of two nodes, submitted at the same time; both must be answered OK. */
void world_do_two(struct world *first, struct world *second, enum store_op op, void *of_first,
                  void *of_second);

struct id world_id(struct world *world); /* a new one, larger than those before */

/* ---- short ways to what tests need ---- */

enum { CURSOR_MS = 1000 }; /* of a new job */

struct id make_job(struct world *world, const char *name);
struct store_put_job a_put(struct id uid, const char *name, int64_t expected_revision);
struct store_claim a_claim(struct world *world, struct id job, int64_t tick_ms,
                           enum overlap_policy overlap);
struct store_add_run an_add(struct world *world, struct id job, int64_t tick_ms,
                            enum overlap_policy overlap);
struct run claim_run(struct world *world, struct id job, int64_t tick_ms); /* overlap: allow */
struct store_begin begin_run(struct world *world, const struct run *run);
struct store_finish end_run(struct world *world, const struct run *run, enum run_state state,
                            int64_t finished_ms);
void forget_run(struct world *world, struct id id);
void forget_entry(struct world *world, struct id id);

/* Fails the test when there is no such thing in the picture. */
struct seen_job *see_job(struct world *world, struct id uid);
struct seen_run *see_run(struct world *world, struct id id);
struct seen_run *look_for_run(struct world *world, struct id id); /* NULL: none */
size_t count_runs(struct world *world, struct id job, enum run_state state);

struct peer a_peer(const char *name, uint64_t home); /* a worker; its instance is the home, too */
void announce(struct world *world, const struct peer *peer);
const struct peer *look_for_peer(const struct world *world, const char *name); /* NULL: none */
bool sees_alive(const struct world *world, const char *name);
const struct store_drain *look_for_drain(const struct world *world, const char *node);
const struct seen_doc *look_for_doc(const struct world *world, const char *kind, const char *name);
/* Announces, and waits until its feed has told it. */
void join(struct world *world, const struct peer *peer);

/* ---- the tests, by file ---- */

struct contract_test {
    const char *name;
    void (*test)(struct world *world);
};

#define CONTRACT_TEST(function)                                                                    \
    {                                                                                              \
#function, function                                                                        \
    }

extern const struct contract_test claim_tests[], run_tests[], again_tests[], next_tests[],
    part_tests[], rolling_tests[], unfollowed_tests[], job_tests[], feed_tests[], node_tests[],
    doc_tests[], rewind_tests[], boot_tests[], step_tests[], cancel_tests[], fan_out_tests[],
    group_tests[];

#endif
