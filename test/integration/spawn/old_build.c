/* A spawner of an earlier version. */
#include "spawner.h"

const struct spawn_build spawner_build = {.version = "0.0.1", .revision = "v0.0.0-7-gc0ffee"};
