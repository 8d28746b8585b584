/* Records ends: first in the store, with the release of the overlap rule; then, with the output, in
 * the history. When the history has acknowledged an end and its notifications are durably queued,
 * the run is removed from the store. A slow or failing history holds back nothing but its own
 * queue.
 *
 * Each node records its own runs and entries. Entries of other nodes are kept aside until the store
 * forgets them, or until this node, as leader, has to record them instead. */
#ifndef PEAL_RECORDER_H
#define PEAL_RECORDER_H

#include "outbox.h"
#include "ports.h"
#include "state/marks.h"
#include "state/open_run.h"
#include "workflow/instances.h"

struct pending_entry;
struct record_batch;
TAILQ_HEAD(entry_list, pending_entry);

struct recorder {
    const struct engine_ports *ports;
    const struct peer *self; /* this node */
    struct open_runs *runs;
    struct catalog *catalog;
    const struct inputs *inputs;
    struct instances *instances;
    struct marks *marks;
    struct entry_list entries;       /* ledger entries that the history does not have yet */
    struct table aside;              /* pending_entry of other nodes, by id */
    size_t entry_count, new_entries; /* all, and those not sent to the history yet */
    bool appending;                  /* one append at a time; further records gather meanwhile */
    struct record_batch *answered;   /* the append that the history has answered; or NULL */
    size_t recorded_entries;         /* entries that the store can forget */
    struct outbox_sender sender;
    struct boot_ms finish_after;     /* ends wait until then for more of them, unless in a hurry */
    struct boot_ms held_since;       /* the first of these ends came; 0: there are none */
    bool is_hurried;                 /* something waits for one of them */
    bool is_burst;                   /* many runs are about to start */
    struct boot_ms forget_after;     /* likewise what the store can forget */
    struct boot_ms history_retry_at; /* after a failure: no append before */
    struct boot_ms gather_until;     /* records wait for more of them; 0: they don't */
    bool is_ending;                  /* the agent stops: nothing waits for more any longer */
    struct boot_ms append_after; /* no append before, unless it is full: the last one was large */
};

void recorder_init(struct recorder *recorder, const struct engine_ports *ports,
                   struct outbox *outbox, const struct peer *self, struct catalog *catalog,
                   struct marks *marks, struct open_runs *runs);
void recorder_release(struct recorder *recorder);

/* An entry from the store: to be recorded, or kept aside. */
MUST_CHECK enum status recorder_add_entry(struct recorder *recorder,
                                          const struct ledger_entry *entry);

/* The entry is recorded: drops it if it was kept aside. */
void recorder_forget_entry(struct recorder *recorder, const struct id *id);

/* Records the kept-aside entries that `is_ours` now accepts. */
void recorder_adopt_entries(struct recorder *recorder, struct now now,
                            bool (*is_ours)(void *context, struct now now, const char *node,
                                            const struct incarnation *owner),
                            void *context);

/* Notifies of a run that this node has found lost, before it is recorded: recording is left to its
 * own node for a while. */
void recorder_tell_lost(struct recorder *recorder, struct open_run *open);

/* Takes in the history's answer. */
void recorder_take_answer(struct recorder *recorder, struct now now);

/* Sends ends to the store. Before new claims, which ended runs then no longer block. Runs that end
 * later in the turn, because they could not start, go with the next turn, which follows at once. */
void recorder_finish(struct recorder *recorder, struct now now);

/* Removes from the store what is on record: before claims that are sent now, so that one
 * transaction does both. */
void recorder_send_along(struct recorder *recorder, struct now now);

/* Sends records to the history, and removes from the store what has been on record for a while. */
void recorder_flush(struct recorder *recorder, struct now now);

int64_t recorder_wake_at(const struct recorder *recorder, struct now now);

#endif
