#include "history_columns.h"

#include <string.h>

#include "document/utf8.h"

const char *const table_names[] = {
    [TABLE_RUNS] = "runs", [TABLE_ENTRIES] = "entries", [TABLE_CHANGES] = "changes"};

static struct column_set columns_of(enum record_table table, unsigned with, unsigned without)
{
    return table == TABLE_RUNS      ? run_columns(with, without)
           : table == TABLE_ENTRIES ? entry_columns(with, without)
                                    : change_columns(with, without);
}

struct column_set table_columns(enum record_table table)
{
    return columns_of(table, IN_HISTORY, 0);
}

struct column_set record_columns(enum record_table table, const void *record)
{
    bool is_other = table == TABLE_RUNS && id_is_zero(&((const struct run *)record)->instance);
    return columns_of(table, IN_HISTORY, is_other ? SINCE_7 : 0);
}

struct column_set table_record(enum record_table table)
{
    return columns_of(table, IN_RECORD, 0);
}

struct column_set table_head(enum record_table table)
{
    return columns_of(table, IN_RECORD, IN_REST);
}

void text_add_clean(struct strbuf *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t c;
        size_t width = 1;
        bool is_character = utf8_decode(text + i, length - i, &c, &width) && c != 0;
        if (is_character)
            strbuf_add(to, text + i, width);
        else
            strbuf_addc(to, '?');
        i += is_character ? width : 1;
    }
}

/* ---- rows ---- */

void row_of_record(const struct history_record *record, struct history_row *row)
{
    row->is_entry = record->entry != NULL;
    if (row->is_entry)
        row->entry = *record->entry;
    else
        row->run = *record->run;
}

const struct id *history_row_job_uid(const struct history_row *row)
{
    return row->is_entry ? &row->entry.job_uid : &row->run.job_uid;
}

const char *history_row_job_name(const struct history_row *row)
{
    return row->is_entry ? row->entry.job_name : row->run.job_name;
}

/* ---- strays ---- */

/* The largest distance between the id and the ticks of a stray of class `nth`. */
static int64_t stray_reach_ms(int nth)
{
    int64_t reach_ms = STRAY_MS;
    if (nth >= STRAY_FARTHEST)
        return INT64_MAX / 4;
    for (int i = 0; i < nth; i++)
        reach_ms *= 8;
    return reach_ms;
}

static int class_of_distance(int64_t distance_ms)
{
    int nth = 0;
    while (nth < STRAY_FARTHEST && distance_ms > stray_reach_ms(nth))
        nth++;
    return nth;
}

int stray_class(int64_t made_ms, int64_t from_ms, int64_t to_ms)
{
    int late = class_of_distance(made_ms - from_ms), early = class_of_distance(to_ms - made_ms);
    if (late && early)
        return STRAY_BOTH;
    return late ? late : -early;
}

int row_stray(const struct history_row *row)
{
    int64_t made_ms = history_id_made_ms(history_row_id(row));
    if (row->is_entry)
        return stray_class(made_ms, row->entry.from_ms, row->entry.to_ms);
    return stray_class(made_ms, row->run.tick_ms, row->run.tick_ms);
}

struct id_span query_ids(const struct history_query *query)
{
    struct id_span span = {.from = {{0}}};
    memset(span.below.bytes, 255, sizeof(span.below.bytes));
    if (query->since_ms)
        span.from = history_id_at(query->since_ms - STRAY_MS);
    if (query->until_ms)
        span.below = history_id_at(query->until_ms + STRAY_MS + 1);
    return span;
}

bool stray_ids(const struct history_query *query, int stray, struct id_span *ret)
{
    struct id_span inside = query_ids(query), span = {.from = {{0}}};
    int64_t reach_ms = stray_reach_ms(stray > 0 ? stray : -stray);
    memset(span.below.bytes, 255, sizeof(span.below.bytes));
    if (stray > 0 && query->until_ms) {
        span.from = inside.below;
        span.below = history_id_at(query->until_ms + reach_ms + 1);
    } else if (stray < 0 && query->since_ms) {
        span.below = inside.from;
        span.from = history_id_at(query->since_ms - reach_ms);
    } else {
        return false;
    }
    *ret = span;
    return id_compare(&span.from, &span.below) < 0;
}

/* ---- durations ---- */

int lasting_class(int64_t duration_ms)
{
    int nth = -1;
    int64_t bound_ms = LASTING_FIRST_MS;
    while (nth < LASTING_CLASSES - 1 && duration_ms >= bound_ms) {
        bound_ms *= LASTING_FACTOR;
        nth++;
    }
    return nth;
}

unsigned table_states(enum record_table table, const struct history_query *query)
{
    unsigned there = table == TABLE_RUNS ? (1u << RUN_STATES) - (1u << RUN_OK)
                                         : 1u << RUN_SKIPPED | 1u << RUN_MISSED;
    return query->states ? there & query->states : there;
}
