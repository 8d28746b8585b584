/* The journal of what waits to be sent: one file, to which is only appended, and which is now and
 * then written anew with what still waits. A thread of its own does everything with the file, in
 * the order in which it is asked; `done` is called by journal_dispatch, on the owner's thread. */
#ifndef PEAL_JOURNAL_H
#define PEAL_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

struct journal;

/* From any thread: journal_dispatch is wanted. */
struct journal_wake {
    void (*wake)(void *context);
    void *context;
};

typedef void journal_done(void *context, enum status st);

/* FOLDER/notify/queue; the folder notify is made. Every payload that is there is given to `load`,
 * oldest first; what was cut short at the end is dropped. E_IO, E_VERSION (written by a newer
 * peal), E_CORRUPT (not a journal at all), E_NOMEM: *why says what to do. */
MUST_CHECK enum status journal_open(const char *folder, struct journal_wake wake,
                                    void (*load)(void *context, const char *payload, size_t length),
                                    void *context, struct journal **ret, struct strbuf *why);

/* Waits for what was asked, and answers it. */
struct journal *journal_free(struct journal *journal);

/* Appends frames, which are taken out of *frames; on disk when `done` is called with OK. Without
 * `done` it is on disk some time. E_NOMEM: nothing was asked, and *frames is as it was. */
MUST_CHECK enum status journal_append(struct journal *journal, struct strbuf *frames,
                                      journal_done *done, void *context);

/* The same in the place of all that was there: all of it or nothing. */
MUST_CHECK enum status journal_replace(struct journal *journal, struct strbuf *frames);

void journal_dispatch(struct journal *journal);

/* Bytes of the file, once all that was asked is done. */
int64_t journal_size(const struct journal *journal);

#endif
