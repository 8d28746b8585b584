#include "life.h"

#include <stdlib.h>

#include "any_job.h"

/* Most are an hour before clocks change somewhere. */
static const int64_t beginnings_s[] = {
    1767225600, /* 2026-01-01T00:00:00Z */
    1772949600, /* New York springs forward at 2026-03-08T07:00:00Z */
    1793494800, /* New York falls back at 2026-11-01T06:00:00Z */
    1774742400, /* Berlin springs forward at 2026-03-29T01:00:00Z */
    1792886400, /* Berlin falls back at 2026-10-25T01:00:00Z */
    1775311200, /* Lord Howe falls back at 2026-04-04T15:00:00Z */
};

#define PICK(random, list) (list)[any_below((random), sizeof(list) / sizeof((list)[0]))]

/* ---- what is laid down ---- */

static void add_step(struct life *life, int64_t at_ms, enum step_kind kind, uint64_t random)
{
    if (life->step_count < STEPS_MAX)
        life->steps[life->step_count++] = (struct step){at_ms, kind, random, false};
}

/* Any time; or right behind the last one, or around the full minute, when much is on its way. */
static int64_t wait_ms(uint64_t *random, int64_t now_ms, int64_t pace_ms)
{
    if (any_chance(random, 15))
        return any_below(random, 60);
    if (any_chance(random, 25))
        return MINUTE - now_ms % MINUTE - 600 + any_below(random, 1200);
    return any_below(random, 2 * pace_ms);
}

/* How long, and how much happens. */
static void choose_pace(const struct life *life, uint64_t *random, int64_t *ret_end_ms,
                        int64_t *ret_pace_ms)
{
    int64_t end_ms = 10 * MINUTE + any_below(random, 50 * MINUTE);
    int64_t pace_ms = any_chance(random, 60) ? 15 * SECOND : 90 * SECOND;
    if (life->kind == LIFE_DRILL) {
        end_ms = 2 * MINUTE + any_below(random, 8 * MINUTE);
        pace_ms = 5 * SECOND;
        if (life->mix == MIX_JUMPS) { /* a jump is doubted for ten minutes */
            end_ms += 20 * MINUTE;
            pace_ms = 30 * SECOND;
        } else if (life->mix == MIX_BOOTS) {
            pace_ms = 10 * SECOND;
        }
    } else if (life->kind == LIFE_DAYS) {
        end_ms = (6 * HOUR + any_below(random, 60 * HOUR)) / life->node_count;
        pace_ms = any_chance(random, 50) ? 8 * MINUTE : 40 * MINUTE;
    }
    *ret_end_ms = end_ms;
    *ret_pace_ms = pace_ms;
}

static enum fault_mix any_mix(uint64_t *random)
{
    static const enum fault_mix mixes[] = {
        MIX_ANY,    MIX_ANY,     MIX_ANY,    MIX_RACES,    MIX_RACES, MIX_CLOCKS, MIX_STORE,
        MIX_PEOPLE, MIX_LEADERS, MIX_PIECES, MIX_RESTORES, MIX_TWINS, MIX_JUMPS,  MIX_BOOTS};
    return PICK(random, mixes);
}

/* Of two nodes, or of one, all have trouble at the same time. */
static int any_size(const struct life *life, uint64_t *random)
{
    static const int sizes[] = {1, 2, 2, 3, 3, 3, 3, 4, 5, 7};
    static const int few[] = {1, 1, 2, 2, 3};
    bool is_lonely = life->kind == LIFE_DRILL &&
                     (life->mix == MIX_CLOCKS || life->mix == MIX_PEOPLE || life->mix == MIX_JUMPS);
    return is_lonely ? PICK(random, few) : PICK(random, sizes);
}

static void lay_down_steps(struct life *life, uint64_t *random, int64_t end_ms, int64_t pace_ms)
{
    int faulty = any_chance(random, 10)    ? 0 /* percent of what happens */
                 : life->mix == MIX_PEOPLE ? 15
                                           : 60;
    for (int64_t at_ms = 20 * SECOND; at_ms < end_ms;) {
        int64_t wait = wait_ms(random, at_ms, pace_ms);
        at_ms += wait > 0 ? wait : 1;
        uint64_t number = any_random(random);
        if (any_chance(random, 4))
            add_step(life, at_ms, STEP_REST, number);
        else
            add_step(life, at_ms, any_chance(random, faulty) ? STEP_FAULT : STEP_PERSON, number);
    }
}

void life_lay_down(struct life *life, uint64_t seed, enum fault_mix mix)
{
    static const int64_t latencies_ms[] = {1, 3, 3, 10, 60, 250};
    uint64_t random = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    int64_t end_ms, pace_ms;
    *life = (struct life){.seed = seed};
    enum fault_mix other = any_mix(&random);
    life->mix = mix == MIX_COUNT ? other : mix;
    life->is_wanted = mix != MIX_COUNT;
    life->kind = mix != MIX_COUNT || any_chance(&random, 40) ? LIFE_DRILL
                 : any_chance(&random, 70)                   ? LIFE_HOUR
                                                             : LIFE_DAYS;
    if (life->kind == LIFE_DAYS && !world_has_days())
        life->kind = LIFE_HOUR;
    life->node_count = any_size(life, &random);
    if (life->kind == LIFE_DRILL && life->mix == MIX_TWINS && life->node_count < NODES_MAX)
        life->node_count++; /* the replacement of the first */
    life->job_count = 1 + (int)any_below(&random, JOBS_MAX - 6);
    life->begins_ms = PICK(&random, beginnings_s) * 1000;
    life->latency_ms = PICK(&random, latencies_ms);
    life->with_gone = life->node_count > 1 && any_chance(&random, 30);
    choose_pace(life, &random, &end_ms, &pace_ms);
    lay_down_steps(life, &random, end_ms, pace_ms);
    static const int quiet_percent[] = {[LIFE_DAYS] = 100, [LIFE_HOUR] = 97, [LIFE_DRILL] = 70};
    life->is_quiet = any_chance(&random, quiet_percent[life->kind]);
    if (life->kind == LIFE_DRILL && life->mix == MIX_RESTORES)
        life->is_quiet = false; /* what a node remembers of etcd is not older than its last word */
}

size_t life_steps_left(const struct life *life)
{
    size_t left = 0;
    for (size_t i = 0; i < life->step_count; i++)
        left += !life->steps[i].is_left_out;
    return left;
}

/* ---- how it goes ---- */

/* Boots meet what they are drilled with; and now and then restores, jumps and twins. */
static bool has_boots(struct cluster *cluster, const struct life *life)
{
    bool now_and_then =
        life->mix == MIX_RESTORES || life->mix == MIX_JUMPS || life->mix == MIX_TWINS;
    return life->kind == LIFE_DRILL &&
           (life->mix == MIX_BOOTS || (now_and_then && stage_chance(&cluster->stage, 300)));
}

/* In a third of all lives; not in a drill with another mix that was named. */
static bool has_workflows(const struct life *life)
{
    uint64_t random = life->seed ^ UINT64_C(0x1f3d5b79a2c4e680);
    return life->is_wanted ? life->mix == MIX_WORKFLOWS : any_chance(&random, 33);
}

/* Likewise. */
static bool wants_groups(const struct life *life)
{
    uint64_t random = life->seed ^ UINT64_C(0x93c467e37db0c7a4);
    return life->is_wanted ? life->mix == MIX_GROUPS : any_chance(&random, 33);
}

/* In drills that leave the clocks alone: the oracle does not know which notes of clocks that were
 * set a restored store has forgotten. */
static bool may_lose(const struct life *life)
{
    return life->kind == LIFE_DRILL &&
           (life->mix == MIX_STORE || life->mix == MIX_RESTORES || life->mix == MIX_RACES ||
            life->mix == MIX_LEADERS || life->mix == MIX_PIECES);
}

static void cluster_init(struct cluster *cluster, const struct life *life)
{
    stage_init(&cluster->stage, life->seed);
    cluster->stage.context = (void *)life;
    cluster->wall_ms = life->begins_ms;
    cluster->names = life->seed ^ UINT64_C(0x5bd1e995);
    cluster->node_count = life->node_count;
    cluster->latency_ms = life->latency_ms;
    cluster->is_quiet = life->is_quiet;
    cluster->is_dense = life->kind != LIFE_DAYS;
    cluster->has_places = !life->is_wanted;
    cluster->has_workflows = has_workflows(life);
    cluster->wants_groups = wants_groups(life);
    cluster->has_twin = life->kind == LIFE_DRILL && life->mix == MIX_TWINS;
    cluster->has_boots = has_boots(cluster, life);
    cluster->may_lose = may_lose(life);
    programs_init(cluster, life->seed);
    cluster->has_workflows &= cluster->first_program > 0;
    cluster->refuses_strangers = stage_chance(&cluster->stage, 500);
    cluster->picky = life->mix == MIX_PEOPLE || life->mix == MIX_CLOCKS ? 50 : 15;
    faults_init(cluster);
    oracle_init(cluster);
    world_init(cluster);
    if (zone_db_new(NULL, &cluster->zones) != OK)
        abort();
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        node_init(node, cluster, i);
        node->machine.drift_ppm = (int)stage_below(&cluster->stage, 201) - 100;
        if (!node->is_twin)
            node_start_at(node, stage_below(&cluster->stage, 2 * SECOND));
    }
}

static void cluster_release(struct cluster *cluster)
{
    for (int i = 0; i < cluster->node_count; i++)
        node_release(&cluster->nodes[i]);
    faults_release(cluster);
    for (int i = 0; i < cluster->node_count; i++)
        children_lose(&cluster->nodes[i]);
    world_release(cluster);
    oracle_release(cluster);
    zone_db_free(cluster->zones);
    stage_release(&cluster->stage);
    free(cluster);
}

static void pass(struct cluster *cluster, int64_t ms)
{
    stage_play(&cluster->stage, cluster->stage.now_ms + ms);
}

/* A node dies and all else is well: its runs are lost within its lease and two seconds, and those
 * that block a tick within two seconds. */
static void try_loss(struct cluster *cluster, uint64_t random)
{
    struct node *node = &cluster->nodes[any_below(&random, cluster->node_count)];
    if (cluster->node_count < 2 || !node_is_up(node))
        return;
    stage_log(&cluster->stage, "FAULT: agent killed, %s, while all else is well", node->name);
    if (any_chance(&random, 50)) { /* with its next claim, if there is one soon */
        node->trap = TRAP_CRASH;
        node->trap_at = RUN_CLAIMED;
        for (int i = 0; i < 200 && node_is_up(node); i++)
            pass(cluster, 100);
    }
    node->trap = TRAP_NONE;
    node_kill(node);
    task_stop(&cluster->stage, &node->start);
    int64_t silent_ms = 2 * SECOND + 10 * cluster->latency_ms;
    pass(cluster, silent_ms);
    check_blocked(cluster, node, silent_ms);
    pass(cluster, LEASE_MS + 2 * SECOND + 4 * cluster->latency_ms - silent_ms);
    check_losses(cluster, node);
    node_start_at(node, cluster->stage.now_ms);
    pass(cluster, 10 * SECOND);
}

/* One that is to stay away while all else comes right, rather one that is away; NULL: none. */
static struct node *choose_away(struct cluster *cluster, uint64_t *random)
{
    struct node *away = NULL;
    int first = (int)any_below(random, cluster->node_count);
    if (cluster->node_count < 2 || !any_chance(random, 40))
        return NULL;
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[(first + i) % cluster->node_count];
        if (!away || (away->state == NODE_UP && node->state == NODE_DOWN))
            away = node;
    }
    return away->state == NODE_UP || away->state == NODE_DOWN ? away : NULL;
}

/* A clock that jumped is not believed at once, when nobody confirms it. */
static void wait_for_clocks(struct cluster *cluster)
{
    bool is_doubted = true;
    for (int minutes = 0; is_doubted && minutes < 11; minutes++) {
        is_doubted = false;
        for (int i = 0; i < cluster->node_count; i++) {
            const struct node *node = &cluster->nodes[i];
            is_doubted |= node_is_up(node) && engine_clock(node->engine).doubt != DOUBT_NONE;
        }
        if (is_doubted)
            pass(cluster, MINUTE);
    }
}

static bool has_node_up(const struct cluster *cluster)
{
    for (int i = 0; i < cluster->node_count; i++)
        if (node_is_up(&cluster->nodes[i]))
            return true;
    return false;
}

/* An agent that was killed at the last moment may have been the only one. */
static void wait_for_a_node(struct cluster *cluster)
{
    for (int seconds = 0; seconds < 60 && !has_node_up(cluster); seconds++)
        pass(cluster, SECOND);
}

/* Nothing happens for a while: all that was broken must have come right by itself, also where a
 * node does not come back. */
static void rest(struct cluster *cluster, uint64_t random)
{
    struct node *away = choose_away(cluster, &random);
    if (away) {
        stage_log(&cluster->stage, "%s stays away", away->name);
        node_kill(away);
        task_stop(&cluster->stage, &away->start);
        away->is_gone = true;
    }
    fault_heal_all(cluster);
    pass(cluster, 10 * SECOND);
    wait_for_clocks(cluster);
    pass(cluster, 20 * SECOND);
    wait_for_a_node(cluster);
    people_undrain_all(cluster);
    pass(cluster, 90 * SECOND);
    check_caught_up(cluster);
    if (away) {
        away->is_gone = false;
        node_start_at(away, cluster->stage.now_ms);
        pass(cluster, 10 * SECOND);
    }
    try_loss(cluster, random);
}

static void wind_down(struct cluster *cluster, const struct life *life)
{
    rest(cluster, life->seed);
    struct node *gone = &cluster->nodes[life->seed % (uint64_t)life->node_count];
    if (life->with_gone) {
        stage_log(&cluster->stage, "%s is gone for good", gone->name);
        node_kill(gone);
        gone->is_gone = true;
    }
    for (int i = 0; i < 5; i++) {
        people_delete_all(cluster);
        pass(cluster, 20 * SECOND + 700); /* not always while the same tick is being claimed */
    }
    if (life->with_gone) /* until somebody else puts on record what it had */
        pass(cluster, 12 * MINUTE);
    int patience = 15; /* minutes: longer than the longest process */
    for (int i = 0; i < patience && !is_all_over(cluster); i++)
        pass(cluster, MINUTE);
    pass(cluster, MINUTE);
    check_end(cluster);
}

static void take_step(struct cluster *cluster, const struct life *life, const struct step *step)
{
    stage_play(&cluster->stage, step->at_ms);
    if (step->kind == STEP_PERSON)
        people_act(cluster, step->random);
    else if (step->kind == STEP_FAULT)
        fault_happen(cluster, life->mix, step->random);
    else
        rest(cluster, step->random);
}

static void count(const struct cluster *cluster, struct tally *tally)
{
    tally->lives++;
    tally->starts += cluster->starts;
    tally->faults += cluster->faults;
    tally->losses += cluster->losses;
    tally->amended += cluster->amended;
    tally->takeovers += cluster->takeovers;
    tally->messages += world_messages(cluster);
    tally->turns += cluster->turns;
    tally->node_ms += cluster->stage.now_ms * cluster->node_count;
}

uint64_t life_live(const struct life *life, struct tally *tally, bool is_quiet,
                   void (*failed)(void *life, const char *what))
{
    struct cluster *cluster = calloc(1, sizeof(*cluster));
    if (!cluster)
        abort();
    cluster_init(cluster, life);
    cluster->stage.is_quiet = is_quiet;
    cluster->stage.failed = failed;
    pass(cluster, 8 * SECOND);
    for (int i = 0; i < life->job_count; i++)
        people_add_job(cluster);
    for (size_t i = 0; i < life->step_count; i++)
        if (!life->steps[i].is_left_out)
            take_step(cluster, life, &life->steps[i]);
    if (life->step_count) /* also when that one is left out */
        stage_play(&cluster->stage, life->steps[life->step_count - 1].at_ms);
    wind_down(cluster, life);
    uint64_t hash = cluster->stage.hash;
    if (tally)
        count(cluster, tally);
    cluster_release(cluster);
    return hash;
}
