/* A thin layer over libevent: descriptors and timers, nothing else, so that no other header of
 * peal needs to know which loop it runs on. One thread. */
#ifndef PEAL_LOOP_H
#define PEAL_LOOP_H

#include <stdint.h>

#include "status.h"

struct loop;
struct loop_fd;
struct loop_timer;

/* What is ready goes in this order. Whatever decides when something starts (descriptors and timers
 * of this header, unless they are made patient) is urgent; what libraries do with the base is
 * patient unless they are told otherwise. After some work for the patient ones it is looked again
 * for urgent ones; those that never pause step back for a turn now and then. */
enum loop_priority {
    LOOP_URGENT,
    LOOP_PATIENT = 2, /* in between, the loop itself finds out whether there is a pause */
};

enum loop_event {
    LOOP_READ = 1 << 0,
    LOOP_WRITE = 1 << 1,
};

MUST_CHECK enum status loop_new(struct loop **ret);
struct loop *loop_free(struct loop *loop); /* after all its watches; accepts NULL; returns NULL */

void loop_run(struct loop *loop);      /* until loop_stop */
void loop_run_once(struct loop *loop); /* waits until something is ready, handles each that is */
void loop_stop(struct loop *loop);

/* The libevent base (struct event_base *), for libraries which attach to it. */
struct event_base *loop_base(struct loop *loop);

/* How long one callback has kept all others waiting, in time of the processor: what the machine did
 * meanwhile for others does not count, nor does a wait for the disk. */
enum { LOOP_LONG_MS = 20 };
struct loop_load {
    int64_t longest_us;
    uint64_t long_count; /* callbacks that took longer than LOOP_LONG_MS */
};
struct loop_load loop_load(const struct loop *loop);

/* Around the work of libraries' callbacks; those of this header are measured anyway. */
void loop_work_begin(struct loop *loop);
void loop_work_end(struct loop *loop);

/* Watches nothing until it is told what; `events` is a set of enum loop_event. The descriptor
 * stays the caller's and must be open until loop_fd_free. */
typedef void loop_fd_ready(void *context, unsigned events);
MUST_CHECK enum status loop_fd_new(struct loop *loop, int fd, loop_fd_ready *ready, void *context,
                                   struct loop_fd **ret);
MUST_CHECK enum status loop_fd_new_patient(struct loop *loop, int fd, loop_fd_ready *ready,
                                           void *context, struct loop_fd **ret);
void loop_fd_want(struct loop_fd *watch, unsigned events);
struct loop_fd *loop_fd_free(struct loop_fd *watch);

/* Fires once, `delay_ms` after it was set, 0: in the next turn. Setting it again moves it. */
typedef void loop_timer_fired(void *context);
MUST_CHECK enum status loop_timer_new(struct loop *loop, loop_timer_fired *fired, void *context,
                                      struct loop_timer **ret);
MUST_CHECK enum status loop_timer_new_patient(struct loop *loop, loop_timer_fired *fired,
                                              void *context, struct loop_timer **ret);
void loop_timer_set(struct loop_timer *timer, int64_t delay_ms);
void loop_timer_stop(struct loop_timer *timer);
struct loop_timer *loop_timer_free(struct loop_timer *timer);

#endif
