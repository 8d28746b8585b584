/* A history that keeps nothing: what is recorded goes to the program's log. */
#ifndef PEAL_HISTORY_TOLD_H
#define PEAL_HISTORY_TOLD_H

#include "history.h"

struct peal_node;

MUST_CHECK enum status history_told_new(const struct peal_node *peal, struct history_wake wake,
                                        struct history **ret);

#endif
