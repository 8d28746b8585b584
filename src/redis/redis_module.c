/* What the module exports, for programs that embed peal: see module.h. */
#include "module.h"
#include "module_version.h"
#include "redis.h"

extern const struct module peal_module;
const struct module peal_module = {MODULE_VERSION, (void (*)(void))redis_client_new};
