/* Shared by peal drain and peal undrain. */
#ifndef PEAL_NODE_ACTION_H
#define PEAL_NODE_ACTION_H

#include "client/client.h"

struct node_request {
    struct request_base base;
    struct words names;
};
extern const struct option_row node_arguments[];

/* POSTs the command's name to each named node. An unknown name is reported with the nearest known
 * one. `tell` prints the node's new state to stderr. */
MUST_CHECK enum exit_code node_action(struct client *client, const struct node_request *request,
                                      void (*tell)(const json_t *node));

#endif
