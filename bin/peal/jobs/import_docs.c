#include "jobs/import_docs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "auth/account.h"
#include "calendar_codec.h"
#include "channel.h"
#include "group/group.h"

enum { AT_ONCE = 100 };

/* The counter of this kind; NULL: not imported. */
static size_t *counter_of(struct import_docs *docs, const char *kind)
{
    if (strcmp(kind, USER_DOC) == 0 || strcmp(kind, TOKEN_DOC) == 0)
        return &docs->accounts;
    if (strcmp(kind, CALENDAR_DOC) == 0)
        return &docs->calendars;
    if (strcmp(kind, GROUP_DOC) == 0)
        return &docs->groups;
    return strcmp(kind, CHANNEL_DOC) == 0 ? &docs->channels : NULL;
}

enum status import_docs_add(struct import_docs *docs, const struct store_doc *doc)
{
    if (!doc->json || !counter_of(docs, doc->kind))
        return OK;
    if (docs->count == docs->capacity) {
        size_t capacity = docs->capacity ? 2 * docs->capacity : 16;
        struct store_put_doc *grown = realloc(docs->puts, capacity * sizeof(*grown));
        if (!grown)
            return E_NOMEM;
        docs->puts = grown;
        docs->capacity = capacity;
    }
    struct store_put_doc *put = &docs->puts[docs->count];
    *put = (struct store_put_doc){.json = strdup(doc->json)};
    if (!put->json)
        return E_NOMEM;
    snprintf(put->kind, sizeof(put->kind), "%s", doc->kind);
    snprintf(put->name, sizeof(put->name), "%s", doc->name);
    docs->count++;
    return OK;
}

void import_turn(struct loop *loop)
{
    if (loop)
        loop_run_once(loop);
    else
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

struct answer {
    bool is_done;
    enum status status;
};

static void answered(struct store_request *request, enum status st)
{
    *(struct answer *)request->context = (struct answer){true, st};
}

enum status import_docs_write(struct import_docs *docs, struct loop *loop, struct store *store)
{
    for (size_t at = 0; at < docs->count; at += AT_ONCE) {
        size_t count = docs->count - at < AT_ONCE ? docs->count - at : AT_ONCE;
        struct answer answer = {.is_done = false};
        struct store_change change;
        struct store_request request = {.op = STORE_PUT_DOC,
                                        .count = count,
                                        .items.docs = docs->puts + at,
                                        .done = answered,
                                        .context = &answer};
        store_submit(store, &request);
        while (!answer.is_done) {
            import_turn(loop);
            store_dispatch(store);
            while (store_next_change(store, &change)) {
            }
        }
        if (answer.status != OK)
            return answer.status;
        for (size_t i = at; i < at + count; i++)
            *counter_of(docs, docs->puts[i].kind) += docs->puts[i].result == PUT_OK;
    }
    return OK;
}

void import_docs_release(struct import_docs *docs)
{
    for (size_t i = 0; i < docs->count; i++)
        free((char *)docs->puts[i].json);
    free(docs->puts);
    *docs = (struct import_docs){0};
}
