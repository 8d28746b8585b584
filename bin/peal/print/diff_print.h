/* A unified diff on stdout, coloured where there are colours. */
#ifndef PEAL_DIFF_PRINT_H
#define PEAL_DIFF_PRINT_H

#include "client/client.h"

void diff_print(const char *diff);

/* Between two revisions of a job as the agent has them; `to` NULL: the current one. *ret_differs
 * tells whether there is any difference. */
MUST_CHECK enum exit_code diff_print_revisions(struct client *client, const char *job,
                                               const char *from, const char *to, bool *ret_differs);

#endif
