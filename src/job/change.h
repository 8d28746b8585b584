/* A record of the audit trail: who did what, and when. A change to a job holds the definition
 * before and after, so that the trail is also the history of the job's revisions. */
#ifndef PEAL_CHANGE_H
#define PEAL_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "id.h"
#include "job_name.h"
#include "status.h"
#include "strbuf.h"

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
    CHANGE_RENAME,
    CHANGE_WEBHOOK_CREATE,
    CHANGE_WEBHOOK_CHANGE,
    CHANGE_WEBHOOK_ROTATE,
    CHANGE_WEBHOOK_DELETE,
    CHANGE_SECRET_CREATE,
    CHANGE_SECRET_CHANGE,
    CHANGE_SECRET_DELETE,
    CHANGE_MAINTENANCE_ADD,
    CHANGE_MAINTENANCE_END,
    CHANGE_MUTE,
    CHANGE_ACKNOWLEDGE,
    CHANGE_UNMUTE,
    CHANGE_GROUP_CREATE,
    CHANGE_GROUP_CHANGE,
    CHANGE_GROUP_DELETE,
    CHANGE_ACTIONS,
};

/* How the actor reached peal. */
enum change_via {
    VIA_NODE,    /* a node acted on its own */
    VIA_SOCKET,  /* a user of the machine, by the UNIX socket */
    VIA_SESSION, /* a browser, with a session or at the login */
    VIA_TOKEN,
    VIA_WEBHOOK, /* a request that the secret of a webhook has signed */
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
    TARGET_SECRET,
    TARGET_MAINTENANCE,
    TARGET_GROUP,
    CHANGE_TARGETS,
};

struct change_record {
    struct id id;  /* made at at_ms; makes recording idempotent */
    int64_t at_ms; /* wall time */
    enum change_via via;
    enum change_action action;
    enum change_target target_kind;
    char actor[64];
    char address[64];             /* of the actor; empty: this machine */
    char request_id[68];          /* of the request that made the change */
    char target[JOB_NAME_SIZE];   /* name or id of the target */
    struct id job_uid;            /* zero, with an empty job_name: the change concerns no job */
    char job_name[JOB_NAME_SIZE]; /* at the time of the change */
    int64_t revision;             /* of the job after the change; 0: none */
    char detail[160];             /* for people: what the other fields do not say */
    char *before, *after;         /* definitions as JSON; NULL: none, or not asked for */
};

/* "skip_next". */
const char *change_action_name(enum change_action action);
const char *change_via_name(enum change_via via);
const char *change_target_name(enum change_target target);

MUST_CHECK enum status change_action_by_name(const char *name, enum change_action *ret);

/* Only admins may see this action: accounts, channels, and actions of a newer peal. */
bool change_action_is_private(enum change_action action);

/* *ret owns copies of the definitions; release it with change_record_release. */
MUST_CHECK enum status change_record_copy(const struct change_record *change, bool with_definitions,
                                          struct change_record *ret);
void change_record_release(struct change_record *change);

/* ---- changes that the store keeps until the history has them ---- */

/* Appends the change as a record of the store (store_put_job): its columns as JSON, and the
 * definitions as they are, each in a line of its own. `node` is the one that is to bring it to the
 * history. False: a text is not UTF-8, or a definition has a line break; nothing was appended. */
MUST_CHECK bool change_write_record(const struct change_record *change, const char *node,
                                    struct strbuf *out);

/* The beginning of all documents of records of this node. */
void change_records_head(const char *node, struct strbuf *out);

/* The node that is to bring the records of a document to the history. E_INVALID, E_NOMEM. */
MUST_CHECK enum status change_records_node(const char *json, char ret_node[64]);

/* The changes of a document of records; *ret is to be freed, each released before. E_INVALID: one
 * of them can't be read; E_NOMEM. */
MUST_CHECK enum status change_records_read(const char *json, struct change_record **ret,
                                           size_t *ret_count);

/* An older peal has such a document for each change, with the id of the change as its name. */
#define CHANGE_DOC "change"

/* *ret owns its definitions. E_INVALID: it can't be read, or the name is no id; E_NOMEM. */
MUST_CHECK enum status change_decode_text(const char *name, const char *json,
                                          struct change_record *ret, char ret_node[64]);

/* Length of both definitions in bytes. */
size_t change_record_bytes(const struct change_record *change);

#endif
