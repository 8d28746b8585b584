/* What the module exports, for programs that embed peal: see module.h. */
#include "module.h"
#include "redis.h"

extern const struct module peal_module;
const struct module peal_module = {module_version, (void (*)(void))redis_client_new};
