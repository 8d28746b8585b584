#include "agent_self.h"

#include <stdio.h>

#include "data_folder.h"
#include "machine.h"
#include "version.h"

struct peer agent_self(const struct agent_config *config, const char *node, struct id instance,
                       int64_t started_ms)
{
    struct peer self = {
        .instance = instance,
        .home = data_folder_home(config->data),
        .roles = config->roles,
        .capacity = config->capacity ? config->capacity : machine_processors(),
        .started_ms = started_ms,
    };
    snprintf(self.name, sizeof(self.name), "%s", node);
    snprintf(self.labels, sizeof(self.labels), "%s", config->labels);
    snprintf(self.address, sizeof(self.address), "%s", config->address);
    snprintf(self.version, sizeof(self.version), "%s", PEAL_VERSION);
    return self;
}
