/* The executor of a node that only serves the API: it never starts a run. */
#ifndef PEAL_EXECUTOR_NONE_H
#define PEAL_EXECUTOR_NONE_H

#include "executor.h"

struct executor *executor_none(void); /* has no state; not freed */

#endif
