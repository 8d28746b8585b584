/* Small documents: calendars, channels, users, tokens. A kind is a row, and an edit goes the same
 * way for all of them:
 *
 *     may -> stored item -> prepare -> conditions -> ready -> doc_submit -> audit trail -> reply
 *               ^                                          |
 *              +------- lost a race, no condition ---------+  (once)
 *
 * The document is written if it still has the revision that was found. A change that was overtaken
 * is prepared again from what is stored by then; one with If-Match or If-None-Match is a 412. */
#ifndef PEAL_API_DOCUMENTS_H
#define PEAL_API_DOCUMENTS_H

#include "conditions.h"
#include "table.h"

enum doc_action {
    DOC_CREATE, /* POST: `prepare` sets call->argument; one that exists is a 409 */
    DOC_PUT,    /* made or replaced */
    DOC_CHANGE, /* PATCH: one that is missing is a 404 */
    DOC_DELETE, /* likewise */
};

struct doc_kind {
    const char *name;          /* in the store and in sentences, "calendar"; with an s in paths */
    enum change_target target; /* in the audit trail, with: */
    enum change_action created, changed, deleted;
    bool is_recorded_whole; /* the trail has its texts, before and after: they hold no secrets */
    bool has_revision;      /* clients see it as an ETag, and may name it in a condition */
    size_t edit_size;       /* of a struct that starts with a doc_edit */
    size_t revision_at;     /* of the int64_t in an item, which starts with its name */

    /* False: the call has failed. NULL: whoever got through the route may. */
    bool (*may)(struct call *call);
    /* The stored ones, by name, and which of them the client sees (NULL: all). */
    const struct table *(*all)(const struct call *call);
    bool (*sees)(const struct call *call, const void *item);
    /* Instead of both: one of them; NULL: none. */
    const void *(*find)(const struct call *call, const char *name);
    json_t *(*show)(const struct call *call, const void *item);

    /* From the body and the stored item (NULL: none) what is to be written: into call->state.
     * Called anew after a lost race. False: the call has failed. */
    bool (*prepare)(struct call *call, const void *item);
    /* What else is needed before the write; ends in doc_submit. NULL: nothing. */
    void (*ready)(struct call *call);
    void (*reply)(struct call *call, int status);
    void (*release)(void *edit); /* what the kind's own members hold; NULL: nothing */
};

extern const struct doc_kind calendar_docs, channel_docs, user_docs, token_docs;

enum { DOC_ANY_REVISION = -1 };

struct doc_edit {
    const struct doc_kind *kind;
    enum doc_action action;
    char *json;       /* set by `prepare` or `ready`; NULL: of a delete, or out of memory */
    char *before;     /* set by `prepare` for the trail if the kind is recorded whole */
    char *detail;     /* set by `prepare` for the trail; NULL: nothing */
    bool is_same;     /* set by `prepare`: there is nothing to write */
    int64_t revision; /* that it replaces; 0: none; `prepare` may say that any will do */
    bool is_conditional, is_repeated;
    struct store_put_doc put;
};

/* Writes what was prepared. */
void doc_submit(struct call *call);

/* {"items":[...],"next":null}; takes them over. NULL, out of memory, is a 500. */
void doc_reply_items(struct call *call, json_t *items);

#endif
