/* Every command, by topic, in the order of `peal --help`. X(NAME) stands for cmd_NAME of
 * cmd_NAME.c. */
#ifndef PEAL_COMMANDS_H
#define PEAL_COMMANDS_H

#include "cli/cli.h"

#define COMMANDS_AGENT(X)                                                                          \
    X(start) X(stop) X(restart) X(state) X(top) X(dev) X(tls) X(service) X(config)
#define COMMANDS_CLUSTER(X)                                                                        \
    X(nodes) X(drain) X(undrain) X(maintenance) X(group) X(cluster) X(doctor)
#define COMMANDS_ACCOUNTS(X) X(user) X(token) X(secret) X(link) X(login) X(logout)
#define COMMANDS_JOBS(X)                                                                           \
    X(add)                                                                                         \
    X(list)                                                                                        \
    X(get)                                                                                         \
    X(describe)                                                                                    \
    X(edit)                                                                                        \
    X(rename)                                                                                      \
    X(pause)                                                                                       \
    X(resume)                                                                                      \
    X(skip_next)                                                                                   \
    X(mute)                                                                                        \
    X(ack)                                                                                         \
    X(unmute)                                                                                      \
    X(delete)                                                                                      \
    X(undelete)                                                                                    \
    X(versions)                                                                                    \
    X(rollback)                                                                                    \
    X(calendar)                                                                                    \
    X(audit)                                                                                       \
    X(channel)                                                                                     \
    X(webhook)
#define COMMANDS_RUNS(X)      X(run) X(runs) X(logs) X(workflow) X(why) X(kill) X(backfill) X(stats)
#define COMMANDS_COORD(X)     X(lock) X(elect) X(select)
#define COMMANDS_FILES(X)     X(apply) X(diff) X(plan) X(herd) X(import) X(shadow) X(export)
#define COMMANDS_SCHEDULES(X) X(next) X(explain) X(validate)
#define COMMANDS_OTHER(X)     X(completion) X(version)

struct topic {
    const char *title;                     /* NULL ends the table */
    const struct command *const *commands; /* ends with NULL */
};

extern const struct topic topics[];

#endif
