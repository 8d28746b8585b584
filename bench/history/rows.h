/* The runs that are written and looked for: RUNS of them, of JOBS jobs, one each 100 ms, one of 50
 * failed. */
#ifndef PEAL_BENCH_HISTORY_ROWS_H
#define PEAL_BENCH_HISTORY_ROWS_H

#include "run.h"

enum { JOBS = 1000, FAILED_EVERY = 50, STEP_MS = 100 };

#define FIRST_MS INT64_C(1800000000000)

struct run row_make(uint32_t number);
struct id row_job_uid(uint32_t job);

#endif
