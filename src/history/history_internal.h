/* What all backends share: queues of requests, and what a query means. */
#ifndef PEAL_HISTORY_INTERNAL_H
#define PEAL_HISTORY_INTERNAL_H

#include "history.h"

enum { HISTORY_LIMIT_MAX = 1000 };

struct history_queue {
    struct history_request *first, *last;
};

void history_queue_push(struct history_queue *queue, struct history_request *request);
struct history_request *history_queue_pop(struct history_queue *queue); /* NULL: empty */

/* What a writer does next. Appends and a prune take turns: it would never end if those went first
 * that come all the time. A prune stays the first of its queue until it is finished. */
struct history_request *history_next_write(struct history_queue *appends,
                                           const struct history_queue *prunes, bool prune_waited);

/* Calls its `done` with its answer. The request is the caller's again. */
void history_request_done(struct history_request *request);

/* The same for all that are in it now: what is submitted from within `done` waits for the next
 * time. */
void history_queue_done(struct history_queue *queue);

/* Only what has ended is history; a record is one run, one entry or one change; only a run has
 * output. */
bool history_append_is_valid(const struct history_append *append);

/* True of every row that the query asks for, its page (before, limit) aside. */
bool history_query_matches(const struct history_query *query, const struct history_row *row);

/* Whether what is on record gives way to a new record with the same id. */
bool history_row_gives_way(const struct history_row *old, const struct history_row *to);

const struct id *history_row_id(const struct history_row *row);

void history_absences_release(struct history_absences *absent);

/* What one place (a table, a walk) has of a page, newest first: everything from `horizon` on, if
 * there is more. */
struct page_part {
    struct history_row *rows;
    size_t count;
    size_t taken; /* by page_merge */
    bool more;
    struct id horizon;
};

/* Answers a request for a page from all parts, newest first, as far as all are known. What several
 * have is there once, as it would be if it had been recorded in one place. */
MUST_CHECK enum status page_merge(struct page_part *parts, size_t count, struct history_read *read);

/* What of a chunk, whose first byte is byte `start` of the kept output, is asked for (kept_bytes is
 * known already). False: nothing, not even its gap. */
bool history_log_part(const struct history_log *log, int64_t start, size_t length, size_t *ret_skip,
                      size_t *ret_length);

/* From inclusive, below exclusive. */
struct id_span {
    struct id from, below;
};

/* Wall time when an id was made. */
int64_t history_id_made_ms(const struct id *id);

/* The smallest id that can have been made at `made_ms`. */
struct id history_id_at(int64_t made_ms);

/* ---- changes: history_changes.c ---- */

/* True of every change that the query asks for, its page (before, limit) aside. */
bool history_change_matches(const struct change_query *query, const struct change_record *change);

/* The ids that it asks for. */
struct id_span history_change_span(const struct change_query *query);

/* A page while it is filled. */
struct changes_page {
    struct history_changes answer;
    size_t bytes; /* of definitions */
};

/* An empty page for a query; E_INVALID: its limit. */
MUST_CHECK enum status changes_page_init(struct changes_page *page,
                                         const struct change_query *query);

/* The next older one that matches; takes the texts of *change over if it fits. False: it does not,
 * and there is more. */
bool changes_page_add(struct changes_page *page, struct change_record *change);

/* The search has come to an id and goes no further. */
void changes_page_stop(struct changes_page *page, const struct id *last);

/* The page becomes the answer if all went well, and is freed if not. Answers `st`. */
enum status changes_page_end(struct changes_page *page, enum status st,
                             struct history_changes *ret);

/* Retention by bytes goes down the runs, newest first, and adds up their output. Zero at the start.
 */
struct byte_count {
    struct id last; /* it was looked at; zero: none was */
    int64_t bytes;
};

struct id byte_count_below(const struct byte_count *count); /* what is next is below this */

/* The next older run, with so much output: does it go? */
bool byte_count_goes(struct byte_count *count, int64_t keep_bytes, const struct id *id,
                     int64_t output_bytes);

/* When a run or an entry came to its end, for retention. */
int64_t history_row_ended_ms(const struct history_row *row);

#endif
