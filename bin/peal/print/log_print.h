/* The output of a run on its way to the terminal, from where it was left off. */
#ifndef PEAL_LOG_PRINT_H
#define PEAL_LOG_PRINT_H

#include "cli/output_text.h"
#include "client/client.h"

struct log_printer {
    int64_t offset;              /* of the next byte of the whole output */
    bool complete;               /* the run is over and all was printed */
    bool timestamps;             /* in front of every line */
    const char *prefix;          /* the same; NULL: none */
    bool merged;                 /* both streams to stdout */
    bool inside_line[2];         /* of stdout, stderr: something without a line end was printed */
    struct output_text texts[2]; /* of the same, where it goes to a terminal */
};

/* Prints what is new; to a terminal so that it can't harm one. The run's stderr goes to stderr,
 * unless `merged`. *ret_run (may be NULL) is the run as it is now. */
MUST_CHECK enum exit_code log_print_more(struct client *client, const char *run_id,
                                         struct log_printer *printer, json_t **ret_run);

/* Prints until the run is over. *ret is the run. */
MUST_CHECK enum exit_code log_follow(struct client *client, const char *run_id,
                                     struct log_printer *printer, int64_t deadline_ms,
                                     json_t **ret);

#endif
