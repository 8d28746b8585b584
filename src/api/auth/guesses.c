#include "auth/guesses.h"

#include <stdio.h>
#include <string.h>

enum {
    LITTLE = 3, /* tries per network and hour, after which it counts as having tried much */
    KEEP_MS = 3600 * 1000,
    ROOMS_MAX = 20000,
    KNOWN_MAX = 4096,
};

static const int64_t known_ms = INT64_C(30) * 86400 * 1000; /* how long an address stays known */

/* CPU budgets, in tries of about 60 ms: for strangers who tried little, and for the others. */
static const struct rate budget = {.per_s = 4, .burst = 20};

enum room { ROOM_DEVICE, ROOM_PLACE, ROOM_ADDRESS, ROOM_NAME_NEW, ROOM_NAME_WORN };

/* Only the rooms of a name can lock out others. Filling them takes many addresses, and their pauses
 * are short. */
static const struct patience patiences[] = {
    [ROOM_DEVICE] = {.free = 5, .pause_max_s = 900},
    [ROOM_PLACE] = {.free = 5, .pause_max_s = 900},
    [ROOM_ADDRESS] = {.free = 20, .pause_max_s = 900},
    [ROOM_NAME_NEW] = {.free = 100, .pause_max_s = 4},
    [ROOM_NAME_WORN] = {.free = 50, .pause_max_s = 30},
};

void guesses_init(struct guesses *guesses)
{
    limits_init(&guesses->rooms, ROOMS_MAX, KEEP_MS);
    limits_init(&guesses->known, KNOWN_MAX, known_ms);
}

void guesses_release(struct guesses *guesses)
{
    limits_release(&guesses->rooms);
    limits_release(&guesses->known);
}

static void add_room(struct guess *guess, enum room room, const char *who, const char *where)
{
    snprintf(guess->keys[guess->count], LIMIT_KEY_SIZE, "%d %.63s %.63s", (int)room, where, who);
    guess->kinds[guess->count++] = (int)room;
}

/* Refused tries count, too: repeating them may be an attempt to lock out others. */
static bool has_tried_much(struct guesses *guesses, const char *network, int64_t boot_ms)
{
    char key[LIMIT_KEY_SIZE];
    snprintf(key, sizeof(key), "network %.63s", network);
    return limits_count(&guesses->rooms, key, boot_ms) > LITTLE;
}

static void choose_rooms(struct guesses *guesses, const struct guesser *who, int64_t boot_ms,
                         struct guess *guess)
{
    snprintf(guess->place, sizeof(guess->place), "%.63s %.63s", who->address, who->name);
    guess->is_known = who->device || limits_knows(&guesses->known, guess->place);
    if (who->device) {
        add_room(guess, ROOM_DEVICE, who->name, who->device);
        return;
    }
    add_room(guess, ROOM_PLACE, who->name, who->address);
    if (guess->is_known)
        return;
    add_room(guess, ROOM_ADDRESS, "", who->address);
    guess->is_worn = has_tried_much(guesses, who->network, boot_ms);
    add_room(guess, guess->is_worn ? ROOM_NAME_WORN : ROOM_NAME_NEW, who->name, "");
}

enum guess_verdict guesses_begin(struct guesses *guesses, const struct guesser *who,
                                 int64_t boot_ms, struct guess *ret, int64_t *ret_wait_ms)
{
    struct guess guess = {.count = 0};
    int64_t longest_ms = 0;
    choose_rooms(guesses, who, boot_ms, &guess);
    for (size_t i = 0; i < guess.count; i++) {
        int64_t pause_ms = limits_pause(&guesses->rooms, guess.keys[i], boot_ms);
        longest_ms = pause_ms > longest_ms ? pause_ms : longest_ms;
    }
    *ret_wait_ms = longest_ms;
    if (longest_ms)
        return GUESS_TOO_OFTEN;
    if (!guess.is_known)
        *ret_wait_ms = limits_ask(&guesses->rooms, guess.is_worn ? "worn" : "new", budget, boot_ms);
    if (*ret_wait_ms)
        return GUESS_BUSY;
    for (size_t i = 0; i < guess.count; i++)
        limits_wrong(&guesses->rooms, guess.keys[i], patiences[guess.kinds[i]], boot_ms);
    *ret = guess;
    return GUESS_GO;
}

void guesses_right(struct guesses *guesses, const struct guess *guess, int64_t boot_ms)
{
    guesses_undo(guesses, guess);
    limits_forgive(&guesses->rooms, guess->keys[0]);
    limits_count(&guesses->known, guess->place, boot_ms);
}

void guesses_wrong(struct guesses *guesses, const struct guess *guess, int64_t boot_ms)
{
    for (size_t i = 0; i < guess->count; i++)
        limits_pause_anew(&guesses->rooms, guess->keys[i], patiences[guess->kinds[i]], boot_ms);
}

void guesses_undo(struct guesses *guesses, const struct guess *guess)
{
    for (size_t i = 0; i < guess->count; i++)
        limits_take_back(&guesses->rooms, guess->keys[i], patiences[guess->kinds[i]]);
}
