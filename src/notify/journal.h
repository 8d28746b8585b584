/* The journal of messages to be sent: an append-only file that is compacted now and then. A thread
 * of its own does all I/O, in order; `done` is called by journal_dispatch, on the owner's
 * thread. */
#ifndef PEAL_JOURNAL_H
#define PEAL_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

struct journal;

/* Called from any thread: asks for journal_dispatch. */
struct journal_wake {
    void (*wake)(void *context);
    void *context;
};

typedef void journal_done(void *context, enum status st);

/* Opens FOLDER/notify/queue; the folder notify is made. `load` is called with every payload, oldest
 * first; a torn write at the end is dropped. E_IO, E_VERSION (written by a newer peal), E_CORRUPT
 * (not a journal at all), E_NOMEM: *why says what to do. */
MUST_CHECK enum status journal_open(const char *folder, struct journal_wake wake,
                                    void (*load)(void *context, const char *payload, size_t length),
                                    void *context, struct journal **ret, struct strbuf *why);

/* Waits for all requests and calls their `done`. */
struct journal *journal_free(struct journal *journal);

/* Appends frames, which are moved out of *frames; they are synced to disk when `done` is called
 * with OK. Without `done` they are synced some time later. E_NOMEM: nothing was queued, *frames is
 * unchanged. */
MUST_CHECK enum status journal_append(struct journal *journal, struct strbuf *frames,
                                      journal_done *done, void *context);

/* Atomically replaces the whole content by these frames. */
MUST_CHECK enum status journal_replace(struct journal *journal, struct strbuf *frames);

void journal_dispatch(struct journal *journal);

/* Size of the file in bytes, after all queued requests. */
int64_t journal_size(const struct journal *journal);

#endif
