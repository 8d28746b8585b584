/* A history without a disk. Requests are done in history_dispatch. */
#ifndef PEAL_HISTORY_MEMORY_H
#define PEAL_HISTORY_MEMORY_H

#include "history.h"

MUST_CHECK enum status history_memory_new(struct history_wake wake, struct history **ret);

#endif
