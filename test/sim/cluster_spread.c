/* Ticks with several runs: each part is there once, on its node, and the tick ends with the last of
 * them, as the worst of all. */
#include <string.h>

#include "cluster.h"
#include "definition/selector.h"

enum { WELL_MS = 20 * SECOND }; /* so long after all is well everybody knows who is there */

const struct known_run *spread_find_part(const struct cluster *cluster, const struct run *run,
                                         int part, int attempt)
{
    struct known_run key = {.run = *run};
    key.run.part = part;
    key.run.attempt = attempt;
    return table_find(&cluster->attempts, &key);
}

static long long tick_s(const struct known_run *known)
{
    return (long long)known->run.tick_ms / 1000;
}

/* ---- made ---- */

uint32_t who_is_there(const struct cluster *cluster, const struct known_job *job)
{
    const char *where = job->definition->where;
    int64_t now_ms = cluster->stage.now_ms;
    uint32_t there = 0;
    bool is_well = cluster->healed_ms && now_ms - cluster->healed_ms > WELL_MS &&
                   cluster->undrained_ms && now_ms - cluster->undrained_ms > WELL_MS;
    if (!is_well || cluster->has_twin)
        return 0;
    for (int i = 0; i < cluster->node_count; i++) {
        const struct node *node = &cluster->nodes[i];
        const struct known_peer_key *peer = &cluster->peers[i];
        if (node_is_up(node) && peer->is_there && now_ms - peer->since_ms > WELL_MS &&
            program_is_for(job->definition, node) &&
            (!where || selector_matches(where, node->config.self.labels)))
            there |= UINT32_C(1) << i;
    }
    return there;
}

/* It is spread as its definition says, which is the one that the store has now. */
static void check_kind(struct cluster *cluster, const struct known_run *known, struct spread spread)
{
    const struct run *run = &known->run;
    bool is_right = spread.kind == SPREAD_SHARDS
                        ? run->parts == spread.count && !run->pinned[0]
                        : spread.kind != SPREAD_ONE && run->pinned[0] &&
                              (spread.kind == SPREAD_ALL || run->parts <= spread.count);
    if (!is_right)
        stage_fail(&cluster->stage, "tick %lld of %s has %d parts, which nobody has asked for",
                   tick_s(known), run->job_name, run->parts);
}

void spread_see_new(struct cluster *cluster, const struct known_job *job, struct known_run *known)
{
    struct stage *stage = &cluster->stage;
    const struct run *run = &known->run;
    if (!run->parts || run->attempt > 1)
        return;
    cluster->spreads++;
    if (run->part < 0 || run->part >= run->parts)
        stage_fail(stage, "tick %lld of %s has part %d of %d", tick_s(known), job->name, run->part,
                   run->parts);
    for (int i = 0; i < run->parts && !cluster->restored_ms; i++) {
        const struct known_run *other = spread_find_part(cluster, run, i, 1);
        if (!other || i == run->part)
            continue;
        bool is_same_node = run->pinned[0] && strcmp(run->pinned, other->run.pinned) == 0;
        if (is_same_node)
            stage_fail(stage, "tick %lld of %s has two runs for %s", tick_s(known), job->name,
                       run->pinned);
    }
    if (cluster->restored_ms)
        return;
    struct spread spread = spread_read(job->definition->spread);
    check_kind(cluster, known, spread);
    if (spread.kind == SPREAD_ALL)
        known->must_have = who_is_there(cluster, job);
}

/* ---- started ---- */

void spread_see_start(struct cluster *cluster, const struct known_run *known,
                      const struct child *child)
{
    const struct run *run = &known->run;
    if (run->pinned[0] && strcmp(run->pinned, child->node->config.node) != 0)
        stage_fail(&cluster->stage, "tick %lld of %s is for %s, and starts on %s", tick_s(known),
                   run->job_name, run->pinned, child->node->name);
}

/* ---- ended ---- */

static int badness(enum run_state end)
{
    return end == RUN_OK ? 0 : end == RUN_SKIPPED ? 1 : 2;
}

/* An attempt that was not needed any more ends with the success of the one before. */
enum run_state spread_end_of(const struct cluster *cluster, const struct run *run, int part)
{
    const struct known_run *last = spread_find_part(cluster, run, part, 1), *next;
    for (int attempt = 2; last && (next = spread_find_part(cluster, run, part, attempt)); attempt++)
        last = next;
    if (!last || last->run.retried)
        return RUN_QUEUED;
    return last->run.reason == REASON_NOT_NEEDED ? RUN_OK : last->ended_as;
}

void spread_see_end(struct cluster *cluster, const struct known_run *known, const struct run *was)
{
    struct stage *stage = &cluster->stage;
    const struct run *run = &known->run;
    bool is_over = run_state_is_end(run->outcome);
    bool was_over = run_state_is_end(was->state) && run_state_is_end(was->outcome);
    int worst = 0;
    if (!run->parts || cluster->restored_ms || !is_over || was_over)
        return;
    for (int i = 0; i < run->parts; i++) {
        enum run_state end = spread_end_of(cluster, run, i);
        if (end == RUN_QUEUED)
            stage_fail(stage, "tick %lld of %s is over, and its part %d is not", tick_s(known),
                       run->job_name, i);
        worst = badness(end) > worst ? badness(end) : worst;
    }
    if (worst != badness(run->outcome))
        stage_fail(stage, "tick %lld of %s is said to be %s, and its parts are not", tick_s(known),
                   run->job_name, run_state_name(run->outcome));
}

/* ---- at the end ---- */

static int count_outcomes(const struct cluster *cluster, const struct run *run)
{
    const struct known_run *known;
    int count = 0;
    for (int i = 0; i < run->parts; i++)
        for (int attempt = 1; (known = spread_find_part(cluster, run, i, attempt)); attempt++)
            count += run_state_is_end(known->run.outcome);
    return count;
}

static void check_tick(struct cluster *cluster, const struct known_run *first)
{
    struct stage *stage = &cluster->stage;
    const struct run *run = &first->run;
    uint32_t have = 0;
    for (int i = 0; i < run->parts; i++) {
        const struct known_run *part = spread_find_part(cluster, run, i, 1);
        if (!part || part->run.parts != run->parts)
            stage_fail(stage, "tick %lld of %s has no part %d of %d", tick_s(first), run->job_name,
                       i, run->parts);
        check_rolling(cluster, part);
        for (int k = 0; k < cluster->node_count; k++)
            if (strcmp(cluster->nodes[k].config.node, part->run.pinned) == 0)
                have |= UINT32_C(1) << k;
    }
    if (first->must_have & ~have)
        stage_fail(stage, "tick %lld of %s leaves out a node that was there", tick_s(first),
                   run->job_name);
    int count = count_outcomes(cluster, run);
    if (count != 1)
        stage_fail(stage, "tick %lld of %s is over %d times", tick_s(first), run->job_name, count);
}

void check_spread(struct cluster *cluster)
{
    const struct known_run *known;
    for (size_t at = 0; !cluster->restored_ms && (known = table_next(&cluster->runs, &at));)
        if (known->run.parts && known->run.part == 0 && known->run.attempt == 1)
            check_tick(cluster, known);
}
