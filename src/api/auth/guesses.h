/* Who may try a password, and when. A try is counted before the password is looked at, so that
 * those under way count, too; who was right gets it back, and nobody else does.
 *
 * Everybody has a room of their own to be wrong in, and strangers share some:
 *
 *   a device that has logged in by this name    its own room, and no other
 *   an address from which that name has         the room of the name at this address, and no other
 *   any other address                           that one, the room of the address, and one of the
 *                                               name, which those who tried little lately do not
 *                                               share with those who tried much
 *
 * so that a stranger can neither guess for long nor keep somebody out who has been here before.
 * What strangers may cost of the processor is limited, too, apart for those who tried little and
 * much. Names that nobody has are treated as any. Pure: the time is given. */
#ifndef PEAL_GUESSES_H
#define PEAL_GUESSES_H

#include "auth/throttle.h"

struct guesses {
    struct limits rooms;
    struct limits known; /* names at addresses where they have logged in */
};

struct guesser {
    const char *name;    /* as it was typed */
    const char *address; /* of one customer */
    const char *network; /* a wider one: whoever has it has all addresses in it */
    const char *device;  /* the id of a device that has logged in by this name; NULL: not known */
};

enum { GUESS_ROOMS = 3 };

/* A try that is under way. */
struct guess {
    char keys[GUESS_ROOMS][LIMIT_KEY_SIZE];
    int kinds[GUESS_ROOMS];
    size_t count;
    char place[LIMIT_KEY_SIZE]; /* the name at the address */
    bool is_known;              /* no stranger: the device, or the address, is known */
    bool is_worn;               /* a stranger from where there were many tries lately */
};

enum guess_verdict {
    GUESS_GO,
    GUESS_TOO_OFTEN, /* they were wrong too often */
    GUESS_BUSY,      /* strangers have used up what they may cost */
};

void guesses_init(struct guesses *guesses);
void guesses_release(struct guesses *guesses);

/* GO: the try is counted as wrong, and ends with one of the next three. Else *ret_wait_ms says when
 * to come again. */
enum guess_verdict guesses_begin(struct guesses *guesses, const struct guesser *who,
                                 int64_t boot_ms, struct guess *ret, int64_t *ret_wait_ms);

/* The password was right: the try is given back, the room that is theirs alone is emptied, and the
 * address is known from now on. */
void guesses_right(struct guesses *guesses, const struct guess *guess, int64_t boot_ms);

/* It was wrong: the pause, if there is one by now, begins. */
void guesses_wrong(struct guesses *guesses, const struct guess *guess, int64_t boot_ms);

/* Nobody has looked at the password: the try is given back. */
void guesses_undo(struct guesses *guesses, const struct guess *guess);

#endif
