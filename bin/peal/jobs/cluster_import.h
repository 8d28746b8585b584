/* Imports the jobs, accounts, calendars and channels of an embedded store into a cluster's, without
 * an agent. */
#ifndef PEAL_CLUSTER_IMPORT_H
#define PEAL_CLUSTER_IMPORT_H

#include "cli/cli.h"
#include "config/agent_config.h"

/* `from` is the data folder to read, under its lock; config->store is the target. The folder's
 * database is unchanged. Prints all results. EXIT_CONFLICT: an agent uses the folder, runs are
 * still open there, or some names are taken. */
MUST_CHECK enum exit_code cluster_import(const char *from, const struct agent_config *config);

#endif
