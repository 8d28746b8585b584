/* The same requests, at random, to the tables in memory and to those of SQLite with their cache:
 * every answer and every change that is fed must be the same. Some transactions of SQLite are
 * rolled back first, and sometimes its cache is emptied, which nobody may notice. The seed is
 * printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sqlite/store_sqlite.h"
#include "store_memory_tables.h"
#include "workflow/flow.h"

enum { JOBS = 6, STEPS = 20000, KNOWN = 64, PARTS = 4, LINKS = 4 };

struct pair {
    struct memory_data *memory;
    struct sqlite_db *db;
    uint64_t random, last_id;
    struct id jobs[JOBS];
    struct run known[KNOWN]; /* runs that were made lately, as they were last seen */
    size_t known_count;
    struct store_part parts[PARTS]; /* of the request, as are: */
    struct store_step steps[PARTS];
    struct store_link links[LINKS];
    int step;
};

static uint64_t any(struct pair *pair, uint64_t limit)
{
    uint64_t z = pair->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % limit;
}

static struct id new_id(struct pair *pair)
{
    struct id id = {{1}};
    uint64_t number = ++pair->last_id;
    for (size_t i = 0; i < 8; i++)
        id.bytes[15 - i] = (uint8_t)(number >> 8 * i);
    return id;
}

static void same(const struct pair *pair, const void *one, const void *other, size_t size,
                 const char *what)
{
    if (memcmp(one, other, size) != 0)
        fail_msg("step %d: %s differs", pair->step, what);
}

/* ---- what is fed ---- */

static void note_run(struct pair *pair, const struct run *run)
{
    for (size_t i = 0; i < pair->known_count; i++) {
        if (id_compare(&pair->known[i].id, &run->id) == 0) {
            pair->known[i] = *run;
            return;
        }
    }
    pair->known[pair->known_count < KNOWN ? pair->known_count++ : any(pair, KNOWN)] = *run;
}

static void same_change(struct pair *pair, const struct store_change *one,
                        const struct store_change *other)
{
    assert_int_equal(one->kind, other->kind);
    same(pair, &one->job_uid, &other->job_uid, sizeof(one->job_uid), "a change's job");
    same(pair, &one->gone_id, &other->gone_id, sizeof(one->gone_id), "what is gone");
    assert_int_equal(one->job_revision, other->job_revision);
    assert_int_equal(one->cursor_ms, other->cursor_ms);
    same(pair, &one->last.run_id, &other->last.run_id, sizeof(struct id), "the last run");
    assert_int_equal(one->last.state, other->last.state);
    assert_int_equal(one->last.retried, other->last.retried);
    assert_int_equal(!one->run, !other->run);
    if (one->run && other->run) {
        same(pair, one->run, other->run, sizeof(*one->run), "a fed run");
        note_run(pair, one->run);
    }
    assert_int_equal(!one->entry, !other->entry);
    if (one->entry && other->entry)
        same(pair, one->entry, other->entry, sizeof(*one->entry), "a fed entry");
}

static void same_feeds(struct pair *pair, struct feed *one, struct feed *other)
{
    struct feed_item *held_one = NULL, *held_other = NULL;
    struct store_change from_one, from_other;
    while (feed_next(one, &held_one, &from_one)) {
        if (!feed_next(other, &held_other, &from_other))
            fail_msg("step %d: SQLite feeds less", pair->step);
        same_change(pair, &from_one, &from_other);
    }
    if (feed_next(other, &held_other, &from_other))
        fail_msg("step %d: SQLite feeds more", pair->step);
    feed_item_free(held_one);
    feed_item_free(held_other);
}

/* ---- requests ---- */

/* Applies copies of the item to both. */
static void apply(struct pair *pair, enum store_op op, void *item, size_t size)
{
    char copies[2][8192] __attribute__((aligned(16)));
    struct feed feeds[2] = {{0}, {0}};
    struct store_request requests[2];
    assert_true(size <= sizeof(copies[0]));
    for (int i = 0; i < 2; i++) {
        memcpy(copies[i], item, size);
        requests[i] = (struct store_request){
            .op = op, .count = 1, .items.claims = (struct store_claim *)copies[i]};
    }
    if (any(pair, 10) == 0) { /* tried once in vain */
        struct feed none = {0};
        assert_int_equal(sqlite_db_begin(pair->db), OK);
        assert_int_equal(rules_apply(&pair->db->tables, &none, &requests[1]), OK);
        sqlite_db_rollback(pair->db);
        feed_release(&none);
        memcpy(copies[1], item, size);
    }
    assert_int_equal(rules_apply(&pair->memory->tables, &feeds[0], &requests[0]), OK);
    assert_int_equal(sqlite_db_begin(pair->db), OK);
    assert_int_equal(rules_apply(&pair->db->tables, &feeds[1], &requests[1]), OK);
    assert_int_equal(sqlite_db_commit(pair->db), OK);
    same(pair, copies[0], copies[1], size, "an answer");
    same_feeds(pair, &feeds[0], &feeds[1]);
    memcpy(item, copies[0], size);
    if (any(pair, 50) == 0)
        sqlite_cache_clear(&pair->db->cache);
}

static enum overlap_policy any_overlap(struct pair *pair)
{
    return (enum overlap_policy)any(pair, 4);
}

static int64_t cursor_of(struct pair *pair, const struct id *uid, struct job_row *row)
{
    return pair->memory->tables.ops->get_job(&pair->memory->tables, uid, row) == OK ? row->cursor_ms
                                                                                    : -1;
}

static void put_any(struct pair *pair)
{
    static const char *const names[JOBS] = {"a", "b", "c", "d", "e", "f"};
    size_t which = any(pair, JOBS);
    struct job_row row;
    bool exists = cursor_of(pair, &pair->jobs[which], &row) >= 0;
    struct store_put_job put = {.uid = pair->jobs[which],
                                .name = names[which],
                                .json = "{}",
                                .expected_revision = exists ? -1 : 0,
                                .paused = any(pair, 5) == 0,
                                .deleted = exists && any(pair, 12) == 0,
                                .purge = exists && any(pair, 25) == 0,
                                .cursor_ms = exists ? -1 : 1000};
    apply(pair, STORE_PUT_JOB, &put, sizeof(put));
}

static void fill_run(struct pair *pair, const struct id *uid, int64_t tick_ms, struct run *run)
{
    *run = (struct run){.id = new_id(pair),
                        .job_uid = *uid,
                        .job_name = "job",
                        .tick_ms = tick_ms,
                        .attempt = 1,
                        .nonce = new_id(pair).bytes[15] + pair->last_id,
                        .exit_code = -1,
                        .claimed_ms = tick_ms,
                        .node = "n"};
}

/* Now and then a tick has several runs. */
static struct store_parts any_parts(struct pair *pair, const struct id *first)
{
    struct store_parts parts = {.parts = pair->parts,
                                .count = any(pair, 3) ? 0 : 1 + any(pair, PARTS),
                                .at_once = any(pair, 3),
                                .stops = any(pair, 2) == 0};
    memset(pair->parts, 0, sizeof(pair->parts));
    for (size_t i = 0; i < parts.count; i++) {
        pair->parts[i].id = i ? new_id(pair) : *first;
        if (any(pair, 2))
            snprintf(pair->parts[i].pinned, sizeof(pair->parts[i].pinned), "n%zu", i);
    }
    return parts;
}

static struct store_step any_step(struct pair *pair, int part)
{
    struct store_step step = {.id = new_id(pair),
                              .part = part,
                              .attempts = 1 + (int)any(pair, 2),
                              .is_final = any(pair, 4) == 0};
    snprintf(step.step, sizeof(step.step), "s%d", part);
    return step;
}

/* Steps have numbers up to LINKS, items those behind their fan-out's, `group`. */
static struct store_opening any_opening(struct pair *pair, int group)
{
    struct store_opening opening = {.steps = pair->steps,
                                    .count = any(pair, 8) ? 1 + any(pair, PARTS) : 0,
                                    .plan = group ? NULL : "{}",
                                    .input = new_id(pair),
                                    .is_wanted = true};
    for (size_t i = 0; i < opening.count; i++)
        pair->steps[i] = any_step(pair, group ? FLOW_ITEMS * group + (int)i : flow_part_of((int)i));
    opening.expected = opening.count ? (int)opening.count + (int)any(pair, 3) : 0;
    return opening;
}

static size_t any_links(struct pair *pair, const struct run *run)
{
    size_t count = any(pair, LINKS);
    for (size_t i = 0; i < count; i++) {
        struct store_link *link = &pair->links[i];
        int inputs = 1 + (int)any(pair, 3);
        *link = (struct store_link){.step = any_step(pair, 1 + (int)any(pair, LINKS)),
                                    .states = 1 << RUN_OK | (unsigned)any(pair, 2) << RUN_FAILED,
                                    .inputs = inputs,
                                    .join = 1 + (int)any(pair, (uint64_t)inputs),
                                    .is_group = any(pair, 3) == 0};
        link->part = flow_part_is_item(run->part) ? run->part / FLOW_ITEMS : 0;
    }
    return count;
}

static void claim_any(struct pair *pair)
{
    struct job_row row;
    const struct id *uid = &pair->jobs[any(pair, JOBS)];
    int64_t cursor_ms = cursor_of(pair, uid, &row);
    if (cursor_ms < 0)
        return;
    struct store_claim claim = {.job_uid = *uid,
                                .job_revision = row.revision + (any(pair, 20) == 0),
                                .cursor_ms = cursor_ms,
                                .rewinds = row.rewinds.count,
                                .tick_ms = cursor_ms + 1 + (int64_t)any(pair, 3),
                                .overlap = any_overlap(pair),
                                .queue_limit = 1 + (int)any(pair, 3),
                                .without_run = any(pair, 10) == 0,
                                .skip_entry_id = new_id(pair)};
    fill_run(pair, uid, claim.tick_ms, &claim.run);
    if (any(pair, 8) == 0)
        claim.opening = any_opening(pair, 0);
    else
        claim.parts = any_parts(pair, &claim.run.id);
    apply(pair, STORE_CLAIM, &claim, sizeof(claim));
}

static void add_any(struct pair *pair)
{
    const struct id *uid = &pair->jobs[any(pair, JOBS)];
    struct store_add_run add = {
        .overlap = any_overlap(pair), .queue_limit = 2, .is_for_now = any(pair, 2) == 0};
    fill_run(pair, uid, 500 + (int64_t)any(pair, 20000), &add.run);
    add.run.cause = CAUSE_MANUAL;
    apply(pair, STORE_ADD_RUN, &add, sizeof(add));
}

static void take_any(struct pair *pair, const struct run *run)
{
    struct store_take take = {.run_id = run->id,
                              .from_nonce = run->state == RUN_CLAIMED ? run->nonce : 0,
                              .node = "m",
                              .nonce = ++pair->last_id,
                              .now_ms = 1 + (int64_t)any(pair, 30000)};
    struct job_row row = {.revision = 0};
    cursor_of(pair, &run->job_uid, &row);
    take.job_revision = run_is_step(run) ? 0 : row.revision + (any(pair, 20) == 0);
    if (any(pair, run_is_step(run) ? 3 : 8) == 0 && !flow_part_is_item(run->part))
        take.opening = any_opening(pair, run_is_step(run) ? run->part : 0);
    else if (!take.from_nonce && !run_is_step(run))
        take.parts = any_parts(pair, &run->id);
    apply(pair, STORE_TAKE, &take, sizeof(take));
}

static void finish_any(struct pair *pair, const struct run *run)
{
    static const enum run_state ends[] = {RUN_OK, RUN_FAILED, RUN_LOST, RUN_KILLED};
    struct job_row row = {.revision = 0};
    struct store_finish finish = {.run = *run};
    cursor_of(pair, &run->job_uid, &row);
    finish.run.state = ends[any(pair, 4)];
    finish.run.reason = finish.run.state == RUN_LOST ? REASON_NODE_DIED : REASON_NONE;
    finish.run.started_ms = 2000;
    finish.run.finished_ms = 2000 + (int64_t)any(pair, 30000);
    finish.again = (struct store_again){.is_wanted = any(pair, 2) == 0,
                                        .id = new_id(pair),
                                        .not_before_ms = (int64_t)any(pair, 30000),
                                        .attempts = 9,
                                        .job_revision = row.revision};
    if (run_is_step(run)) {
        finish.links = pair->links;
        finish.link_count = any_links(pair, run);
        finish.output = any(pair, 2) ? "{}" : NULL;
    }
    apply(pair, STORE_FINISH, &finish, sizeof(finish));
}

static void act_on_any(struct pair *pair)
{
    if (!pair->known_count)
        return;
    struct run run = pair->known[any(pair, pair->known_count)];
    struct store_begin begin = {.run_id = run.id, .nonce = run.nonce};
    struct store_order order = {.run_id = run.id, .reason = REASON_USER, .by = "x"};
    struct store_forget forget = {.id = run.id};
    switch (any(pair, 8)) {
    case 0:
    case 1:
        take_any(pair, &run);
        break;
    case 2:
    case 3:
        apply(pair, STORE_BEGIN, &begin, sizeof(begin));
        break;
    case 4:
        apply(pair, STORE_ORDER, &order, sizeof(order));
        break;
    case 5:
        apply(pair, STORE_FORGET, &forget, sizeof(forget));
        break;
    default:
        finish_any(pair, &run);
        break;
    }
}

static void same_requests_have_the_same_answers(void **state)
{
    const char *given = getenv("PEAL_SEED");
    struct pair *pair = calloc(1, sizeof(*pair));
    char dir[] = "/tmp/peal-same-XXXXXX", path[64];
    struct strbuf why;
    sqlite3 *handle;
    (void)state;
    assert_non_null(pair);
    pair->random = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("PEAL_SEED=%llu\n", (unsigned long long)pair->random);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/peal.db", dir);
    strbuf_init(&why);
    pair->memory = memory_data_new();
    assert_non_null(pair->memory);
    assert_int_equal(sqlite_open_database(path, &handle, &why), OK);
    assert_int_equal(sqlite_db_new(handle, path, &pair->db, &why), OK);
    sqlite3_exec(handle, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    for (size_t i = 0; i < JOBS; i++)
        pair->jobs[i] = new_id(pair);
    for (pair->step = 0; pair->step < STEPS; pair->step++) {
        uint64_t what = any(pair, 20);
        if (what == 0)
            put_any(pair);
        else if (what < 7)
            claim_any(pair);
        else if (what < 9)
            add_any(pair);
        else
            act_on_any(pair);
    }
    sqlite_db_free(pair->db);
    memory_data_free(pair->memory);
    strbuf_release(&why);
    unlink(path);
    rmdir(dir);
    free(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_requests_have_the_same_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
