/* Tells the service manager that has started the agent, if one has, how far it is: systemd's
 * sd_notify(3) protocol, a datagram per message to the socket that $NOTIFY_SOCKET names. Without
 * one every function does nothing. */
#ifndef PEAL_SUPERVISOR_H
#define PEAL_SUPERVISOR_H

#include "loop.h"

struct supervisor {
    int fd; /* -1: nobody listens */
    int64_t watchdog_ms;
    struct loop_timer *timer;
};

/* Connects, and takes the variables out of the environment, so that no job speaks for the agent. To
 * be called before the sandbox is entered. */
void supervisor_init(struct supervisor *supervisor);

/* From now on the watchdog, if the service has one, is told twice in its interval that the loop
 * turns. */
MUST_CHECK enum status supervisor_start(struct supervisor *supervisor, struct loop *loop);

void supervisor_ready(const struct supervisor *supervisor, const char *status);
void supervisor_stopping(const struct supervisor *supervisor);

void supervisor_release(struct supervisor *supervisor);

#endif
