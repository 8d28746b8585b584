/* Where the tests of locks, elections and selections of include/peal.h meet: a data folder, an
 * etcd, a PostgreSQL. The same tests are run in each of them. */
#ifndef PEAL_TEST_PLACES_H
#define PEAL_TEST_PLACES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "peal.h"

enum { TTL_MS = 5000, MARGIN_MS = 1000, PATIENCE_MS = 60000, SILENCE_MS = 20000 };

struct place {
    char data[96];
    char store[256]; /* a URL */
    bool has_server; /* one that can fall silent, and leases that run out then */
};
extern struct place place;

/* A fresh one for each test. */
int place_setup(void **state);
int place_teardown(void **state);

/* One process, as it were: no node. */
peal_node *place_open(int timeout_ms);

/* With a server only: pauses it, and lets it go on. */
void place_pause_server(void);
void place_resume_server(void);

int64_t now_ms(void); /* boot clock */

/* However long it takes, within reason. */
#define wait_until(condition)                                                                      \
    do {                                                                                           \
        int64_t hang_ms_ = now_ms() + PATIENCE_MS;                                                 \
        while (!(condition)) {                                                                     \
            if (now_ms() > hang_ms_)                                                               \
                fail_msg("line %d: never came true: %s", __LINE__, #condition);                    \
            place_pause();                                                                         \
        }                                                                                          \
    } while (0)
void place_pause(void);

/* Runs them in each place that there is: `name` of the whole; PEAL_PLACE=folder, etcd or PostgreSQL
 * chooses. 77: the chosen one is not installed. */
int places_run(const char *name, const struct CMUnitTest *tests, size_t count);

#endif
