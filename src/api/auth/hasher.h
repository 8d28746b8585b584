/* Password hashing with argon2id. It takes tens of milliseconds and some megabytes on purpose, so a
 * thread of its own does it, one at a time. Known clients go before strangers, whose queue is
 * shorter. */
#ifndef PEAL_HASHER_H
#define PEAL_HASHER_H

#include <stdbool.h>

#include "auth/account.h"
#include "loop.h"

enum {
    PASSWORD_MIN = 8,
    PASSWORD_MAX = 1024,   /* bytes */
    HASHER_QUEUE = 32,     /* most that wait, and ... */
    HASHER_STRANGERS = 16, /* ... of strangers, in a queue of their own */
};

struct hasher;

struct hash_work {
    bool is_stranger;
    bool is_check;        /* compares the password with `hash`, else makes `hash` */
    char *password;       /* wiped afterwards; the caller's */
    char hash[HASH_SIZE]; /* of a check, empty: takes as long and never matches */
    bool matches;         /* result of a check */
    void (*done)(void *context, enum status st); /* on the loop */
    void *context;
    struct hash_work *next; /* the hasher's */
};

MUST_CHECK enum status hasher_new(struct loop *loop, struct hasher **ret);

/* Waits for the current work; drops the rest without calling `done`. */
struct hasher *hasher_free(struct hasher *hasher);

/* E_BUSY: the queue is full; E_NOMEM. Else `done` comes later. */
MUST_CHECK enum status hasher_submit(struct hasher *hasher, struct hash_work *work);

#endif
