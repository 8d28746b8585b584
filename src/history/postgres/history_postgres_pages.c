/* Pages. Job, state, node, duration and text each have an index that ends in the id. If every row
 * along the index matches, a page is one statement. Else the search works in steps: one statement
 * finds the horizon, the id of the nth row along the index, from the index alone; another finds the
 * matching rows down to the horizon. If several indexes fit, the one with the lowest horizon has
 * the fewest rows to examine. */
#include <stdlib.h>
#include <string.h>

#include "postgres/history_postgres_internal.h"

enum {
    STEP_FIRST = 500,    /* rows examined in the first step */
    STEP_NEXT = 4000,    /* and in the second: some hundredths of a second together */
    TEXT_JOBS_MAX = 100, /* jobs with the text in their names; with more, PAGE_TEXT is not used */
};

struct search {
    struct postgres_link *link;
    const struct history_query *query;
    enum record_table table;
    enum page_scope scope;
    struct id before;              /* upper bound of the ids that are still to be examined */
    struct params jobs, text_jobs; /* an array of job keys each, or SQL NULL */
    struct strbuf text;
};

/* ---- parameters ---- */

static void add_copy(struct params *to, const struct params *one)
{
    to->types[to->count] = one->types[0];
    to->at[to->count] = to->bytes.length;
    to->length[to->count] = one->length[0];
    if (one->length[0] != SIZE_MAX)
        strbuf_add(&to->bytes, one->bytes.text, one->length[0]);
    to->count++;
}

static void add_states(const struct search *search, struct params *params)
{
    unsigned states = table_states(search->table, search->query);
    params_array(params, ARRAY_INT);
    for (int state = 0; state < RUN_STATES; state++) {
        if (states >> state & 1)
            params_add_int(params, state);
    }
    params_array_end(params);
}

static void add_text(const struct search *search, struct params *params)
{
    const struct history_query *query = search->query;
    params_text(params, query->text ? search->text.text : NULL);
    params_array(params, ARRAY_INT);
    for (int reason = 1; query->text && reason < REASONS; reason++) {
        if (strcasestr(run_reason_name((enum run_reason)reason), query->text))
            params_add_int(params, reason);
    }
    params_array_end(params);
    add_copy(params, &search->text_jobs);
}

static void add_classes(const struct search *search, struct params *params)
{
    int nth = lasting_class(search->query->min_duration_ms);
    params_array(params, ARRAY_INT);
    for (; nth >= 0 && nth < LASTING_CLASSES; nth++)
        params_add_int(params, nth + 1); /* width_bucket counts from 1 */
    params_array_end(params);
}

/* $1 to $13 of history_postgres_page_sql.c. */
static void add_params(const struct search *search, const struct id *from, int64_t rows,
                       struct params *params)
{
    const struct history_query *query = search->query;
    params_id(params, &search->before);
    params_id(params, from);
    params_int(params, rows);
    add_copy(params, &search->jobs);
    add_states(search, params);
    params_int(params, query->since_ms ? query->since_ms : INT64_MIN);
    params_int(params, query->until_ms ? query->until_ms : INT64_MAX);
    add_text(search, params);
    params_text(params, query->node);
    if (query->min_duration_ms)
        params_int(params, query->min_duration_ms);
    else
        params_null_int(params);
    add_classes(search, params);
}

/* ---- keys of jobs ---- */

/* The keys that a statement finds, as an array; SQL NULL if there are more than `most`. */
static enum status find_keys(struct postgres_link *link, enum statement which,
                             const struct params *given, int most, struct params *ret)
{
    PGresult *result = NULL;
    enum status st = link_run(link, TABLE_RUNS, which, given, &result);
    if (st != OK)
        return st;
    if (PQntuples(result) > most) {
        params_null_ints(ret);
    } else {
        params_array(ret, ARRAY_INT);
        for (int i = 0; i < PQntuples(result); i++)
            params_add_int(ret, result_int(result, i, 0));
        params_array_end(ret);
    }
    PQclear(result);
    return OK;
}

static bool asks_job(const struct history_query *query)
{
    return !id_is_zero(&query->job_uid) || query->job_name;
}

static enum status find_asked_jobs(struct search *search)
{
    const struct history_query *query = search->query;
    int count;
    enum status st = OK;
    if (!asks_job(query)) {
        params_null_ints(&search->jobs);
        return OK;
    }
    params_array(&search->jobs, ARRAY_INT);
    st = postgres_find_keys(search->link, &query->job_uid, query->job_name, &search->jobs, &count);
    params_array_end(&search->jobs);
    return st;
}

static enum status find_text_jobs(struct search *search)
{
    struct params given;
    if (!search->query->text) {
        params_null_ints(&search->text_jobs);
        return OK;
    }
    params_init(&given);
    params_text(&given, search->text.text);
    params_int(&given, TEXT_JOBS_MAX + 1);
    enum status st =
        find_keys(search->link, SQL_KEYS_BY_TEXT, &given, TEXT_JOBS_MAX, &search->text_jobs);
    params_release(&given);
    return st;
}

static bool has_few_text_jobs(const struct search *search)
{
    return search->query->text && search->text_jobs.length[0] != SIZE_MAX;
}

/* ---- one way ---- */

/* Whether every row along the index of search->scope matches, but for the time of its tick. */
static bool is_exact(const struct search *search)
{
    const struct history_query *query = search->query;
    return !query->text && !query->min_duration_ms &&
           (!query->node || (search->scope == PAGE_NODE && !asks_job(query)));
}

/* Adds the matching rows from below search->before down to `from`. */
static enum status find_rows(const struct search *search, const struct id *from,
                             struct page_part *page)
{
    struct params params;
    PGresult *result = NULL;
    size_t wanted = search->query->limit + 1 - page->count;
    params_init(&params);
    add_params(search, from, (int64_t)wanted, &params);
    enum status st = link_run(search->link, search->table,
                              (enum statement)(SQL_PAGE + (int)search->scope), &params, &result);
    params_release(&params);
    for (int i = 0; st == OK && i < PQntuples(result); i++)
        postgres_load_row(result, i, 0, search->table, &page->rows[page->count++]);
    PQclear(result);
    return st;
}

/* The id of the nth row along the index, matching or not; `from` if there are fewer. */
static enum status find_horizon(const struct search *search, const struct id *from, int64_t rows,
                                struct id *ret)
{
    struct params params;
    PGresult *result = NULL;
    params_init(&params);
    add_params(search, from, rows, &params);
    enum status st = link_run(search->link, search->table,
                              (enum statement)(SQL_HORIZON + (int)search->scope), &params, &result);
    params_release(&params);
    if (st == OK)
        *ret = PQntuples(result) ? result_id(result, 0, 0) : *from;
    PQclear(result);
    return st;
}

/* ---- choosing the index ---- */

static unsigned ways_of(const struct search *search)
{
    const struct history_query *query = search->query;
    unsigned ways = 0;
    if (asks_job(query))
        ways |= 1u << PAGE_JOBS;
    if (query->node)
        ways |= 1u << PAGE_NODE;
    if (query->states && !ways) /* the indexes by job and by node include the state */
        ways |= 1u << PAGE_STATES;
    if (has_few_text_jobs(search))
        ways |= 1u << PAGE_TEXT;
    if (lasting_class(query->min_duration_ms) >= 0)
        ways |= 1u << PAGE_LASTING;
    return ways ? ways : 1u << PAGE_ALL;
}

/* Sets search->scope. *ret_horizon is the horizon of its first step; not used if is_exact(). */
static enum status choose_way(struct search *search, const struct id *from, struct id *ret_horizon)
{
    unsigned ways = ways_of(search);
    enum page_scope best = PAGE_ALL;
    bool found = false;
    enum status st = OK;
    for (int scope = PAGE_JOBS; scope >= PAGE_ALL && st == OK; scope--) {
        struct id horizon = {{0}};
        if (!(ways >> scope & 1))
            continue;
        search->scope = (enum page_scope)scope;
        if (ways != 1u << scope || !is_exact(search))
            st = find_horizon(search, from, STEP_FIRST, &horizon);
        if (!found || id_compare(&horizon, ret_horizon) < 0) {
            best = search->scope;
            *ret_horizon = horizon;
            found = true;
        }
    }
    search->scope = best;
    return st;
}

/* ---- the parts of a page ---- */

static enum status search_in_steps(struct search *search, const struct id *from, struct id horizon,
                                   struct page_part *page)
{
    enum status st = find_rows(search, &horizon, page);
    if (st == OK && page->count <= search->query->limit && id_compare(&horizon, from) > 0) {
        search->before = horizon;
        st = find_horizon(search, from, STEP_NEXT, &horizon);
        if (st == OK)
            st = find_rows(search, &horizon, page);
    }
    page->more = id_compare(&horizon, from) > 0;
    page->horizon = horizon;
    return st;
}

/* With limit + 1 rows, the part is complete only down to its last row. */
static void end_part(const struct search *search, struct page_part *page)
{
    if (page->count <= search->query->limit)
        return;
    page->more = true;
    page->horizon = *history_row_id(&page->rows[page->count - 1]);
}

static enum status search_span(struct search *search, struct page_part *page)
{
    struct id_span span = query_ids(search->query);
    struct id horizon = span.from;
    if (id_compare(&span.below, &search->before) < 0)
        search->before = span.below;
    enum status st = choose_way(search, &span.from, &horizon);
    if (st == OK)
        st = is_exact(search) ? find_rows(search, &span.from, page)
                              : search_in_steps(search, &span.from, horizon, page);
    end_part(search, page);
    return st;
}

/* Adds $14 to $16, the span of ids for each class of strays; false: the query needs no strays. */
static bool add_strays(const struct search *search, struct params *params)
{
    struct id_span span;
    bool any = false;
    for (int column = 0; column < 3; column++) {
        params_array(params, column ? ARRAY_ID : ARRAY_INT);
        for (int stray = -STRAY_BOTH; stray <= STRAY_BOTH; stray++) {
            if (!stray_ids(search->query, stray, &span))
                continue;
            any = true;
            if (column)
                params_add_id(params, column == 1 ? &span.from : &span.below);
            else
                params_add_int(params, stray == -STRAY_BOTH ? STRAY_BOTH : stray);
        }
        params_array_end(params);
    }
    return any;
}

static enum status search_strays(struct search *search, struct page_part *page)
{
    static const struct id lowest;
    struct params params;
    PGresult *result = NULL;
    enum status st = OK;
    params_init(&params);
    add_params(search, &lowest, (int64_t)search->query->limit + 1, &params);
    if (add_strays(search, &params))
        st = link_run(search->link, search->table, SQL_STRAYS, &params, &result);
    params_release(&params);
    for (int i = 0; st == OK && i < PQntuples(result); i++)
        postgres_load_row(result, i, 0, search->table, &page->rows[page->count++]);
    PQclear(result);
    end_part(search, page);
    return st;
}

/* ---- the whole ---- */

enum { SPAN, STRAYS, PARTS }; /* of each table */

static enum status search_table(struct search *search, struct page_part *parts)
{
    struct id before = search->before;
    for (int i = 0; i < PARTS; i++) {
        parts[i].rows = calloc(search->query->limit + 1, sizeof(*parts[i].rows));
        if (!parts[i].rows)
            return E_NOMEM;
    }
    if (!table_states(search->table, search->query))
        return OK;
    enum status st = search_span(search, &parts[SPAN]);
    search->before = before;
    return st == OK ? search_strays(search, &parts[STRAYS]) : st;
}

static enum status search_all(struct postgres_link *link, const struct history_query *query,
                              struct page_part *parts)
{
    struct search search = {.link = link, .query = query};
    bool entries = query->with_entries && !query->node && !query->min_duration_ms;
    params_init(&search.jobs);
    params_init(&search.text_jobs);
    strbuf_init(&search.text);
    postgres_add_lower(query->text, &search.text);
    enum status st = find_asked_jobs(&search);
    if (st == OK)
        st = find_text_jobs(&search);
    for (int table = 0; table <= (entries ? TABLE_ENTRIES : TABLE_RUNS) && st == OK; table++) {
        search.table = (enum record_table)table;
        search.before = query->before;
        if (id_is_zero(&search.before))
            memset(search.before.bytes, 255, sizeof(search.before.bytes));
        st = search_table(&search, &parts[table * PARTS]);
    }
    params_release(&search.jobs);
    params_release(&search.text_jobs);
    strbuf_release(&search.text);
    return st;
}

enum status postgres_read_page(struct postgres_link *link, struct history_read *read)
{
    struct page_part parts[TABLES * PARTS] = {{0}};
    enum status st = search_all(link, &read->query, parts);
    if (st == OK)
        st = page_merge(parts, TABLES * PARTS, read);
    for (int i = 0; i < TABLES * PARTS; i++)
        free(parts[i].rows);
    return st;
}
