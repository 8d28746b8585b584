#include "calls/call_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/calls_internal.h"

enum {
    SLICE_US = 1000, /* a thread makes calls for so long, and then those of others that wait */
    SLACK_MS = 1,    /* of a time that was read to the millisecond */
};

/* ---- which calls are to be made ---- */

static bool bit_of(const uint64_t *bits, size_t i)
{
    return bits && bits[i / 64] >> i % 64 & 1;
}

bool call_batch_awaits(const struct call_batch *batch, size_t index)
{
    return index >= atomic_load(&batch->next) && index < batch->count &&
           !bit_of(batch->open, index);
}

/* With the group's lock. The members whose tick before this one still waits. */
static enum status find_open(struct call_batch *batch)
{
    const struct call_batch *before;
    size_t words = batch->count / 64 + 1;
    LIST_FOREACH(before, &batch->group->batches, in_group)
    {
        if (!batch->open && !(batch->open = calloc(words, sizeof(*batch->open))))
            return E_NOMEM;
        for (size_t i = atomic_load(&before->next); i < before->count && i < batch->count; i++)
            if (call_batch_awaits(before, i))
                batch->open[i / 64] |= UINT64_C(1) << i % 64;
    }
    return OK;
}

static void tell_passed(const struct call_batch *batch, const char *name, size_t more,
                        enum run_reason reason)
{
    const struct calls_config *config = &batch->call->calls->config;
    if (config->passed)
        config->passed(config->context, name, more, reason);
}

/* At the time of this tick a call for one before it was being made, or still to come. A tick that
 * is caught up was due while nothing could be called: only what is being called now counts. */
static bool was_open(const struct call_batch *batch, const struct group_member *member)
{
    if (!batch->group->skips_overlap || batch->call->is_caught_up)
        return false;
    int64_t ended_ms = atomic_load_explicit(&member->ended_ms, memory_order_relaxed);
    return bit_of(batch->open, member->index) || ended_ms > batch->tick_ms + SLACK_MS;
}

/* Why the member is not called. NONE: it is, and is entered as a caller; else as one that looks. */
static enum run_reason enter(struct call_batch *batch, struct group_member *member, int64_t now_us,
                             bool *ret_is_here)
{
    bool is_open = was_open(batch, member);
    bool is_late = now_us > batch->deadline_us;
    *ret_is_here =
        !is_open && !is_late && call_group_enter(member, MEMBER_CALL, batch->group->skips_overlap);
    if (*ret_is_here)
        return REASON_NONE;
    *ret_is_here = call_group_enter(member, MEMBER_LOOK, false); /* else it was removed */
    return is_late && !is_open ? REASON_DEADLINE : REASON_OVERLAP;
}

/* False: there is none for this member. It is entered then. */
static bool may_call(struct call_batch *batch, struct group_member *member, int64_t now_us)
{
    bool is_here;
    enum run_reason reason = enter(batch, member, now_us, &is_here);
    if (!is_here)
        return false;
    bool is_its_tick = member->added_ms <= batch->tick_ms; /* it was there then */
    if (reason == REASON_NONE && is_its_tick)
        return true;
    if (is_its_tick)
        tell_passed(batch, member->name, 0, reason);
    call_group_leave(batch->group, member, reason == REASON_NONE ? MEMBER_CALL : MEMBER_LOOK);
    return false;
}

/* ---- one call ---- */

/* False: the program stops. */
static bool set_out(struct call_hand *hand, int64_t now_us)
{
    struct peal_run *run = &hand->run;
    if (hand->batch->group->timeout_ms || atomic_load(&run->is_cancelled)) {
        pthread_mutex_lock(&run->lock);
        hand->began_us = now_us;
        run->cancelled_by = REASON_NONE;
        atomic_store(&run->is_cancelled, false);
        pthread_mutex_unlock(&run->lock);
    }
    return !atomic_load(&hand->batch->call->is_cancelled);
}

/* Its lines and how it has ended; most have nothing to tell. */
static void tell_end(struct call_hand *hand, const struct group_member *member)
{
    struct peal_run *run = &hand->run;
    const struct calls_config *config = &run->calls->config;
    struct run end = {.tick_ms = run->tick_ms, .attempt = 1, .attempts = 1};
    struct output_chunk *chunks = NULL;
    size_t count = 0;
    snprintf(end.job_name, sizeof(end.job_name), "%s", member->name);
    call_fill_end(run, &end);
    if (call_output_read(&run->output, &chunks, &count) != OK)
        chunks = NULL;
    if (config->ended)
        config->ended(config->context, &end, chunks, count);
    if (chunks)
        call_output_free_chunks(chunks, count);
    int64_t limit = run->output.limit;
    call_output_release(&run->output);
    if (call_output_init(&run->output, limit) != OK)
        run->output.limit = 0; /* nothing more is kept */
}

static void settle(struct call_hand *hand, struct group_member *member, int code)
{
    struct peal_run *run = &hand->run;
    if (hand->batch->group->timeout_ms) {
        pthread_mutex_lock(&run->lock);
        hand->began_us = 0;
        pthread_mutex_unlock(&run->lock);
    }
    run->code = code;
    if (code || run->output.written)
        tell_end(hand, member);
    run->progress.percent = -1;
    run->id_text[0] = '\0';
}

static void call_member(struct call_hand *hand, struct group_member *member)
{
    struct peal_run *run = &hand->run;
    run->name = member->name;
    settle(hand, member, member->function(run, member->arg));
}

/* ---- a thread's calls ---- */

/* The member at `from`, and all that were not called yet, are not called any more. */
static void pass_rest(struct call_batch *batch, size_t from)
{
    size_t next = atomic_exchange(&batch->next, SIZE_MAX / 2), count = 0;
    char name[JOB_NAME_SIZE] = "";
    for (size_t i = from; i < batch->count; i = i < next ? next : i + 1) {
        struct group_member *member = call_group_at(batch->group, i);
        if (!call_group_enter(member, MEMBER_LOOK, false))
            continue;
        if (!count++)
            snprintf(name, sizeof(name), "%s", member->name);
        call_group_leave(batch->group, member, MEMBER_LOOK);
    }
    if (count)
        tell_passed(batch, name, count - 1, REASON_SHUTDOWN);
}

/* True: none is left. */
static bool make_next(struct call_hand *hand, int64_t *inout_us, int *inout_made)
{
    struct call_batch *batch = hand->batch;
    size_t i = atomic_fetch_add(&batch->next, 1);
    if (i >= batch->count)
        return true;
    struct group_member *member = call_group_at(batch->group, i);
    if (!may_call(batch, member, *inout_us))
        return false;
    bool may_go_on = set_out(hand, *inout_us);
    if (may_go_on) {
        call_member(hand, member);
        ++*inout_made;
        *inout_us = clock_boot_us();
        call_group_note_end(member, *inout_us);
    }
    call_group_leave(batch->group, member, MEMBER_CALL);
    if (!may_go_on)
        pass_rest(batch, i);
    return !may_go_on;
}

/* True: none is left. */
static bool make_some(struct call_hand *hand, int64_t began_us, int *ret_made)
{
    int64_t now_us = began_us, longest_us = 0;
    bool is_over = false;
    int made = 0;
    while (!is_over && now_us - began_us < SLICE_US) {
        int64_t before_us = now_us;
        is_over = make_next(hand, &now_us, &made);
        longest_us = now_us - before_us > longest_us ? now_us - before_us : longest_us;
    }
    calls_hand_rests(hand->run.calls, now_us, now_us - began_us, longest_us, made);
    *ret_made = made;
    return is_over;
}

static void leave(struct call_batch *batch)
{
    if (atomic_fetch_sub(&batch->hands_left, 1) > 1)
        return;
    pthread_mutex_lock(&batch->group->lock);
    LIST_REMOVE(batch, in_group);
    pthread_mutex_unlock(&batch->group->lock);
    calls_end_batch(batch->call);
    call_batch_free(batch);
}

static int make_slice(struct pool_call *in_pool)
{
    struct call_hand *hand =
        (struct call_hand *)((char *)in_pool - offsetof(struct call_hand, in_pool));
    struct call_pool *pool = hand->run.calls->config.pool;
    int64_t now_us = clock_boot_us();
    int made;
    calls_hand_begins(hand->run.calls, now_us);
    if (make_some(hand, now_us, &made)) {
        leave(hand->batch);
        return made;
    }
    hand->in_pool.at_us = clock_boot_us(); /* behind others that wait */
    if (call_pool_add(pool, &hand->in_pool) != OK)
        leave(hand->batch); /* never: it is one of the pool's threads that is here */
    return made;
}

/* ---- beginning and end ---- */

static enum status init_hand(struct call_batch *batch, struct call_hand *hand)
{
    const struct peal_run *call = batch->call;
    hand->batch = batch;
    hand->in_pool.make = make_slice;
    enum status st = call_init(&hand->run, call->calls, call->output.limit);
    hand->run.tick_ms = call->tick_ms;
    hand->run.attempt = call->attempt;
    hand->run.fence = call->fence;
    return st;
}

static struct call_batch *allocate(struct peal_run *call, struct now now)
{
    struct call_group *group = call->group;
    size_t count = atomic_load(&group->used);
    size_t hands = call_pool_width(call->calls->config.pool);
    hands = !count ? 1 : count < hands ? count : hands;
    struct call_batch *batch =
        aligned_alloc(64, (sizeof(*batch) + hands * sizeof(batch->hands[0]) + 63) / 64 * 64);
    if (!batch)
        return NULL;
    *batch = (struct call_batch){.group = group, .call = call, .count = count, .hand_count = hands};
    memset(batch->hands, 0, hands * sizeof(batch->hands[0]));
    batch->tick_ms = now.boot.ms - (now.wall.ms - call->tick_ms);
    batch->deadline_us =
        group->deadline_ms ? (batch->tick_ms + group->deadline_ms) * 1000 : INT64_MAX;
    atomic_init(&batch->hands_left, 1);
    return batch;
}

void call_batch_free(struct call_batch *batch)
{
    if (!batch)
        return;
    for (size_t i = 0; i < batch->hand_count; i++)
        call_release(&batch->hands[i].run);
    free(batch->open);
    free(batch);
}

struct call_batch *call_batch_new(struct peal_run *call, struct now now)
{
    struct call_group *group = call->group;
    struct call_batch *batch = allocate(call, now);
    enum status st = batch ? OK : E_NOMEM;
    for (size_t i = 0; st == OK && i < batch->hand_count; i++)
        st = init_hand(batch, &batch->hands[i]);
    pthread_mutex_lock(&group->lock);
    if (st == OK && group->skips_overlap)
        st = find_open(batch);
    if (st == OK)
        LIST_INSERT_HEAD(&group->batches, batch, in_group);
    pthread_mutex_unlock(&group->lock);
    if (st == OK)
        return batch;
    call_batch_free(batch);
    return NULL;
}

int call_batch_make(struct call_batch *batch)
{
    struct call_pool *pool = batch->call->calls->config.pool;
    for (size_t i = 1; i < batch->hand_count; i++) { /* it stays until the first leaves */
        batch->hands[i].in_pool.at_us = 0;
        atomic_fetch_add(&batch->hands_left, 1);
        if (call_pool_add(pool, &batch->hands[i].in_pool) != OK)
            atomic_fetch_sub(&batch->hands_left, 1);
    }
    return make_slice(&batch->hands[0].in_pool);
}

/* ---- telling them to stop ---- */

int64_t call_batch_time_out(struct call_batch *batch, struct boot_ms now)
{
    int64_t timeout_ms = batch->group->timeout_ms;
    int64_t next_ms = timeout_ms ? now.ms + timeout_ms : INT64_MAX;
    for (size_t i = 0; timeout_ms && i < batch->hand_count; i++) {
        struct call_hand *hand = &batch->hands[i];
        pthread_mutex_lock(&hand->run.lock);
        int64_t stop_ms = hand->began_us / 1000 + timeout_ms;
        bool is_called = hand->began_us && !atomic_load(&hand->run.is_cancelled);
        if (is_called && stop_ms <= now.ms)
            call_cancel_locked(&hand->run, REASON_TIMEOUT);
        else if (is_called && stop_ms < next_ms)
            next_ms = stop_ms;
        pthread_mutex_unlock(&hand->run.lock);
    }
    return next_ms;
}

void call_batch_shut_down(struct call_batch *batch)
{
    for (size_t i = 0; i < batch->hand_count; i++)
        call_cancel(&batch->hands[i].run, REASON_SHUTDOWN);
}
