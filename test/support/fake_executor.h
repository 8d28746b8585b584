/* An executor without processes: what it "starts" ends when the test says so, or at once. It keeps
 * what tests let runs print, too. */
#ifndef PEAL_FAKE_EXECUTOR_H
#define PEAL_FAKE_EXECUTOR_H

#include "ports.h"

struct fake_executor;

/* `wake` is called when there are events to fetch. Aborts when out of memory. */
struct fake_executor *fake_executor_new(void (*wake)(void *context), void *context);
struct fake_executor *fake_executor_free(struct fake_executor *fake);
struct executor *fake_executor_port(struct fake_executor *fake);

/* Runs that start from now on end at once, with exit code 0. */
void fake_executor_set_instant(struct fake_executor *fake, bool instant);
void fake_executor_set_now(struct fake_executor *fake, struct now now);

size_t fake_executor_started(const struct fake_executor *fake); /* ever */

/* What a running one prints. */
void fake_executor_print(struct fake_executor *fake, const struct id *run_id,
                         enum output_stream stream, const void *bytes, size_t length);

/* The same for an output that was too long: its head, what was dropped, and its tail. */
void fake_executor_print_gap(struct fake_executor *fake, const struct id *run_id, const char *head,
                             int64_t gap_bytes, const char *tail);

/* Ends a run: 0 is RUN_OK, else RUN_FAILED. False: it does not run. */
bool fake_executor_end(struct fake_executor *fake, const struct id *run_id, int exit_code);

/* The output, as the engine and as the API want it. */
struct output_source fake_executor_output(struct fake_executor *fake);
enum status fake_executor_read(void *context, const struct id *run_id, int64_t offset, size_t limit,
                               struct output_chunk **ret, size_t *ret_count);

#endif
