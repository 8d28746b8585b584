/* What `@reboot` asks for: a run of the job for each boot of each node that may run it. A boot is
 * its node's own: no other node counts it, and no cursor of a job has to do with it.
 *
 * The agent that first sees a boot notices it: it marks the boot as due in the store, for each job
 * that has `@reboot` by then (a document, boot_mark.h), and then stores that it has ("boot", a
 * small fact of the node), so that jobs which come later are not due for it. Each mark is decided
 * once, by the claim that makes the run or writes the entry, and writes the mark together with
 * that. So an agent that comes later finds exactly what is left; after the next boot, that is
 * missed. */
#ifndef PEAL_BOOTS_H
#define PEAL_BOOTS_H

#include "ports.h"
#include "stages/outbox.h"
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
    bool is_noticed;      /* this boot: all jobs that are due for it have been marked ... */
    bool is_stored;       /* ... and the store knows that */
    int64_t tick_ms;      /* when this agent first saw it; 0: not yet */
    bool has_gone;        /* some job was purged: its mark is to be removed */
    struct sender sender; /* at most one request of its own is on the way */
};

void boots_init(struct boots *boots, const struct engine_ports *ports, struct outbox *outbox,
                const struct peer *self, const char *boot_id, struct catalog *catalog,
                const struct plan_rules *rules, struct placement *placement,
                struct boot_marks *marks);

/* What the store tells. */
void boots_take_meta(struct boots *boots, const struct store_set_meta *meta);
void boots_take_doc(struct boots *boots, const struct store_doc *doc);

/* Notices this boot, once all that earlier ones have left is decided; and removes marks that are of
 * no job any more. By a clock that is believed, everything loaded, and let in under this name. */
void boots_notice(struct boots *boots, struct now now);

/* The next boot of a job that can be decided. `may_run`: a run may be claimed; else only what is
 * not to run is decided. OK: *ret is for the claimer, which tells boot_marks_answered. E_NOT_FOUND:
 * nothing. E_NOMEM. */
MUST_CHECK enum status boots_next_due(struct boots *boots, struct now now, bool may_run,
                                      struct plan *ret);

/* Wall time at which there is something to do; NEVER_MS: not by itself. */
int64_t boots_wake_at(const struct boots *boots, struct now now);

#endif
