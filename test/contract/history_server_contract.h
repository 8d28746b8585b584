/* What every history in a server goes through: it is restarted, killed, stopped, emptied, or
 * shared.
 */
#ifndef PEAL_HISTORY_SERVER_CONTRACT_H
#define PEAL_HISTORY_SERVER_CONTRACT_H

#include "history_world.h"

/* The server of a backend. */
struct history_server {
    void (*restart)(void);
    void (*kill)(void); /* -9; a restart brings it back */
    void (*pause)(void);
    void (*resume)(void);
    const char *silent_words; /* of its health while it is paused */
    int64_t connect_ms;       /* that a history of these tests waits for a connection */
    uint32_t writers, rounds; /* that share it in a test */
    bool swaps_whole;         /* it replaces what it has looked at, and nothing else */
};

/* Tests; the world's backend has a server. */
void test_server_restart(void **state);
void test_server_killed(void **state);
void test_server_stopped(void **state);
void test_server_dropped(void **state);
void test_server_many_writers(void **state);

/* ---- for further tests ---- */

int64_t now_ms(void);
void wait_a_little(void); /* between two looks at something */

/* The health is what is wanted, and has the words, but not the password. */
void assert_health(struct history_world *world, enum status want, const char *words);
void wait_for_health(struct history_world *world, enum status want);

/* Until appends are taken again. */
void append_until_ok(struct history_world *world, const struct run *run);

/* Ends of all hours; a zero job is all jobs. */
int64_t count_ends(struct history_world *world, struct id job_uid, enum run_state state);

#endif
