/* Of which build a module is, and who loads it. */
#ifndef PEAL_MODULE_VERSION_H
#define PEAL_MODULE_VERSION_H

#include "version.h"

#define MODULE_VERSION PEAL_VERSION " " PEAL_REVISION

#endif
