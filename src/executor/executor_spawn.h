/* The executor of programs, on top of the spawner. */
#ifndef PEAL_EXECUTOR_SPAWN_H
#define PEAL_EXECUTOR_SPAWN_H

#include "executor.h"
#include "executor_news.h"
#include "ports.h"
#include "spawn_client.h"
#include "spawn_launcher.h"

struct executor_spawn;
struct known_secrets;

struct executor_spawn_config {
    const char *folder;       /* the spawner's, in the data folder; made if it is not there */
    const char *allow_file;   /* the users that jobs may run as; NULL: the spawner's default */
    const char *default_user; /* of jobs that name none; NULL: the agent's own, unless it is root */
    const char *node;         /* is told to jobs */
    int64_t open_files;       /* their limit of descriptors; 0: this process's own */
    const struct known_secrets *secrets; /* of jobs; outlives the executor. NULL: a job with secrets
                                          * is not started */
    struct spawn_launcher *launcher; /* outlives the executor; NULL: this process can do it all */
    const char *program;             /* peal-spawn; NULL: beside this executable */
    const char *shell;               /* of scripts; NULL: bash, or sh where there is none */
    struct executor_news news;
};

/* Texts are copied. `wake` asks for a turn of the engine. */
MUST_CHECK enum status executor_spawn_new(struct loop *loop,
                                          const struct executor_spawn_config *config,
                                          void (*wake)(void *context), void *context,
                                          struct executor_spawn **ret);
struct executor_spawn *executor_spawn_free(struct executor_spawn *executor);

/* Is the process that connected to the UNIX socket part of a run, also of an ended one, or is that
 * unknown? */
bool executor_spawn_may_be_run(const struct executor_spawn *executor, int fd);

/* What version the spawner is, and the last one that died under this process. */
const struct spawner_info *executor_spawn_spawner(const struct executor_spawn *executor);
const struct spawner_death *executor_spawn_death(const struct executor_spawn *executor);

struct executor *executor_spawn_port(struct executor_spawn *executor);

#endif
