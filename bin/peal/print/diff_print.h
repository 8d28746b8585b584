/* Prints a unified diff to stdout, with colours on a terminal. */
#ifndef PEAL_DIFF_PRINT_H
#define PEAL_DIFF_PRINT_H

#include "client/client.h"

void diff_print(const char *diff);

/* The diff between two revisions of a job; `to` NULL: the current one. *ret_differs: is there any
 * difference? */
MUST_CHECK enum exit_code diff_print_revisions(struct client *client, const char *job,
                                               const char *from, const char *to, bool *ret_differs);

#endif
