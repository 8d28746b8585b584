/* What an agent is told by its command line and its configuration file. */
#ifndef PEAL_AGENT_CONFIG_H
#define PEAL_AGENT_CONFIG_H

#include <stdint.h>

#include "status.h"
#include "strbuf.h"

struct agent_config {
    char *data;        /* the data folder, absolute */
    char *log_file;    /* NULL: stderr */
    char *file;        /* the configuration file; NULL: none */
    char *timezone;    /* of jobs that name none; NULL: the machine's */
    char *allow_file;  /* users that jobs may run as; NULL: the spawner's default */
    int max_running;   /* 0: no limit */
    int64_t keep_runs; /* per job; 0: no limit */
    int64_t keep_s;    /* age; 0: no limit */
};

/* 1,000 runs of each job and 90 days are kept. */
void agent_config_init(struct agent_config *config);
void agent_config_release(struct agent_config *config);

/* Reads config->file anew and takes over what may change while the agent runs: timezone,
 * max_running, retention. Nothing changes unless the whole file is right. */
MUST_CHECK enum status agent_config_reload(struct agent_config *config, struct strbuf *why);

/* Reads config->file over what is there. E_INVALID, E_NOT_FOUND, E_IO: *why names the file, line
 * and mistake. */
MUST_CHECK enum status agent_config_read(struct agent_config *config, struct strbuf *why);

#endif
