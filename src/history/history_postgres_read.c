/* Pages of rows, logs and statistics. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "history_postgres_internal.h"

enum status postgres_find_keys(struct link *link, const struct id *uid, const char *name,
                               struct params *params, int *ret_count)
{
    struct params given;
    PGresult *result = NULL;
    enum statement which = id_is_zero(uid) ? SQL_KEYS_BY_NAME : SQL_KEYS_BY_UID;
    params_init(&given);
    if (which == SQL_KEYS_BY_UID)
        params_id(&given, uid);
    params_text(&given, name);
    enum status st = link_run(link, TABLE_RUNS, which, &given, &result);
    params_release(&given);
    if (st != OK)
        return st;
    *ret_count = PQntuples(result);
    for (int i = 0; i < PQntuples(result); i++)
        params_add_int(params, result_int(result, i, 0));
    PQclear(result);
    return OK;
}

void postgres_add_lower(const char *text, struct strbuf *to)
{
    for (const char *c = text ? text : ""; *c; c++)
        strbuf_addc(to, (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c));
}

/* ---- pages ---- */

struct search {
    struct link *link;
    const struct history_query *query;
    enum record_table table;
    enum page_scope scope;
    struct id before;
    int64_t visits; /* of the step */
    struct strbuf text;
};

static bool is_timed(const struct history_query *query)
{
    return query->since_ms || query->until_ms;
}

/* Does every row that is looked at match? */
static bool is_indexed(const struct history_query *query)
{
    return !query->text && !query->node && !query->min_duration_ms;
}

static void add_bounds(const struct search *search, struct params *params, size_t limit)
{
    const struct history_query *query = search->query;
    struct id below = search->before, from = {{0}};
    if (query->since_ms)
        from = history_id_at(query->since_ms - STRAY_MS);
    if (query->until_ms) {
        struct id until = history_id_at(query->until_ms + STRAY_MS + 1);
        if (id_compare(&until, &below) < 0)
            below = until;
    }
    params_id(params, &below);
    params_id(params, &from);
    params_int(params, search->visits);
    params_int(params, (int64_t)limit);
}

static enum status add_jobs(const struct search *search, struct params *params, bool *ret_none)
{
    int count = 0;
    enum status st = OK;
    params_array(params, ARRAY_INT);
    if (search->scope == PAGE_JOBS)
        st = postgres_find_keys(search->link, &search->query->job_uid, search->query->job_name,
                                params, &count);
    params_array_end(params);
    *ret_none = search->scope == PAGE_JOBS && !count;
    return st;
}

/* The states; the span of time, the whole of it if there is none; the strays' bound. */
static void add_filters(const struct search *search, struct params *params)
{
    const struct history_query *query = search->query;
    unsigned states = table_states(search->table, query);
    params_array(params, ARRAY_INT);
    for (int state = 0; state < RUN_STATES; state++) {
        if (states >> state & 1)
            params_add_int(params, state);
    }
    params_array_end(params);
    params_int(params, query->since_ms ? query->since_ms : INT64_MIN);
    params_int(params, query->until_ms ? query->until_ms : INT64_MAX);
    params_id(params, &search->before);
    params_text(params, query->text ? search->text.text : NULL);
    params_array(params, ARRAY_INT);
    for (int reason = 0; query->text && reason < REASONS; reason++) {
        if (strcasestr(run_reason_name((enum run_reason)reason), query->text))
            params_add_int(params, reason);
    }
    params_array_end(params);
    params_text(params, query->node);
    if (query->min_duration_ms)
        params_int(params, query->min_duration_ms);
    else
        params_null_int(params);
}

/* One walk down from search->before; which it moves on. *ret_end: there is nothing below. */
static enum status search_step(struct search *search, struct page_part *page, bool *ret_end)
{
    struct params params;
    PGresult *result = NULL;
    bool none = false;
    size_t limit = search->query->limit + 1 - page->count;
    params_init(&params);
    add_bounds(search, &params, limit);
    enum status st = add_jobs(search, &params, &none);
    add_filters(search, &params);
    if (st == OK && !none)
        st = link_run(search->link, search->table,
                      page_statement(search->scope, is_timed(search->query)), &params, &result);
    params_release(&params);
    if (st != OK || none) {
        *ret_end = true;
        return st;
    }
    for (int i = 0; i < PQntuples(result) && !PQgetisnull(result, i, 2); i++)
        postgres_load_row(result, i, 2, search->table, &page->rows[page->count++]);
    *ret_end = result_int(result, 0, 0) < search->visits;
    if (!*ret_end)
        search->before = result_id(result, 0, 1);
    PQclear(result);
    return OK;
}

static enum status search_table(struct search *search, struct page_part *page)
{
    size_t wanted = search->query->limit + 1;
    bool indexed = is_indexed(search->query), end = false;
    int64_t visited = 0;
    enum status st = OK;
    page->rows = calloc(wanted, sizeof(*page->rows));
    if (!page->rows)
        return E_NOMEM;
    if (search->scope != PAGE_ALL && !table_states(search->table, search->query))
        return OK;
    search->visits = indexed ? (int64_t)wanted : VISITS_FIRST;
    while (st == OK && !end && page->count < wanted && visited < VISITS_MAX) {
        st = search_step(search, page, &end);
        visited += search->visits;
        search->visits = indexed ? search->visits : 10 * search->visits;
        if (search->visits > VISITS_MAX - visited && !indexed)
            search->visits = VISITS_MAX - visited;
    }
    page->more = page->count == wanted || !end;
    page->horizon =
        page->count == wanted ? *history_row_id(&page->rows[wanted - 1]) : search->before;
    return st;
}

static enum status search_all(struct link *link, const struct history_query *query,
                              struct page_part pages[TABLES])
{
    struct id beyond_all;
    enum status st = OK;
    memset(beyond_all.bytes, 255, sizeof(beyond_all.bytes));
    for (int table = 0; table <= (query->with_entries ? TABLE_ENTRIES : TABLE_RUNS) && st == OK;
         table++) {
        struct search search = {.link = link, .query = query, .table = (enum record_table)table};
        bool of_job = !id_is_zero(&query->job_uid) || query->job_name;
        search.scope = of_job ? PAGE_JOBS : query->states ? PAGE_STATES : PAGE_ALL;
        search.before = id_is_zero(&query->before) ? beyond_all : query->before;
        strbuf_init(&search.text);
        postgres_add_lower(query->text, &search.text);
        st = search_table(&search, &pages[table]);
        strbuf_release(&search.text);
    }
    return st;
}

static enum status read_page(struct link *link, struct history_read *read)
{
    struct history_read page = {.query = read->query};
    struct page_part pages[TABLES] = {{0}};
    if (page.query.limit < 1 || page.query.limit > HISTORY_LIMIT_MAX)
        return E_INVALID;
    page.rows = calloc(page.query.limit, sizeof(*page.rows));
    enum status st = page.rows ? search_all(link, &page.query, pages) : E_NOMEM;
    if (st == OK) {
        page_merge(pages, TABLES, &page);
        read->rows = page.rows;
        read->count = page.count;
        read->more = page.more;
        read->next = page.next;
    } else {
        history_read_release(&page);
    }
    for (int i = 0; i < TABLES; i++)
        free(pages[i].rows);
    return st;
}

/* ---- logs ---- */

static enum status add_part(const PGresult *result, int row, struct history_log *log)
{
    size_t length, skip, taken;
    int64_t start = result_int(result, row, 0);
    const char *bytes = result_bytes(result, row, 4, &length);
    if (!history_log_part(log, start, length, &skip, &taken))
        return OK;
    char *copy = malloc(taken ? taken : 1);
    if (!copy)
        return E_NOMEM;
    if (taken)
        memcpy(copy, bytes + skip, taken);
    log->chunks[log->count++] = (struct output_chunk){
        .stream = (enum output_stream)result_int(result, row, 1),
        .at_ms = result_int(result, row, 2),
        .gap_bytes = skip ? 0 : result_int(result, row, 3),
        .bytes = copy,
        .length = taken,
    };
    return OK;
}

static enum status read_output(struct link *link, struct history_log *answer)
{
    const int64_t most = INT64_MAX / 4; /* so that sums of two are numbers, too */
    struct params params;
    PGresult *result = NULL;
    params_init(&params);
    params_id(&params, &answer->run_id);
    params_int(&params, answer->offset < most ? answer->offset : most);
    params_int(&params, answer->limit < (size_t)most ? (int64_t)answer->limit : most);
    enum status st = link_run(link, TABLE_RUNS, SQL_READ_OUTPUT, &params, &result);
    params_release(&params);
    if (st != OK)
        return st;
    int count = PQntuples(result);
    answer->kept_bytes = count ? result_int(result, 0, 5) : 0;
    answer->chunks = calloc((size_t)count + 1, sizeof(*answer->chunks));
    if (!answer->chunks)
        st = E_NOMEM;
    for (int i = 0; i < count && st == OK && !PQgetisnull(result, i, 0); i++)
        st = add_part(result, i, answer);
    PQclear(result);
    return st;
}

static enum status read_run(struct link *link, struct history_log *answer)
{
    struct params params;
    PGresult *result = NULL;
    struct history_row *row = calloc(1, sizeof(*row));
    if (!row)
        return E_NOMEM;
    params_init(&params);
    params_id(&params, &answer->run_id);
    enum status st = link_run(link, TABLE_RUNS, SQL_SELECT, &params, &result);
    params_release(&params);
    answer->found = st == OK && PQntuples(result) > 0;
    if (answer->found) {
        postgres_load_row(result, 0, 0, TABLE_RUNS, row);
        answer->run = row->run;
    }
    PQclear(result);
    free(row);
    return st;
}

/* Two statements of one instant. */
static enum status read_log(struct link *link, struct history_log *log)
{
    struct history_log answer = *log;
    answer.chunks = NULL;
    answer.count = 0;
    answer.kept_bytes = 0;
    if (log->offset < 0)
        return E_INVALID;
    enum status st = link_command(link, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL);
    if (st == OK)
        st = read_run(link, &answer);
    if (st == OK && answer.found)
        st = read_output(link, &answer);
    if (st == OK)
        st = link_command(link, "COMMIT", NULL);
    if (st != OK)
        history_log_release(&answer);
    else
        *log = answer;
    return st;
}

/* ---- statistics ---- */

static enum status read_cells(const PGresult *result, struct history_stats *answer)
{
    enum status st = OK;
    for (int i = 0; i < PQntuples(result) && st == OK; i++) {
        struct stats_cell cell = {
            .job_uid = answer->job_uid,
            .hour = result_int(result, i, 0),
            .state = (int)result_int(result, i, 1),
            .bucket = (int)result_int(result, i, 2),
            .count = result_int(result, i, 3),
            .sum_ms = result_int(result, i, 4),
            .min_ms = result_int(result, i, 5),
            .max_ms = result_int(result, i, 6),
            .punctual = result_int(result, i, 7),
            .late_sum_ms = result_int(result, i, 8),
        };
        st = stats_answer_add(answer, &cell);
    }
    return st;
}

static enum status read_stats(struct link *link, struct history_stats *stats)
{
    struct history_stats answer = *stats;
    struct params params;
    PGresult *result = NULL;
    int64_t from, to;
    answer.rows = NULL;
    answer.count = 0;
    if (!stats_request_is_valid(stats))
        return E_INVALID;
    stats_request_hours(stats, &from, &to);
    params_init(&params);
    params_id(&params, &stats->job_uid);
    params_int(&params, from);
    params_int(&params, to);
    enum status st = link_run(link, TABLE_RUNS, SQL_READ_STATS, &params, &result);
    params_release(&params);
    if (st == OK)
        st = read_cells(result, &answer);
    PQclear(result);
    if (st != OK)
        history_stats_release(&answer);
    else
        *stats = answer;
    return st;
}

enum status postgres_read_request(struct link *link, struct history_request *request)
{
    enum status st;
    if (request->kind == HISTORY_READ)
        st = read_page(link, history_request_of(request, history_read));
    else if (request->kind == HISTORY_STATS)
        st = read_stats(link, history_request_of(request, history_stats));
    else if (request->kind == HISTORY_CHANGES)
        st = postgres_read_changes(link, history_request_of(request, history_changes));
    else
        st = read_log(link, history_request_of(request, history_log));
    if (st != OK)
        link_roll_back(link);
    return st;
}
