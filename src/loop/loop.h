/* A thin layer over libevent: descriptors and timers, nothing else, so that no other header of
 * peal needs to know which loop it runs on. One thread. */
#ifndef PEAL_LOOP_H
#define PEAL_LOOP_H

#include <stdint.h>

#include "status.h"

struct loop;
struct loop_fd;
struct loop_timer;

/* Ready events are handled in this order. Descriptors and timers of this header are urgent unless
 * made patient; events that libraries add to the base are patient by default. While patient events
 * are handled, the loop checks for urgent ones every few callbacks; an urgent event that is ready
 * without a pause gives way to the patient ones for a turn now and then. */
enum loop_priority {
    LOOP_URGENT,
    LOOP_PATIENT = 2, /* 1 is the loop's own event, which detects a pause of the urgent ones */
};

enum loop_event {
    LOOP_READ = 1 << 0,
    LOOP_WRITE = 1 << 1,
};

MUST_CHECK enum status loop_new(struct loop **ret);
struct loop *
loop_free(struct loop *loop); /* after all its descriptors and timers; accepts NULL; returns NULL */

void loop_run(struct loop *loop); /* until loop_stop */
void loop_run_once(
    struct loop *loop); /* waits until something is ready, handles each ready event once */
void loop_stop(struct loop *loop);

/* The libevent base (struct event_base *), for libraries which attach to it. */
struct event_base *loop_base(struct loop *loop);

/* How long one callback has kept all others waiting, in CPU time: time in which other processes ran
 * or the disk was waited for does not count. */
enum { LOOP_LONG_MS = 20 };
struct loop_load {
    int64_t longest_us;
    uint64_t long_count; /* callbacks that took longer than LOOP_LONG_MS */
};
struct loop_load loop_load(const struct loop *loop);

/* To be called around the callbacks of libraries; callbacks of this header are measured anyway. */
void loop_work_begin(struct loop *loop);
void loop_work_end(struct loop *loop);

/* Watches nothing until loop_fd_want; `events` is a set of enum loop_event. The descriptor stays
 * the caller's and must be open until loop_fd_free. */
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
