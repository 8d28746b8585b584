/* Groups: named limits on how many runs are under way at the same time, which an admin sets and
 * jobs name. A run holds a slot in each of its groups from its claim until it has ended. Their
 * documents are {cluster: 3, node: 1, labels: {zone: 2, "zone=eu": 4}, notes: "..."}.
 *
 * A group whose name ends with a slash is that of a namespace: all jobs below "shop/" are in it,
 * without naming it. */
#ifndef PEAL_GROUP_H
#define PEAL_GROUP_H

#include <jansson.h>

#include "definition/job_codec.h"
#include "job_name.h"
#include "run.h"

#define GROUP_DOC "group" /* kind of the document in the store */

enum {
    GROUP_LIMIT_MAX = 100000,
    GROUP_LABELS_MAX = 16, /* limits by label, of a group */
    GROUP_LABEL_SIZE = 64, /* "zone=eu" */
};

/* How many runs may be under way on the nodes that have one value of a label. Nodes without the
 * label have one together, which is written "!". */
struct group_label {
    char label[GROUP_LABEL_SIZE]; /* "zone=eu": that value; "zone": each one that has no limit of
                                     its own, by itself */
    int most;
};

/* How many runs of the group may be under way; 0: not limited. */
struct group_limits {
    int cluster;                                 /* on all nodes together */
    int node;                                    /* on each of them */
    struct group_label labels[GROUP_LABELS_MAX]; /* by name, each once */
    size_t label_count;
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

/* The limits by label of a node that has these labels ("disk=ssd,zone=eu"), each with the value
 * that it has, "zone=eu", or "zone=!" if it has not the label. Returns how many there are in `ret`.
 * A value that is too long is cut: nodes whose values begin alike have one limit then. */
size_t group_labels_of(const struct group_limits *limits, const char *node_labels,
                       struct group_label ret[GROUP_LABELS_MAX]);

/* Is it the label of nodes that have it not, "zone=!"? Then *ret_length is that of its name. */
bool group_label_is_lacked(const char *label, int *ret_length);

/* ---- groups of namespaces ---- */

/* Is it the name of such a group? */
bool group_is_space(const char *name);

/* What is wrong with the name of a group, of a namespace or not; NULL: nothing. */
const char *group_any_name_complaint(const char *name);

/* Is the job in the namespace of this group? */
bool group_space_has(const char *name, const char *job_name);

/* ---- the groups of a run, as one text: "db-backup nightly shop/" ----
 *
 * Of a run that holds its slots, the labels of its node by which they are limited stand behind the
 * names: "db-backup nightly zone=eu". A label that is not there was not looked at when the run got
 * its slots: it counts for each value. */

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

/* Sets the labels behind the names, "rack=7 zone=eu"; "": none. */
void groups_set_labels(char text[RUN_GROUPS_SIZE], const char *labels);

/* The next label of the text, likewise; also of labels alone. */
bool groups_next_label(const char *text, size_t *at, char ret[GROUP_LABEL_SIZE]);

/* Does the run count for this label, "zone=eu"? */
bool groups_count_for(const char *text, const char *label);

/* Has the run a slot in each of its groups? Else it may wait for one (DUE), or for other runs. A
 * state of a newer peal counts. */
bool run_holds_slots(const struct run *run);

/* Of two runs that wait for a slot: does `run` go before the other? By priority, then by the tick,
 * then by the id. */
bool run_goes_before(const struct run *run, const struct run *other);

#endif
