#include "import_accounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"

enum { AT_ONCE = 100 };

enum status import_accounts_add(struct import_accounts *accounts, const struct store_doc *doc)
{
    if (!doc->json || (strcmp(doc->kind, USER_DOC) != 0 && strcmp(doc->kind, TOKEN_DOC) != 0))
        return OK;
    if (accounts->count == accounts->capacity) {
        size_t capacity = accounts->capacity ? 2 * accounts->capacity : 16;
        struct store_put_doc *grown = realloc(accounts->puts, capacity * sizeof(*grown));
        if (!grown)
            return E_NOMEM;
        accounts->puts = grown;
        accounts->capacity = capacity;
    }
    struct store_put_doc *put = &accounts->puts[accounts->count];
    *put = (struct store_put_doc){.json = strdup(doc->json)};
    if (!put->json)
        return E_NOMEM;
    snprintf(put->kind, sizeof(put->kind), "%s", doc->kind);
    snprintf(put->name, sizeof(put->name), "%s", doc->name);
    accounts->count++;
    return OK;
}

struct answer {
    bool is_done;
    enum status status;
};

static void answered(struct store_request *request, enum status st)
{
    *(struct answer *)request->context = (struct answer){true, st};
}

enum status import_accounts_write(struct import_accounts *accounts, struct loop *loop,
                                  struct store *store)
{
    for (size_t at = 0; at < accounts->count; at += AT_ONCE) {
        size_t count = accounts->count - at < AT_ONCE ? accounts->count - at : AT_ONCE;
        struct answer answer = {.is_done = false};
        struct store_change change;
        struct store_request request = {.op = STORE_PUT_DOC,
                                        .count = count,
                                        .items.docs = accounts->puts + at,
                                        .done = answered,
                                        .context = &answer};
        store_submit(store, &request);
        while (!answer.is_done) {
            loop_run_once(loop);
            store_dispatch(store);
            while (store_next_change(store, &change)) {
            }
        }
        if (answer.status != OK)
            return answer.status;
        for (size_t i = at; i < at + count; i++)
            accounts->written += accounts->puts[i].result == PUT_OK;
    }
    return OK;
}

void import_accounts_release(struct import_accounts *accounts)
{
    for (size_t i = 0; i < accounts->count; i++)
        free((char *)accounts->puts[i].json);
    free(accounts->puts);
    *accounts = (struct import_accounts){0};
}
