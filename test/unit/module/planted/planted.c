/* Modules of this build, of another one, and something that is none. */
#include "module.h"
#include "module_version.h"

extern const struct module peal_module, no_module;

static void nothing(void)
{
}

#ifdef PLANTED_OWN
const struct module peal_module = {MODULE_VERSION, nothing};
#elif defined(PLANTED_OTHER)
const struct module peal_module = {"0.0.1 old", nothing};
#else
const struct module no_module = {MODULE_VERSION, nothing};
#endif
