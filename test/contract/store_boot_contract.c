/* STORE_CLAIM of a boot: decided once, by whoever writes its mark. */
#include <stdio.h>
#include <string.h>

#include "store_world.h"

enum { BOOT_MS = 7123 };

static struct boot_mark a_mark(const char *boot_id, bool is_due)
{
    struct boot_mark mark = {.tick_ms = BOOT_MS, .is_due = is_due};
    snprintf(mark.boot_id, sizeof(mark.boot_id), "%s", boot_id);
    return mark;
}

/* The boot is due from now on; its revision. */
static int64_t mark_due(struct world *world, struct id job, const char *boot_id,
                        int64_t expected_revision)
{
    char json[BOOT_JSON_SIZE];
    struct boot_mark mark = a_mark(boot_id, true);
    struct store_put_doc put = {
        .kind = BOOT_DOC, .json = json, .expected_revision = expected_revision};
    boot_mark_name("node-1", &job, put.name);
    boot_mark_encode(&mark, json);
    world_do_one(world, STORE_PUT_DOC, &put);
    assert_int_equal(put.result, PUT_OK);
    return put.revision;
}

static struct store_claim a_boot_claim(struct world *world, struct id job, const char *boot_id,
                                       int64_t revision, enum overlap_policy overlap)
{
    struct store_claim claim = a_claim(world, job, BOOT_MS, overlap);
    claim.cursor_ms = -1; /* not looked at */
    claim.boot = (struct store_boot){.revision = revision, .mark = a_mark(boot_id, false)};
    boot_mark_name("node-1", &job, claim.boot.name);
    claim.run.cause = CAUSE_REBOOT;
    claim.run.id = boot_run_id(&claim.boot.mark, "node-1", &job);
    claim.skip_entry_id = claim.run.id;
    return claim;
}

static bool is_due(struct world *world, struct id job)
{
    char name[BOOT_NAME_SIZE];
    struct boot_mark mark;
    boot_mark_name("node-1", &job, name);
    const struct seen_doc *doc = look_for_doc(world, BOOT_DOC, name);
    assert_non_null(doc);
    assert_int_equal(boot_mark_decode(doc->json, &mark), OK);
    return mark.is_due;
}

static void a_boot_makes_a_run_and_moves_no_cursor(struct world *world)
{
    struct id job = make_job(world, "backup");
    int64_t revision = mark_due(world, job, "boot-1", 0);
    assert_true(is_due(world, job));
    struct store_claim claim = a_boot_claim(world, job, "boot-1", revision, OVERLAP_SKIP);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_WON);
    assert_int_equal(see_run(world, claim.run.id)->run.state, RUN_CLAIMED);
    assert_int_equal(see_run(world, claim.run.id)->run.cause, CAUSE_REBOOT);
    assert_int_equal(see_run(world, claim.run.id)->run.tick_ms, BOOT_MS);
    assert_int_equal(see_job(world, job)->cursor_ms, CURSOR_MS);
    assert_false(is_due(world, job));
    world_reopen(world);
}

/* By a repeat, also when the first has long ended and is forgotten; and by an agent that knows
 * less. */
static void a_boot_is_decided_once(struct world *world)
{
    struct id job = make_job(world, "backup");
    int64_t revision = mark_due(world, job, "boot-1", 0);
    struct store_claim first = a_boot_claim(world, job, "boot-1", revision, OVERLAP_ALLOW);
    struct store_claim again = first, other = first;
    world_do_one(world, STORE_CLAIM, &first);
    world_do_one(world, STORE_CLAIM, &again);
    assert_int_equal(again.result, CLAIM_WON);
    other.run.nonce++;
    world_do_one(world, STORE_CLAIM, &other);
    assert_int_equal(other.result, CLAIM_PASSED);
    begin_run(world, &first.run);
    end_run(world, &first.run, RUN_OK, 8000);
    forget_run(world, first.run.id);
    world_do_one(world, STORE_CLAIM, &again);
    assert_int_equal(again.result, CLAIM_PASSED);
    assert_null(look_for_run(world, first.run.id));

    int64_t next = mark_due(world, job, "boot-2", revision + 1);
    world_do_one(world, STORE_CLAIM, &again);
    assert_int_equal(again.result, CLAIM_PASSED);
    assert_true(is_due(world, job));
    struct store_claim last = a_boot_claim(world, job, "boot-2", next, OVERLAP_ALLOW);
    world_do_one(world, STORE_CLAIM, &last);
    assert_int_equal(last.result, CLAIM_WON);
}

static void a_boot_is_for_the_definition_that_was_seen(struct world *world)
{
    struct id job = make_job(world, "backup");
    int64_t revision = mark_due(world, job, "boot-1", 0);
    struct store_claim claim = a_boot_claim(world, job, "boot-1", revision, OVERLAP_ALLOW);
    struct store_put_job put = a_put(job, "backup", 1);
    world_do_one(world, STORE_PUT_JOB, &put);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_STALE);
    put.deleted = true;
    put.expected_revision = 2;
    world_do_one(world, STORE_PUT_JOB, &put);
    claim.job_revision = 3;
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_STALE);
    assert_true(is_due(world, job));
}

/* Of a deleted job, and of one that is gone. */
static void a_boot_that_does_not_run_has_an_entry(struct world *world)
{
    for (int is_purged = 0; is_purged < 2; is_purged++) {
        struct id job = make_job(world, "backup");
        int64_t revision = mark_due(world, job, "boot-1", 0);
        struct store_claim claim = a_boot_claim(world, job, "boot-1", revision, OVERLAP_ALLOW);
        struct store_put_job put = a_put(job, "backup", 1);
        put.deleted = true;
        put.purge = is_purged;
        world_do_one(world, STORE_PUT_JOB, &put);
        struct ledger_entry entry = {.id = claim.run.id,
                                     .job_uid = job,
                                     .from_ms = BOOT_MS,
                                     .to_ms = BOOT_MS,
                                     .count = 1,
                                     .state = RUN_SKIPPED,
                                     .reason = REASON_DELETED};
        claim.job_revision = is_purged ? 0 : 2;
        claim.without_run = true;
        claim.passed = &entry;
        claim.passed_count = 1;
        size_t before = world->picture.entry_count;
        world_do_one(world, STORE_CLAIM, &claim);
        assert_int_equal(claim.result, CLAIM_PASSED);
        assert_int_equal(world->picture.entry_count, before + 1);
        assert_false(is_due(world, job));
        world_do_one(world, STORE_CLAIM, &claim);
        assert_int_equal(world->picture.entry_count, before + 1);
    }
}

/* Another node may have booted in the same millisecond. */
static void a_boot_has_a_tick_of_its_own(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_add_run add = an_add(world, job, BOOT_MS, OVERLAP_ALLOW);
    world_do_one(world, STORE_ADD_RUN, &add);
    int64_t revision = mark_due(world, job, "boot-1", 0);
    struct store_claim claim = a_boot_claim(world, job, "boot-1", revision, OVERLAP_ALLOW);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_WON);
    assert_int_equal(claim.run.tick_ms, BOOT_MS + 1);
    assert_int_equal(see_run(world, claim.run.id)->run.tick_ms, BOOT_MS + 1);
}

static void a_boot_keeps_the_overlap_rule(struct world *world)
{
    static const struct {
        int line;
        enum overlap_policy overlap;
        enum claim_result want;
    } rows[] = {
        {__LINE__, OVERLAP_ALLOW, CLAIM_WON},
        {__LINE__, OVERLAP_SKIP, CLAIM_SKIPPED},
        {__LINE__, OVERLAP_QUEUE, CLAIM_QUEUED},
        {__LINE__, OVERLAP_REPLACE, CLAIM_QUEUED},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char name[16];
        snprintf(name, sizeof(name), "job-%zu", i);
        struct id job = make_job(world, name);
        struct run open = claim_run(world, job, 5000);
        begin_run(world, &open);
        int64_t revision = mark_due(world, job, "boot-1", 0);
        struct store_claim claim = a_boot_claim(world, job, "boot-1", revision, rows[i].overlap);
        claim.queue_limit = 1;
        snprintf(claim.run.by, sizeof(claim.run.by), "node-1");
        world_do_one(world, STORE_CLAIM, &claim);
        if (claim.result != rows[i].want)
            fail_msg("line %d: %d", rows[i].line, (int)claim.result);
        if (claim.result == CLAIM_QUEUED) /* whose it is stays known */
            assert_string_equal(see_run(world, claim.run.id)->run.by, "node-1");
        assert_false(is_due(world, job));
    }
}

/* Nodes that boot together run the job side by side; a tick is in the way of all, and they of it.
 */
static void boots_of_other_nodes_are_not_in_the_way(struct world *world)
{
    static const enum overlap_policy overlaps[] = {OVERLAP_SKIP, OVERLAP_QUEUE, OVERLAP_REPLACE};
    for (size_t i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof(name), "job-%zu", i);
        struct id job = make_job(world, name);
        struct store_claim others = a_boot_claim(world, job, "boot-2", 0, overlaps[i]);
        boot_mark_name("node-2", &job, others.boot.name);
        others.run.id = others.skip_entry_id = world_id(world);
        others.run.nonce++;
        snprintf(others.run.by, sizeof(others.run.by), "node-2");
        world_do_one(world, STORE_CLAIM, &others);
        assert_int_equal(others.result, CLAIM_WON);
        int64_t revision = mark_due(world, job, "boot-1", 0);
        struct store_claim claim = a_boot_claim(world, job, "boot-1", revision, overlaps[i]);
        snprintf(claim.run.by, sizeof(claim.run.by), "node-1");
        world_do_one(world, STORE_CLAIM, &claim);
        assert_int_equal(claim.result, CLAIM_WON);
        assert_int_equal(see_run(world, others.run.id)->kill_reason, REASON_NONE);

        struct store_claim again = a_boot_claim(world, job, "boot-3", revision + 1, overlaps[i]);
        again.queue_limit = 1;
        snprintf(again.run.by, sizeof(again.run.by), "node-1");
        world_do_one(world, STORE_CLAIM, &again);
        assert_int_equal(again.result, overlaps[i] == OVERLAP_SKIP ? CLAIM_SKIPPED : CLAIM_QUEUED);
        assert_int_equal(see_run(world, others.run.id)->kill_reason, REASON_NONE);
        assert_int_equal(see_run(world, claim.run.id)->kill_reason,
                         overlaps[i] == OVERLAP_REPLACE ? REASON_REPLACED : REASON_NONE);
        struct store_claim tick = a_claim(world, job, 20000, OVERLAP_SKIP);
        world_do_one(world, STORE_CLAIM, &tick);
        assert_int_equal(tick.result, CLAIM_SKIPPED);
    }
}

const struct contract_test boot_tests[] = {
    CONTRACT_TEST(a_boot_makes_a_run_and_moves_no_cursor),
    CONTRACT_TEST(a_boot_is_decided_once),
    CONTRACT_TEST(a_boot_is_for_the_definition_that_was_seen),
    CONTRACT_TEST(a_boot_that_does_not_run_has_an_entry),
    CONTRACT_TEST(a_boot_has_a_tick_of_its_own),
    CONTRACT_TEST(a_boot_keeps_the_overlap_rule),
    CONTRACT_TEST(boots_of_other_nodes_are_not_in_the_way),
    {NULL, NULL},
};
