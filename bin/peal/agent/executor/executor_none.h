/* The executor of a node that only serves the API: nothing is ever started here. */
#ifndef PEAL_EXECUTOR_NONE_H
#define PEAL_EXECUTOR_NONE_H

#include "executor.h"

struct executor *executor_none(void); /* has no state; not freed */

#endif
