#include "cli/commands.h"

#include <stddef.h>

#define DECLARE(name) extern const struct command cmd_##name;
#define ADDRESS(name) &cmd_##name,
#define LIST(list)                                                                                 \
    (const struct command *const[])                                                                \
    {                                                                                              \
        list(ADDRESS) NULL                                                                         \
    }

COMMANDS_AGENT(DECLARE)
COMMANDS_CLUSTER(DECLARE)
COMMANDS_ACCOUNTS(DECLARE)
COMMANDS_JOBS(DECLARE)
COMMANDS_RUNS(DECLARE)
COMMANDS_COORD(DECLARE)
COMMANDS_FILES(DECLARE)
COMMANDS_SCHEDULES(DECLARE)
COMMANDS_OTHER(DECLARE)

const struct topic topics[] = {
    {"The agent", LIST(COMMANDS_AGENT)},   {"The cluster", LIST(COMMANDS_CLUSTER)},
    {"Accounts", LIST(COMMANDS_ACCOUNTS)}, {"Jobs", LIST(COMMANDS_JOBS)},
    {"Runs", LIST(COMMANDS_RUNS)},         {"One of many", LIST(COMMANDS_COORD)},
    {"Files", LIST(COMMANDS_FILES)},       {"Schedules", LIST(COMMANDS_SCHEDULES)},
    {"Other", LIST(COMMANDS_OTHER)},       {0},
};
