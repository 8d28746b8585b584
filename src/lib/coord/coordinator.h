/* Locks, elections and selections (src/coord) for programs with threads: one thread with a loop of
 * its own behind functions that any thread may call and that wait for their answer. Callbacks of
 * the program come from a second thread, one after the other, so that one that takes long delays no
 * renewal of a lease. Both block all signals. */
#ifndef PEAL_COORDINATOR_H
#define PEAL_COORDINATOR_H

#include "coord.h"
#include "node_store.h"

struct coordinator;
struct claim;
struct observer;

/* Until coordinator_close all of it stays the caller's. */
struct coordinator_config {
    struct store_access store;
    const char *folder; /* where the processes of this machine meet; not with servers */
    int64_t timeout_ms; /* how long the store may be silent */
    void (*log)(void *context, const char *message); /* from its thread */
    void *context;
};

/* Does not wait for the store. *why says what failed. */
MUST_CHECK enum status coordinator_new(const struct coordinator_config *config,
                                       struct coordinator **ret, struct strbuf *why);

/* Whoever waits is told so, and nothing is begun any more; what is held stays so. From any thread,
 * and from a signal handler. */
void coordinator_stop(struct coordinator *coordinator);

/* Releases what is held, and waits for that as long as the store may be silent. Handles answer on,
 * and must be freed as before. Not from a callback. Accepts NULL. */
void coordinator_close(struct coordinator *coordinator);

/* How something ended that was asked for: *why has words for it. */
enum answer {
    ANSWER_YES,
    ANSWER_BUSY,    /* another one has it, or was chosen */
    ANSWER_LOST,    /* had, and no longer */
    ANSWER_STOPPED, /* coordinator_stop, coordinator_close, or the end of the process */
    ANSWER_NOBODY,
    ANSWER_FAILED, /* the status says how */
};
struct answered {
    enum answer answer;
    enum status status;
};

/* ---- claims: of a lock, or of a lead ---- */

struct claim_wish {
    struct coord_want want; /* its texts are copied */
    int64_t wait_ms;        /* less than 0: until it is stopped */
    /* Set: does not wait, and claims again after each loss and failure, until it is released. */
    void (*won)(void *context, int64_t fence);
    void (*lost)(void *context, const char *why);
    void *context;
};

/* YES: *ret is to be released. */
MUST_CHECK struct answered coordinator_claim(struct coordinator *coordinator,
                                             const struct claim_wish *wish, struct claim **ret,
                                             struct strbuf *why);

/* Whether it is held at this moment, by the boot clock: never again true once it was false, except
 * after a further `won`. */
bool claim_is_held(struct claim *claim);

/* Of the last hold; 0: none. */
int64_t claim_fence(struct claim *claim);

/* Whether the claim is of this process, and not of one that it was forked from. */
bool claim_is_ours(const struct claim *claim);

/* Frees it, after a callback that runs has returned; none comes any more. Then others can have it:
 * YES. FAILED: only when the lease has ended. LOST: it was not held all the time. From within its
 * own callback, too. */
MUST_CHECK struct answered claim_release(struct claim *claim, struct strbuf *why);

/* ---- who leads, who is chosen ---- */

/* NULL: nobody. */
typedef void observer_changed(void *context, const struct coord_holder *leader);

/* Calls `changed` with who leads now, and at each change. */
MUST_CHECK struct answered coordinator_observe(struct coordinator *coordinator, const char *name,
                                               observer_changed *changed, void *context,
                                               struct observer **ret, struct strbuf *why);
bool observer_is_ours(const struct observer *observer);
void observer_end(struct observer *observer); /* as claim_release */

/* YES, NOBODY. */
MUST_CHECK struct answered coordinator_leader(struct coordinator *coordinator, const char *name,
                                              struct coord_holder *ret, struct strbuf *why);

/* YES: the id that asked was chosen. BUSY: *ret was. */
MUST_CHECK struct answered coordinator_select(struct coordinator *coordinator, const char *service,
                                              const char *id, int64_t hold_ms,
                                              struct coord_holder *ret, struct strbuf *why);

#endif
