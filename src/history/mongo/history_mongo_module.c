/* What the module exports: see module.h. */
#include "module.h"
#include "module_version.h"
#include "mongo/history_mongo.h"

extern const struct module peal_module;
const struct module peal_module = {MODULE_VERSION, (void (*)(void))history_mongo_open};
