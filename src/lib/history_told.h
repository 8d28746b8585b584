/* A history that keeps nothing: what is recorded goes to the program's log. */
#ifndef PEAL_HISTORY_TOLD_H
#define PEAL_HISTORY_TOLD_H

#include "history.h"

struct peal_node;

MUST_CHECK enum status history_told_new(struct peal_node *peal, struct history_wake wake,
                                        struct history **ret);

/* The same of calls that have no records (calls_config); `context` is the node. Any thread. */
void history_told_end(void *context, const struct run *end, const struct output_chunk *chunks,
                      size_t count);
void history_told_passed(void *context, const char *name, size_t more, enum run_reason reason);

#endif
