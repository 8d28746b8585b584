/* Reads the history for a call. Rows that the caller may not see are left out, and the page is
 * filled with later rows: an empty page with a next one would reveal that hidden rows match, and
 * when. So are steps of workflows, unless the call wants them: the runs of a workflow are its
 * instances. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "server.h"

enum {
    PAGE = 1000, /* rows: the limit of history.h, and ... */
    ROUNDS = 8,  /* ... pages that one call may read */
};

/* ---- pages for callers with limited rights ---- */

void call_release_part(struct call *call)
{
    struct part *part = &call->part;
    for (size_t i = 0; part->are_changes && i < part->count; i++)
        change_record_release(&((struct change_record *)part->items)[i]);
    free(part->items);
    part->items = NULL;
    part->count = 0;
}

static void start_part(struct call *call, bool is_of_one_job, size_t *inout_limit)
{
    call_release_part(call);
    call->part = (struct part){
        .is_needed = !is_of_one_job && !scope_is_whole(&call->principal.scope),
        .wanted = *inout_limit,
        .then = call->then,
    };
    if (call->part.is_needed)
        *inout_limit = PAGE;
}

/* Is the query for a job that the caller may not see? Then the answer is empty. */
static bool is_of_others(const struct call *call, const char *job_name)
{
    return job_name && !call_sees(call, job_name);
}

void call_select_job(const struct call *call, const char *name, struct id *ret_uid,
                     const char **ret_name)
{
    const struct catalog *catalog = engine_catalog(call->api->ports.engine);
    const struct catalog_job *job = name ? catalog_by_name(catalog, name) : NULL;
    bool is_by_uid =
        job && (job->former || waits_former(&catalog->waits, name)) && call_sees(call, name);
    *ret_uid = is_by_uid ? job->uid : (struct id){{0}};
    *ret_name = is_by_uid ? NULL : name;
}

/* Moves the items of a page into the part (as bytes: it owns them). */
static enum status part_add(struct part *part, const void *items, size_t count, size_t size)
{
    if (!count)
        return OK;
    char *grown = realloc(part->items, (part->count + count) * size);
    if (!grown)
        return E_NOMEM;
    memcpy(grown + part->count * size, items, count * size);
    part->items = grown;
    part->count += count;
    return OK;
}

/* Read on until the page is full and one more row is known, or none is left. */
static bool is_to_go_on(struct part *part, bool more, const struct history_absences *absent)
{
    return more && part->count <= part->wanted && !absent->count && ++part->rounds < ROUNDS;
}

/* ---- runs and ledger entries ---- */

static const struct id *row_id(const struct history_row *row)
{
    return row->is_entry ? &row->entry.id : &row->run.id;
}

static void read_on(struct call *call)
{
    call_wait(call, call->part.then);
    history_read_release(&call->read);
    call->read.query.before = call->read.next;
    history_read(call->api->ports.history, &call->read);
}

/* The part becomes the page. */
static void end_rows(struct call *call)
{
    struct part *part = &call->part;
    struct history_read *read = &call->read;
    free(read->rows);
    read->rows = part->items;
    read->count = part->count;
    part->items = NULL;
    part->count = 0;
    if (read->count > part->wanted) {
        read->count = part->wanted;
        read->more = true;
        read->next = *row_id(&read->rows[read->count - 1]);
    }
}

/* True: there were some. */
static bool drop_steps(struct history_read *read)
{
    size_t kept = 0, count = read->count;
    for (size_t i = 0; i < count; i++) {
        if (!read->rows[i].is_entry && run_is_step(&read->rows[i].run))
            continue;
        if (kept != i)
            read->rows[kept] = read->rows[i];
        kept++;
    }
    read->count = kept;
    return kept < count;
}

static void history_answered(struct history_read *read, enum status st)
{
    struct call *call = read->context;
    struct part *part = &call->part;
    if (st == OK)
        hide_rows(call, read);
    if (st == OK && !call->reads_steps && drop_steps(read) && read->more && !part->is_needed) {
        part->is_needed = true; /* from the next page on; there may be many more */
        read->query.limit = PAGE;
    }
    if (st == OK && part->is_needed) {
        st = part_add(part, read->rows, read->count, sizeof(*read->rows));
        if (st == OK && is_to_go_on(part, read->more, &read->absent)) {
            call_later(call, read_on);
            return;
        }
        if (st == OK)
            end_rows(call);
    }
    call_answer(call, st);
}

void call_read_history(struct call *call, call_then *then)
{
    call_wait(call, then);
    history_read_release(&call->read);
    start_part(call, !id_is_zero(&call->read.query.job_uid) || call->read.query.job_name,
               &call->read.query.limit);
    call->read.done = history_answered;
    call->read.context = call;
    if (is_of_others(call, call->read.query.job_name)) {
        call->read.more = false;
        call_answer(call, OK);
    } else {
        history_read(call->api->ports.history, &call->read);
    }
}

/* ---- outputs ---- */

static void log_answered(struct history_log *log, enum status st)
{
    if (st == OK)
        hide_log(log->context, log);
    call_answer(log->context, st);
}

void call_read_log(struct call *call, call_then *then)
{
    call_wait(call, then);
    history_log_release(&call->log);
    call->log.done = log_answered;
    call->log.context = call;
    history_log(call->api->ports.history, &call->log);
}

/* ---- changes ---- */

static void read_changes_on(struct call *call)
{
    call_wait(call, call->part.then);
    history_changes_release(&call->changes);
    call->changes.query.before = call->changes.next;
    history_changes(call->api->ports.history, &call->changes);
}

static void end_changes(struct call *call)
{
    struct part *part = &call->part;
    struct history_changes *changes = &call->changes;
    free(changes->items);
    changes->items = part->items;
    changes->count = part->count;
    part->items = NULL;
    part->count = 0;
    if (changes->count <= part->wanted)
        return;
    for (size_t i = part->wanted; i < changes->count; i++)
        change_record_release(&changes->items[i]);
    changes->count = part->wanted;
    changes->more = true;
    changes->next = changes->items[changes->count - 1].id;
}

static void changes_answered(struct history_changes *changes, enum status st)
{
    struct call *call = changes->context;
    struct part *part = &call->part;
    if (st == OK)
        hide_changes(call, changes);
    if (st == OK && part->is_needed) {
        st = part_add(part, changes->items, changes->count, sizeof(*changes->items));
        if (st == OK)
            changes->count = 0; /* the part owns their texts */
        if (st == OK && is_to_go_on(part, changes->more, &changes->absent)) {
            call_later(call, read_changes_on);
            return;
        }
        if (st == OK)
            end_changes(call);
    }
    call_answer(call, st);
}

static void ask_changes(struct call *call)
{
    call_wait(call, call->part.then);
    history_changes(call->api->ports.history, &call->changes);
}

void call_read_changes(struct call *call, call_then *then)
{
    call_wait(call, then);
    history_changes_release(&call->changes);
    start_part(call, !id_is_zero(&call->changes.query.job_uid) || call->changes.query.job_name,
               &call->changes.query.limit);
    call->part.are_changes = true;
    call->changes.done = changes_answered;
    call->changes.context = call;
    if (is_of_others(call, call->changes.query.job_name)) {
        call->changes.more = false;
        call_answer(call, OK);
    } else {
        trail_settle(call, ask_changes);
    }
}

/* ---- statistics ---- */

static void stats_answered(struct history_stats *stats, enum status st)
{
    call_answer(stats->context, st);
}

void call_read_stats(struct call *call, call_then *then)
{
    call_wait(call, then);
    history_stats_release(&call->stats);
    call->stats.done = stats_answered;
    call->stats.context = call;
    history_stats(call->api->ports.history, &call->stats);
}
