/* The checks of peal doctor: one line per check, with a next step where one helps. */
#ifndef PEAL_DOCTOR_H
#define PEAL_DOCTOR_H

#include <jansson.h>

#include "client/client.h"
#include "config/agent_config.h"

enum check_result { CHECK_OK, CHECK_WARN, CHECK_FAIL };

struct report {
    json_t *checks; /* for JSON; NULL: prints lines */
    enum check_result worst;
    bool failed; /* out of memory */
};

/* Reports one check; `next` (NULL: none) is what to do. Name, next step and format are looked up by
 * it: lines are in the language of the command, JSON is in English. */
void report_add(struct report *report, enum check_result verdict, const char *name,
                const char *next, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same for a text that is an argument of report_add, or a part of its next step. */
const char *report_tr(const struct report *report, const char *english)
    __attribute__((format_arg(2)));

/* ---- doctor_local.c: this machine ---- */

/* The data folder and its disk. */
void doctor_folder(struct report *report, const char *folder);

/* The agent, its spawner, its clock. False: no agent. *ret_url is its store's URL, a new string, or
 * NULL. */
bool doctor_agent(struct report *report, struct client *client, char **ret_url);

/* The embedded database. */
void doctor_sqlite(struct report *report, const char *folder);

/* The history file, if there is one and no agent reports on it. */
void doctor_history(struct report *report, const char *folder);

/* ---- doctor_etcd.c: the servers of a cluster's store ---- */

void doctor_etcd(struct report *report, const struct agent_config *config);

/* ---- doctor_postgres.c: the same in PostgreSQL ---- */

void doctor_postgres(struct report *report, const struct agent_config *config);

/* ---- doctor_redis.c: the same in Redis ---- */

void doctor_redis(struct report *report, const struct agent_config *config);

#endif
