/* What program this is. A file of its own, so that tests can link a spawner of another version. */
#include "spawner.h"
#include "version.h"

const struct spawn_build spawner_build = {.version = PEAL_VERSION, .revision = PEAL_REVISION};
