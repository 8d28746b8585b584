#include "jobs/import_docs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attendance.h"
#include "auth/account.h"
#include "auth/accounts.h"
#include "boot_mark.h"
#include "calendar_codec.h"
#include "change.h"
#include "channel.h"
#include "cli/cli.h"
#include "gates/maintenance.h"
#include "group/group.h"
#include "kv/store_kv.h"
#include "mute.h"
#include "params/run_input.h"
#include "secret_doc.h"
#include "text/tr.h"

enum { AT_ONCE = 100 };

/* All kinds of documents; a test compares them with the headers that name them. */
static const struct doc_row {
    const char *kind;
    const char *one, *many; /* how they are called; NULL: they are left */
} rows[] = {
    {USER_DOC, TR("account"), TR("accounts")},
    {TOKEN_DOC, TR("token"), TR("tokens")},
    {CALENDAR_DOC, TR("calendar"), TR("calendars")},
    {GROUP_DOC, TR("group"), TR("groups")},
    {CHANNEL_DOC, TR("channel"), TR("channels")},
    {SECRET_DOC, TR("secret"), TR("secrets")},
    {WEBHOOK_DOC, TR("webhook"), TR("webhooks")},
    {MAINTENANCE_DOC, TR("maintenance window"), TR("maintenance windows")},
    {MUTE_DOC, TR("mute"), TR("mutes")},
    {INPUT_DOC, NULL, NULL},       /* of open runs, of which there are none */
    {OUTPUT_DOC, NULL, NULL},      /* likewise */
    {DELIVERY_DOC, NULL, NULL},    /* who has delivered it knows that */
    {CHANGE_DOC, NULL, NULL},      /* on their way to the history of an agent */
    {RECORDS_DOC, NULL, NULL},     /* likewise */
    {BOOT_DOC, NULL, NULL},        /* of the nodes that were there */
    {ATTENDANCE_DOC, NULL, NULL},  /* likewise */
    {SLOTS_DOC, NULL, NULL},       /* the store's own */
    {SECRET_DOC_KIND, NULL, NULL}, /* of sessions: users log in again */
};

enum { ROWS_COUNT = sizeof(rows) / sizeof(rows[0]) };
_Static_assert((int)ROWS_COUNT <= (int)IMPORT_DOC_KINDS_MAX, "each row has a counter");

/* -1: not known. */
static int row_of(const char *kind)
{
    for (int i = 0; i < ROWS_COUNT; i++)
        if (strcmp(rows[i].kind, kind) == 0)
            return i;
    return -1;
}

static enum status add(struct import_docs *docs, const struct store_doc *doc)
{
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

enum status import_docs_add(struct import_docs *docs, const struct store_doc *doc)
{
    int row = row_of(doc->kind);
    if (!doc->json)
        return OK;
    if (row < 0)
        memcpy(docs->unknown, doc->kind, sizeof(docs->unknown));
    return row >= 0 && rows[row].one ? add(docs, doc) : OK;
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
            docs->written[row_of(docs->puts[i].kind)] += docs->puts[i].result == PUT_OK;
    }
    return OK;
}

void import_docs_tell(const struct import_docs *docs)
{
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        if (!docs->written[i])
            continue;
        printf(tr("%zu %s imported"), docs->written[i],
               tr(docs->written[i] == 1 ? rows[i].one : rows[i].many));
        putchar('\n');
        if (strcmp(rows[i].kind, SECRET_DOC) == 0)
            cli_note("the nodes need the key file of before to read the secrets");
    }
    if (docs->unknown[0])
        cli_note("documents of the kind \"%s\", which this version does not know, were left out",
                 docs->unknown);
}

void import_docs_release(struct import_docs *docs)
{
    for (size_t i = 0; i < docs->count; i++)
        free((char *)docs->puts[i].json);
    free(docs->puts);
    *docs = (struct import_docs){0};
}
