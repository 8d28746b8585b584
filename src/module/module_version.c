#include "module.h"
#include "module_build.h" /* made by cmake/digest.cmake */
#include "version.h"

const char module_version[] = PEAL_VERSION " " PEAL_REVISION " build " MODULE_BUILD;
