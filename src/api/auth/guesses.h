/* Rate limits on password guesses. A try is counted before the password is checked, so that
 * concurrent tries count, too; a right password gives its try back.
 *
 * Wrong tries are counted in buckets ("rooms"); known clients have their own, strangers share some:
 *
 *   a device that has logged in by this name    its own room, and no other
 *   an address from which that name has         the room of the name at this address, and no other
 *   any other address                           that one, the room of the address, and one of the
 *                                               name, which those who tried little lately do not
 *                                               share with those who tried much
 *
 * so that a stranger can neither guess for long nor lock out a user who has logged in before. The
 * CPU time of strangers' tries is limited, too, separately for those who tried little and much.
 * Unknown names are treated like known ones. Pure: the time is given. */
#ifndef PEAL_GUESSES_H
#define PEAL_GUESSES_H

#include "auth/throttle.h"

struct guesses {
    struct limits rooms;
    struct limits known; /* (name, address) pairs that have logged in */
};

struct guesser {
    const char *name;    /* as it was typed */
    const char *address; /* or the network of one customer */
    const char *network; /* the wider network around it */
    const char *device;  /* id of a device that has logged in as this name; NULL: unknown */
};

enum { GUESS_ROOMS = 3 };

/* A try that is under way. */
struct guess {
    char keys[GUESS_ROOMS][LIMIT_KEY_SIZE];
    int kinds[GUESS_ROOMS];
    size_t count;
    char place[LIMIT_KEY_SIZE]; /* the name at the address */
    bool is_known;              /* the device or the address is known */
    bool is_worn;               /* a stranger from a network with many recent tries */
};

enum guess_verdict {
    GUESS_GO,
    GUESS_TOO_OFTEN, /* too many wrong tries */
    GUESS_BUSY,      /* the CPU budget of strangers is used up */
};

void guesses_init(struct guesses *guesses);
void guesses_release(struct guesses *guesses);

/* GO: the try is counted as wrong, until one of the next three functions ends it. Else *ret_wait_ms
 * is the time to wait. */
enum guess_verdict guesses_begin(struct guesses *guesses, const struct guesser *who,
                                 int64_t boot_ms, struct guess *ret, int64_t *ret_wait_ms);

/* The password was right: gives the try back, resets the client's own room, and marks the address
 * as known. */
void guesses_right(struct guesses *guesses, const struct guess *guess, int64_t boot_ms);

/* It was wrong: the pause, if one is due, begins. */
void guesses_wrong(struct guesses *guesses, const struct guess *guess, int64_t boot_ms);

/* The password was not checked: gives the try back. */
void guesses_undo(struct guesses *guesses, const struct guess *guess);

#endif
