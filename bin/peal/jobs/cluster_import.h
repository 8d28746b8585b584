/* Imports the jobs of one store into another, and what else people have set, without an agent. */
#ifndef PEAL_CLUSTER_IMPORT_H
#define PEAL_CLUSTER_IMPORT_H

#include "cli/cli.h"
#include "config/agent_config.h"

struct cluster_import {
    const char *from;                 /* a data folder, or the text of the URL */
    const struct store_url *from_url; /* NULL: a data folder, which is read under its lock */
    const char *folder; /* of the target, if config->store is embedded; and in advice */
};

/* The target is config->store. What is read stays as it is. Prints all results. EXIT_CONFLICT: an
 * agent uses the source, runs are still open there, or some names are taken. */
MUST_CHECK enum exit_code cluster_import(const struct cluster_import *import,
                                         const struct agent_config *config);

#endif
