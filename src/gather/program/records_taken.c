#include "program/records_taken.h"

#include <stdlib.h>

#include "http.h"
#include "program/records_wire.h"

struct taken {
    struct http_request *request; /* NULL: the client has left */
    struct wire_records records;
    struct history_append append;
    struct records_observer observer;
};

static void taken_free(struct taken *taken)
{
    wire_records_release(&taken->records);
    free(taken);
}

static void gone(void *context)
{
    struct taken *taken = context;
    taken->request = NULL;
}

static int status_of(enum status st)
{
    return st == OK ? 200 : st == E_INVALID ? 422 : 503;
}

static void answer(struct taken *taken, enum status st)
{
    if (taken->request)
        http_answer(taken->request, status_of(st), NULL, 0);
    taken_free(taken);
}

static void observed(void *context)
{
    answer(context, OK);
}

/* Who has left hands them over again, here or to another agent. */
static void appended(struct history_append *append, enum status st)
{
    struct taken *taken = append->context;
    const struct records_observer *observer = &taken->observer;
    if (st == OK && taken->request && observer->taken)
        observer->taken(observer->context, append->records, append->count, observed, taken);
    else
        answer(taken, st);
}

void records_take(struct http_request *request, struct history *history,
                  const struct records_observer *observer)
{
    size_t length;
    const char *text = http_body(request, &length);
    struct taken *taken = history ? calloc(1, sizeof(*taken)) : NULL;
    enum status st = taken ? wire_decode_records(text, length, &taken->records) : E_NOMEM;
    if (st != OK) {
        free(taken);
        http_answer(request, status_of(st), NULL, 0);
        return;
    }
    http_drop_body(request);
    taken->request = request;
    taken->observer = *observer;
    http_own(request, taken, gone);
    taken->append = (struct history_append){.records = taken->records.records,
                                            .count = taken->records.count,
                                            .done = appended,
                                            .context = taken};
    history_append(history, &taken->append);
}
