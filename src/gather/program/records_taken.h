/* An agent's side of the records of programs: they go into its own history, whichever that is. */
#ifndef PEAL_RECORDS_TAKEN_H
#define PEAL_RECORDS_TAKEN_H

#include "history.h"

struct http_request;

/* Who is told of records that are in the history now, before the program may forget them. `done` is
 * called once, perhaps at once. The same records may come again. */
struct records_observer {
    void (*taken)(void *context, const struct history_record *records, size_t count,
                  void (*done)(void *done_context), void *done_context); /* NULL: nobody */
    void *context;
};

/* Answers the request, when the records are in the history, and the observer is done: 200; 422:
 * they are no records; 503: not now. */
void records_take(struct http_request *request, struct history *history,
                  const struct records_observer *observer);

#endif
