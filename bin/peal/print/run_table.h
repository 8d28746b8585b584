/* Runs as a table, and how one is found. */
#ifndef PEAL_RUN_TABLE_H
#define PEAL_RUN_TABLE_H

#include "cli/output.h"
#include "client/client.h"

/* The states of runs that have not ended, for the API. */
#define OPEN_STATES "queued,due,claimed,begun,running"

/* Runs, and ticks that did not run, newest first. `with_node`: the table says where they ran. */
MUST_CHECK enum exit_code runs_print(const json_t *runs, enum output output, bool with_node);

/* Whether there is more than one node, so that it matters where something ran. */
bool nodes_are_many(struct client *client);

/* "failed (exit_code 3)", "ok", "skipped (overlap)". */
void run_outcome(const json_t *run, struct strbuf *out);

/* Whether a run is over, and whether it went well. */
bool run_is_over(const json_t *run);
bool run_is_ok(const json_t *run);

/* The id of a run: `word` itself if it is one, else the newest run of the job of that name. */
MUST_CHECK enum exit_code run_find(struct client *client, const char *word, struct strbuf *run_id);

/* Waits a little longer each time, from 20 ms to half a second. */
void pause_longer(int *delay_ms);

/* Polls until the run of `job` is over; *ret is the run. If it ran on another node, which has it in
 * its history, *ret is what the job knows of its last run. `deadline_ms` (wall, NO_TIME: none)
 * passed: EXIT_TIMED_OUT, which has been told. */
MUST_CHECK enum exit_code run_wait(struct client *client, const char *job, const char *run_id,
                                   int64_t deadline_ms, json_t **ret);

#endif
