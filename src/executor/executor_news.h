/* What a spawner, or peal-call, tells of itself; for the log. Each may be NULL. */
#ifndef PEAL_EXECUTOR_NEWS_H
#define PEAL_EXECUTOR_NEWS_H

#include "spawn_client.h"

/* A spawner that ended, or was killed, while this process was connected to it. */
struct spawner_death {
    pid_t pid; /* 0: none has died */
    int64_t at_ms;
};

struct executor_news {
    /* How its version compares with this program's; once for each match. */
    void (*matched)(void *context, const struct spawner_info *spawner);
    /* `next` is the next spawner's pid, which knows so many runs. */
    void (*died)(void *context, const struct spawner_death *death, pid_t next, int runs);
    /* Nothing starts before peal-call has told of earlier calls. */
    void (*awaited)(void *context);
    void *context;
};

#endif
