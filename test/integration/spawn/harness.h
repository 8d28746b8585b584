/* A client with a spawner of its own in a folder of its own, and what it was told of each run. */
#ifndef PEAL_TEST_SPAWN_HARNESS_H
#define PEAL_TEST_SPAWN_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "spawn_client.h"
#include "spawn_output.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

struct seen {
    struct spawn_run run;                  /* as it was told last */
    int known, started, grew, ended, held; /* how often each was told */
};

struct harness {
    char folder[64];
    char program[4096];
    char allow_file[128];
    struct spawn_build build; /* the client's, if there is a version */
    int64_t idle_ms;
    bool no_cgroup;
    struct loop *loop;
    struct loop_timer *alarm, *tick;
    bool rang;
    struct spawn_client *client;
    bool is_ready, was_replaced;
    int gone;
    struct spawn_hello hello; /* of the last READY */
    struct seen *seen;
    size_t seen_count;
    int ended_count;
};

/* cmocka's set-up and tear-down; tear-down ends the spawner and removes the folder. */
int harness_setup(void **state);
int harness_setup_without_cgroup(void **state);
int harness_teardown(void **state);

void harness_attach(struct harness *h); /* a client, and waits until it is ready */
void harness_detach(struct harness *h);

/* Lets the loop turn until it holds; fails the test after a minute, which only ends a hang. */
#define harness_wait(h, holds)                                                                     \
    do {                                                                                           \
        harness_begin_wait(h);                                                                     \
        while (!(holds))                                                                           \
            harness_turn(h, __FILE__, __LINE__, #holds);                                           \
    } while (0)
void harness_begin_wait(struct harness *h);
void harness_turn(struct harness *h, const char *file, int line, const char *what);

/* A request to run a script with /bin/sh, a short grace and a small environment. */
struct shell {
    struct spawn_request request;
    char *argv[4];
    char *env[4];
};
void shell_init(struct shell *shell, const char *id, const char *script);

void harness_start(struct harness *h, const struct spawn_request *request);
void harness_sh(struct harness *h, const char *id, const char *script);

struct seen *harness_seen(struct harness *h, const char *id);             /* never NULL */
const struct spawn_run *harness_ended(struct harness *h, const char *id); /* waits for its end */
void harness_ack(struct harness *h, const char *id);

/* The kept output of one stream (0: both) as text; the caller's. *ret_gap: what was dropped. */
char *harness_output(struct harness *h, const char *id, int stream, size_t *ret_length,
                     uint64_t *ret_gap);

/* Waits until the file exists and is not empty, and reads it. */
void harness_file(struct harness *h, const char *name, char *buf, size_t size);
void harness_path(const struct harness *h, const char *name, char *buf, size_t size);
void harness_touch(const struct harness *h, const char *name); /* for a script to go on */

bool process_lives(int pid); /* and is no zombie */
int process_parent(int pid); /* of a spawner: its guard */

#endif
