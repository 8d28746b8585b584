/* Every sentence of kv.h and its neighbours that a server has to keep, for every implementation. */
#ifndef PEAL_KV_CONTRACT_H
#define PEAL_KV_CONTRACT_H

#include "kv.h"

struct kv_backend {
    const char *name;
    struct kv_client *(*open)(struct loop *loop);
    void (*kill)(void); /* the server, at once */
    void (*restart)(void);
};

int kv_contract_run(const struct kv_backend *backend);

#endif
