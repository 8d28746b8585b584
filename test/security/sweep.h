/* The route sweep: every route of the table in src/api/routes.c, by every method, for every kind of
 * caller, about a job of the namespace `a`. What is expected is said here once more, shortly and
 * without the code of the guard: sweep_rows.c says what each route is for, sweep_rules.c who may.
 */
#ifndef PEAL_TEST_SWEEP_H
#define PEAL_TEST_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "peer.h"

/* ---- what the routes are for: sweep_rows.c ---- */

enum { LOOK = 1, OPERATE = 2, EDIT = 4, DEFINE = 8, ADMIN = 16 };

/* Where the right is needed, and what others are told. */
enum place {
    ANYBODY,      /* nobody needs to be known */
    SOMEWHERE,    /* in one namespace at least; what is in others is not in the answer */
    TO_EDIT,      /* likewise, and done to those jobs alone that they may edit */
    ON_JOB,       /* on the job that the request names: 403 */
    ON_NEIGHBOUR, /* on a job of b, whose definition names that of a; nothing is written */
    ON_RUN,       /* on the run's job; for who may not look at it there is no such run: 404 */
    EVERYWHERE,   /* 403 */
    ON_TOKEN,     /* an admin's; for others there is no such token: 404 */
    BY_SESSION,   /* people's who have logged in, as a token is not to make others: 403 */
    BY_SOCKET,    /* people's on this machine: 403 on TCP, whoever asks */
};

/* A request. Words with $ stand for things that are there, or for others that are not:
 * $JOB (encoded: $PATH), $RUN (has ended), $LIVE, $TOKEN, $USER, $CHANNEL, $CALENDAR, $GROUP,
 * $NODE. */
struct row {
    int line;
    const char *method, *pattern; /* as in the table of routes */
    int right;
    enum place place;
    const char *answers; /* statuses for who may, separated by spaces */
    const char *target;  /* NULL: the pattern, with the words that it takes */
    const char *body;    /* NULL: none */
};

extern const struct row sweep_rows[];
extern const size_t sweep_row_count;

/* ---- who may: sweep_rules.c ---- */

enum pages { NO_PAGE, OWN_PAGE, OTHER_PAGE }; /* a cookie whose request says nothing of a page */

struct caller {
    char name[48];
    bool is_known;
    int everywhere, in_a, in_b; /* rights */
    bool is_cookie;
    enum pages page;
    char headers[1024]; /* lines */
};

/* "NAME known|unknown EVERYWHERE A B token|none|cookie|cookie-own|cookie-other HEADER", with roles
 * (none, viewer, operator, editor without define, definer, admin); ends the program if it is not.
 */
struct caller caller_read(const char *line);

bool caller_sees_job(const struct caller *caller);
bool caller_sees_secrets(const struct caller *caller);

/* 0: the row's own answers. `is_method` false: 405 for who may ask at all. */
int expected_refusal(const struct caller *caller, const struct row *row, bool is_safe,
                     bool is_method);

/* ---- the things that are there: sweep_world.c ---- */

enum { WORD_SIZE = 64 };

struct world {
    const char *socket;
    char run[WORD_SIZE], live[WORD_SIZE], token[WORD_SIZE], node[WORD_SIZE];
};

/* All are there again, as at the start, whatever was done to them. */
void world_restore(struct world *world, const struct row *row);

/* Jobs, runs, accounts, calendars, channels, nodes and the audit trail, as text without what
 * changes by itself; freed by the caller. */
char *world_digest(const struct world *world);

/* The words filled in: with what is there, or not. */
void world_fill(const struct world *world, const char *text, bool is_there, struct strbuf *ret);

/* What is there, by the names of what is not; and without times and request ids. Answers about both
 * are then the same if they tell nothing. */
void world_level(const struct world *world, const char *text, struct strbuf *ret);

/* Words of answers that only some may have. */
extern const char *const secret_words[]; /* of the job, its definers'; ends with NULL */
extern const char *const hidden_words[]; /* of channels and accounts, nobody's */
#define JOB_WORD  "quagga"               /* in what the job is, prints and is labelled with */
#define NAME_WORD "zebra"                /* in its name */
#define USER_WORD "walrus"               /* in a user's name: admins know it */

#endif
