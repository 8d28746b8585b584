#include "stages/sweeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function/eligible.h"
#include "function/lacks.h"
#include "stages/again.h"
#include "stages/follow.h"
#include "workflow/links.h"

enum {
    COMING_BACK_MS = 1000, /* for nodes that lost their lease to register again */
    UNSURE_MS = 10000,     /* after an outage, in which all may have lost their leases */
    RETRY_AFTER_MS = 1000,
    ALONE_MS = 3600 * 1000, /* a run for one node alone, which is there and does not take it */
};

void sweeper_init(struct sweeper *sweeper, const struct engine_ports *ports, struct outbox *outbox,
                  const struct peer *self, const struct peers *peers, struct placement *placement,
                  struct open_runs *runs, struct recorder *recorder)
{
    *sweeper = (struct sweeper){.ports = ports,
                                .self = self,
                                .peers = peers,
                                .placement = placement,
                                .runs = runs,
                                .recorder = recorder,
                                .look_at = {INT64_MAX}};
    outbox_sender_init(&sweeper->sender, outbox, sweeper);
}

static void look_again(struct sweeper *sweeper, struct now now, int64_t after_ms)
{
    int64_t at_ms = now.boot.ms + after_ms;
    if (at_ms < sweeper->look_at.ms)
        sweeper->look_at.ms = at_ms;
}

/* Is that incarnation gone for `ms`? If it is gone for less, sets the next sweep to that time. */
static bool is_gone_for(struct sweeper *sweeper, struct now now, const char *node,
                        const struct incarnation *owner, int64_t ms)
{
    int64_t gone_ms = peers_gone_for_ms(sweeper->peers, node, owner, now);
    if (gone_ms >= 0 && gone_ms < ms)
        look_again(sweeper, now, ms - gone_ms);
    return gone_ms >= ms;
}

/* ---- lost ---- */

static void losses_answered(void *stage, struct outbox_batch *batch, enum status st, struct now now)
{
    struct sweeper *sweeper = stage;
    for (size_t i = 0; i < outbox_count(batch); i++) {
        const struct store_finish *finish = &batch->request.items.finishes[i];
        struct open_run *open = open_runs_find(sweeper->runs, &finish->run.id);
        if (open) {
            open->is_swept = false;
            open->is_to_tell = st == OK && finish->accepted;
        }
        if (st != OK || finish->is_stale)
            look_again(sweeper, now, RETRY_AFTER_MS);
    }
}

/* Ends of lost runs. */
static const struct outbox_kind losses_kind = {.op = STORE_FINISH,
                                               .item_size = sizeof(struct store_finish),
                                               .answered = losses_answered,
                                               .release = follow_release};

/* The job whose guard the end shares with others: that of a dependent, or its own. */
static const struct id *guard_of(const struct store_finish *finish)
{
    return finish->next_count ? &finish->nexts[0].job_uid : &finish->run.job_uid;
}

static int by_guard(const void *a, const void *b)
{
    const struct store_finish *first = a, *second = b;
    int order = id_compare(guard_of(first), guard_of(second));
    if (!order)
        order = id_compare(&first->run.job_uid, &second->run.job_uid);
    return order ? order : id_compare(&first->run.id, &second->run.id);
}

/* Sorted: the store ends neighbouring items together that are of one job, or make one job due, and
 * others that touch the same jobs one answer after the other. */
static void send_losses(struct outbox_batch **batch, struct now now)
{
    if (!*batch)
        return;
    qsort((*batch)->request.items.finishes, outbox_count(*batch), sizeof(struct store_finish),
          by_guard);
    outbox_send(batch, now);
}

/* Out of memory: with the next look. */
static void add_loss(struct sweeper *sweeper, struct now now, struct outbox_batch **batch,
                     struct open_run *open)
{
    struct store_finish *finish = outbox_add(batch, &sweeper->sender, &losses_kind);
    if (!finish) {
        look_again(sweeper, now, RETRY_AFTER_MS);
        return;
    }
    struct run *run = &finish->run;
    *run = open->run;
    run->state = RUN_LOST;
    run->reason = REASON_NODE_DIED;
    run->exit_code = -1;
    run->finished_ms = now.wall.ms;
    if (run->finished_ms < run->claimed_ms) /* this node's clock is behind */
        run->finished_ms = run->claimed_ms;
    snprintf(run->detail, sizeof(run->detail), "node %s is gone", open->run.node);
    if (again_fill(sweeper->ports, sweeper->instances, now, finish) != OK ||
        follow_fill(sweeper->ports, sweeper->runs->catalog, sweeper->self, now, finish) != OK ||
        links_fill(sweeper->ports, sweeper->instances, now, finish) != OK) {
        look_again(sweeper, now, RETRY_AFTER_MS);
        free(finish->nexts);
        outbox_drop_last(*batch);
        return;
    }
    open->is_swept = true;
    ports_log(sweeper->ports, "run_lost", "job=%s node=%s", open->run.job_name, open->run.node);
}

static bool is_alive(const struct sweeper *sweeper, const struct run *run)
{
    return peers_is_alive(sweeper->peers, run->node, &run->owner);
}

/* A node whose lease has expired is dead; but after an outage of the store, or when this node has
 * just started, it may be about to register again, unless it was found silent. */
static int64_t lost_after_ms(const struct sweeper *sweeper, struct now now, const struct run *run)
{
    bool was_away = now.wall.ms - sweeper->away->until_ms < UNSURE_MS;
    bool is_new = now.boot.ms - sweeper->peers->live_since.ms < UNSURE_MS;
    bool may_come_back = was_away || is_new;
    return may_come_back && !peers_was_silent(sweeper->peers, run->node) ? COMING_BACK_MS : 0;
}

/* Runs that dead incarnations had begun are lost. */
static void sweep_begun(struct sweeper *sweeper, struct now now)
{
    struct outbox_batch *batch = NULL;
    struct open_run *next, *open = open_runs_first(sweeper->runs, OPEN_BEGUN_ELSEWHERE);
    for (; open; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        if (open->is_swept || !run_state_is_known(open->run.state) ||
            is_alive(sweeper, &open->run) ||
            !is_gone_for(sweeper, now, open->run.node, &open->run.owner,
                         lost_after_ms(sweeper, now, &open->run)))
            continue;
        add_loss(sweeper, now, &batch, open);
        if (outbox_count(batch) == OUTBOX_MAX)
            send_losses(&batch, now);
    }
    send_losses(&batch, now);
}

/* ---- missed ---- */

/* No node is eligible, not even one that is drained or full. */
static bool is_nobodys(const struct sweeper *sweeper, const struct catalog_job *job)
{
    const char *function = job ? catalog_job_function(job) : NULL;
    return job && job->where && sweeper->placement->count &&
           !placement_has_node(sweeper->placement, job->where, function,
                               ports_can_run(sweeper->ports, function));
}

/* The job was changed since: an agent runs no functions, and a program nothing else. */
static bool is_of_another_kind(const struct sweeper *sweeper, const struct run *run,
                               const struct known_peer *node)
{
    const struct catalog_job *job = instances_terms(sweeper->instances, run);
    return job && !job->broken && !eligible_is_kind(job->where, node->peer.program);
}

/* It is known that the node has not the function. */
static bool is_lacking(const struct sweeper *sweeper, const struct run *run,
                       const struct known_peer *node)
{
    const struct catalog_job *job = instances_terms(sweeper->instances, run);
    const char *function = job ? catalog_job_function(job) : NULL;
    if (function && strcmp(node->peer.name, sweeper->self->name) == 0)
        return !ports_can_run(sweeper->ports, function);
    return function && lacks_has(node->peer.lacks, function);
}

/* The run is for one node alone, and that node is gone or drained, or runs no such jobs. */
static bool is_for_nobody(const struct sweeper *sweeper, const struct run *run)
{
    const char *only = open_run_only_node(run);
    const struct known_peer *node = only ? peers_find(sweeper->peers, only) : NULL;
    if (node && (is_of_another_kind(sweeper, run, node) || is_lacking(sweeper, run, node)))
        return true;
    return only && (!node || !node->peer.is_alive || node->is_drained);
}

/* Why the node, which is there, does not take runs. NULL: it does, as far as known. */
static const char *why_not(const struct sweeper *sweeper, const char *node)
{
    const struct known_peer *known = peers_find(sweeper->peers, node);
    bool is_told = known && known->peer.refusal != PEER_ACCEPTS;
    return is_told ? peer_refusal_text(known->peer.refusal) : NULL;
}

static const char *what_of_only(const struct sweeper *sweeper, const struct run *run,
                                const char *only)
{
    const struct known_peer *node = peers_find(sweeper->peers, only);
    if (!node || !node->peer.is_alive || node->is_drained)
        return "is gone or drained";
    return is_of_another_kind(sweeper, run, node) ? "runs no such jobs" : "has not the function";
}

/* Why the run is ended: it was left behind by its node, nobody has taken it in time, or no node may
 * run it. */
static enum run_reason tell_why(const struct sweeper *sweeper, const struct open_run *open,
                                bool was_left, char *detail, size_t size)
{
    const struct run *run = &open->run;
    char group[GROUP_NAME_MAX + 1];
    const struct catalog_job *job = instances_terms(sweeper->instances, run);
    const char *only = open_run_only_node(run);
    bool is_nobodys_run = only ? is_for_nobody(sweeper, run) : is_nobodys(sweeper, job);
    bool is_slotless = !is_nobodys_run && groups_at(run->groups, open->lacks_group, group);
    bool is_untaken = !is_nobodys_run && (is_slotless || only || run->parts);
    const char *lack = only ? why_not(sweeper, only) : NULL;
    if (was_left)
        snprintf(detail, size, "claimed by a node that went away, and not taken over in time");
    else if (is_slotless && group_is_space(group))
        snprintf(detail, size, "no slot of namespace %.*s was free in time", (int)strlen(group) - 1,
                 group);
    else if (is_slotless)
        snprintf(detail, size, "no slot of group %s was free in time", group);
    else if (is_untaken && only)
        snprintf(detail, size, "for node %s, which did not take it in time%s%s", only,
                 lack ? ": " : "", lack ? lack : "");
    else if (is_untaken)
        snprintf(detail, size, "no node took it in time");
    else if (only)
        snprintf(detail, size, "for %snode %s, which %s", run->pinned[0] ? "" : "the boot of ",
                 only, what_of_only(sweeper, run, only));
    else
        placement_tell_nobody(sweeper->placement, job ? job->where : NULL,
                              job ? catalog_job_function(job) : NULL, detail, size);
    return was_left || is_untaken ? REASON_DEADLINE : REASON_NO_NODE;
}

static void end(struct sweeper *sweeper, struct now now, struct open_run *open, bool was_left)
{
    char detail[sizeof(open->run.detail)];
    enum run_reason reason = tell_why(sweeper, open, was_left, detail, sizeof(detail));
    open->is_overdue = false;
    open_runs_move(sweeper->runs, open, OPEN_CLAIMED);
    open_runs_end(sweeper->runs, open, RUN_MISSED, reason, detail, now.wall);
}

void sweeper_end(struct sweeper *sweeper, struct now now, struct open_run *open,
                 const struct run *run)
{
    bool was_left = open->run.state == RUN_CLAIMED;
    open->run = *run;
    end(sweeper, now, open, was_left);
}

static void ends_answered(void *stage, struct outbox_batch *batch, enum status st, struct now now)
{
    struct sweeper *sweeper = stage;
    for (size_t i = 0; i < outbox_count(batch); i++) {
        const struct store_take *take = &batch->request.items.takes[i];
        struct open_run *open = open_runs_find_taking(sweeper->runs, &take->run_id, take->nonce);
        if (!open)
            continue;
        if (st == OK && take->taken) {
            sweeper_end(sweeper, now, open, &take->run);
        } else { /* it stays overdue: the feed may still show this take, or an earlier one */
            open_runs_move(sweeper->runs, open,
                           take->from_nonce ? OPEN_CLAIMED_ELSEWHERE : OPEN_WAITING);
            look_again(sweeper, now, RETRY_AFTER_MS);
        }
    }
}

/* Takes of runs that are only to be ended. */
static const struct outbox_kind ends_kind = {
    .op = STORE_TAKE, .item_size = sizeof(struct store_take), .answered = ends_answered};

/* The run is taken before it is ended: should an eligible node appear at this moment, only one of
 * the two gets it. Out of memory: with the next sweep. */
static void add_end(struct sweeper *sweeper, struct now now, struct outbox_batch **batch,
                    struct open_run *open)
{
    struct store_take *take = outbox_add(batch, &sweeper->sender, &ends_kind);
    if (!take) {
        look_again(sweeper, now, RETRY_AFTER_MS);
        return;
    }
    take->run_id = open->run.id;
    take->from_nonce = open->phase == OPEN_CLAIMED_ELSEWHERE ? open->run.nonce : 0;
    take->nonce = ports_new_nonce(sweeper->ports);
    take->now_ms = now.wall.ms;
    snprintf(take->node, sizeof(take->node), "%s", sweeper->self->name);
    take->owner = peer_incarnation(sweeper->self);
    take->ends = true;
    const struct catalog_job *job = instances_terms(sweeper->instances, &open->run);
    open->lacks_group =
        slots_lacking(sweeper->slots, open, job ? job->where : NULL, sweeper->peers);
    open->is_overdue = true;
    open_runs_take(sweeper->runs, open, take->nonce);
    if (outbox_count(*batch) == OUTBOX_MAX)
        outbox_send(batch, now);
}

static bool is_time(struct sweeper *sweeper, struct now now, int64_t at_ms)
{
    if (at_ms > now.wall.ms)
        look_again(sweeper, now, at_ms - now.wall.ms);
    return at_ms <= now.wall.ms;
}

/* The deadline of the job, or so long. */
static int64_t deadline_ms(const struct catalog_job *job, int64_t otherwise_ms)
{
    int64_t deadline_s = job ? catalog_job_policy(job).deadline_s : 0;
    return deadline_s ? deadline_s * 1000 : otherwise_ms;
}

/* How long a run of the job waits for an eligible node. */
static int64_t patience_ms(const struct sweeper *sweeper, const struct catalog_job *job)
{
    return deadline_ms(job, sweeper->on_time_ms);
}

/* Since its claim, even if the leader has restarted meanwhile; or, if the claim's clock was ahead,
 * since it was seen. */
static int64_t left_since_ms(struct now now, const struct open_run *open)
{
    int64_t seen_ms = wall_at(now, open->seen);
    return open->run.claimed_ms < seen_ms ? open->run.claimed_ms : seen_ms;
}

/* When a run that was left behind has waited long enough. A manual run is never too late, but does
 * not wait for a node that may not come back. */
static int64_t left_until_ms(const struct sweeper *sweeper, struct now now,
                             const struct open_run *open)
{
    int64_t late_at_ms = open_run_too_late_at(open, sweeper->on_time_ms);
    const struct catalog_job *job = instances_terms(sweeper->instances, &open->run);
    if (is_for_nobody(sweeper, &open->run))
        return left_since_ms(now, open) + sweeper->on_time_ms;
    bool is_for_any = !open_run_only_node(&open->run);
    if (late_at_ms == NEVER_MS && is_for_any && is_nobodys(sweeper, job))
        return left_since_ms(now, open) + patience_ms(sweeper, job);
    if (late_at_ms != NEVER_MS && open_run_is_set_back(open, now.wall))
        return wall_at(now, open->seen) + sweeper->on_time_ms;
    return late_at_ms;
}

static bool has_wrong_clock(const struct sweeper *sweeper)
{
    return sweeper->peers->is_skewed || sweeper->peers->is_doubted;
}

/* Runs that dead incarnations had claimed and that were not taken over in time. */
static void sweep_claimed(struct sweeper *sweeper, struct now now)
{
    struct outbox_batch *batch = NULL;
    struct open_run *next, *open = open_runs_first(sweeper->runs, OPEN_CLAIMED_ELSEWHERE);
    for (; open; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        if (peers_is_in_life(sweeper->peers, open->run.node, &open->run.owner))
            continue; /* its node ends it itself */
        int64_t late_at_ms = left_until_ms(sweeper, now, open);
        if (late_at_ms != NEVER_MS && is_time(sweeper, now, late_at_ms))
            add_end(sweeper, now, &batch, open);
    }
    outbox_send(&batch, now);
}

/* Since when a run that waits could have been taken. */
static int64_t due_since_ms(struct now now, const struct open_run *open)
{
    int64_t since_ms = wall_at(now, open->seen) + open->waits_ms;
    bool is_later = open->run.not_before_ms > since_ms && !open_run_is_set_back(open, now.wall);
    return is_later ? open->run.not_before_ms : since_ms;
}

/* When the deadline of a run passes that waits for a slot of its groups. */
static int64_t slot_until_ms(const struct sweeper *sweeper, const struct open_run *open)
{
    const struct catalog_job *job = instances_terms(sweeper->instances, &open->run);
    int64_t after_ms = deadline_ms(job, 0);
    return after_ms && !run_is_asked_for(&open->run) ? open->start_at_ms + after_ms : NEVER_MS;
}

/* When a run is missed that the node that it is for, or any, could take and has not: a part of a
 * tick as soon as the tick is too late, what is for one node alone after a longer while. */
static int64_t untaken_until_ms(const struct sweeper *sweeper, struct now now,
                                const struct open_run *open)
{
    int64_t at_ms = open_run_untaken_at(open, sweeper->on_time_ms, now);
    if (open->run.groups[0])
        return slot_until_ms(sweeper, open);
    if (at_ms == NEVER_MS && open_run_only_node(&open->run)) {
        const struct catalog_job *job = instances_terms(sweeper->instances, &open->run);
        return due_since_ms(now, open) + deadline_ms(job, ALONE_MS);
    }
    bool is_set_back = at_ms != NEVER_MS && open_run_is_set_back(open, now.wall);
    return is_set_back ? wall_at(now, open->seen) + sweeper->on_time_ms : at_ms;
}

/* When a due run has waited long enough; NEVER_MS: some node may still run it. */
static int64_t waits_until_ms(const struct sweeper *sweeper, struct now now,
                              const struct open_run *open)
{
    const struct catalog_job *job = instances_terms(sweeper->instances, &open->run);
    bool is_for_one = open_run_only_node(&open->run) != NULL;
    if (!(is_for_one ? is_for_nobody(sweeper, &open->run) : is_nobodys(sweeper, job)))
        return untaken_until_ms(sweeper, now, open);
    return due_since_ms(now, open) + (is_for_one ? sweeper->on_time_ms : patience_ms(sweeper, job));
}

/* Due runs that no node may run, and parts that none has taken in time. */
static void sweep_waiting(struct sweeper *sweeper, struct now now)
{
    struct outbox_batch *batch = NULL;
    struct open_run *next, *open = open_runs_first(sweeper->runs, OPEN_WAITING);
    for (; open; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        int64_t until_ms =
            open->run.state == RUN_DUE ? waits_until_ms(sweeper, now, open) : NEVER_MS;
        if (until_ms != NEVER_MS && is_time(sweeper, now, until_ms))
            add_end(sweeper, now, &batch, open);
    }
    outbox_send(&batch, now);
}

/* ---- over their time ---- */

static void orders_answered(void *stage, struct outbox_batch *batch, enum status st, struct now now)
{
    struct sweeper *sweeper = stage;
    for (size_t i = 0; i < outbox_count(batch); i++) {
        struct open_run *open =
            open_runs_find(sweeper->runs, &batch->request.items.orders[i].run_id);
        if (open)
            open->is_swept = false;
    }
    look_again(sweeper, now, RETRY_AFTER_MS); /* if the feed has not shown the order by then */
    (void)st;
}

static const struct outbox_kind orders_kind = {
    .op = STORE_ORDER, .item_size = sizeof(struct store_order), .answered = orders_answered};

/* When the timeout of the whole workflow has passed; NEVER_MS: it has none. */
static int64_t times_out_at(const struct sweeper *sweeper, struct now now,
                            const struct open_run *open)
{
    const struct flow *flow =
        run_is_instance(&open->run) ? instances_flow(sweeper->instances, &open->run) : NULL;
    int64_t timeout_s = flow && open->kill == REASON_NONE ? flow_timeout_s(flow) : 0;
    return timeout_s ? left_since_ms(now, open) + timeout_s * 1000 : NEVER_MS;
}

/* Instances that are over their time are to be killed. */
static void sweep_instances(struct sweeper *sweeper, struct now now)
{
    struct outbox_batch *batch = NULL;
    struct open_run *open;
    TAILQ_FOREACH (open, &sweeper->runs->phases[OPEN_GROUP], in_phase) {
        int64_t at_ms = open->is_swept ? NEVER_MS : times_out_at(sweeper, now, open);
        if (at_ms == NEVER_MS || !is_time(sweeper, now, at_ms))
            continue;
        struct store_order *order = outbox_add(&batch, &sweeper->sender, &orders_kind);
        if (!order) {
            look_again(sweeper, now, RETRY_AFTER_MS);
            break;
        }
        order->run_id = open->run.id;
        order->reason = REASON_TIMEOUT;
        open->is_swept = true;
        if (outbox_count(batch) == OUTBOX_MAX)
            outbox_send(&batch, now);
    }
    outbox_send(&batch, now);
}

/* ---- on record ---- */

static bool is_to_adopt(void *context, struct now now, const char *node,
                        const struct incarnation *owner)
{
    struct sweeper *sweeper = context;
    return !*node || is_gone_for(sweeper, now, node, owner, OPEN_RUN_ADOPT_MS);
}

/* A lost run is recorded and kept in the store for a week: if its node comes back with the real
 * end, it finds the run there and amends it. */
static void adopt_run(struct sweeper *sweeper, struct now now, struct open_run *open)
{
    int64_t kept_ms = open_run_kept_for_ms(open, now);
    if (!open->is_recorded || open->run.state != RUN_LOST)
        open_runs_move(sweeper->runs, open, open_phase_of_end(&open->run));
    else if (kept_ms > 0)
        look_again(sweeper, now, kept_ms);
    else if (!has_wrong_clock(
                 sweeper)) /* else there is a sweep when the clock is right or believed */
        open_runs_move(sweeper->runs, open, OPEN_RECORDED);
}

/* What follows from the end of a tick does not wait for a node that is gone. */
static bool is_left_unfollowed(struct sweeper *sweeper, struct now now, const struct run *run)
{
    return run_is_unfollowed(run) && is_gone_for(sweeper, now, run->node, &run->owner, 0);
}

static void adopt(struct sweeper *sweeper, struct now now)
{
    struct open_run *next, *open = open_runs_first(sweeper->runs, OPEN_ENDED_ELSEWHERE);
    for (; open; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        if (open->is_to_tell && open->run.state == RUN_LOST)
            recorder_tell_lost(sweeper->recorder, open);
        open->is_to_tell = false;
        if (is_to_adopt(sweeper, now, open->run.node, &open->run.owner) ||
            is_left_unfollowed(sweeper, now, &open->run))
            adopt_run(sweeper, now, open);
    }
    recorder_adopt_entries(sweeper->recorder, now, is_to_adopt, sweeper);
}

void sweeper_sweep(struct sweeper *sweeper, struct now now, bool has_news)
{
    if (!has_news && sweeper->look_at.ms > now.boot.ms)
        return;
    sweeper->look_at.ms = INT64_MAX;
    if (!sweeper->leads)
        return;
    sweep_begun(sweeper, now);
    if (!has_wrong_clock(sweeper)) {
        sweep_claimed(sweeper, now);
        sweep_instances(sweeper, now);
    }
    if (!has_wrong_clock(sweeper) && sweeper->placement->count)
        sweep_waiting(sweeper, now);
    adopt(sweeper, now);
}

int64_t sweeper_wake_at(const struct sweeper *sweeper, struct now now)
{
    return sweeper->look_at.ms == INT64_MAX ? NEVER_MS : wall_at(now, sweeper->look_at);
}
