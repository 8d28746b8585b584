/* Reads that go on when the agent is away for a moment: it restarts, a proxy changes to another
 * node, or the node that has the answer does not reply. */
#ifndef PEAL_PATIENCE_H
#define PEAL_PATIENCE_H

#include "client/client.h"

enum { PATIENCE_S = 30 }; /* how long failures in a row are tolerated */

struct patience {
    bool is_new;              /* what is read was just made: a node may not know it yet */
    int64_t since_ms;         /* boot time of the first failure in a row; 0: none */
    int64_t missing_since_ms; /* of a 404, likewise; -1: it was found once */
};

/* As client_get, again and again; the first failure in a row and its end are told on stderr. What
 * does not pass (a refusal, a 404) is reported at once; a 404 of what is new not at all, and after
 * some seconds. */
MUST_CHECK enum exit_code client_get_patiently(struct client *client, const char *path,
                                               struct patience *patience, json_t **ret);

#endif
