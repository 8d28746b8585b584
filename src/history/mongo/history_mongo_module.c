/* What the module exports: see module.h. */
#include "module.h"
#include "mongo/history_mongo.h"

extern const struct module peal_module;
const struct module peal_module = {module_version, (void (*)(void))history_mongo_open};
