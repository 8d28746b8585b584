/* The mirror: the content of the prefix as the watch has delivered it. Decisions are made on it,
 * and its changes are the change feed. */
#ifndef PEAL_STORE_ETCD_MIRROR_H
#define PEAL_STORE_ETCD_MIRROR_H

#include <sys/queue.h>

#include "kv.h"
#include "kv/store_kv_value.h"
#include "mirror/store_kv_mirror_aside.h"
#include "mirror/store_kv_mirror_docs.h"
#include "mirror/store_kv_mirror_nodes.h"
#include "rules/rules.h"
#include "table.h"

struct mirror_run {
    struct run_row row;
    int64_t mod_revision;
    struct mirror_job *job;
    TAILQ_ENTRY(mirror_run) of_job; /* in creation order */
    bool is_grouped;                /* it is open, and has groups: */
    struct mirror_run *next_grouped, *last_grouped;
};

TAILQ_HEAD(mirror_runs, mirror_run);

/* Kept while it has runs, even after a purge. */
struct mirror_job {
    struct job_row row;
    char *name, *json;
    int64_t mod_revision;                      /* of its definition; 0: none */
    int64_t cursor_revision;                   /* of its cursor; 0: none */
    bool is_definition_aside, is_cursor_aside; /* exists, but can't be decoded */
    struct mirror_runs runs;
    int64_t last_tick_ms; /* none of them is of a later tick */
};

/* Its definition exists, and all its values can be decoded: only then the job is fed. */
static inline bool mirror_job_is_whole(const struct mirror_job *job)
{
    return job->mod_revision && !job->is_definition_aside && !job->is_cursor_aside;
}

struct mirror_name {
    struct id uid;
    int64_t mod_revision;
    char text[];
};

struct mirror_entry {
    struct ledger_entry entry;
    int64_t mod_revision;
};

struct mirror {
    const char *prefix, *node; /* borrowed */
    struct table jobs, names, runs, entries;
    struct mirror_nodes nodes;
    struct table docs;
    struct mirror_run *grouped; /* the first one; a mirror may be moved */
    struct table asides;        /* keys whose values can't be decoded */
    struct epoch epoch;         /* listed before the runs, whose numbers depend on it */
    char *halt;                 /* reason of the halt; NULL: none */
    int64_t halt_revision;      /* 0: no such key */
    struct feed metas;          /* of this node, collected while loading */
};

void mirror_init(struct mirror *mirror, const char *prefix, const char *node);
void mirror_release(struct mirror *mirror);

/* Takes in a key that was read or changed, and feeds it unless `feed` is NULL. Foreign keys are
 * ignored. A value that can't be decoded is set aside: as if it did not exist, but never written;
 * except for the epoch, on which everything depends: E_VERSION, E_CORRUPT. E_NOMEM. */
MUST_CHECK enum status mirror_put(struct mirror *mirror, const struct kv_pair *kv,
                                  struct feed *feed);
/* A key was deleted. */
MUST_CHECK enum status mirror_delete(struct mirror *mirror, struct kv_bytes key, struct feed *feed);

/* NULL: out of memory. mirror_remove_run also frees the run; mirror_set_run gives it
 * another row. */
struct mirror_run *mirror_add_run(struct mirror *mirror, const struct run_row *row);
void mirror_remove_run(struct mirror *mirror, struct mirror_run *run);
void mirror_set_run(struct mirror *mirror, struct mirror_run *run, const struct run_row *row);

/* Do the revisions of both mirrors tell what differs? Not when the store was exchanged in between:
 * what is counted anew may come to the same number with something else. */
enum mirror_past { SAME_PAST, OTHER_PAST };

/* Feeds the differences between two mirrors; `before` NULL: feeds everything, at the start. */
void mirror_feed_difference(const struct mirror *before, const struct mirror *now,
                            enum mirror_past past, struct feed *feed);

/* NULL: none. A job that is found may have no definition (mod_revision 0). */
struct mirror_job *mirror_find_job(const struct mirror *mirror, const struct id *uid);
struct mirror_run *mirror_find_run(const struct mirror *mirror, const struct id *id);
struct mirror_name *mirror_find_name(const struct mirror *mirror, const char *name);
struct mirror_entry *mirror_find_entry(const struct mirror *mirror, const struct id *id);

#endif
