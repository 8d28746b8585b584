/* What program this is. */
#include "caller.h"
#include "version.h"

const struct spawn_build caller_build = {.version = PEAL_VERSION, .revision = PEAL_REVISION};
