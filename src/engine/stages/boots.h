/* `@reboot`: a run of the job for each boot of each eligible node. A boot concerns its node only:
 * other nodes ignore it, and it moves no cursor.
 *
 * The first agent of a boot marks the boot as due in the store, for each job that has `@reboot` by
 * then (a document, boot_mark.h), and then stores that it has ("boot", metadata of the node), so
 * that later jobs are not due for it. Each mark is decided once, by the claim that creates the run
 * or the ledger entry and updates the mark in the same transaction. So a restarted agent finds
 * exactly the undecided marks; after the next boot these are missed. */
#ifndef PEAL_BOOTS_H
#define PEAL_BOOTS_H

#include "outbox.h"
#include "ports.h"
#include "stages/plan.h"
#include "state/boot_marks.h"
#include "state/placement.h"

struct boots {
    const struct engine_ports *ports;
    const struct peer *self; /* this node */
    const char *boot_id;     /* of this boot */
    struct catalog *catalog;
    const struct plan_rules *rules;
    struct placement *placement;
    struct boot_marks *marks;
    bool is_noticed;             /* all jobs that are due for this boot have been marked ... */
    bool is_stored;              /* ... and that is stored */
    int64_t tick_ms;             /* wall time at which this agent first saw the boot; 0: not yet */
    bool has_gone;               /* a job was purged: its mark is to be removed */
    struct outbox_sender sender; /* at most one request is under way */
};

void boots_init(struct boots *boots, const struct engine_ports *ports, struct outbox *outbox,
                const struct peer *self, const char *boot_id, struct catalog *catalog,
                const struct plan_rules *rules, struct placement *placement,
                struct boot_marks *marks);

/* Changes from the store's feed. */
void boots_take_meta(struct boots *boots, const struct store_set_meta *meta);
void boots_take_doc(struct boots *boots, const struct store_doc *doc);

/* Marks this boot as due, once all marks of earlier boots are decided, and removes marks of purged
 * jobs. To be called only with a trusted clock, everything loaded, and this node registered. */
void boots_notice(struct boots *boots, struct now now);

/* The next mark that can be decided. `may_run`: a run may be claimed; else only boots that are not
 * to run are decided. OK: *ret is for the claimer, which calls boot_marks_answered. E_NOT_FOUND:
 * none. E_NOMEM. */
MUST_CHECK enum status boots_next_due(struct boots *boots, struct now now, bool may_run,
                                      struct plan *ret);

/* Wall time of the next work; NEVER_MS: none without an event. */
int64_t boots_wake_at(const struct boots *boots, struct now now);

#endif
