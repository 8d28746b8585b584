/* What peal drain and peal undrain share. */
#ifndef PEAL_NODE_ACTION_H
#define PEAL_NODE_ACTION_H

#include "client/client.h"

struct node_request {
    struct request_base base;
    struct words names;
};
extern const struct option_row node_arguments[];

/* POSTs the name of the command to each node that is named. A name that is not there is told
 * with the nearest one that is. `tell` says on stderr what became of the node. */
MUST_CHECK enum exit_code node_action(struct client *client, const struct node_request *request,
                                      void (*tell)(const json_t *node));

#endif
