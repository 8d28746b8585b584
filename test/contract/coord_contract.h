/* What every backend of src/coord does alike. */
#ifndef PEAL_COORD_CONTRACT_H
#define PEAL_COORD_CONTRACT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "coord.h"
#include "loop.h"

enum { HANG_MS = 60000, TTL_S = 5, MARGIN_MS = 1000 };

struct coord_backend {
    const char *name;
    void (*make_place)(void); /* an empty one, for the next test */
    struct coord *(*open)(struct loop *loop);
};

/* What became of a claim. */
struct party {
    struct coord_claim *claim;
    int waiting, held, lost, failed, released;
    int64_t fence;
    enum status status;
    struct coord_holder holder; /* of the last notice */
    char message[300];
};

struct coord_world {
    const struct coord_backend *backend;
    struct loop *loop;
    struct loop_timer *tick;
    struct coord *coord, *other; /* two processes, as it were */
};
extern struct coord_world coord_world;

int coord_world_setup(void **state);
int coord_world_teardown(void **state);

void turn(void);
int64_t now_ms(void);
#define wait_until(condition)                                                                      \
    do {                                                                                           \
        int64_t hang_ms_ = now_ms() + HANG_MS;                                                     \
        while (!(condition)) {                                                                     \
            if (now_ms() > hang_ms_)                                                               \
                fail_msg("line %d: never came true: %s", __LINE__, #condition);                    \
            turn();                                                                                \
        }                                                                                          \
    } while (0)

/* Enters a queue; `party` must live until party_end. */
void party_claim(struct party *party, struct coord *coord, const struct coord_want *want);
void party_end(struct party *party); /* releases and frees, if it is there */
struct coord_want a_lock(const char *name, const char *id);

/* Asks, and waits for the answer. */
bool is_chosen(const char *service, const char *id, int64_t hold_ms);

int coord_contract_run(const struct coord_backend *backend);

#endif
