/* Coordination between processes: locks, elections, and one chosen out of many. Two backends stand
 * behind it: etcd, for processes of many machines (coord_kv.h), and files, for those of one
 * (coord_file.h). Driven by the loop, one thread; nothing comes from within a call.
 *
 * A lock and an election are the same thing under two names: a queue, in order of arrival, whose
 * head holds. Whoever holds has a fence, a number that is larger than that of everybody who held
 * the same name before, also over restarts of everything. A lock alone can't stop a process that
 * was paused from writing late: what it writes to must refuse a fence smaller than one it has
 * seen. */
#ifndef PEAL_COORD_H
#define PEAL_COORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum {
    COORD_NAME_SIZE = 129, /* names are those of jobs: job_name_complaint */
    COORD_ID_SIZE = 129,
    COORD_HOST_SIZE = 65,
};

struct coord;
struct coord_claim;
struct coord_watch;

enum coord_kind {
    COORD_LOCK,
    COORD_ELECTION,
};

/* Who holds. Times of other machines are for people; they are never compared. */
struct coord_holder {
    char id[COORD_ID_SIZE], host[COORD_HOST_SIZE];
    int64_t pid, since_ms; /* by the wall clock of its machine */
    int64_t fence;         /* 0: it is first in the queue, and holds as soon as it has learnt it */
};

/* What is wrong with an id; NULL: nothing. */
const char *coord_id_complaint(const char *id);

/* ---- holding ---- */

enum coord_event {
    COORD_WAITING,  /* `holder` holds; again when another one does */
    COORD_HELD,     /* `holder` is the claim's own, with its fence */
    COORD_LOST,     /* the end: held, and no longer; `message` says why */
    COORD_FAILED,   /* the end: it was not got; `status`, `message`; E_BUSY: `holder` has it */
    COORD_RELEASED, /* the end, by coord_release. Not OK: others wait until the lease has ended */
};

struct coord_notice {
    enum coord_event event;
    const struct coord_holder *holder;
    enum status status;
    const char *message;
};

/* May free the claim. */
typedef void coord_notify(void *context, const struct coord_notice *notice);

struct coord_want {
    enum coord_kind kind;
    const char *name, *id;
    bool at_once;      /* FAILED with E_BUSY instead of WAITING */
    int64_t ttl_s;     /* etcd: of the lease, after which a crashed holder is passed over */
    int64_t margin_ms; /* etcd: it is LOST so long before the lease could end */
};

/* Enters the queue. E_INVALID: name or id. */
MUST_CHECK enum status coord_claim(struct coord *coord, const struct coord_want *want,
                                   coord_notify *notify, void *context, struct coord_claim **ret);

/* Gives up the place in the queue, or what is held; RELEASED comes when others can have it. */
void coord_release(struct coord_claim *claim);

/* Without waiting: in etcd what is held stays so until the lease ends. Accepts NULL; returns
 * NULL. */
struct coord_claim *coord_claim_free(struct coord_claim *claim);

/* Until when it is surely held, on the boot clock; INT64_MAX: as long as this process lives; 0: not
 * held. */
int64_t coord_held_until_boot_ms(const struct coord_claim *claim);

/* ---- looking on ---- */

struct coord_state {
    char name[COORD_NAME_SIZE];
    struct coord_holder holder;
    int64_t waiting; /* behind it in the queue */
};

/* Those that are held, by name. */
typedef void coord_seen(void *context, enum status st, const struct coord_state *states,
                        size_t count, const char *message);

/* `name` NULL: all. `seen` is called once, unless the coord is freed before. */
MUST_CHECK enum status coord_look(struct coord *coord, enum coord_kind kind, const char *name,
                                  coord_seen *seen, void *context);

/* `changed` is called whenever the holder may have changed, and perhaps when it has not. */
typedef void coord_changed(void *context);
MUST_CHECK enum status coord_watch(struct coord *coord, enum coord_kind kind, const char *name,
                                   coord_changed *changed, void *context, struct coord_watch **ret);
struct coord_watch *coord_watch_free(struct coord_watch *watch); /* accepts NULL; returns NULL */

/* ---- choosing ---- */

/* `chosen` has no fence. `is_self`: its id is the one that asked. */
typedef void coord_chosen(void *context, enum status st, const struct coord_holder *chosen,
                          bool is_self, const char *message);

/* All that ask for the service within the hold time of the first learn of the same one. The hold
 * ends by itself, whatever becomes of the chosen one; etcd counts it in seconds, two at least.
 * `chosen` is called once, unless the coord is freed before. */
MUST_CHECK enum status coord_select(struct coord *coord, const char *service, const char *id,
                                    int64_t hold_ms, coord_chosen *chosen, void *context);

/* After its claims and watches. Accepts NULL; returns NULL. */
struct coord *coord_free(struct coord *coord);

#endif
