/* Changes on their way to the history. A definition and the record of its change are written to the
 * store in one transaction, the records of a transaction as a document (RECORDS_DOC): no change is
 * without its record, and one flush of the disk is enough before the client is answered. Each node
 * then brings the changes that were made through it to the history, many at a time, and has the
 * store forget them; while it writes a batch of jobs that waits, for two seconds at most. For a
 * node that is gone the leader does it. What is brought twice is recorded once, by its id.
 *
 * Who reads the history of changes waits until it has those that were there before. */
#ifndef PEAL_TRAIL_H
#define PEAL_TRAIL_H

#include <sys/queue.h>

#include "call.h"
#include "change.h"
#include "table.h"

struct loop_timer;

TAILQ_HEAD(trail_list, trail_item);
TAILQ_HEAD(trail_readers, call);

/* A part of them on its way: first to the history, then out of the store. */
struct trail_batch {
    struct trail_item **items; /* NULL: none is on its way */
    struct store_put_doc *docs;
    size_t count;
    struct history_record *records; /* of all changes in them */
    size_t record_count;
    bool is_recorded;
    struct history_append append;
    struct store_request forget;
};

struct trail {
    struct table by_id;
    struct strbuf head;           /* with which documents of this node begin */
    struct trail_list unrecorded; /* in the order of the feed */
    size_t bytes;                 /* of the documents of all that are known here */
    size_t mine_bytes;            /* of those that this node is to bring, and has not begun to */
    unsigned writing;             /* batches of jobs that are being written here */
    uint64_t last_number;
    struct trail_batch batch;
    bool is_asked;  /* the batch is in the hands of the history or the store */
    bool is_unwell; /* one of them has failed, or does not answer: nobody waits */
    struct loop_timer *timer;
    int64_t due_ms;   /* boot time of the next step; 0: none is needed */
    int64_t moved_ms; /* boot time when some were recorded last */
    struct trail_readers readers;
    struct loop_timer *patience; /* of the readers */
};

MUST_CHECK enum status trail_init(struct trail *trail, struct api *api);
void trail_release(struct trail *trail);

/* Takes in a change of the feed. */
void trail_take(struct api *api, const struct store_change *change);

/* May one more change be left to the store? Not if very many wait there for their history. */
bool trail_has_room(const struct trail *trail);

/* Continues when the history has all changes that are known here, of nodes that are alive; at once
 * if it has them already, after two seconds in which none comes there, and after ten in any case.
 */
void trail_settle(struct call *call, call_then *then);

/* A batch of jobs is being written, or is no longer: meanwhile changes are not in a hurry. */
void trail_begin_batch(struct trail *trail);
void trail_end_batch(struct trail *trail);

/* Documents of changes that a graceful stop should wait for. */
size_t trail_open(const struct trail *trail);

#endif
