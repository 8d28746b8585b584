/* What cgo can't say: calls with a variable number of arguments, and C callbacks that are Go's. The
 * handles are numbers (cgo.Handle), which C carries in place of pointers. */
#ifndef PEAL_GO_BRIDGE_H
#define PEAL_GO_BRIDGE_H

#include <peal.h>

peal_node *bridge_open(peal_options *options, uintptr_t log);
int bridge_add(peal_node *node, peal_job *job, uintptr_t function);
void bridge_log(peal_run *run, const char *line);

#endif
