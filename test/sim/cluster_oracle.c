/* What must hold at every step: read from what is in the store, at the moment it gets there, and
 * from the processes, at the moment they are made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "definition/job_codec.h"
#include "hash.h"

enum { WINDOW_MS = 5000, QUIET_MS = 15 * SECOND };

/* ---- tables ---- */

static uint64_t id_hash(const struct id *id)
{
    return hash_bytes(0, id->bytes, sizeof(id->bytes));
}

/* A boot's tick is its node's own, and two nodes may boot in the same millisecond. */
static const char *booted_node(const struct run *run)
{
    return run->cause == CAUSE_REBOOT ? run->by : "";
}

static uint64_t attempt_hash(const void *item)
{
    const struct run *run = &((const struct known_run *)item)->run;
    uint64_t hash = hash_bytes(id_hash(&run->job_uid), &run->tick_ms, sizeof(run->tick_ms));
    hash = hash_bytes(hash, &run->part, sizeof(run->part));
    return hash_bytes(hash, &run->attempt, sizeof(run->attempt));
}

static bool is_same_attempt(const void *item, const void *key)
{
    const struct run *one = &((const struct known_run *)item)->run,
                     *other = &((const struct known_run *)key)->run;
    return one->tick_ms == other->tick_ms && one->attempt == other->attempt &&
           one->part == other->part && id_compare(&one->job_uid, &other->job_uid) == 0 &&
           strcmp(booted_node(one), booted_node(other)) == 0;
}

struct known_run *find_run(const struct cluster *cluster, const struct id *id)
{
    return table_find(&cluster->runs, id);
}

struct known_job *find_job(struct cluster *cluster, const struct id *uid)
{
    for (size_t i = 0; i < cluster->job_count; i++) {
        if (id_compare(&cluster->jobs[i].uid, uid) == 0)
            return &cluster->jobs[i];
    }
    stage_fail(&cluster->stage, "somebody talks of a job that never was");
}

static bool is_open(const struct run *run)
{
    return !run_state_is_end(run->state);
}

/* ---- jobs ---- */

struct ledger_epoch *oracle_add_epoch(struct known_job *job)
{
    job->epochs = realloc(job->epochs, (job->epoch_count + 1) * sizeof(*job->epochs));
    if (!job->epochs)
        abort();
    return &job->epochs[job->epoch_count++];
}

/* Nothing but its name has changed, or a name that it waits for. */
static bool is_only_renamed(const struct job *old, const struct job *new)
{
    if (!old || version_of(old) != version_of(new) || old->kind != new->kind ||
        old->after_count != new->after_count)
        return false;
    bool has_new_name = strcmp(old->name, new->name) != 0;
    for (size_t i = 0; i < old->after_count; i++)
        has_new_name |= strcmp(old->after[i].job, new->after[i].job) != 0;
    return has_new_name && old->paused == new->paused && old->skip_until_ms == new->skip_until_ms &&
           !old->deleted_ms == !new->deleted_ms;
}

/* The ticks after the cursor are those from before. */
static void check_renamed(struct cluster *cluster, const struct known_job *job)
{
    const struct ledger_epoch *now = &job->epochs[job->epoch_count - 1], *before = now - 1;
    int64_t tick_ms = job->cursor_ms;
    for (int i = 0; i < 5 && now->computable && tick_ms != NEVER_MS; i++) {
        int64_t next_ms = ledger_next_tick(now, tick_ms);
        if (next_ms != ledger_next_tick(before, tick_ms))
            stage_fail(&cluster->stage, "%s is renamed, and its ticks have moved", job->name);
        tick_ms = next_ms;
    }
}

void oracle_see_job(struct cluster *cluster, const struct id *uid, const char *json,
                    int64_t revision)
{
    struct known_job *job = find_job(cluster, uid);
    struct job_error error;
    if (!json) {
        job->revision = 0;
        job->deleted = true;
        return;
    }
    struct job *before = job->definition;
    if (job_decode_stored(json, cluster->zones, &job->definition, &error) != OK)
        stage_fail(&cluster->stage, "%s is stored unreadable", job->name);
    bool is_renamed = !cluster->is_restoring && is_only_renamed(before, job->definition);
    job_free(before);
    struct ledger_epoch *epoch = oracle_add_epoch(job);
    if (ledger_epoch_init(epoch, job->definition, cluster->zones, job->cursor_ms) != OK)
        stage_fail(&cluster->stage, "%s has unreadable schedules", job->name);
    if (job->epoch_count > 1 && epoch->version != epoch[-1].version)
        follow_see_edit(cluster, job);
    epoch->revision = job->revision = revision;
    epoch->paused = job->paused = job->definition->paused;
    epoch->deleted = job->deleted = job->definition->deleted_ms != 0;
    job->overlap = job->definition->overlap;
    if (is_renamed) /* what follows whom must not change, not even for a moment */
        check_renamed(cluster, job);
    else
        job->defined_ms = cluster->stage.now_ms;
    if (job->epoch_count == 1)
        job->made_ms = job->defined_ms;
    stage_log(&cluster->stage, "store: %s revision %lld version %d%s%s as %s", job->name,
              (long long)revision, epoch->version, job->paused ? " paused" : "",
              job->deleted ? " deleted" : "", job->definition->name);
}

void oracle_see_cursor(struct cluster *cluster, const struct id *uid, int64_t cursor_ms,
                       const struct rewinds *rewinds, int64_t last_end_ms)
{
    struct known_job *job = find_job(cluster, uid);
    if (cluster->is_restoring)
        job->rewinds = *rewinds;
    else
        rewind_see_cursor(cluster, job, cursor_ms, rewinds);
    job->cursor_ms = cursor_ms;
    job->last_end_ms = last_end_ms;
    if (job->epoch_count && !job->epochs[job->epoch_count - 1].deleted) /* else none is due */
        job->epochs[job->epoch_count - 1].to_ms = cursor_ms;
}

/* ---- runs ---- */

static bool is_asked_for(const struct run *run)
{
    return run_is_asked_for(run);
}

/* What other nodes' boots have made is not in the way of what a boot makes, nor are the parts of a
 * tick in each other's. */
static bool is_in_the_way(const struct run *open, const struct run *run)
{
    if (run->cause == CAUSE_REBOOT)
        return open->cause != CAUSE_REBOOT || strcmp(open->by, run->by) == 0;
    return !run->parts || open->tick_ms != run->tick_ms;
}

static bool has_open_run(const struct cluster *cluster, const struct known_job *job,
                         const struct run *run)
{
    const struct known_run *known;
    if ((run->cause != CAUSE_REBOOT && !run->parts) || !job->open_runs)
        return job->open_runs > 0;
    for (size_t at = 0; (known = table_next(&cluster->runs, &at));)
        if (&cluster->jobs[known->job] == job && known->is_stored && is_open(&known->run) &&
            id_compare(&known->id, &run->id) != 0 && is_in_the_way(&known->run, run))
            return true;
    return false;
}

/* Of the job, without that of the run. */
static int count_open_ticks(const struct cluster *cluster, const struct known_job *job,
                            const struct run *run)
{
    const struct known_run *known;
    int64_t seen[16];
    int count = 0;
    for (size_t at = 0; (known = table_next(&cluster->runs, &at));) {
        int64_t tick_ms = known->run.tick_ms;
        bool is_one = &cluster->jobs[known->job] == job && known->is_stored &&
                      is_open(&known->run) && tick_ms != run->tick_ms;
        for (int i = 0; is_one && i < count; i++)
            is_one = seen[i] != tick_ms;
        if (is_one && count < 16)
            seen[count++] = tick_ms;
    }
    return count;
}

static struct node *node_of(struct cluster *cluster, const struct run *run)
{
    struct node *node = node_of_home(cluster, &run->owner);
    if (strcmp(node->config.node, run->node) != 0)
        stage_fail(&cluster->stage, "a run of %s is of %s, and of %s", run->job_name, run->node,
                   node->name);
    return node;
}

/* P4, and the overlap rule, where a run is made. What an end makes due is for whoever begins it:
 * the node that tells of the end may not have heard of the last change yet. Of several parts the
 * first stands for all; a run that waited may have become the first of them. */
static void check_new(struct cluster *cluster, const struct known_job *job, const struct run *run)
{
    struct stage *stage = &cluster->stage;
    maintenance_look(cluster);
    groups_look(cluster);
    if (run->part)
        return;
    if (run->node[0] && run->attempt == 1) {
        maintenance_check_claim(cluster, node_of(cluster, run), run);
        groups_check_claim(cluster, node_of(cluster, run), run);
    }
    bool is_old = run->cause == CAUSE_AFTER && run->job_revision != job->revision;
    if (job->deleted)
        stage_fail(stage, "a run of %s is made after it was deleted", job->name);
    if (!is_asked_for(run) && run->cause != CAUSE_AFTER && job->paused)
        stage_fail(stage, "a tick of %s is claimed while it is paused", job->name);
    if (!is_asked_for(run) && !is_old && run->job_revision != job->revision)
        stage_fail(stage, "a tick of %s is claimed from revision %lld, but it is %lld", job->name,
                   (long long)run->job_revision, (long long)job->revision);
    bool is_of_many = run->cause == CAUSE_AFTER && /* at once, or named anew */
                      (run->tick_ms < job->cursor_ms || run->tick_ms <= job->rewinds.high_ms);
    bool is_tick = !is_asked_for(run) && run->cause != CAUSE_REBOOT && run->attempt == 1;
    if (is_tick && !is_of_many && run->tick_ms != job->cursor_ms)
        stage_fail(stage, "tick %lld of %s is claimed, but the cursor is %lld",
                   (long long)run->tick_ms / 1000, job->name, (long long)job->cursor_ms / 1000);
    bool may_run = is_open(run) && run->state != RUN_QUEUED && /* replaced at once: it may not */
                   run->attempt == 1;                          /* else the tick goes on */
    if (!is_asked_for(run) && !is_old && may_run && job->overlap != OVERLAP_ALLOW &&
        has_open_run(cluster, job, run))
        stage_fail(stage, "a run of %s is made beside an open one", job->name);
    int at_once = job->overlap == OVERLAP_ALLOW ? job->definition->overlap_at_once : 0;
    if (is_tick && !is_old && may_run && at_once && count_open_ticks(cluster, job, run) >= at_once)
        stage_fail(stage, "tick %lld of %s runs beside %d others", (long long)run->tick_ms / 1000,
                   job->name, at_once);
}

/* A request that was planned before a restore may be done after it, by the restored etcd, where all
 * is as the plan has it. It comes to nothing: who has sent it is not to count the answer, and who
 * goes on ends what is open. So of such a begin only the start would be wrong: see check_start. */
static void check_begin(struct cluster *cluster, struct known_job *job, struct known_run *known,
                        const struct run *run)
{
    struct stage *stage = &cluster->stage;
    const struct run *was = &known->run;
    if (was->state != RUN_CLAIMED || was->nonce != run->nonce ||
        id_compare(&was->owner.instance, &run->owner.instance) != 0)
        stage_fail(stage, "a run of %s begins that was %s, or somebody else's", job->name,
                   run_state_name(was->state));
    if (job->deleted || (job->paused && !is_asked_for(run)))
        stage_fail(stage, "a run of %s begins though it is paused or deleted", job->name);
    if (run->job_revision != job->revision && !run_is_step(run))
        stage_fail(stage, "a run of %s begins from an old revision", job->name);
    known->is_void = cluster->is_restored;
    if (run->fence <= job->last_fence && !known->is_void)
        stage_fail(stage, "the fence of %s does not grow", job->name);
    if (run->fence > job->last_fence)
        job->last_fence = run->fence;
    known->begun_ms = stage->now_ms;
    known->begun_epoch = job->epoch_count - 1;
}

static void check_step(struct cluster *cluster, struct known_job *job, struct known_run *known,
                       const struct run *run)
{
    struct stage *stage = &cluster->stage;
    enum run_state was = known->run.state;
    if (run_state_is_end(was) && (was != RUN_LOST || !run_state_is_end(run->state)) &&
        was != run->state)
        stage_fail(stage, "a run of %s was %s and becomes %s", job->name, run_state_name(was),
                   run_state_name(run->state));
    if (!run_state_is_end(was) && run->state < was)
        stage_fail(stage, "a run of %s goes back from %s to %s", job->name, run_state_name(was),
                   run_state_name(run->state));
    cluster->amended += was == RUN_LOST && run->state != RUN_LOST;
    if (run->state == RUN_BEGUN && was != RUN_BEGUN)
        check_begin(cluster, job, known, run);
    if (was == RUN_CLAIMED && run->state == RUN_CLAIMED && run->nonce != known->run.nonce) {
        cluster->takeovers++;
        node_is_overtaken(node_of(cluster, &known->run));
    }
    if (run->state == RUN_LOST && was == RUN_BEGUN) {
        known->was_lost = true;
        cluster->losses++;
    }
}

/* By a request from before a restore: see check_begin. */
static bool may_be_claimed_again(const struct cluster *cluster, const struct known_run *same)
{
    return cluster->is_restored && same->is_undone;
}

/* Neither is of a tick: somebody has asked for a run in the very millisecond, by another clock, in
 * which one followed an end, and the store has forgotten that one. */
static bool may_be_asked_for(const struct run *run, const struct known_run *same)
{
    return run_is_asked_for(run) && run->cause != CAUSE_BACKFILL &&
           same->run.cause == CAUSE_AFTER && !same->is_stored;
}

/* What a webhook delivers makes one run, whichever nodes got it. */
static void check_delivery(struct cluster *cluster, const struct run *run)
{
    const struct known_run *other;
    if (run->cause != CAUSE_WEBHOOK || run->attempt > 1 || run->part)
        return;
    for (size_t at = 0; (other = table_next(&cluster->runs, &at));)
        if (other->run.cause == CAUSE_WEBHOOK && other->run.attempt == 1 && !other->run.part &&
            !other->is_undone && id_compare(&other->id, &run->id) != 0 &&
            strcmp(other->run.by, run->by) == 0)
            stage_fail(&cluster->stage, "%s has two runs", run->by);
}

static struct known_run *new_run(struct cluster *cluster, const struct run *run)
{
    struct known_run *known = calloc(1, sizeof(*known));
    if (!known)
        abort();
    known->id = run->id;
    known->run = *run;
    known->job = (size_t)(find_job(cluster, &run->job_uid) - cluster->jobs);
    check_delivery(cluster, run);
    struct known_run *same = table_find(&cluster->attempts, known);
    if (same && !may_be_claimed_again(cluster, same) && !may_be_asked_for(run, same))
        stage_fail(&cluster->stage, "tick %lld of %s has two runs", (long long)run->tick_ms / 1000,
                   run->job_name);
    known->before = same;
    if (same) /* the newest is found, and leads to those before */
        table_remove(&cluster->attempts, same);
    if (run->attempt == 1 && !run->part) {
        boots_see_run(cluster, run);
        rewind_see_run(&cluster->jobs[known->job], run);
    }
    if (table_insert(&cluster->runs, known) != OK || table_insert(&cluster->attempts, known) != OK)
        abort();
    return known;
}

/* Whenever its node comes back, it can amend what was lost: so it is removed only when that is on
 * record by the node itself. */
static void check_removed(struct cluster *cluster, const struct run *run,
                          const struct record *record)
{
    if (run->state != RUN_LOST || !run->node[0])
        return;
    const struct node *node = node_of(cluster, run);
    if (!(record->homes >> node->machine.number & 1))
        stage_fail(&cluster->stage, "tick %lld of %s is lost, and removed without %s",
                   (long long)run->tick_ms / 1000, run->job_name, node->name);
}

static void see_run_gone(struct cluster *cluster, const struct id *id, struct known_run *known)
{
    const struct record *record = find_record(cluster, id);
    if (!known || is_open(&known->run) || !record)
        stage_fail(&cluster->stage, "a run of %s is removed that is not on record",
                   known ? known->run.job_name : "?");
    if (run_is_unfollowed(&known->run))
        stage_fail(&cluster->stage, "tick %lld of %s is over, and removed before anything follows",
                   (long long)known->run.tick_ms / 1000, known->run.job_name);
    workflow_see_gone(cluster, known);
    known->is_stored = false;
    if (!known->is_undone) /* else its node knows already, or has forgotten it */
        check_removed(cluster, &known->run, record);
}

/* As it was when the backup was made. */
static void see_restored(struct cluster *cluster, struct known_run *known, const struct run *run)
{
    if (!known)
        stage_fail(&cluster->stage, "a run of %s is restored that never was", run->job_name);
    known->run = *run;
    known->is_stored = true;
    known->since_ms = cluster->stage.now_ms;
    cluster->jobs[known->job].open_runs += is_open(run) && !run_is_step(run);
}

static void see_end(struct cluster *cluster, const struct known_job *job, struct known_run *known,
                    const struct run *was)
{
    bool is_first = !run_state_is_end(was->state);
    if (is_first)
        known->ended_as = known->run.state;
    spread_see_end(cluster, known, was);
    if (!run_is_step(&known->run) &&
        (known->run.parts || run_is_instance(&known->run) || was->state != known->run.state))
        follow_see_end(cluster, known, was);
    if (is_first)
        attempts_see_end(cluster, job, &known->run);
}

void oracle_see_run(struct cluster *cluster, const struct id *id, const struct run *run)
{
    struct known_run *known = find_run(cluster, id);
    if (!run) {
        see_run_gone(cluster, id, known);
        return;
    }
    if (cluster->is_restoring) {
        see_restored(cluster, known, run);
        return;
    }
    bool is_new = !known;
    if (is_new)
        known = new_run(cluster, run);
    struct known_job *job = &cluster->jobs[known->job];
    bool was_open = !is_new && known->is_stored && is_open(&known->run);
    if (is_new || known->run.state != run->state || known->run.nonce != run->nonce) {
        known->since_ms = cluster->stage.now_ms;
        stage_log(&cluster->stage, "store: %s tick %lld %s%s%s %s %s", job->name,
                  (long long)run->tick_ms / 1000, run->step, run->step[0] ? " " : "",
                  run_state_name(run->state), run_reason_name(run->reason), run->node);
    }
    if (is_new) {
        check_new(cluster, job, run);
        program_see_claim(cluster, job, run);
        attempts_see_new(cluster, job, run);
        if (run->attempt == 1 && !run->part)
            absence_see_run(cluster, job, run);
    } else {
        check_step(cluster, job, known, run);
    }
    if (run->node[0] && (is_new || known->run.state != run->state))
        node_trigger(node_of(cluster, run), run->state);
    struct run was = is_new ? (struct run){.state = RUN_QUEUED} : known->run;
    known->run = *run;
    known->is_stored = true;
    if (!run_is_step(run))
        job->open_runs += (size_t)is_open(run) - (size_t)was_open;
    if (is_new)
        follow_see_new(cluster, known);
    if (is_new || was.parts != run->parts)
        spread_see_new(cluster, job, known);
    rolling_see(cluster, job, known, &was);
    workflow_see(cluster, job, known, &was);
    groups_see(cluster, known, &was);
    if (run_state_is_end(run->state))
        see_end(cluster, job, known, &was);
}

/* ---- entries and nodes ---- */

/* Which ticks ran before is not known any more; nor by a definition that the job got after the
 * restore, and before anybody had noticed. */
static void begin_ledger(struct known_job *job, int64_t from_ms)
{
    job->ledger_from_ms = from_ms;
    for (size_t i = 0; i < job->epoch_count; i++)
        if (job->epochs[i].from_ms < from_ms)
            job->epochs[i].from_ms = from_ms;
}

void oracle_see_entry(struct cluster *cluster, const struct id *id, const struct ledger_entry *read)
{
    struct record *entry = table_find(&cluster->entries, id);
    if (!read) {
        if (!entry || !find_record(cluster, id))
            stage_fail(&cluster->stage, "an entry is removed that is not on record");
        table_remove(&cluster->entries, entry);
        free(entry);
        return;
    }
    if (entry)
        stage_fail(&cluster->stage, "an entry is written twice");
    entry = calloc(1, sizeof(*entry));
    if (!entry)
        abort();
    entry->entry = *read;
    entry->entry.id = entry->id = *id;
    if (table_insert(&cluster->entries, entry) != OK)
        abort();
    if (!cluster->is_restoring)
        boots_see_entry(cluster, &entry->entry);
    if (!cluster->is_restoring && !is_end_of_boot(cluster, id))
        absence_see_entry(cluster, find_job(cluster, &read->job_uid), &entry->entry);
    if (!cluster->is_restoring)
        program_see_entry(cluster, find_job(cluster, &read->job_uid), &entry->entry);
    rewind_see_entry(cluster, find_job(cluster, &read->job_uid), &entry->entry);
    if (read->reason == REASON_RESTORED)
        begin_ledger(find_job(cluster, &read->job_uid), read->to_ms);
    stage_log(&cluster->stage, "store: %s ticks %lld to %lld %s %s", read->job_name,
              (long long)read->from_ms / 1000, (long long)read->to_ms / 1000,
              run_state_name(read->state), run_reason_name(read->reason));
}

static void see_machine(struct cluster *cluster, struct node *node, bool is_there)
{
    struct known_peer_key *peer = &cluster->peers[node->machine.number];
    if (peer->is_there == is_there)
        return;
    stage_log(&cluster->stage, "store: %s is %s", node->name, is_there ? "there" : "gone");
    peer->since_ms = cluster->stage.now_ms;
    peer->is_there = is_there;
}

/* Of two machines under one name at most one has joined. */
void oracle_see_node(struct cluster *cluster, const char *name, const struct peer *peer)
{
    bool is_known = false;
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        if (strcmp(node->config.node, name) != 0)
            continue;
        see_machine(cluster, node, peer && peer->home == node->config.self.home);
        is_known = true;
    }
    if (!is_known)
        stage_fail(&cluster->stage, "there is no %s", name);
}

/* Nobody who is there, and can be heard, is taken for gone. */
void oracle_see_suspected(struct cluster *cluster, int machine)
{
    const struct node *node = &cluster->nodes[machine];
    struct stage *stage = &cluster->stage;
    stage_log(stage, "store: %s is silent", node->name);
    cluster->suspicions++;
    cluster->revoked_ms = stage->now_ms;
    if (cluster->healed_ms && stage->now_ms - cluster->healed_ms > QUIET_MS && node_is_up(node))
        stage_fail(stage, "%s is taken for gone, though all is well", node->name);
}

/* ---- processes ---- */

static void check_room(struct cluster *cluster, const struct node *node)
{
    int running = 0;
    const struct child *child;
    TAILQ_FOREACH (child, &node->children, link) {
        running +=
            !child->ended && !child->is_asked && !find_run(cluster, &child->run_id)->is_undone;
    }
    if (node->config.max_running && running > node->config.max_running)
        stage_fail(&cluster->stage, "%s runs %d processes at once", node->name, running);
}

/* P1: once, of a run that was begun here, within its window, from a definition that was not old. */
/* P1, and P8, whatever was restored. */
static void check_start(struct cluster *cluster, const struct known_job *job,
                        const struct known_run *known, const struct child *child)
{
    const struct known_run *same = table_find(&cluster->attempts, known);
    for (; same; same = same->before)
        if (same->child)
            stage_fail(&cluster->stage, "tick %lld of %s is started twice, as two runs",
                       (long long)child->tick_ms / 1000, job->name);
    if (known->is_void && child->fence < job->last_fence)
        stage_fail(&cluster->stage, "%s is started with a fence that does not grow", job->name);
}

void oracle_see_start(struct cluster *cluster, struct child *child)
{
    struct stage *stage = &cluster->stage;
    const struct known_job *job = &cluster->jobs[child->job];
    struct known_run *known = find_run(cluster, &child->run_id);
    stage_log(stage, "%s starts %s tick %lld fence %lld version %d", child->node->name, job->name,
              (long long)child->tick_ms / 1000, (long long)child->fence, child->version);
    cluster->starts++;
    if (!known || !known->begun_ms)
        stage_fail(stage, "a run of %s is started that was never begun", job->name);
    if (known->child)
        stage_fail(stage, "tick %lld of %s is started twice", (long long)child->tick_ms / 1000,
                   job->name);
    check_start(cluster, job, known, child);
    attempts_see_start(cluster, job, known);
    spread_see_start(cluster, known, child);
    boots_see_start(cluster, child);
    known->child = child;
    if (known->is_undone) /* the store does not have it, or as it was before */
        return;
    if (node_of(cluster, &known->run) != child->node || known->run.fence != child->fence)
        stage_fail(stage, "%s starts a run of %s that is %s's", child->node->name, job->name,
                   node_of(cluster, &known->run)->name);
    int64_t drift_ms = 1 + WINDOW_MS * (int64_t)abs(child->node->machine.drift_ppm) / 1000000;
    if (stage->now_ms - known->begun_ms > WINDOW_MS + drift_ms)
        stage_fail(stage, "a run of %s is started %lld ms after its begin", job->name,
                   (long long)(stage->now_ms - known->begun_ms));
    check_room(cluster, child->node);
    if (workflow_version(cluster, &known->run) == child->version)
        return;
    for (size_t i = known->begun_epoch; i < job->epoch_count; i++)
        if (job->epochs[i].version == child->version)
            return;
    stage_fail(stage, "%s starts from version %d, which was replaced before", job->name,
               child->version);
}

void oracle_init(struct cluster *cluster)
{
    static const struct table_type runs = {.key_at = offsetof(struct known_run, id),
                                           .key_size = sizeof(struct id)};
    static const struct table_type attempts = {.hash = attempt_hash, .is_same = is_same_attempt};
    static const struct table_type records = {.key_at = offsetof(struct record, id),
                                              .key_size = sizeof(struct id)};
    table_init(&cluster->runs, &runs);
    table_init(&cluster->attempts, &attempts);
    table_init(&cluster->entries, &records);
    table_init(&cluster->records, &records);
    boots_oracle_init(cluster);
}

static void release_table(struct table *table)
{
    void *item;
    for (size_t at = 0; (item = table_next(table, &at));)
        free(item);
    table_release(table);
}

void oracle_release(struct cluster *cluster)
{
    struct known_run *known;
    for (size_t at = 0; (known = table_next(&cluster->runs, &at));)
        job_free(known->plan);
    table_release(&cluster->attempts);
    release_table(&cluster->runs);
    release_table(&cluster->entries);
    release_table(&cluster->records);
    release_table(&cluster->boots);
    for (size_t i = 0; i < cluster->job_count; i++) {
        struct known_job *job = &cluster->jobs[i];
        for (size_t k = 0; k < job->epoch_count; k++)
            ledger_epoch_release(&job->epochs[k]);
        free(job->epochs);
        free(job->words);
        job_free(job->definition);
    }
    for (size_t i = 0; i < cluster->child_count; i++)
        free(cluster->children[i]);
    free(cluster->children);
}
