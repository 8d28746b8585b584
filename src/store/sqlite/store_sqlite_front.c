#include "sqlite/store_sqlite_front.h"

#include <string.h>

#include "data_dir.h"

void request_append(struct request_list *list, struct store_request *first,
                    struct store_request *last)
{
    if (list->last)
        list->last->next = first;
    else
        list->first = first;
    list->last = last;
}

struct request_list request_take_all(struct request_list *list)
{
    struct request_list taken = *list;
    *list = (struct request_list){NULL, NULL};
    return taken;
}

void request_answer_all(struct request_list answered)
{
    for (struct store_request *r = answered.first, *next; r; r = next) {
        next = r->next; /* `done` may free it */
        r->done(r, r->answer);
    }
}

bool is_request_fault(enum status st)
{
    return st == E_INVALID || st == E_NOMEM || st == E_TOO_LARGE;
}

enum status sqlite_disk_health(const char *path, struct strbuf *why)
{
    int64_t bytes = disk_free_bytes(path);
    if (bytes < 0 || bytes >= DISK_RESERVE_BYTES)
        return OK;
    strbuf_addf(why,
                "the disk of %s is nearly full (%lld MiB are free, peal wants %d): make room; "
                "peal goes on by itself when it can",
                path, (long long)bytes >> 20, DISK_RESERVE_BYTES >> 20);
    return E_IO;
}

size_t sqlite_each_key(const struct strbuf *asides,
                       void (*visit)(void *context, const struct store_aside *aside), void *context)
{
    size_t count = 0;
    for (size_t at = 0; at < asides->length; at += strlen(asides->text + at) + 1) {
        if (visit)
            visit(context, &(struct store_aside){asides->text + at, E_CORRUPT});
        count++;
    }
    return count;
}
