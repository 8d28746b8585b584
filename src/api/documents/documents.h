/* Small documents: calendars, channels, users, tokens. A kind is a struct doc_kind, and the edits
 * of all kinds take the same path:
 *
 *     may -> stored item -> prepare -> conditions -> ready -> doc_submit -> audit trail -> reply
 *                ^                                                |
 *                +--------- write conflict, no condition ---------+  (once)
 *
 * The write is a compare-and-set on the revision that was read. After a conflict the edit is
 * prepared again from the current document; with If-Match or If-None-Match it is a 412. An edit
 * that would write nothing is prepared again when the store has confirmed what this node knows. */
#ifndef PEAL_API_DOCUMENTS_H
#define PEAL_API_DOCUMENTS_H

#include "conditions.h"
#include "table.h"

enum doc_action {
    DOC_CREATE, /* POST: `prepare` sets call->argument; 409 if the document exists */
    DOC_PUT,    /* create or replace */
    DOC_CHANGE, /* PATCH: 404 if the document is missing */
    DOC_DELETE, /* 404 if the document is missing */
};

struct doc_kind {
    const char *name;          /* in the store and in messages, "calendar"; with an s in paths */
    enum change_target target; /* in the audit trail, with these actions: */
    enum change_action created, changed, deleted;
    bool is_recorded_whole; /* the audit trail has its text before and after: no secrets in it */
    bool has_revision;      /* clients see it as an ETag, and may use it in preconditions */
    size_t edit_size;       /* of a struct that starts with a doc_edit */
    size_t revision_at;     /* offset of the int64_t in an item, which starts with its name */

    /* Checks rights beyond the route's. False: the call has failed. NULL: no check. */
    bool (*may)(struct call *call);
    /* The stored items by name, and which of them the client may see (NULL: all). */
    const struct table *(*all)(const struct call *call);
    bool (*sees)(const struct call *call, const void *item);
    /* Instead of both: finds one item; NULL: none. */
    const void *(*find)(const struct call *call, const char *name);
    json_t *(*show)(const struct call *call, const void *item);

    /* Makes the edit in call->state from the body and the stored item (NULL: none). Called again
     * after a write conflict. False: the call has failed. */
    bool (*prepare)(struct call *call, const void *item);
    /* Further steps before the write; ends with doc_submit. NULL: none. */
    void (*ready)(struct call *call);
    void (*reply)(struct call *call, int status);
    void (*release)(void *edit); /* releases the kind's own members; NULL: none */
};

extern const struct doc_kind calendar_docs, channel_docs, maintenance_docs, secret_docs, user_docs,
    token_docs, group_docs;

enum { DOC_ANY_REVISION = -1 };

struct doc_edit {
    const struct doc_kind *kind;
    enum doc_action action;
    char *json;       /* set by `prepare` or `ready`; NULL: a delete, or out of memory */
    char *before;     /* set by `prepare` for the audit trail if the kind is recorded whole */
    char *detail;     /* set by `prepare` for the audit trail; NULL: none */
    bool is_same;     /* set by `prepare`: the document does not change */
    bool is_dry_run;  /* only says what would be done: nothing is written */
    int64_t revision; /* expected revision; 0: none; `prepare` may set DOC_ANY_REVISION */
    bool is_conditional, is_repeated;
    bool is_confirmed; /* the store has confirmed what this node knows, once */
    struct store_put_doc put;
};

/* Writes the prepared document. */
void doc_submit(struct call *call);

/* ---- documents that are one text, which clients send and see as a whole ---- */

/* What differs between them. */
struct doc_text_kind {
    const char *(*complain)(const char *name); /* what is wrong with a name; NULL: nothing */
    /* The body as the text for the store: *ret is malloc'ed. E_INVALID: *reterr. E_NOMEM. */
    enum status (*read)(const struct call *call, char **ret, struct job_error *reterr);
    /* May that text be written? NULL: always. False: the call has failed. */
    bool (*allow)(struct call *call, const char *json);
    /* Names of the first jobs that need it, and of how many; only those that the client may see. */
    json_t *(*users)(const struct call *call, const char *name, size_t *ret_count);
    json_t *(*encode)(const struct call *call, const char *name, int64_t revision,
                      const char *json);
};

enum { DOC_USERS_SHOWN = 5 };

/* The kind's `prepare` and `reply`. `json` is the stored text; NULL: none. A document that jobs
 * need is not deleted: 409. */
bool doc_text_prepare(struct call *call, const struct doc_text_kind *kind, const char *json);
void doc_text_reply(struct call *call, const struct doc_text_kind *kind, int status);

/* A list of what is active now, of what the caller may see. NULL: out of memory. */
json_t *encode_active_maintenance(const struct call *call);

/* {"items":[...],"next":null}; takes over `items`. NULL, out of memory, is a 500. */
void doc_reply_items(struct call *call, json_t *items);

#endif
