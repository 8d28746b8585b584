/* Every sentence of store.h as a test, for any backend. */
#ifndef PEAL_STORE_CONTRACT_H
#define PEAL_STORE_CONTRACT_H

#include "store.h"

struct store_backend {
    const char *name;
    /* What one test's stores live in, such as a folder; given to the others. */
    void (*make_place)(char place[128]);
    enum status (*open)(const char *place, struct store_wake wake, struct store **ret);
    /* As to an agent that was started anew: everything there is is fed again. */
    enum status (*reopen)(const char *place, struct store_wake wake, struct store **store);
    /* Another node's view of what `first` sees; NULL: there can be but one. */
    enum status (*open_other)(struct store *first, const char *place, struct store_wake wake,
                              struct store **ret);
    void (*remove_place)(const char *place);
    bool durable; /* what is closed can be opened again */
    /* Does a bit of what the store needs done to come to an answer, and waits for it; NULL: it
     * needs nobody. */
    void (*turn)(void);
};

/* Runs all tests; the number of those that failed. */
int store_contract_run(const struct store_backend *backend);

#endif
