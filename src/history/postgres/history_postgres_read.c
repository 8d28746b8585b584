/* Logs and statistics, and the entry point of all reads. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "postgres/history_postgres_internal.h"

enum status postgres_find_keys(struct postgres_link *link, const struct id *uid, const char *name,
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
        .stream = output_stream_of(result_int(result, row, 1)),
        .at_ms = result_int(result, row, 2),
        .gap_bytes = skip ? 0 : result_int(result, row, 3),
        .bytes = copy,
        .length = taken,
    };
    return OK;
}

static enum status read_output(struct postgres_link *link, struct history_log *answer)
{
    const int64_t most = INT64_MAX / 4; /* the sum of two does not overflow */
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

static enum status read_run(struct postgres_link *link, struct history_log *answer)
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

/* Two statements in one transaction, which see the same snapshot. */
static enum status read_log(struct postgres_link *link, struct history_log *log)
{
    enum status st = link_command(link, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL);
    if (st == OK)
        st = read_run(link, log);
    if (st == OK && log->found)
        st = read_output(link, log);
    if (st == OK)
        st = link_command(link, "COMMIT", NULL);
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

static enum status read_stats(struct postgres_link *link, struct history_stats *stats)
{
    struct params params;
    PGresult *result = NULL;
    int64_t from, to;
    stats_request_hours(stats, &from, &to);
    params_init(&params);
    params_id(&params, &stats->job_uid);
    params_int(&params, from);
    params_int(&params, to);
    enum status st = link_run(link, TABLE_RUNS, SQL_READ_STATS, &params, &result);
    params_release(&params);
    if (st == OK)
        st = read_cells(result, stats);
    PQclear(result);
    return st;
}

enum status postgres_read_request(struct history_link *base, struct history_request *request)
{
    struct postgres_link *link = link_of(base);
    if (request->kind == HISTORY_READ)
        return postgres_read_page(link, history_request_of(request, history_read));
    if (request->kind == HISTORY_STATS)
        return read_stats(link, history_request_of(request, history_stats));
    if (request->kind == HISTORY_CHANGES)
        return postgres_read_changes(link, history_request_of(request, history_changes));
    return read_log(link, history_request_of(request, history_log));
}
