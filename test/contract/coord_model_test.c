/* Many processes that want one lock, at random: they come, hold, leave, are killed (-9) and are
 * paused for longer than a lease, with files and with etcd. Each writes to a register that judges
 * it by its fence, and leaves a mark there while it holds:
 *
 *   - no fence is given twice, and no write of a process that surely holds is refused;
 *   - nobody who surely holds finds the mark of a live process that surely holds, too; all have the
 *     same boot clock, and a claim says until when it is sure;
 *   - every process that is alive at the end gets the lock.
 *
 * PEAL_SEED=N repeats a run; PEAL_RUNS=N makes N runs with seeds of their own. */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "coord_file.h"
#include "coord_kv.h"
#include "etcd.h"
#include "etcd_server.h"
#include "machine.h"

enum {
    PROCESSES = 6,
    STEPS = 60,
    TTL_S = 2,
    MARGIN_MS = 500,
    TIMEOUT_MS = 5000, /* of requests to etcd */
    HANG_MS = 120000,
    HOLD_MS = 40,
};

/* In memory that all share. */
struct actor {
    pid_t pid; /* 0: not alive */
    bool is_paused;
    int64_t got;      /* how often it has held */
    int64_t until_ms; /* until when it surely held, when it got the lock last */
};

struct shared {
    int64_t fence;                       /* the largest that was seen */
    int64_t holder;                      /* index + 1 of the process inside; 0: none */
    int64_t stale;                       /* writes that the fence refused, rightly */
    int64_t repeated, refused, overlaps; /* the mistakes */
    struct actor actors[PROCESSES];
};

#define LOAD(member)         __atomic_load_n(&(member), __ATOMIC_SEQ_CST)
#define STORE(member, value) __atomic_store_n(&(member), (value), __ATOMIC_SEQ_CST)
#define COUNT(member)        __atomic_add_fetch(&(member), 1, __ATOMIC_SEQ_CST)

static struct shared *shared;
static struct etcd_cluster cluster = {.count = 1};
static char place[96];

/* ---- a process ---- */

struct self {
    int index;
    struct loop *loop;
    struct loop_timer *timer;
    struct coord *coord;
    struct coord_claim *claim;
    struct coord_claim *ended;
    unsigned seed;
};

static void want(struct self *self);

static bool is_sure(const struct self *self)
{
    return coord_held_until_boot_ms(self->claim) > clock_now().boot.ms;
}

/* What is found counts only if the claim is still sure afterwards: the process may have been paused
 * at any point in here. */
static void write_fenced(struct self *self, int64_t fence)
{
    struct actor *actor = &shared->actors[self->index];
    int64_t last = LOAD(shared->fence);
    while (last < fence && !__atomic_compare_exchange_n(&shared->fence, &last, fence, false,
                                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    if (last == fence)
        COUNT(shared->repeated);
    if (last > fence) {
        COUNT(*(is_sure(self) ? &shared->refused : &shared->stale));
        return;
    }
    int64_t inside = LOAD(shared->holder);
    struct actor *other = inside ? &shared->actors[inside - 1] : NULL;
    if (other && other != actor && LOAD(other->pid) &&
        LOAD(other->until_ms) > clock_now().boot.ms && is_sure(self))
        COUNT(shared->overlaps);
    STORE(actor->until_ms, coord_held_until_boot_ms(self->claim));
    STORE(shared->holder, self->index + 1);
    COUNT(actor->got);
}

static void clear_mark(struct self *self)
{
    int64_t mine = self->index + 1;
    __atomic_compare_exchange_n(&shared->holder, &mine, 0, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
}

static void on_timer(void *context)
{
    struct self *self = context;
    self->ended = coord_claim_free(self->ended);
    if (!self->claim) {
        want(self);
        return;
    }
    clear_mark(self); /* before others can have it */
    coord_release(self->claim);
}

static void on_notice(void *context, const struct coord_notice *notice)
{
    struct self *self = context;
    switch (notice->event) {
    case COORD_WAITING:
        break;
    case COORD_HELD:
        write_fenced(self, notice->holder->fence);
        loop_timer_set(self->timer, rand_r(&self->seed) % HOLD_MS);
        break;
    case COORD_LOST:
    case COORD_FAILED:
    case COORD_RELEASED:
        if (notice->event == COORD_LOST)
            clear_mark(self);
        self->ended = self->claim;
        self->claim = NULL;
        loop_timer_set(self->timer, rand_r(&self->seed) % HOLD_MS);
        break;
    }
}

static void want(struct self *self)
{
    char id[16];
    const struct coord_want lock = {
        .name = "model", .id = id, .ttl_s = TTL_S, .margin_ms = MARGIN_MS};
    snprintf(id, sizeof(id), "p%d", self->index);
    if (coord_claim(self->coord, &lock, on_notice, self, &self->claim) != OK)
        _exit(3);
}

static struct coord *open_place(struct loop *loop, bool is_etcd)
{
    struct coord *coord = NULL;
    struct kv_client *client = NULL;
    struct strbuf why;
    strbuf_init(&why);
    const struct etcd_client_config config = {
        .endpoints = cluster.endpoints, .endpoint_count = 1, .deadline_ms = TIMEOUT_MS};
    enum status st = is_etcd ? etcd_client_new(loop, &config, &client, NULL)
                             : coord_file_open(loop, place, HANG_MS, &coord, &why);
    if (st == OK && is_etcd)
        st = coord_kv_open(loop, client, place, TIMEOUT_MS, &coord);
    strbuf_release(&why);
    return st == OK ? coord : NULL;
}

static _Noreturn void act(int index, unsigned seed, bool is_etcd)
{
    struct self self = {.index = index, .seed = seed};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    if (loop_new(&self.loop) != OK || !(self.coord = open_place(self.loop, is_etcd)) ||
        loop_timer_new(self.loop, on_timer, &self, &self.timer) != OK)
        _exit(2);
    loop_timer_set(self.timer, 0);
    loop_run(self.loop);
    _exit(0);
}

/* ---- what happens to them ---- */

static void start_actor(int index, unsigned *seed, bool is_etcd)
{
    struct actor *actor = &shared->actors[index];
    unsigned own = (unsigned)rand_r(seed);
    actor->is_paused = false;
    STORE(actor->got, 0);
    STORE(actor->until_ms, 0);
    pid_t pid = fork();
    if (pid == 0)
        act(index, own, is_etcd);
    STORE(actor->pid, pid);
}

/* The mark counts as a dead one's from here on. */
static void end_actor(int index)
{
    struct actor *actor = &shared->actors[index];
    pid_t pid = actor->pid;
    STORE(actor->pid, 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void pause_actor(int index, bool is_paused)
{
    struct actor *actor = &shared->actors[index];
    actor->is_paused = is_paused;
    kill(actor->pid, is_paused ? SIGSTOP : SIGCONT);
}

static void rest_ms(unsigned ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

static void disturb(unsigned *seed, bool is_etcd)
{
    int index = rand_r(seed) % PROCESSES;
    struct actor *actor = &shared->actors[index];
    int what = rand_r(seed) % 4;
    if (!actor->pid)
        start_actor(index, seed, is_etcd);
    else if (actor->is_paused)
        pause_actor(index, false);
    else if (what == 0)
        end_actor(index);
    else if (what == 1)
        pause_actor(index, true);
    rest_ms((unsigned)rand_r(seed) % (is_etcd ? 400 : 60));
}

/* All are there and go on: each gets it. */
static void all_get_it(unsigned *seed, bool is_etcd, unsigned named)
{
    int64_t before[PROCESSES], until_ms = clock_now().boot.ms + HANG_MS;
    for (int i = 0; i < PROCESSES; i++) {
        if (!shared->actors[i].pid)
            start_actor(i, seed, is_etcd);
        if (shared->actors[i].is_paused)
            pause_actor(i, false);
        before[i] = LOAD(shared->actors[i].got);
    }
    for (int i = 0; i < PROCESSES; i++) {
        while (LOAD(shared->actors[i].got) == before[i]) {
            if (clock_now().boot.ms > until_ms)
                fail_msg("seed %u: process %d never got the lock", named, i);
            rest_ms(10);
        }
    }
}

static void run_model(bool is_etcd, unsigned named)
{
    unsigned seed = named;
    memset(shared, 0, sizeof(*shared));
    for (int i = 0; i < PROCESSES; i++)
        start_actor(i, &seed, is_etcd);
    for (int i = 0; i < STEPS; i++)
        disturb(&seed, is_etcd);
    all_get_it(&seed, is_etcd, named);
    for (int i = 0; i < PROCESSES; i++)
        end_actor(i);
    print_message("seed %u: fence %" PRId64 ", %" PRId64 " stale writes refused\n", named,
                  shared->fence, shared->stale);
    if (shared->repeated || shared->refused || shared->overlaps)
        fail_msg("seed %u: %" PRId64 " fences twice, %" PRId64 " refused, %" PRId64 " overlaps",
                 named, shared->repeated, shared->refused, shared->overlaps);
    assert_true(shared->fence > PROCESSES);
}

static void run_models(bool is_etcd)
{
    const char *seed = getenv("PEAL_SEED"), *runs = getenv("PEAL_RUNS");
    int count = seed ? 1 : runs ? atoi(runs) : 2;
    unsigned first = seed ? (unsigned)strtoul(seed, NULL, 10)
                          : (unsigned)clock_now().wall.ms ^ (unsigned)getpid();
    for (int i = 0; i < count; i++) {
        unsigned named = first + (unsigned)i;
        snprintf(place, sizeof(place), is_etcd ? "/model-%u" : "/tmp/peal-coord-model-%u", named);
        run_model(is_etcd, named);
        if (!is_etcd)
            run_command("rm -rf %s", place);
    }
}

static void a_lock_in_files(void **state)
{
    (void)state;
    run_models(false);
}

static void a_lock_in_etcd(void **state)
{
    (void)state;
    run_models(true);
}

int main(void)
{
    const struct CMUnitTest files[] = {cmocka_unit_test(a_lock_in_files)};
    const struct CMUnitTest etcd[] = {cmocka_unit_test(a_lock_in_etcd)};
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    int failed = cmocka_run_group_tests(files, NULL, NULL);
    if (!etcd_cluster_available()) {
        print_message("etcd is not installed\n");
        return failed ? failed : 77;
    }
    etcd_cluster_start(&cluster);
    failed += cmocka_run_group_tests(etcd, NULL, NULL);
    etcd_cluster_remove(&cluster);
    return failed;
}
