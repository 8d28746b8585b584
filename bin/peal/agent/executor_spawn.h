/* The engine's executor, by the spawner; and where the output of runs comes from. */
#ifndef PEAL_EXECUTOR_SPAWN_H
#define PEAL_EXECUTOR_SPAWN_H

#include "api.h"
#include "executor.h"
#include "ports.h"
#include "spawn_client.h"

struct executor_spawn;

/* `folder` is the spawner's, in the data folder; made if it is not there. `allow_file`
 * names the users that jobs may run as (NULL: the spawner's default). `node` is told to jobs.
 * `open_files` is their limit of descriptors (0: this process's own). `wake` asks for a turn of the
 * engine. */
MUST_CHECK enum status executor_spawn_new(struct loop *loop, const char *folder,
                                          const char *allow_file, int64_t open_files,
                                          const char *node, void (*wake)(void *context),
                                          void *context, struct executor_spawn **ret);
struct executor_spawn *executor_spawn_free(struct executor_spawn *executor);

struct executor *executor_spawn_port(struct executor_spawn *executor);
struct output_source executor_spawn_output(struct executor_spawn *executor);
struct live_output executor_spawn_live_output(struct executor_spawn *executor);

#endif
