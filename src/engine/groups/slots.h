/* Whose turn it is for the slots of groups, as the feed shows it. The store alone grants slots;
 * this says which runs are worth asking for. Runs that are DUE and have groups go in the order of
 * run_goes_before: a run is up when each of its groups has so many free slots that the runs before
 * it leave one. */
#ifndef PEAL_SLOTS_H
#define PEAL_SLOTS_H

#include "groups/known_groups.h"
#include "state/open_run.h"
#include "state/peers.h"

/* A run that is up for so long, and that no node takes, no longer keeps others waiting: its nodes
 * may be full. */
enum { SLOTS_PASS_MS = 2000 };

struct slots {
    struct open_runs *runs;
    const struct table *groups; /* the catalog's */
    const struct peer *self;    /* this node */
    bool is_to_look;            /* a group has changed */
    struct boot_ms look_at;     /* when to look again, if nothing changes; INT64_MAX: not */
};

void slots_init(struct slots *slots, struct open_runs *runs, const struct table *groups,
                const struct peer *self);

/* Once a turn, before runs are taken: sets is_up of the runs that wait. */
void slots_look(struct slots *slots, struct now now);

/* When slots_look has something to do; NEVER_MS: not by itself. */
int64_t slots_look_at(const struct slots *slots, struct now now);

/* Is it the turn of the run, which is DUE, and has this node a slot for it? True if it has no
 * groups. */
bool slots_are_free(const struct slots *slots, const struct open_run *open);

/* The run is being taken by this node. */
void slots_note_take(struct slots *slots, const struct open_run *open);

/* ---- for people ---- */

enum slot_limit { SLOT_OF_CLUSTER, SLOT_OF_NODE, SLOT_OF_LABEL };

/* What a run waits for. */
struct slot_wait {
    const struct known_group *group; /* NULL: it does not wait for a slot */
    enum slot_limit limit;           /* that is reached */
    struct group_label label;        /* SLOT_OF_LABEL: "zone=eu", "zone=!" */
    int most;                        /* how many may be under way by that limit */
    size_t place, waiting;           /* from 1, of how many that wait for this group */
};

/* `where`: which nodes may run it, as one text (function/eligible.h). A limit of a node or a label
 * is that of this node, if it may run it, else that of the first of those that may, if all are
 * full. */
struct slot_wait slots_wait(const struct slots *slots, const struct open_run *open,
                            const char *where, const struct peers *peers);

const char *slot_limit_name(enum slot_limit limit); /* "label" */

/* That answer without place and waiting: its cost does not grow with those that wait. */
struct slot_wait slots_lack(const struct slots *slots, const struct open_run *open,
                            const char *where, const struct peers *peers);

/* Visits the open runs that have the group, those that hold its slots first, then those that wait
 * in their order, until `visit` returns false. */
void slots_each(const struct slots *slots, const char *group,
                bool (*visit)(void *context, const struct open_run *open, bool holds),
                void *context);

/* Which of its groups the run waits for, from 1; 0: for none. */
int slots_lacking(const struct slots *slots, const struct open_run *open, const char *where,
                  const struct peers *peers);

#endif
