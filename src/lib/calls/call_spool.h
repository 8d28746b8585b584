/* Output of calls on disk while they go on, so that the next process has it if this one is killed.
 * What is brisk ends before it gets there: output is written a tenth of a second after it came.
 * The loop's. */
#ifndef PEAL_CALL_SPOOL_H
#define PEAL_CALL_SPOOL_H

#include "calls/call_output.h"
#include "serve/output.h"

#define CALL_SPOOL_CUT "peal: the process of the program ended here, in the middle of this run"

struct call_spool {
    const char *folder; /* NULL: nothing is kept */
    int fd;             /* of the files in it; -1: not opened yet */
};

void call_spool_init(struct call_spool *spool, const char *folder);
void call_spool_release(struct call_spool *spool);

/* Writes what has come since the last time; `file` is where it was then, zero at first. */
struct call_file {
    struct output output;
    bool is_open;
};
void call_spool_write(struct call_spool *spool, const char *id, struct call_output *output,
                      struct call_file *file);

/* The run goes on no longer; `is_needed`: its end is not on record. */
void call_spool_end(struct call_spool *spool, const char *id, struct call_file *file,
                    bool is_needed);

/* Of an earlier process: the chunks, from malloc, and a line that says where it was cut.
 * E_NOT_FOUND: there is none. */
MUST_CHECK enum status call_spool_read(const char *folder, const char *id,
                                       struct output_chunk **ret, size_t *ret_count);

#endif
