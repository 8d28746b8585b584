/* The rows that are written and looked for, by number, oldest first: one each three seconds, so
 * that ten million are a year. They look like life: some jobs run often and most seldom, few runs
 * fail, fewer last long; and like its worst case: what is asked for was there only at the very
 * beginning.
 */
#ifndef PEAL_BENCH_HISTORY_ROWS_H
#define PEAL_BENCH_HISTORY_ROWS_H

#include "run.h"

enum {
    JOBS = 5000,
    STEP_MS = 3000,
    ENTRY_EVERY = 200, /* so many runs have one ledger entry between them */
};

#define FIRST_MS INT64_C(1800000000000)

/* Only a few of the oldest rows have these. */
#define OLD_NODE   "worker-old.example"
#define OLD_JOB    "legacy-import"
#define OLD_DETAIL "disk quota exceeded" /* part of it */

struct id row_job_uid(uint32_t job);
void row_job_name(uint32_t job, char name[64]);
uint32_t row_job(uint32_t number);
struct run row_make(uint32_t number);
struct ledger_entry row_make_entry(uint32_t number);

/* How far its tick is from when it was made, as the history stores it: see history_columns.h. */
int row_stray_class(const struct run *run);

#endif
