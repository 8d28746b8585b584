/* A claim of a lock or a lead:
 *
 *     WISHED -> QUEUED -> HELD -> OVER
 *         \________\________\_ LEAVING
 *
 * One in the background is WISHED again where another would be OVER, until it is released. Whether
 * it is held is decided by `until_ms`, which only grows while it is, and is 0 otherwise: set by the
 * loop's thread, and cleared by whoever first finds that it has passed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "coordinator_internal.h"

enum {
    LOOK_MS = 200,   /* between looks at the lease of what is held */
    LEAVE_MS = 1000, /* for which the end of a wait waits that its place is free */
    AGAIN_MS = 1000, /* before a claim in the background is made again */
};

enum stage {
    STAGE_WISHED,
    STAGE_QUEUED,
    STAGE_HELD,
    STAGE_LEAVING,
    STAGE_OVER,
};

struct claim {
    struct coordinator *coordinator;
    struct coord_want want;
    char name[COORD_NAME_SIZE], id[COORD_ID_SIZE];
    void (*won)(void *context, int64_t fence);
    void (*lost)(void *context, const char *why);
    void *context;
    _Atomic int64_t until_ms; /* of the boot clock; 0: not held */

    /* With the lock. */
    TAILQ_ENTRY(claim) link;
    enum stage stage;
    int64_t fence;      /* of the last hold; 0: none */
    int64_t told_fence; /* that the program knows of; 0: it knows that it is not held */
    int64_t again_ms;   /* WISHED: not before this time of the boot clock */
    struct answered end;
    char why[WHY_SIZE];
    struct coord_holder holder; /* that is waited for; no id: not known */
    bool must_leave, is_abandoned, is_released_in_call;

    /* The loop's own. */
    struct coord_claim *claim;
    bool was_logged;
};

static int64_t boot_ms(void)
{
    return clock_now().boot.ms;
}

bool claim_is_ours(const struct claim *claim)
{
    return claim->coordinator->pid == getpid();
}

static bool is_background(const struct claim *claim)
{
    return claim->won != NULL;
}

static void free_claim(struct claim *claim)
{
    struct coordinator *coordinator = claim->coordinator;
    TAILQ_REMOVE(&coordinator->claims, claim, link);
    free(claim);
}

/* ---- on the loop ---- */

/* The end, or the end of this attempt. */
static void end(struct claim *claim, struct answered answer, const char *why)
{
    bool is_final = claim->must_leave || answer.answer == ANSWER_STOPPED || !is_background(claim) ||
                    answer.status == E_INVALID;
    atomic_store(&claim->until_ms, 0);
    snprintf(claim->why, sizeof(claim->why), "%s", why);
    claim->claim = coord_claim_free(claim->claim); /* `why` may be of it */
    claim->stage = is_final ? STAGE_OVER : STAGE_WISHED;
    claim->again_ms = boot_ms() + AGAIN_MS;
    claim->end = answer;
}

static void lose(struct claim *claim, const char *why)
{
    end(claim, (struct answered){ANSWER_LOST, E_CONFLICT}, why);
}

static void fail(struct claim *claim, const struct coord_notice *notice)
{
    struct answered answer = {notice->status == E_BUSY ? ANSWER_BUSY : ANSWER_FAILED,
                              notice->status};
    if (notice->status == E_BUSY)
        claim->holder = *notice->holder;
    end(claim, answer, notice->message);
}

/* One in the background is tried again, which is said once: without the lock, for the program may
 * do anything meanwhile. */
static void log_failure(struct claim *claim, const struct coord_notice *notice)
{
    if (is_background(claim) && !claim->was_logged)
        coordinator_log(claim->coordinator, "%s: %s; it is tried again", claim->name,
                        notice->message);
    claim->was_logged = true;
}

static void hold(struct claim *claim, const struct coord_notice *notice)
{
    claim->was_logged = false;
    claim->fence = notice->holder->fence;
    claim->stage = STAGE_HELD;
    if (!claim->must_leave)
        atomic_store(&claim->until_ms, coord_held_until_boot_ms(claim->claim));
}

static void on_notice(void *context, const struct coord_notice *notice)
{
    struct claim *claim = context;
    struct coordinator *coordinator = claim->coordinator;
    if (notice->event == COORD_FAILED)
        log_failure(claim, notice);
    pthread_mutex_lock(&coordinator->lock);
    switch (notice->event) {
    case COORD_WAITING:
        claim->holder = *notice->holder;
        break;
    case COORD_HELD:
        if (claim->stage == STAGE_QUEUED)
            hold(claim, notice);
        break;
    case COORD_LOST:
        lose(claim, notice->message);
        break;
    case COORD_FAILED:
        fail(claim, notice);
        break;
    case COORD_RELEASED:
        end(claim, claim->end.answer == ANSWER_STOPPED ? claim->end : answer_of(notice->status),
            notice->message);
        break;
    }
    coordinator_ask(coordinator); /* the turn does what follows, and wakes who waits */
    pthread_mutex_unlock(&coordinator->lock);
}

static void begin(struct claim *claim)
{
    enum status st =
        coord_claim(claim->coordinator->coord, &claim->want, on_notice, claim, &claim->claim);
    if (st == OK)
        claim->stage = STAGE_QUEUED;
    else
        end(claim, answer_of(st), status_text(st));
}

/* Moves the time until which it is held, unless somebody has found it passed. */
static void look(struct claim *claim)
{
    int64_t known_ms = atomic_load(&claim->until_ms);
    int64_t until_ms = coord_held_until_boot_ms(claim->claim);
    bool is_held = known_ms && boot_ms() < until_ms;
    if (!is_held || !atomic_compare_exchange_strong(&claim->until_ms, &known_ms, until_ms))
        lose(claim, "the store did not renew the lease in time, or this process was paused");
}

static void leave(struct claim *claim)
{
    atomic_store(&claim->until_ms, 0);
    claim->stage = STAGE_LEAVING;
    coord_release(claim->claim);
}

static void step(struct claim *claim)
{
    struct coordinator *coordinator = claim->coordinator;
    bool is_stopping = atomic_load(&coordinator->is_stopping);
    if (coordinator->is_closing)
        claim->must_leave = true;
    if (claim->stage == STAGE_WISHED || claim->stage == STAGE_QUEUED)
        claim->end = (struct answered){is_stopping ? ANSWER_STOPPED : ANSWER_YES, OK};
    if (claim->stage == STAGE_WISHED && (is_stopping || claim->must_leave))
        end(claim, claim->end, "");
    else if (claim->stage == STAGE_WISHED && boot_ms() >= claim->again_ms)
        begin(claim);
    else if ((claim->stage == STAGE_QUEUED && is_stopping) ||
             ((claim->stage == STAGE_QUEUED || claim->stage == STAGE_HELD) && claim->must_leave))
        leave(claim);
    else if (claim->stage == STAGE_HELD)
        look(claim);
}

static int64_t next_ms(const struct claim *claim)
{
    int64_t left_ms = claim->again_ms - boot_ms();
    if (claim->stage == STAGE_WISHED)
        return left_ms > 0 ? left_ms : 0;
    return claim->stage == STAGE_HELD && atomic_load(&claim->until_ms) != INT64_MAX ? LOOK_MS : -1;
}

int64_t claims_step(struct coordinator *coordinator)
{
    struct claim *claim, *next;
    int64_t soonest_ms = -1;
    for (claim = TAILQ_FIRST(&coordinator->claims); claim; claim = next) {
        next = TAILQ_NEXT(claim, link);
        step(claim);
        int64_t ms = next_ms(claim);
        if (ms >= 0 && (soonest_ms < 0 || ms < soonest_ms))
            soonest_ms = ms;
        if (claim->stage == STAGE_OVER && claim->is_abandoned)
            free_claim(claim);
    }
    return soonest_ms;
}

bool claims_are_over(const struct coordinator *coordinator)
{
    const struct claim *claim;
    TAILQ_FOREACH (claim, &coordinator->claims, link) {
        if (claim->stage != STAGE_OVER)
            return false;
    }
    return true;
}

/* At the end of the process what is held is not released: other threads may still be at it. */
void claims_end(struct coordinator *coordinator)
{
    struct claim *claim, *next;
    for (claim = TAILQ_FIRST(&coordinator->claims); claim; claim = next) {
        next = TAILQ_NEXT(claim, link);
        if (claim->stage != STAGE_OVER) {
            claim->must_leave = true;
            atomic_store(&claim->until_ms, 0);
            claim->stage = STAGE_OVER;
            claim->end = (struct answered){ANSWER_STOPPED, OK};
        }
        if (claim->is_abandoned)
            free_claim(claim);
    }
}

/* ---- callbacks ---- */

/* What the program is to be told: that it has lost what it knows of, or that it has won. */
static bool call(struct claim *claim)
{
    struct coordinator *coordinator = claim->coordinator;
    char why[WHY_SIZE];
    int64_t fence = claim->stage == STAGE_HELD ? claim->fence : 0;
    bool is_loss = claim->told_fence && claim->told_fence != fence;
    bool is_win = !claim->told_fence && fence && claim->won;
    if (claim->must_leave || claim->is_abandoned || (!is_loss && !is_win))
        return false;
    claim->told_fence = is_loss ? 0 : fence;
    if (is_loss && !claim->lost)
        return true;
    snprintf(why, sizeof(why), "%s", claim->why);
    coordinator->calling = claim;
    pthread_mutex_unlock(&coordinator->lock);
    if (is_loss)
        claim->lost(claim->context, why);
    else
        claim->won(claim->context, fence);
    pthread_mutex_lock(&coordinator->lock);
    coordinator->calling = NULL;
    if (claim->is_released_in_call)
        free_claim(claim);
    pthread_cond_broadcast(&coordinator->changed);
    return true;
}

bool claims_call(struct coordinator *coordinator)
{
    struct claim *claim;
    TAILQ_FOREACH (claim, &coordinator->claims, link) {
        if (call(claim))
            return true;
    }
    return false;
}

/* ---- from any thread ---- */

static struct timespec from_now(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* True: it is decided. */
static bool wait_for(struct claim *claim, int64_t wait_ms)
{
    struct coordinator *coordinator = claim->coordinator;
    const struct timespec at = from_now(wait_ms > 0 ? wait_ms : 0);
    bool is_bound = wait_ms > 0; /* 0: one that is not free fails by itself */
    int waited = 0;
    while (waited == 0 && claim->stage != STAGE_HELD && claim->stage != STAGE_OVER &&
           !atomic_load(&coordinator->is_stopping)) {
        if (is_bound)
            waited = pthread_cond_timedwait(&coordinator->changed, &coordinator->lock, &at);
        else
            pthread_cond_wait(&coordinator->changed, &coordinator->lock);
    }
    return claim->stage == STAGE_HELD || claim->stage == STAGE_OVER;
}

static struct answered say_busy(const struct claim *claim, struct strbuf *why)
{
    const char *done = claim->want.kind == COORD_LOCK ? "is held" : "is led";
    strbuf_addf(why, "%s %s by %s", claim->name, done, claim->holder.id);
    if (*claim->holder.host)
        strbuf_addf(why, " on %s, process %" PRId64, claim->holder.host, claim->holder.pid);
    return (struct answered){ANSWER_BUSY, E_BUSY};
}

static struct answered say_late(const struct claim *claim, int64_t wait_ms, struct strbuf *why)
{
    if (*claim->holder.id)
        return say_busy(claim, why);
    strbuf_addf(why, "%s: the store has not answered within %" PRId64 " ms", claim->name, wait_ms);
    return answer_of(E_UNREACHABLE);
}

static struct answered say_end(const struct claim *claim, struct strbuf *why)
{
    if (claim->end.answer == ANSWER_BUSY)
        return say_busy(claim, why);
    strbuf_addf(why, "%s: %s", claim->name,
                *claim->why ? claim->why : status_text(claim->end.status));
    return claim->end;
}

static struct answered say_stopped(const char *name, struct strbuf *why)
{
    strbuf_addf(why, "%s: the node was stopped", name);
    return (struct answered){ANSWER_STOPPED, OK};
}

/* Leaves the queue, and waits for that a little where the store answers: a process that ends right
 * afterwards would keep its place until the lease has ended. */
static void give_up(struct claim *claim, bool must_wait)
{
    struct coordinator *coordinator = claim->coordinator;
    const struct timespec at = from_now(must_wait ? LEAVE_MS : 0);
    int waited = 0;
    claim->must_leave = true;
    coordinator_ask(coordinator);
    while (waited == 0 && claim->stage != STAGE_OVER && !coordinator->is_over)
        waited = pthread_cond_timedwait(&coordinator->changed, &coordinator->lock, &at);
    if (claim->stage == STAGE_OVER || coordinator->is_over)
        free_claim(claim);
    else
        claim->is_abandoned = true;
}

/* With the lock held; the claim is the caller's only if it is held. */
static struct answered take(struct claim *claim, int64_t wait_ms, struct claim **ret,
                            struct strbuf *why)
{
    struct answered answer;
    bool is_decided = wait_for(claim, wait_ms);
    if (claim->stage == STAGE_HELD) {
        claim->told_fence = claim->fence;
        *ret = claim;
        return answer_of(OK);
    }
    if (claim->end.answer == ANSWER_STOPPED || atomic_load(&claim->coordinator->is_stopping))
        answer = say_stopped(claim->name, why);
    else
        answer = is_decided ? say_end(claim, why) : say_late(claim, wait_ms, why);
    give_up(claim, answer.status != E_UNREACHABLE);
    return answer;
}

static struct claim *new_claim(struct coordinator *coordinator, const struct claim_wish *wish)
{
    struct claim *claim = calloc(1, sizeof(*claim));
    if (!claim)
        return NULL;
    claim->coordinator = coordinator;
    claim->want = wish->want;
    claim->want.at_once = wish->wait_ms == 0 && !wish->won;
    snprintf(claim->name, sizeof(claim->name), "%s", wish->want.name);
    snprintf(claim->id, sizeof(claim->id), "%s", wish->want.id);
    claim->want.name = claim->name;
    claim->want.id = claim->id;
    claim->won = wish->won;
    claim->lost = wish->lost;
    claim->context = wish->context;
    atomic_init(&claim->until_ms, 0);
    return claim;
}

struct answered coordinator_claim(struct coordinator *coordinator, const struct claim_wish *wish,
                                  struct claim **ret, struct strbuf *why)
{
    struct answered answer = answer_of(OK);
    if (atomic_load(&coordinator->is_stopping))
        return say_stopped(wish->want.name, why);
    struct claim *claim = new_claim(coordinator, wish);
    if (!claim)
        return answer_of(E_NOMEM);
    coordinator_ref(coordinator); /* the waiting thread's, then the handle's */
    pthread_mutex_lock(&coordinator->lock);
    if (wish->won || wish->lost)
        answer.status = caller_start(coordinator);
    if (answer.status != OK || coordinator->is_over) {
        answer = coordinator->is_over ? say_stopped(wish->want.name, why) : answer_of(E_NOMEM);
        free(claim);
    } else {
        TAILQ_INSERT_TAIL(&coordinator->claims, claim, link);
        coordinator_ask(coordinator);
        if (wish->won)
            *ret = claim;
        else
            answer = take(claim, wish->wait_ms, ret, why);
    }
    pthread_mutex_unlock(&coordinator->lock);
    if (answer.answer != ANSWER_YES)
        coordinator_unref(coordinator);
    return answer;
}

/* Whoever finds that the time has passed clears it, so that it stays lost, and lets the loop's
 * thread do the rest. */
bool claim_is_held(struct claim *claim)
{
    struct coordinator *coordinator = claim->coordinator;
    int64_t until_ms = atomic_load(&claim->until_ms);
    while (until_ms && boot_ms() >= until_ms) {
        if (!atomic_compare_exchange_strong(&claim->until_ms, &until_ms, 0))
            continue;
        pthread_mutex_lock(&coordinator->lock);
        coordinator_ask(coordinator);
        pthread_mutex_unlock(&coordinator->lock);
        return false;
    }
    return until_ms != 0;
}

int64_t claim_fence(struct claim *claim)
{
    pthread_mutex_lock(&claim->coordinator->lock);
    int64_t fence = claim->fence;
    pthread_mutex_unlock(&claim->coordinator->lock);
    return fence;
}

/* With the lock held: until no callback of it runs, unless this is within it. */
static void wait_for_call(struct claim *claim)
{
    struct coordinator *coordinator = claim->coordinator;
    while (coordinator->calling == claim && !is_caller(coordinator))
        pthread_cond_wait(&coordinator->changed, &coordinator->lock);
    if (coordinator->calling == claim)
        claim->is_released_in_call = true;
    else
        free_claim(claim);
}

struct answered claim_release(struct claim *claim, struct strbuf *why)
{
    struct coordinator *coordinator = claim->coordinator;
    pthread_mutex_lock(&coordinator->lock);
    bool was_held = claim->stage == STAGE_HELD && !claim->must_leave;
    bool is_expired = was_held && boot_ms() >= atomic_load(&claim->until_ms);
    claim->must_leave = true;
    atomic_store(&claim->until_ms, 0);
    coordinator_ask(coordinator);
    while (claim->stage != STAGE_OVER)
        pthread_cond_wait(&coordinator->changed, &coordinator->lock);
    struct answered answer = claim->end;
    if (is_expired)
        answer = (struct answered){ANSWER_LOST, E_CONFLICT};
    if (answer.answer != ANSWER_YES)
        strbuf_addf(why, "%s: %s", claim->name,
                    *claim->why  ? claim->why
                    : is_expired ? "its lease could have ended before it was released"
                                 : status_text(answer.status));
    wait_for_call(claim);
    pthread_mutex_unlock(&coordinator->lock);
    coordinator_unref(coordinator);
    return answer;
}
