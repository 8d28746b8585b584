/* Puts ends on record: first in the store, with the release of the overlap rule; then, with the
 * output, in the history; and only when the history has acknowledged it, and what people are to be
 * told of it can't be lost either, the store forgets. A slow or failing history holds back nothing
 * but its own queue.
 *
 * Each node records what it did. What is another node's, or nobody's, is kept aside until it is
 * forgotten, or until this node has to record it in the other's place. */
#ifndef PEAL_RECORDER_H
#define PEAL_RECORDER_H

#include "ports.h"
#include "stages/outbox.h"
#include "state/marks.h"
#include "state/open_run.h"

struct pending_entry;
struct record_batch;
TAILQ_HEAD(entry_list, pending_entry);

struct recorder {
    const struct engine_ports *ports;
    const struct peer *self; /* this node */
    struct open_runs *runs;
    struct catalog *catalog;
    struct marks *marks;
    struct entry_list entries;       /* ledger entries that the history does not have yet */
    struct table aside;              /* of pending_entry, by id: those of others */
    size_t entry_count, new_entries; /* all of them; those not sent to the history yet */
    bool appending;                  /* one append at a time; the rest gathers behind it */
    struct record_batch *answered;   /* the append, once the history has answered; or NULL */
    size_t recorded_entries;         /* those that the store can forget */
    struct sender sender;
    struct boot_ms history_retry_at; /* not before, after a failure */
    struct boot_ms gather_until;     /* records wait for company; 0: they don't */
};

void recorder_init(struct recorder *recorder, const struct engine_ports *ports,
                   struct outbox *outbox, const struct peer *self, struct catalog *catalog,
                   struct marks *marks, struct open_runs *runs);
void recorder_release(struct recorder *recorder);

/* An entry that the store holds for the history: to be recorded, or kept aside. */
MUST_CHECK enum status recorder_add_entry(struct recorder *recorder,
                                          const struct ledger_entry *entry);

/* It is recorded: no longer kept aside. */
void recorder_forget_entry(struct recorder *recorder, const struct id *id);

/* Records those that are aside and of which `is_ours` says so now. */
void recorder_adopt_entries(struct recorder *recorder, struct now now,
                            bool (*is_ours)(void *context, struct now now, const char *node,
                                            const struct incarnation *owner),
                            void *context);

/* A run that this node has found lost: people are told before it is on record, which is left to its
 * own node for a while. */
void recorder_tell_lost(struct recorder *recorder, struct open_run *open);

/* Takes in what the history has answered. */
void recorder_take_answer(struct recorder *recorder, struct now now);

/* Sends ends to the store, before new claims: what has ended is not in the way of them. What ends
 * later in the turn, because it could not start, goes with the next one, which is at once. */
void recorder_finish(struct recorder *recorder, struct now now);

/* Sends records to the history, and lets the store forget what is recorded. */
void recorder_flush(struct recorder *recorder, struct now now);

int64_t recorder_wake_at(const struct recorder *recorder, struct now now);

#endif
