/* Passwords, through argon2id. That takes tens of milliseconds and some megabytes on purpose, so it
 * is done by a thread of its own, one at a time; the loop goes on meanwhile. Strangers wait for
 * those who are known, and have a shorter queue. */
#ifndef PEAL_HASHER_H
#define PEAL_HASHER_H

#include <stdbool.h>

#include "auth/account.h"
#include "loop.h"

enum {
    PASSWORD_MIN = 8,
    PASSWORD_MAX = 1024,   /* bytes */
    HASHER_QUEUE = 32,     /* that wait at most, and ... */
    HASHER_STRANGERS = 16, /* ... strangers, in a queue of their own */
};

struct hasher;

struct hash_work {
    bool is_stranger;
    bool is_check;        /* `hash` is compared with the password, else made from it */
    char *password;       /* wiped when it is done, and still the caller's */
    char hash[HASH_SIZE]; /* empty when it is compared: as long, and never right */
    bool matches;         /* answer of a check */
    void (*done)(void *context, enum status st); /* on the loop */
    void *context;
    struct hash_work *next; /* the hasher's */
};

MUST_CHECK enum status hasher_new(struct loop *loop, struct hasher **ret);

/* Waits for what is being done; what has not been answered never is. */
struct hasher *hasher_free(struct hasher *hasher);

/* E_BUSY: too many wait already; E_NOMEM. Else `done` comes later. */
MUST_CHECK enum status hasher_submit(struct hasher *hasher, struct hash_work *work);

#endif
