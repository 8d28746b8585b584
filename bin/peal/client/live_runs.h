/* Prints runs live: starts, ends, and every line of output with the job's name. */
#ifndef PEAL_LIVE_RUNS_H
#define PEAL_LIVE_RUNS_H

#include "client/client.h"
#include "print/run_table.h"

struct live_run;

struct live_runs {
    struct live_run *items; /* oldest first */
    size_t count;
};

void live_runs_init(struct live_runs *live);
void live_runs_release(struct live_runs *live);

/* Prints what is new since the last time. */
MUST_CHECK enum exit_code live_runs_show(struct live_runs *live, struct client *client);

#endif
