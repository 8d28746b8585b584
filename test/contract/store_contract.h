/* Every sentence of store.h as a test, for any backend. */
#ifndef PEAL_STORE_CONTRACT_H
#define PEAL_STORE_CONTRACT_H

#include "store.h"

struct store_backend {
    const char *name;
    /* What one test's stores live in, such as a folder; *ret_place is given to the others. */
    void (*make_place)(char place[128]);
    enum status (*open)(const char *place, struct store_wake wake, struct store **ret);
    void (*remove_place)(const char *place);
    bool durable; /* closed and opened again it has all that it had */
};

/* Runs all tests; the number of those that failed. */
int store_contract_run(const struct store_backend *backend);

#endif
