/* Several processes with one shared store, and an operator who kills and stops them at random. Each
 * writes down what it was answered and what its feed told; together that must be one story:
 *
 *     each tick is won once, each run is begun once, no fence is given twice;
 *     each feed has all revisions, without a gap, and the same changes as all others;
 *     no acknowledged write to a document is lost.
 *
 * PEAL_SEED=n repeats one. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fault_vfs.h"
#include "hash.h"
#include "shared_place.h"
#include "store_world.h"

enum {
    PROCESSES = 4,
    LIVES = 24, /* in all */
    OPS = 120,  /* of a life */
    JOBS = 6,
    COUNTERS = 2,
    PLACES_MAX = 1 << 16,
};

/* ---- one life of a process ---- */

struct life {
    struct world *world;
    int log_fd;
    int number;
    uint64_t random;
    struct id jobs[JOBS];
    int64_t cursors[JOBS];
    int64_t counters[COUNTERS];
    struct run runs[64]; /* as last told, open or ended */
    size_t run_count;
    int64_t place;
    uint64_t place_hash;
    bool is_loaded;
};

static uint64_t draw(uint64_t *random, uint64_t below)
{
    *random = hash_bytes(*random, random, sizeof(*random));
    return *random % below;
}

static void note(struct life *life, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One write, which a kill can't tear. */
static void note(struct life *life, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    assert_int_equal(write(life->log_fd, line, (size_t)length), length);
}

static struct id job_id(int i)
{
    return (struct id){{7, (uint8_t)i}};
}

static int job_number(const struct id *uid)
{
    return uid->bytes[1];
}

static void take_run(struct life *life, const struct run *run)
{
    size_t i = 0;
    while (i < life->run_count && id_compare(&life->runs[i].id, &run->id) != 0)
        i++;
    if (i == sizeof(life->runs) / sizeof(life->runs[0]))
        i = (size_t)draw(&life->random, i); /* forgets one */
    life->runs[i] = *run;
    if (i == life->run_count)
        life->run_count++;
}

static void drop_run(struct life *life, const struct id *id)
{
    for (size_t i = 0; i < life->run_count; i++)
        if (id_compare(&life->runs[i].id, id) == 0)
            life->runs[i] = life->runs[--life->run_count];
}

static uint64_t hash_change(uint64_t seed, const struct store_change *change)
{
    int64_t numbers[] = {(int64_t)change->kind,
                         change->job_revision,
                         change->cursor_ms,
                         change->run ? (int64_t)change->run->state : 0,
                         change->run ? (int64_t)change->run->nonce : 0,
                         change->run ? change->run->fence : 0,
                         change->doc ? change->doc->revision : 0,
                         (int64_t)change->last.state,
                         (int64_t)change->last_node};
    seed = hash_bytes(seed, numbers, sizeof(numbers));
    seed = hash_bytes(seed, &change->job_uid, sizeof(change->job_uid));
    seed = hash_bytes(seed, &change->gone_id, sizeof(change->gone_id));
    if (change->run)
        seed = hash_text(
            hash_text(hash_bytes(seed, &change->run->id, sizeof(struct id)), change->run->node),
            change->run->by);
    if (change->doc)
        seed = hash_text(hash_text(seed, change->doc->name),
                         change->doc->json ? change->doc->json : "-");
    return hash_text(seed, change->job_json ? change->job_json : "-");
}

static void end_place(struct life *life)
{
    if (life->place_hash)
        note(life, "P %d %" PRId64 " %" PRIx64 "\n", life->number, life->place, life->place_hash);
    life->place_hash = 0;
}

static void take_change(struct life *life, const struct store_change *change)
{
    if (change->kind == STORE_CHANGE_JOB || change->kind == STORE_CHANGE_CURSOR)
        life->cursors[job_number(&change->job_uid)] = change->cursor_ms;
    else if (change->kind == STORE_CHANGE_RUN)
        take_run(life, change->run);
    else if (change->kind == STORE_CHANGE_FORGET)
        drop_run(life, &change->gone_id);
    else if (change->kind == STORE_CHANGE_DOC)
        life->counters[atoi(change->doc->name)] = change->doc->revision;
    if (change->kind == STORE_CHANGE_LOADED) {
        life->is_loaded = true;
        life->place = change->place.number;
        note(life, "L %d %" PRId64 "\n", life->number, life->place);
    } else if (life->is_loaded && change->place.lineage) {
        if (change->place.number != life->place)
            end_place(life);
        life->place = change->place.number;
        life->place_hash = hash_change(life->place_hash + 1, change);
    }
}

static void read_feed(struct life *life)
{
    struct store_change change;
    while (store_next_change(life->world->store, &change))
        take_change(life, &change);
    end_place(life); /* all changes of a revision come together */
}

struct answer {
    bool is_done;
    enum status status;
};

static void on_done(struct store_request *request, enum status st)
{
    *(struct answer *)request->context = (struct answer){true, st};
}

static enum status ask(struct life *life, enum store_op op, void *items, size_t count)
{
    struct answer answer = {false, OK};
    struct store_request request = {
        .op = op, .count = count, .items.claims = items, .done = on_done, .context = &answer};
    store_submit(life->world->store, &request);
    while (!answer.is_done)
        world_wait(life->world);
    read_feed(life);
    return answer.status;
}

static struct id new_id(struct life *life)
{
    struct id id = {{9, (uint8_t)life->number}};
    uint64_t random = draw(&life->random, UINT64_MAX);
    memcpy(id.bytes + 8, &random, sizeof(random));
    return id;
}

static void do_claim(struct life *life)
{
    int job = (int)draw(&life->random, JOBS);
    struct store_claim claim = {.job_uid = job_id(job),
                                .job_revision = 1,
                                .cursor_ms = life->cursors[job],
                                .tick_ms = life->cursors[job] + 1,
                                .overlap = draw(&life->random, 2) ? OVERLAP_ALLOW : OVERLAP_SKIP,
                                .skip_entry_id = new_id(life)};
    claim.run = (struct run){.id = new_id(life),
                             .job_uid = claim.job_uid,
                             .tick_ms = claim.tick_ms,
                             .attempt = 1,
                             .nonce = draw(&life->random, INT64_MAX)};
    snprintf(claim.run.node, sizeof(claim.run.node), "life-%d", life->number);
    if (ask(life, STORE_CLAIM, &claim, 1) == OK && claim.result == CLAIM_WON)
        note(life, "W %d %d %" PRId64 "\n", life->number, job, claim.tick_ms);
}

/* NULL: none is known. */
static struct run *any_run(struct life *life)
{
    return life->run_count ? &life->runs[draw(&life->random, life->run_count)] : NULL;
}

static void do_begin(struct life *life)
{
    const struct run *run = any_run(life);
    if (!run || run->state != RUN_CLAIMED)
        return;
    struct store_begin begin = {.run_id = run->id, .nonce = run->nonce};
    char text[ID_TEXT + 1];
    id_format(&begin.run_id, text);
    if (ask(life, STORE_BEGIN, &begin, 1) == OK && begin.begun && !begin.is_repeat)
        note(life, "B %s %" PRId64 "\n", text, begin.fence);
}

static void do_take(struct life *life)
{
    const struct run *run = any_run(life);
    if (!run || run->state != RUN_CLAIMED)
        return;
    struct store_take take = {.run_id = run->id,
                              .from_nonce = run->nonce,
                              .nonce = draw(&life->random, INT64_MAX),
                              .now_ms = run->tick_ms};
    snprintf(take.node, sizeof(take.node), "life-%d", life->number);
    (void)!ask(life, STORE_TAKE, &take, 1);
}

static void do_finish(struct life *life)
{
    const struct run *run = any_run(life);
    if (!run || run->state != RUN_BEGUN)
        return;
    struct store_finish finish = {.run = *run};
    finish.run.state = draw(&life->random, 4) ? RUN_OK : RUN_FAILED;
    finish.run.finished_ms = run->tick_ms + 1;
    (void)!ask(life, STORE_FINISH, &finish, 1);
}

static void do_forget(struct life *life)
{
    const struct run *run = any_run(life);
    if (!run || run->state < RUN_OK)
        return;
    struct store_forget forget = {.id = run->id};
    (void)!ask(life, STORE_FORGET, &forget, 1);
}

static void do_order(struct life *life)
{
    const struct run *run = any_run(life);
    if (!run)
        return;
    struct store_order order = {.run_id = run->id, .reason = REASON_USER, .by = "operator"};
    (void)!ask(life, STORE_ORDER, &order, 1);
}

/* Counts one up, from what the feed has told. */
static void do_count(struct life *life)
{
    int which = (int)draw(&life->random, COUNTERS);
    char json[32];
    struct store_put_doc put = {
        .kind = "count", .json = json, .expected_revision = life->counters[which]};
    snprintf(put.name, sizeof(put.name), "%d", which);
    snprintf(json, sizeof(json), "%" PRId64, put.expected_revision + 1);
    note(life, "T %d %d\n", life->number, which);
    if (ask(life, STORE_PUT_DOC, &put, 1) == OK)
        note(life, put.result == PUT_OK ? "K %d %d %" PRId64 "\n" : "F %d %d %" PRId64 "\n",
             life->number, which, put.revision);
    else
        note(life, "F %d %d 0\n", life->number, which); /* none is E_UNKNOWN here */
}

static void (*const operations[])(struct life *life) = {
    do_claim,  do_claim,  do_begin, do_begin, do_take,  do_finish,
    do_finish, do_forget, do_count, do_count, do_order,
};

/* One that is at this place, which was there before. */
static struct world *world_at(const char *place)
{
    struct world *world = world_new(&shared_backend);
    shared_backend.remove_place(world->place);
    snprintf(world->place, sizeof(world->place), "%s", place);
    return world;
}

static void live(const char *place, int log_fd, int number, uint64_t seed)
{
    struct life life = {.log_fd = log_fd, .number = number, .random = seed + (uint64_t)number};
    struct world *world = world_at(place);
    life.world = world;
    assert_int_equal(shared_backend.open(place, world_wake(world), &world->store), OK);
    read_feed(&life);
    char name[32];
    snprintf(name, sizeof(name), "life-%d", number);
    struct peer self = a_peer(name, (uint64_t)number + 1);
    assert_int_equal(store_announce(world->store, &self), OK);
    for (int i = 0; i < OPS; i++)
        operations[draw(&life.random, sizeof(operations) / sizeof(operations[0]))](&life);
    world->store = store_free(world->store);
    note(&life, "E %d\n", number);
    world->is_other = true; /* the place stays */
    world_free(world);
}

/* ---- the operator ---- */

struct operators {
    char place[128];
    int log_fd;
    uint64_t seed, random;
    pid_t pids[PROCESSES]; /* 0: none */
    bool is_stopped[PROCESSES];
    int lives, kills, stops, failures;
};

static void start(struct operators *op, int i)
{
    int number = op->lives++;
    op->is_stopped[i] = false;
    op->pids[i] = fork();
    assert_true(op->pids[i] >= 0);
    if (op->pids[i] > 0)
        return;
    live(op->place, op->log_fd, number, op->seed);
    _exit(0);
}

/* Takes note of who has ended, and starts the next. True: somebody is still there. */
static bool replace(struct operators *op)
{
    bool is_any = false;
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        if (op->pids[i] > 0 && waitpid(op->pids[i], &status, WNOHANG) == op->pids[i]) {
            bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
            op->failures += !is_killed && status != 0;
            op->pids[i] = 0;
        }
        if (!op->pids[i] && op->lives < LIVES)
            start(op, i);
        is_any |= op->pids[i] > 0;
    }
    return is_any;
}

static void meddle(struct operators *op)
{
    int i = (int)draw(&op->random, PROCESSES);
    uint64_t what = draw(&op->random, 12);
    if (op->pids[i] <= 0)
        return;
    if (op->is_stopped[i]) {
        kill(op->pids[i], SIGCONT);
        op->is_stopped[i] = false;
    } else if (what == 0) {
        kill(op->pids[i], SIGKILL);
        op->kills++;
    } else if (what < 4) {
        kill(op->pids[i], SIGSTOP);
        op->is_stopped[i] = true;
        op->stops++;
    }
}

static void run_lives(struct operators *op)
{
    while (replace(op)) {
        struct timespec pause = {0, (long)(1 + draw(&op->random, 20)) * 1000000};
        nanosleep(&pause, NULL);
        meddle(op);
    }
}

/* ---- what they have written down ---- */

struct story {
    struct {
        int64_t place;
    } feeds[LIVES];
    uint64_t hashes[PLACES_MAX]; /* of the changes of each revision */
    uint8_t *won[JOBS];          /* by tick */
    struct id begun[LIVES * OPS];
    int64_t fences[LIVES * OPS];
    size_t begins;
    int64_t tried[COUNTERS], counted[COUNTERS], refused[COUNTERS];
    int64_t revisions, wins, ends;
};

static void check_place(struct story *story, int life, int64_t place, uint64_t hash)
{
    if (place != story->feeds[life].place + 1)
        fail_msg("life %d: revision %lld follows %lld", life, (long long)place,
                 (long long)story->feeds[life].place);
    story->feeds[life].place = place;
    assert_in_range(place, 0, PLACES_MAX - 1);
    if (story->hashes[place] && story->hashes[place] != hash)
        fail_msg("life %d was told other changes of revision %lld", life, (long long)place);
    story->revisions += !story->hashes[place];
    story->hashes[place] = hash;
}

static void check_begin(struct story *story, const char *run, int64_t fence)
{
    struct id id;
    assert_int_equal(id_parse(run, &id), OK);
    for (size_t i = 0; i < story->begins; i++) {
        if (id_compare(&story->begun[i], &id) == 0)
            fail_msg("run %s was begun twice", run);
        if (story->fences[i] == fence)
            fail_msg("fence %lld was given twice", (long long)fence);
    }
    story->begun[story->begins] = id;
    story->fences[story->begins++] = fence;
}

static void check_win(struct story *story, int job, int64_t tick)
{
    assert_in_range(tick - CURSOR_MS, 0, LIVES * OPS - 1);
    if (story->won[job][tick - CURSOR_MS]++)
        fail_msg("job %d, tick %lld: won twice", job, (long long)tick);
    story->wins++;
}

static void check_line(struct story *story, const char *line)
{
    int life, number;
    int64_t value;
    uint64_t hash;
    char run[64];
    if (sscanf(line, "L %d %" SCNd64, &life, &value) == 2)
        story->feeds[life].place = value;
    else if (sscanf(line, "P %d %" SCNd64 " %" SCNx64, &life, &value, &hash) == 3)
        check_place(story, life, value, hash);
    else if (sscanf(line, "W %d %d %" SCNd64, &life, &number, &value) == 3)
        check_win(story, number, value);
    else if (sscanf(line, "B %63s %" SCNd64, run, &value) == 2)
        check_begin(story, run, value);
    else if (sscanf(line, "T %d %d", &life, &number) == 2)
        story->tried[number]++;
    else if (sscanf(line, "K %d %d", &life, &number) == 2)
        story->counted[number]++;
    else if (sscanf(line, "F %d %d", &life, &number) == 2)
        story->refused[number]++;
    else if (line[0] == 'E')
        story->ends++;
    else
        fail_msg("what is this: %s", line);
}

static void check_story(struct operators *op, const char *path)
{
    struct story *story = calloc(1, sizeof(*story));
    char line[256];
    FILE *log = fopen(path, "r");
    assert_true(story && log);
    for (int i = 0; i < JOBS; i++)
        story->won[i] = calloc(LIVES * OPS, 1);
    while (fgets(line, sizeof(line), log))
        check_line(story, line);
    fclose(log);

    struct world *world = world_at(op->place);
    world_open(world);
    for (int i = 0; i < COUNTERS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d", i);
        const struct seen_doc *doc = look_for_doc(world, "count", name);
        int64_t revision = doc ? doc->revision : 0;
        int64_t unknown = story->tried[i] - story->counted[i] - story->refused[i];
        if (revision < story->counted[i] || revision > story->counted[i] + unknown)
            fail_msg("counter %d: %lld, but %lld were counted and %lld may be", i,
                     (long long)revision, (long long)story->counted[i], (long long)unknown);
        if (doc)
            assert_int_equal(atoll(doc->json), revision);
    }
    for (int i = 0; i < JOBS; i++) {
        int64_t cursor = see_job(world, job_id(i))->cursor_ms;
        for (int64_t tick = cursor + 1; tick < CURSOR_MS + LIVES * OPS; tick++)
            assert_false(story->won[i][tick - CURSOR_MS]);
        free(story->won[i]);
    }
    assert_true(story->wins > 0 && story->begins > 0 && story->ends > 0);
    print_message("%d lives, %d killed, %d stopped: %lld revisions, %lld ticks won, %zu runs "
                  "begun, %lld+%lld counted\n",
                  op->lives, op->kills, op->stops, (long long)story->revisions,
                  (long long)story->wins, story->begins, (long long)story->counted[0],
                  (long long)story->counted[1]);
    free(story);
    world_free(world);
}

static void make_jobs(struct operators *op)
{
    struct world *world = world_new(&shared_backend);
    snprintf(op->place, sizeof(op->place), "%s", world->place);
    world_open(world);
    for (int i = 0; i < JOBS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "job-%d", i);
        struct store_put_job put = a_put(job_id(i), name, 0);
        put.cursor_ms = CURSOR_MS;
        world_do_one(world, STORE_PUT_JOB, &put);
        assert_int_equal(put.result, PUT_OK);
    }
    world->is_other = true; /* the place stays */
    world_free(world);
}

static void many_processes_tell_one_story(void **state)
{
    struct operators op = {.lives = 0};
    const char *seed = getenv("PEAL_SEED");
    char path[160];
    (void)state;
    op.seed = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid();
    op.random = op.seed;
    print_message("PEAL_SEED=%llu\n", (unsigned long long)op.seed);
    make_jobs(&op);
    snprintf(path, sizeof(path), "%s/story", op.place);
    op.log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(op.log_fd >= 0);
    run_lives(&op);
    assert_int_equal(op.failures, 0);
    check_story(&op, path);
    close(op.log_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_processes_tell_one_story)};
    setvbuf(stdout, NULL, _IOLBF, 0);
    fault_vfs_install(); /* a kill of a process needs no flush */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
