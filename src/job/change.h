/* Who did what, and when: a line of the audit trail. A change to a job says what the definition was
 * before and after, so that the trail is also where the job's versions are. */
#ifndef PEAL_CHANGE_H
#define PEAL_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "id.h"
#include "job_name.h"
#include "status.h"

enum change_action {
    CHANGE_CREATE,
    CHANGE_CHANGE,
    CHANGE_DELETE,
    CHANGE_UNDELETE,
    CHANGE_PAUSE,
    CHANGE_RESUME,
    CHANGE_SKIP_NEXT,
    CHANGE_ROLLBACK,
    CHANGE_RUN,
    CHANGE_RETRY,
    CHANGE_KILL,
    CHANGE_BACKFILL,
    CHANGE_DRAIN,
    CHANGE_UNDRAIN,
    CHANGE_ADVANCE_CURSORS,
    CHANGE_USER_CREATE,
    CHANGE_USER_CHANGE,
    CHANGE_USER_DELETE,
    CHANGE_TOKEN_CREATE,
    CHANGE_TOKEN_REVOKE,
    CHANGE_LOGIN,
    CHANGE_LOGIN_FAILED,
    CHANGE_LOGOUT,
    CHANGE_CALENDAR_CREATE,
    CHANGE_CALENDAR_CHANGE,
    CHANGE_CALENDAR_DELETE,
    CHANGE_CHANNEL_CREATE,
    CHANGE_CHANNEL_CHANGE,
    CHANGE_CHANNEL_DELETE,
    CHANGE_ACTIONS,
};

/* How they came. */
enum change_via {
    VIA_NODE,    /* a node by itself */
    VIA_SOCKET,  /* a user of the machine */
    VIA_SESSION, /* somebody in a browser, logged in or trying to */
    VIA_TOKEN,
    CHANGE_VIAS,
};

enum change_target {
    TARGET_JOB,
    TARGET_RUN,
    TARGET_NODE,
    TARGET_CLUSTER,
    TARGET_USER,
    TARGET_TOKEN,
    TARGET_CALENDAR,
    TARGET_CHANNEL,
    CHANGE_TARGETS,
};

struct change_record {
    struct id id;  /* made at at_ms: recording it twice is harmless */
    int64_t at_ms; /* wall time */
    enum change_via via;
    enum change_action action;
    enum change_target target_kind;
    char actor[64];
    char address[64];             /* where they were; empty: on this machine */
    char request_id[68];          /* of the request that asked for it */
    char target[JOB_NAME_SIZE];   /* its name or id */
    struct id job_uid;            /* zero: it is about no job, and so is an empty name */
    char job_name[JOB_NAME_SIZE]; /* as it was then */
    int64_t revision;             /* of the job, after it; 0: none */
    char detail[160];             /* words for people: what the rest does not say */
    char *before, *after; /* definitions as JSON; NULL: there is none, or it was not asked for */
};

/* "skip_next". */
const char *change_action_name(enum change_action action);
const char *change_via_name(enum change_via via);
const char *change_target_name(enum change_target target);

MUST_CHECK enum status change_action_by_name(const char *name, enum change_action *ret);

/* True of what is about accounts: only who administrates them is told. */
bool change_action_is_private(enum change_action action);

/* *ret has texts of its own, for change_record_release. */
MUST_CHECK enum status change_record_copy(const struct change_record *change, bool with_definitions,
                                          struct change_record *ret);
void change_record_release(struct change_record *change);

/* Bytes of its definitions. */
size_t change_record_bytes(const struct change_record *change);

#endif
