/* Sends the jobs of large files to be checked while the rest of the files is still being read. What
 * comes of it is a gain of time alone: a call whose answer is not that the agent has kept its jobs
 * is made again when all files are read. */
#ifndef PEAL_BATCH_AHEAD_H
#define PEAL_BATCH_AHEAD_H

#include "client/batch/batch.h"
#include "jobs/definition.h"

/* Does the agent keep what a dry run has checked? An older one does not. */
bool batch_is_kept(struct client *client);

/* From now on the jobs that the reading tells of are added to the batch, and sent some thousands at
 * a time. Out of memory: they are not. */
struct job_observer batch_ahead_begin(struct batch *batch, struct client *client);

/* Waits for the calls, and ends. `is_complete`: all files were read without a mistake, so that what
 * is left of the batch is sent, too. */
void batch_ahead_end(struct batch *batch, bool is_complete);

/* Drops the answers if jobs depend on each other: then they are divided into other calls. */
void batch_ahead_match(struct batch *batch);

#endif
