#include "agent_self.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "config/data_folder.h"
#include "version.h"

/* The processors that this process may use: fewer than the machine's in a container. */
static int processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
    if (count < 1)
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count;
}

struct peer agent_self(const struct agent_config *config, const char *node, struct id instance,
                       int64_t started_ms)
{
    struct peer self = {
        .instance = instance,
        .home = data_folder_home(config->data),
        .roles = config->roles,
        .capacity = config->capacity ? config->capacity : processors(),
        .started_ms = started_ms,
    };
    snprintf(self.name, sizeof(self.name), "%s", node);
    snprintf(self.labels, sizeof(self.labels), "%s", config->labels);
    snprintf(self.address, sizeof(self.address), "%s", config->address);
    snprintf(self.version, sizeof(self.version), "%s", PEAL_VERSION);
    return self;
}
