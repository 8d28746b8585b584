/* Functions of this process alone that have the same definition, but for their names. They are one
 * job of the engine, and a run of it is a call of each of them (call_batch.h): so what a run costs
 * in the engine is paid once for all. Any thread. */
#ifndef PEAL_CALL_GROUP_H
#define PEAL_CALL_GROUP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "clock.h"
#include "peal.h"
#include "status.h"

enum {
    GROUP_FIRST = 64,  /* members of its first block; each further one has twice as many */
    GROUP_BLOCKS = 26, /* four thousand million */
};

/* The state of a member: how many calls are being made or about to be, how many others look at it,
 * and whether its function was removed. */
#define MEMBER_CALL UINT64_C(1)
#define MEMBER_LOOK (UINT64_C(1) << 32)
#define MEMBER_GONE (UINT64_C(1) << 63)

struct call_batch;
LIST_HEAD(batch_list, call_batch);

/* A function; its place stays the same as long as the group is there. */
struct group_member {
    peal_function *function;
    void *arg;
    const char *name;
    void *owner;
    size_t index;
    int64_t added_ms; /* boot time: earlier ticks are not its */
    _Atomic uint64_t state;
    _Atomic int64_t ended_ms;       /* boot time at the end of its last call */
    struct group_member *next_free; /* with the lock */
};

struct call_group {
    bool skips_overlap;              /* else a call does not mind another of the same function */
    int64_t timeout_ms, deadline_ms; /* 0: none */
    void (*gone)(void *owner);       /* of a member that was removed, after its last call */
    struct group_member *_Atomic blocks[GROUP_BLOCKS];
    atomic_size_t used;   /* places, those of removed members among them */
    pthread_mutex_t lock; /* of all that follows */
    struct group_member *free_places;
    struct batch_list batches; /* that have calls left */
};

/* With the lock initialised; the terms are the caller's to set. */
void call_group_init(struct call_group *group);
void call_group_release(struct call_group *group); /* no call is being made */

/* `name` is the owner's. E_NOMEM. */
MUST_CHECK enum status call_group_add(struct call_group *group, peal_function *function, void *arg,
                                      const char *name, void *owner, struct group_member **ret);

/* No call begins from now on; `gone` is called, at once or after the last. */
void call_group_remove(struct call_group *group, struct group_member *member);

struct group_member *call_group_at(const struct call_group *group, size_t index);

/* Before and after a call, or a look: the member stays meanwhile. False: the function was removed,
 * or `alone` is wanted and a call is being made. */
bool call_group_enter(struct group_member *member, uint64_t as, bool alone);
void call_group_leave(struct call_group *group, struct group_member *member, uint64_t as);
void call_group_note_end(struct group_member *member, int64_t now_us); /* before it is left */

/* A call is being made, or is due and waits. */
bool call_group_is_open(struct call_group *group, struct group_member *member);

/* The name of a member, into `ret`, and how many there are; 0: none. */
size_t call_group_print(struct call_group *group, char *ret, size_t size);

#endif
