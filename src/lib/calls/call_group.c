#include "calls/call_group.h"

#include <stdio.h>
#include <stdlib.h>

#include "calls/call_batch.h"

void call_group_init(struct call_group *group)
{
    *group = (struct call_group){0};
    pthread_mutex_init(&group->lock, NULL);
    LIST_INIT(&group->batches);
}

void call_group_release(struct call_group *group)
{
    for (int i = 0; i < GROUP_BLOCKS; i++)
        free(atomic_load(&group->blocks[i]));
    pthread_mutex_destroy(&group->lock);
}

/* ---- places ---- */

/* Blocks are twice as large as the one before, so that members never move. */
struct place {
    int block;
    size_t first, offset; /* index of the block's first member; place behind it */
};

static struct place place_of(size_t index)
{
    int block = 63 - __builtin_clzll(index / GROUP_FIRST + 1);
    size_t first = GROUP_FIRST * (((size_t)1 << block) - 1);
    return (struct place){block, first, index - first};
}

struct group_member *call_group_at(const struct call_group *group, size_t index)
{
    struct place place = place_of(index);
    return &atomic_load_explicit(&group->blocks[place.block], memory_order_acquire)[place.offset];
}

/* With the lock. NULL: out of memory. */
static struct group_member *new_place(struct call_group *group)
{
    size_t index = atomic_load(&group->used);
    struct place place = place_of(index);
    if (place.block >= GROUP_BLOCKS)
        return NULL;
    struct group_member *block = atomic_load(&group->blocks[place.block]);
    if (!block) {
        block = calloc((size_t)GROUP_FIRST << place.block, sizeof(*block));
        atomic_store(&group->blocks[place.block], block);
    }
    if (!block)
        return NULL;
    block[place.offset].index = index;
    return &block[place.offset];
}

enum status call_group_add(struct call_group *group, peal_function *function, void *arg,
                           const char *name, void *owner, struct group_member **ret)
{
    pthread_mutex_lock(&group->lock);
    struct group_member *member = group->free_places;
    bool is_new = !member;
    if (member)
        group->free_places = member->next_free;
    else
        member = new_place(group);
    if (member) {
        member->function = function;
        member->arg = arg;
        member->name = name;
        member->owner = owner;
        member->added_ms = clock_now().boot.ms;
        atomic_store(&member->ended_ms, 0);
        atomic_store(&member->state, 0); /* calls may begin */
    }
    if (member && is_new)
        atomic_fetch_add(&group->used, 1);
    pthread_mutex_unlock(&group->lock);
    *ret = member;
    return member ? OK : E_NOMEM;
}

/* ---- calls, and the end ---- */

/* After the last call of a removed member, by whoever made it; or when it was removed. */
static void give_back(struct call_group *group, struct group_member *member)
{
    void *owner = member->owner;
    pthread_mutex_lock(&group->lock);
    member->next_free = group->free_places;
    group->free_places = member;
    pthread_mutex_unlock(&group->lock);
    group->gone(owner);
}

void call_group_remove(struct call_group *group, struct group_member *member)
{
    if (!atomic_fetch_or(&member->state, MEMBER_GONE))
        give_back(group, member);
}

static bool has_calls(uint64_t state)
{
    return state % MEMBER_LOOK;
}

bool call_group_enter(struct group_member *member, uint64_t as, bool alone)
{
    uint64_t state = atomic_load(&member->state);
    do {
        if (state & MEMBER_GONE || (alone && has_calls(state)))
            return false;
    } while (!atomic_compare_exchange_weak(&member->state, &state, state + as));
    return true;
}

void call_group_leave(struct call_group *group, struct group_member *member, uint64_t as)
{
    if (atomic_fetch_sub(&member->state, as) == (MEMBER_GONE | as))
        give_back(group, member);
}

void call_group_note_end(struct group_member *member, int64_t now_us)
{
    atomic_store_explicit(&member->ended_ms, now_us / 1000, memory_order_relaxed);
}

bool call_group_is_open(struct call_group *group, struct group_member *member)
{
    const struct call_batch *batch;
    bool is_open = has_calls(atomic_load(&member->state));
    pthread_mutex_lock(&group->lock);
    LIST_FOREACH(batch, &group->batches, in_group)
    is_open = is_open || call_batch_awaits(batch, member->index);
    pthread_mutex_unlock(&group->lock);
    return is_open;
}

size_t call_group_print(struct call_group *group, char *ret, size_t size)
{
    size_t used = atomic_load(&group->used), count = 0;
    for (size_t i = 0; i < used; i++) {
        struct group_member *member = call_group_at(group, i);
        if (!call_group_enter(member, MEMBER_LOOK, false))
            continue;
        if (!count++)
            snprintf(ret, size, "%s", member->name);
        call_group_leave(group, member, MEMBER_LOOK);
    }
    return count;
}
