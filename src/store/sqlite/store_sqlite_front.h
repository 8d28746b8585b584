/* What the two stores on SQLite have in common at their loop's side: the one of a single process,
 * and the one that several share (shared/). */
#ifndef PEAL_STORE_SQLITE_FRONT_H
#define PEAL_STORE_SQLITE_FRONT_H

#include "store.h"

/* Requests in their order. */
struct request_list {
    struct store_request *first, *last;
};

void request_append(struct request_list *list, struct store_request *first,
                    struct store_request *last);
struct request_list request_take_all(struct request_list *list);

/* Calls `done` of each, with its answer. */
void request_answer_all(struct request_list answered);

/* Is it a fault of one request, not of the disk? Then the other requests must not fail with it. */
bool is_request_fault(enum status st);

/* E_IO: the disk of the database is nearly full; *why. */
MUST_CHECK enum status sqlite_disk_health(const char *path, struct strbuf *why);

/* store_each_aside for `asides`, keys of rows, each NUL-terminated. */
size_t sqlite_each_key(const struct strbuf *asides,
                       void (*visit)(void *context, const struct store_aside *aside),
                       void *context);

#endif
