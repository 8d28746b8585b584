/* Runs that take too long, and jobs that have not succeeded in time (the field `notify`). The node
 * of a run looks at its length, also for its verdict (`expect.duration`), the leader at deadlines.
 * Both find again after a restart what they had found before: the notifier, and for deadlines a
 * document of the store, know what was told. */
#ifndef PEAL_WATCH_H
#define PEAL_WATCH_H

#include "engine.h"
#include "expect/notify_terms.h"
#include "history.h"
#include "loop.h"
#include "notifier.h"
#include "store.h"

#define OVERDUE_DOC                                                                                \
    "overdue" /* the last deadline of a job that was told of; its name is the uid                  \
               */

struct watch_config { /* all borrowed */
    struct loop *loop;
    struct engine *engine;
    struct store *store;
    struct history *history;
    struct zone_db *zones;
    struct notifier *notifier;
    const char *node;
    void (*wake)(void *context); /* the engine, when something was learned */
    void *wake_context;
};

struct watch;
struct lengths;
struct overdue;

MUST_CHECK enum status watch_new(const struct watch_config *config, struct watch **ret);
struct watch *watch_free(struct watch *watch);

/* Takes in a change of the feed, also while the store is loaded. */
void watch_take(struct watch *watch, const struct store_change *change);

/* Was this good run too short for its job? Then *ret_text says by how much. */
bool watch_is_too_short(const struct watch *watch, const struct run *run, const struct job *job,
                        char ret_text[160]);

/* For the engine (ports.h): what is learned of the lengths of a job's runs. */
bool watch_find_lesson(struct watch *watch, const struct id *job_uid, struct learned *ret);

/* The definition of the job in the catalog; NULL: it can't be read. The caller frees it. */
struct job *watch_decode(const struct catalog_job *stored);

/* ---- lengths.c ---- */

MUST_CHECK enum status lengths_new(const struct watch_config *config, struct lengths **ret);
struct lengths *lengths_free(struct lengths *lengths);
void lengths_take(struct lengths *lengths, const struct store_change *change);

/* What was learned of the job; all 0: nothing yet. */
struct learned lengths_learned(const struct lengths *lengths, const struct id *job_uid);

/* The same for a verdict: false, the history is being asked, and `wake` comes with its answer, or
 * when that is late. */
bool lengths_find(struct lengths *lengths, const struct id *job_uid, struct learned *ret);

/* ---- overdue.c ---- */

MUST_CHECK enum status overdue_new(const struct watch_config *config, struct overdue **ret);
struct overdue *overdue_free(struct overdue *overdue);
void overdue_take(struct overdue *overdue, const struct store_change *change);

#endif
