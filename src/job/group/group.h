/* Groups: named limits on how many runs are under way at the same time, which an admin sets and
 * jobs name. A run holds a slot in each of its groups from its claim until it has ended. Their
 * documents are {cluster: 3, node: 1, notes: "..."}. */
#ifndef PEAL_GROUP_H
#define PEAL_GROUP_H

#include <jansson.h>

#include "definition/job_codec.h"
#include "job_name.h"
#include "run.h"

#define GROUP_DOC "group" /* kind of the document in the store */

enum { GROUP_LIMIT_MAX = 100000 };

/* How many runs of the group may be under way; 0: not limited. */
struct group_limits {
    int cluster; /* on all nodes together */
    int node;    /* on each of them */
};

struct group {
    struct group_limits limits;
    char *notes; /* NULL: none */
};

void group_release(struct group *group);

/* Reads a group, which has one limit at least. A field `name` must equal `name`. E_INVALID:
 * *reterr. */
MUST_CHECK enum status group_decode_json(const json_t *value, const char *name, struct group *ret,
                                         struct job_error *reterr);
/* The same from the text of a document. */
MUST_CHECK enum status group_decode_text(const char *text, const char *name, struct group *ret,
                                         struct job_error *reterr);

/* Compact JSON for the store; NULL when out of memory. */
char *group_encode_text(const struct group *group);

/* ---- the groups of a run, as one text: "db-backup nightly" ---- */

/* Appends a name. False: there is no room. */
bool groups_add(char text[RUN_GROUPS_SIZE], const char *name);

/* The text of a list of names, which ends with NULL; `names` NULL: none. */
void groups_join(char *const *names, char ret[RUN_GROUPS_SIZE]);

/* The next name of the text, from *at on, which moves behind it. False: there is none. */
bool groups_next(const char *text, size_t *at, char ret[GROUP_NAME_MAX + 1]);

/* The name with this place, from 1. False: there is none. */
bool groups_at(const char *text, int which, char ret[GROUP_NAME_MAX + 1]);

/* Is it one of them? */
bool groups_have(const char *text, const char *name);

/* Have both texts a name in common? */
bool groups_meet(const char *text, const char *other);

/* Has the run a slot in each of its groups? Else it may wait for one (DUE), or for other runs. A
 * state of a newer peal counts. */
bool run_holds_slots(const struct run *run);

/* Of two runs that wait for a slot: does `run` go before the other? By priority, then by the tick,
 * then by the id. */
bool run_goes_before(const struct run *run, const struct run *other);

#endif
