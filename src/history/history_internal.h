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

/* The writer's next request. Appends and a prune take turns, so that a steady stream of appends
 * cannot starve the prune. A prune stays at the head of its queue until it is finished. */
struct history_request *history_next_write(struct history_queue *appends,
                                           const struct history_queue *prunes, bool prune_waited);

/* Calls `done` of the request with its answer, which gives the request back to its owner. */
void history_request_done(struct history_request *request);

/* The same for every request now in the queue; a request that `done` adds waits for the next call.
 */
void history_queue_done(struct history_queue *queue);

/* Checks the rules of struct history_append for every record. */
bool history_append_is_valid(const struct history_append *append);

/* Whether the row passes every filter of the query; ignores the page (before, limit). */
bool history_query_matches(const struct history_query *query, const struct history_row *row);

/* Whether a new record replaces the stored one with the same id: see struct history_record. */
bool history_row_gives_way(const struct history_row *old, const struct history_row *to);

const struct id *history_row_id(const struct history_row *row);

void history_absences_release(struct history_absences *absent);

/* Rows for a page from one source (a table, a walk), newest first. If `more`, the rows are complete
 * only down to the id `horizon`. */
struct page_part {
    struct history_row *rows;
    size_t count;
    size_t taken; /* rows consumed by page_merge */
    bool more;
    struct id horizon;
};

/* Merges the parts into the answer of `read`, newest first, down to the highest horizon. A row that
 * several parts have appears once, in the version that history_row_gives_way prefers. */
MUST_CHECK enum status page_merge(struct page_part *parts, size_t count, struct history_read *read);

/* The part of a chunk that the request asks for. The chunk begins at byte `start` of the kept
 * output; log->kept_bytes is set. False: no byte of it, nor its gap. */
bool history_log_part(const struct history_log *log, int64_t start, size_t length, size_t *ret_skip,
                      size_t *ret_length);

/* From inclusive, below exclusive. */
struct id_span {
    struct id from, below;
};

/* Wall time at which the id was made. */
int64_t history_id_made_ms(const struct id *id);

/* The smallest id that can have been made at `made_ms`. */
struct id history_id_at(int64_t made_ms);

/* ---- changes: history_changes.c ---- */

/* Whether the change passes every filter of the query; ignores the page (before, limit). */
bool history_change_matches(const struct change_query *query, const struct change_record *change);

/* The ids that the query's time span and cursor allow. */
struct id_span history_change_span(const struct change_query *query);

/* A page of changes while it is filled. */
struct changes_page {
    struct history_changes answer;
    size_t bytes; /* of definitions */
};

/* An empty page for a query; E_INVALID: the limit is out of range. */
MUST_CHECK enum status changes_page_init(struct changes_page *page,
                                         const struct change_query *query);

/* Adds the next older change that matches and takes over its definitions. False: the page is full
 * and now says `more`. */
bool changes_page_add(struct changes_page *page, struct change_record *change);

/* Ends the page early: the search stopped at the id `last`. */
void changes_page_stop(struct changes_page *page, const struct id *last);

/* OK: moves the page into the answer; else frees the page. Returns `st`. */
enum status changes_page_end(struct changes_page *page, enum status st,
                             struct history_changes *ret);

/* The running total of retention by bytes, which visits runs newest first. Zero at the start. */
struct byte_count {
    struct id last; /* run visited last; zero: none yet */
    int64_t bytes;  /* output of the runs visited */
};

struct id byte_count_below(const struct byte_count *count); /* upper bound of the next run's id */

/* Counts the next older run and its output. True: the run is to be removed. */
bool byte_count_goes(struct byte_count *count, int64_t keep_bytes, const struct id *id,
                     int64_t output_bytes);

/* The end of a run or an entry by which retention measures age. */
int64_t history_row_ended_ms(const struct history_row *row);

#endif
