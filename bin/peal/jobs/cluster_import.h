/* Moves the jobs, accounts, calendars and channels of an embedded store into a cluster's. No agent
 * takes part. */
#ifndef PEAL_CLUSTER_IMPORT_H
#define PEAL_CLUSTER_IMPORT_H

#include "cli/cli.h"
#include "config/agent_config.h"

/* `from` is the data folder whose jobs are read, under its lock; config->store is where they go.
 * The folder's database stays as it is. Everything is told. EXIT_CONFLICT: an agent uses the
 * folder, runs are still open there, or some names are taken. */
MUST_CHECK enum exit_code cluster_import(const char *from, const struct agent_config *config);

#endif
