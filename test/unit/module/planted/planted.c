/* Modules of this build, of another version, of another build of this version, and something that
 * is none. */
#include "module.h"
#include "version.h"

extern const struct module peal_module, no_module;

static void nothing(void)
{
}

#ifdef PLANTED_OWN
const struct module peal_module = {module_version, nothing};
#elif defined(PLANTED_OTHER)
const struct module peal_module = {"0.0.1 old", nothing};
#elif defined(PLANTED_BUILD)
const struct module peal_module = {PEAL_VERSION " " PEAL_REVISION " build 0123456789ab", nothing};
#else
const struct module no_module = {module_version, nothing};
#endif
