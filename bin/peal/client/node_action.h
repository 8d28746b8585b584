/* What peal drain and peal undrain share. */
#ifndef PEAL_NODE_ACTION_H
#define PEAL_NODE_ACTION_H

#include "client/client.h"

/* Reads the options, and POSTs ACTION to each node that is named. A name that is not there is told
 * with the nearest one that is. `tell` says on stderr what became of the node. */
MUST_CHECK enum exit_code node_action(const struct command *self, int argc, char **argv,
                                      const char *action, void (*tell)(const json_t *node));

#endif
