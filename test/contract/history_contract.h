/* Every sentence of history.h as a test, for any backend. */
#ifndef PEAL_HISTORY_CONTRACT_H
#define PEAL_HISTORY_CONTRACT_H

#include "history.h"

struct history_server;

struct history_backend {
    const char *name;
    void (*make_place)(char place[128]); /* what one test's history lives in, such as a folder */
    enum status (*open)(const char *place, struct history_wake wake, struct history **ret);
    void (*remove_place)(const char *place);
    bool durable;                        /* closed and opened again it has all that it had */
    bool is_slow;                        /* fewer rows must do */
    const struct history_server *server; /* NULL: it has none */
};

/* Runs all tests; the number of those that failed. */
int history_contract_run(const struct history_backend *backend);

#endif
