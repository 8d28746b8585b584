/* Starts that come before their time.
 *
 * An agent sends a start as soon as its run may begin, some milliseconds ahead. Meanwhile all is
 * done that takes time: its pipes and its process are made, and the process is held right before
 * its exec (process/launch.h). At its time the run is written to the journal and let go.
 *
 * That is for the first of a tick, and for all of one that has more than some hundred. Others are
 * made at their time, which costs less.
 *
 * Until then nothing of it is on disk. If the spawner is killed, what is held dies with it, nothing
 * has run, and the agent sends the start again. A start that can't be prepared, or whose process
 * fails, is made at its time like any other: only then is it known to have failed.
 *
 * Times are of the boot clock, which nobody can set. Whatever is asked for has an end: what is due
 * is looked at in every turn, whatever has caused it, at least once a second, and a process that is
 * held ends by itself at its deadline. */
#ifndef PEAL_SPAWNER_EARLY_H
#define PEAL_SPAWNER_EARLY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "spawn_message.h"
#include "status.h"

struct launch;
struct run;
struct spawner;

struct early {
    struct run *run;
    struct launch *held; /* its process; NULL: none is made yet */
    struct spawn_request request;
    void *block;   /* with the request's strings */
    int stdin_fd;  /* -1: none */
    size_t length; /* of the message */
    bool is_left;  /* for its time, since there are few of its tick */
    bool is_told;  /* the agent that is there has no start to send again */
    TAILQ_ENTRY(early) link;
    char message[] __attribute__((aligned(16))); /* with the request's texts */
};

TAILQ_HEAD(early_queue, early);

/* Starts of one time that came one after the other. */
struct early_tick {
    int64_t at_boot_us;
    size_t count;
};

/* Takes a start whose time has not come. E_NOMEM. */
MUST_CHECK enum status early_add(struct spawner *s, const struct spawn_message *message,
                                 int stdin_fd);

/* When to call early_release next; 0: nothing waits. */
int64_t early_due_us(const struct spawner *s);

/* Starts what is due. To be called in every turn. */
void early_release(struct spawner *s);

/* Its process has ended before its time. */
void early_reaped(struct spawner *s, struct run *run);

/* The run is not to start any more: it is a run without a process. */
void early_drop(struct spawner *s, struct run *run);

/* Another agent comes: nobody could send those again that are here. */
void early_orphan(struct spawner *s);

/* Before the spawner executes itself, which could not let them go any more: forgets them, and the
 * agent, which sends them again. False: somebody could not; wait for their time. */
bool early_clear(struct spawner *s);

#endif
