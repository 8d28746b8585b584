/* Prints the output of a run incrementally. */
#ifndef PEAL_LOG_PRINT_H
#define PEAL_LOG_PRINT_H

#include "cli/output_text.h"
#include "client/client.h"

struct log_printer {
    int64_t offset;              /* of the next byte of the whole output */
    bool complete;               /* the run has ended and all was printed */
    bool is_cut;                 /* but for what a node has that is gone; the user was told */
    bool is_new;                 /* the run was just made: a node may not know it yet */
    bool timestamps;             /* in front of every line */
    const char *prefix;          /* of every line; NULL: none */
    bool merged;                 /* both streams to stdout */
    bool inside_line[2];         /* of stdout, stderr: the last line is not ended yet */
    struct output_text texts[2]; /* filters of both, for a terminal */
};

/* Prints new output, filtered for a terminal. The run's stderr goes to stderr, unless `merged`.
 * *ret_run (may be NULL) is the current run. */
MUST_CHECK enum exit_code log_print_more(struct client *client, const char *run_id,
                                         struct log_printer *printer, json_t **ret_run);

/* Prints until the run has ended, and goes on where it was when the agent is away for a moment.
 * *ret is the run. EXIT_NOT_FOUND of a new run is not reported. */
MUST_CHECK enum exit_code log_follow(struct client *client, const char *run_id,
                                     struct log_printer *printer, int64_t deadline_ms,
                                     json_t **ret);

#endif
