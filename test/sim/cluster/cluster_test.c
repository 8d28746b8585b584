/* A life: a cluster of some size, with jobs, for some hours, in which things happen that are all
 * laid down beforehand, so that one of them can be left out and the others stay as they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "any_job.h"
#include "cluster.h"

enum { STEPS_MAX = 400, SHRINK_S = 60 };

enum step_kind { STEP_PERSON, STEP_FAULT, STEP_REST, STEP_KINDS };

struct step {
    int64_t at_ms;
    enum step_kind kind;
    uint64_t random;
    bool is_left_out;
};

struct life {
    uint64_t seed;
    int node_count, job_count;
    size_t begins;
    int64_t latency_ms;
    bool with_gone;
    struct step steps[STEPS_MAX];
    size_t step_count;
};

struct tally {
    size_t starts, faults, losses, amended, takeovers, messages;
    int64_t node_ms;
    double took_s;
};

/* Most are an hour before clocks change somewhere. */
static const int64_t beginnings_s[] = {
    1767225600, /* 2026-01-01T00:00:00Z */
    1772949600, /* New York springs forward at 2026-03-08T07:00:00Z */
    1793494800, /* New York falls back at 2026-11-01T06:00:00Z */
    1774742400, /* Berlin springs forward at 2026-03-29T01:00:00Z */
    1792886400, /* Berlin falls back at 2026-10-25T01:00:00Z */
    1775311200, /* Lord Howe falls back at 2026-04-04T15:00:00Z */
};

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

static void lay_down(struct life *life, uint64_t seed)
{
    static const int sizes[] = {1, 2, 2, 3, 3, 3, 3, 4, 5, 7};
    static const int64_t latencies_ms[] = {1, 3, 3, 10, 60, 250};
    uint64_t random = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    *life = (struct life){.seed = seed};
    life->node_count = sizes[any_below(&random, sizeof(sizes) / sizeof(sizes[0]))];
    life->job_count = 1 + (int)any_below(&random, JOBS_MAX - 6);
    life->begins = (size_t)any_below(&random, sizeof(beginnings_s) / sizeof(beginnings_s[0]));
    life->latency_ms = latencies_ms[any_below(&random, 6)];
    life->with_gone = life->node_count > 1 && any_chance(&random, 30);
    int64_t end_ms = 10 * MINUTE + any_below(&random, 50 * MINUTE);
    int64_t pace_ms = any_chance(&random, 60) ? 15 * SECOND : 90 * SECOND;
    int faulty = any_chance(&random, 10) ? 0 : 60; /* percent of what happens */
    for (int64_t at_ms = 20 * SECOND; at_ms < end_ms;) {
        int64_t wait = wait_ms(&random, at_ms, pace_ms);
        at_ms += wait > 0 ? wait : 1;
        uint64_t number = any_random(&random);
        if (any_chance(&random, 4))
            add_step(life, at_ms, STEP_REST, number);
        else
            add_step(life, at_ms, any_chance(&random, faulty) ? STEP_FAULT : STEP_PERSON, number);
    }
}

/* ---- a life ---- */

static void failed(void *context);

static void cluster_init(struct cluster *cluster, const struct life *life)
{
    stage_init(&cluster->stage, life->seed);
    cluster->stage.failed = failed;
    cluster->stage.context = (void *)life;
    cluster->wall_ms = beginnings_s[life->begins] * 1000;
    cluster->names = life->seed ^ UINT64_C(0x5bd1e995);
    cluster->node_count = life->node_count;
    cluster->latency_ms = life->latency_ms;
    net_init(&cluster->net, &cluster->stage);
    etcd_serve_init(&cluster->etcd, &cluster->stage, &cluster->net);
    faults_init(cluster);
    oracle_init(cluster);
    if (zone_db_new(NULL, &cluster->zones) != OK)
        abort();
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        node_init(node, cluster, i);
        node->machine.drift_ppm = (int)stage_below(&cluster->stage, 201) - 100;
        cluster->net.latency_ms[i] = life->latency_ms;
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
    etcd_serve_release(&cluster->etcd);
    net_release(&cluster->net);
    oracle_release(cluster);
    zone_db_free(cluster->zones);
    stage_release(&cluster->stage);
    free(cluster);
}

static void pass(struct cluster *cluster, int64_t ms)
{
    stage_play(&cluster->stage, cluster->stage.now_ms + ms);
}

/* A node dies and all else is well: its runs are lost within its lease and two seconds. */
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
    pass(cluster, LEASE_MS + 2 * SECOND + 4 * cluster->latency_ms);
    check_losses(cluster, node);
    node_start_at(node, cluster->stage.now_ms);
    pass(cluster, 10 * SECOND);
}

/* Nothing happens for a while: all that was broken must have come right by itself. */
static void rest(struct cluster *cluster, uint64_t random)
{
    fault_heal_all(cluster);
    pass(cluster, 30 * SECOND);
    people_undrain_all(cluster);
    pass(cluster, 90 * SECOND);
    check_caught_up(cluster);
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
        pass(cluster, 20 * SECOND);
    }
    pass(cluster, (life->with_gone ? 25 : 15) * MINUTE); /* longer than the longest process */
    check_end(cluster);
}

static uint64_t live(const struct life *life, struct tally *tally, bool is_quiet)
{
    struct cluster *cluster = calloc(1, sizeof(*cluster));
    if (!cluster)
        abort();
    cluster_init(cluster, life);
    cluster->stage.is_quiet = is_quiet;
    pass(cluster, 8 * SECOND);
    for (int i = 0; i < life->job_count; i++)
        people_add_job(cluster);
    for (size_t i = 0; i < life->step_count; i++) {
        const struct step *step = &life->steps[i];
        if (step->is_left_out)
            continue;
        stage_play(&cluster->stage, step->at_ms);
        if (step->kind == STEP_PERSON)
            people_act(cluster, step->random);
        else if (step->kind == STEP_FAULT)
            fault_happen(cluster, step->random);
        else
            rest(cluster, step->random);
    }
    wind_down(cluster, life);
    uint64_t hash = cluster->stage.hash;
    if (tally) {
        tally->starts += cluster->starts;
        tally->faults += cluster->faults;
        tally->losses += cluster->losses;
        tally->amended += cluster->amended;
        tally->takeovers += cluster->takeovers;
        tally->messages += cluster->net.messages;
        tally->node_ms += cluster->stage.now_ms * cluster->node_count;
    }
    cluster_release(cluster);
    return hash;
}

/* ---- the shortest list ---- */

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* In a process of its own, which a failure ends. */
static bool fails(const struct life *life)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        live(life, NULL, true);
        _Exit(0);
    }
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status != 0;
}

/* Leaves out what can be left out: first many steps at a time, at last one by one. */
static void shrink(struct life *life)
{
    double until = seconds() + SHRINK_S;
    for (size_t part = life->step_count / 2; part > 0; part /= 2) {
        for (size_t i = 0; i < life->step_count && seconds() < until; i += part) {
            struct life fewer = *life;
            size_t left_out = 0;
            for (size_t k = i; k < i + part && k < life->step_count; k++) {
                left_out += !fewer.steps[k].is_left_out;
                fewer.steps[k].is_left_out = true;
            }
            if (left_out && fails(&fewer))
                *life = fewer;
        }
    }
}

static void failed(void *context)
{
    static const char *const kinds[] = {"person", "fault", "rest"};
    struct life *life = context;
    if (getenv("PEAL_SIM_SHRUNK")) /* a try of the below */
        _Exit(1);
    setenv("PEAL_SIM_SHRUNK", "1", 1);
    static struct life fewer;
    fewer = *life;
    printf("Again: PEAL_SIM_FIRST_SEED=%llu PEAL_SIM_SEEDS=1 (PEAL_SIM_LOG=1 shows it all)\n",
           (unsigned long long)life->seed);
    if (getenv("PEAL_SIM_NO_SHRINK"))
        _Exit(1);
    shrink(&fewer);
    printf("It takes %d nodes, %d jobs and these to fail:\n", life->node_count, life->job_count);
    for (size_t i = 0; i < fewer.step_count; i++) {
        const struct step *step = &fewer.steps[i];
        if (!step->is_left_out)
            printf("  %6lld.%03d s  %s %s\n", (long long)step->at_ms / 1000,
                   (int)(step->at_ms % 1000), kinds[step->kind],
                   step->kind == STEP_FAULT ? fault_name(step->random) : "");
    }
    fflush(stdout);
    _Exit(1);
}

/* ---- many of them ---- */

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

int main(void)
{
    static struct life life;
    long first = number_of("PEAL_SIM_FIRST_SEED", 1), seeds = number_of("PEAL_SIM_SEEDS", 0);
    double began = seconds(), limit = seeds ? 1e9 : 20;
    struct tally tally = {0};
    long done = 0;
    for (; seconds() - began < limit && (!seeds || done < seeds); done++) {
        lay_down(&life, (uint64_t)(first + done));
        uint64_t hash = live(&life, &tally, false);
        if (done % 16 == 0 && live(&life, NULL, false) != hash) {
            printf("FAILED: seed %ld gives two different lives\n", first + done);
            return 1;
        }
    }
    double took = seconds() - began;
    printf("%ld seeds from %ld in %.1f s: %.0f node-hours, %zu starts, %zu faults, %zu lost, "
           "%zu amended, %zu taken over, %zu messages\n",
           done, first, took, (double)tally.node_ms / HOUR, tally.starts, tally.faults,
           tally.losses, tally.amended, tally.takeovers, tally.messages);
    return 0;
}
