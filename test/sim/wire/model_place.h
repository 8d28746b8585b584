/* Where model_ops_test.c runs: with a real etcd, or on a stage. NULL: there is no etcd. */
#ifndef PEAL_SIM_MODEL_PLACE_H
#define PEAL_SIM_MODEL_PLACE_H

#include "loop.h"

struct loop *model_place_open(const char **ret_endpoint);
void model_place_close(struct loop *loop);

#endif
