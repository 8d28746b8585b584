/* Registers a program's functions: brings their definitions into the store, where they are not
 * there yet as the program wants them. The loop's. */
#ifndef PEAL_REGISTRAR_H
#define PEAL_REGISTRAR_H

#include "engine.h"
#include "function.h"

struct side;

enum { REGISTRAR_AT_ONCE = 200 };

struct registrar {
    struct side *side;
    struct registration {
        struct function *function;
        char *json;
        struct strbuf record;
        struct ledger_entry *passed;
    } items[REGISTRAR_AT_ONCE];
    struct store_put_job puts[REGISTRAR_AT_ONCE];
    struct store_request request;
    bool is_busy;
    int64_t retry_ms; /* wall; not before */
    uint8_t random[10];
};

void registrar_init(struct registrar *registrar, struct side *side);

/* In a turn, when the engine is loaded and joined. */
void registrar_step(struct registrar *registrar, struct now now);

/* No request is under way. */
bool registrar_is_idle(const struct registrar *registrar);

#endif
