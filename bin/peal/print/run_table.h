/* Prints runs as a table, finds runs, and waits for them. */
#ifndef PEAL_RUN_TABLE_H
#define PEAL_RUN_TABLE_H

#include "cli/output.h"
#include "client/client.h"

/* The states of runs that have not ended, for the API. */
#define OPEN_STATES "queued,due,claimed,begun,running"

/* Runs, and ticks that did not run, newest first. `with_node`: with a column for the node. */
MUST_CHECK enum exit_code runs_print(const json_t *runs, enum output output, bool with_node);

/* Is there more than one node, so that the node is worth showing? */
bool nodes_are_many(struct client *client);

/* "failed (exit_code 3)", "ok", "skipped (overlap)". */
void run_outcome(const json_t *run, struct strbuf *out);

/* The same of a run that is over, with how long it took: "failed (exit code 3) after 2.500s". */
void run_end(const json_t *run, struct strbuf *out);

/* Has the run ended, and did it succeed? */
bool run_is_over(const json_t *run);
bool run_is_settled(
    const json_t *run); /* it is over, and whether another attempt follows is known */
bool run_is_ok(const json_t *run);

/* The id of a run, for a word that is an id or the beginning of only one; empty: it is for a job.
 * EXIT_USAGE: several runs begin so, which are listed. */
MUST_CHECK enum exit_code run_by_id(struct client *client, const char *word, struct strbuf *run_id);

/* The same, and for a job that of its newest run that has begun. */
MUST_CHECK enum exit_code run_find(struct client *client, const char *word, struct strbuf *run_id);

/* Sleeps a little longer each time, from 20 ms to half a second. */
void pause_longer(int *delay_ms);

/* Polls until the run of `job` has ended; *ret is the run. If it is in the history of another node,
 * *ret is the job's summary of its last run. `deadline_ms` (wall, NO_TIME: none) passed:
 * EXIT_TIMED_OUT; reported. */
MUST_CHECK enum exit_code run_wait(struct client *client, const char *job, const char *run_id,
                                   int64_t deadline_ms, json_t **ret);

#endif
