#include "history_columns.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "document/utf8.h"
#include "words.h"

static_assert(RUN_OK == 5 && RUN_LOST == 9 && RUN_MISSED == 11, "states are stored as numbers");
static_assert(REASON_EXIT_CODE == 1 && REASON_SHUTDOWN == 19, "reasons are stored as numbers");
static_assert(CHANGE_CREATE == 0 && CHANGE_USER_CREATE == 15 && CHANGE_CHANNEL_DELETE == 28,
              "actions are stored as numbers");
static_assert(VIA_NODE == 0 && VIA_TOKEN == 3 && TARGET_JOB == 0 && TARGET_CHANNEL == 7,
              "ways and targets are stored as numbers");
static_assert(CAUSE_TICK == 0 && CAUSE_AFTER == 5, "causes are stored as numbers");

#define COLUMN(type, field, kind)                                                                  \
    {                                                                                              \
#field, kind, offsetof(struct type, field), sizeof(((struct type *)0)->field)              \
    }
#define RUN(field, kind)    COLUMN(run, field, kind)
#define ENTRY(field, kind)  COLUMN(ledger_entry, field, kind)
#define CHANGE(field, kind) COLUMN(change_record, field, kind)

static const struct column run_columns[] = {
    RUN(state, COLUMN_WORD),        RUN(reason, COLUMN_WORD),
    RUN(cause, COLUMN_WORD),        RUN(tick_ms, COLUMN_MS),
    RUN(attempt, COLUMN_INT32),     RUN(node, COLUMN_TEXT),
    RUN(nonce, COLUMN_INT64),       RUN(fence, COLUMN_MS),
    RUN(job_revision, COLUMN_MS),   RUN(not_before_ms, COLUMN_MS),
    RUN(claimed_ms, COLUMN_MS),     RUN(started_ms, COLUMN_MS),
    RUN(finished_ms, COLUMN_MS),    RUN(exit_code, COLUMN_INT32),
    RUN(term_signal, COLUMN_INT32), RUN(user_ms, COLUMN_MS),
    RUN(system_ms, COLUMN_MS),      RUN(max_rss_kb, COLUMN_MS),
    RUN(output_bytes, COLUMN_MS),   RUN(output_truncated, COLUMN_BOOL),
    RUN(by, COLUMN_TEXT),           RUN(detail, COLUMN_TEXT),
    RUN(traceparent, COLUMN_TEXT),
};

static const struct column entry_columns[] = {
    ENTRY(state, COLUMN_WORD),     ENTRY(reason, COLUMN_WORD), ENTRY(from_ms, COLUMN_MS),
    ENTRY(to_ms, COLUMN_MS),       ENTRY(count, COLUMN_MS),    ENTRY(detail, COLUMN_TEXT),
    ENTRY(recorded_ms, COLUMN_MS),
};

static const struct column change_columns[] = {
    CHANGE(via, COLUMN_WORD),        CHANGE(action, COLUMN_WORD), CHANGE(target_kind, COLUMN_WORD),
    CHANGE(revision, COLUMN_MS),     CHANGE(actor, COLUMN_TEXT),  CHANGE(address, COLUMN_TEXT),
    CHANGE(request_id, COLUMN_TEXT), CHANGE(target, COLUMN_TEXT), CHANGE(job_name, COLUMN_TEXT),
    CHANGE(detail, COLUMN_TEXT),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct table_columns table_columns[ALL_TABLES] = {
    [TABLE_RUNS] = {"runs", run_columns, COUNT(run_columns)},
    [TABLE_ENTRIES] = {"entries", entry_columns, COUNT(entry_columns)},
    [TABLE_CHANGES] = {"changes", change_columns, COUNT(change_columns)},
};

/* ---- fields ---- */

static const int64_t ms_max = INT64_C(1) << 53; /* some 285,000 years */

int64_t column_read_int(const struct column *column, const void *record)
{
    const char *field = (const char *)record + column->offset;
    int64_t wide;
    int narrow;
    if (column->kind == COLUMN_BOOL)
        return *(const bool *)field;
    if (column->kind == COLUMN_INT32 || column->kind == COLUMN_WORD) {
        memcpy(&narrow, field, sizeof(narrow));
        return narrow;
    }
    memcpy(&wide, field, sizeof(wide));
    return wide;
}

const char *column_read_text(const struct column *column, const void *record, size_t *ret_length)
{
    const char *field = (const char *)record + column->offset;
    *ret_length = strnlen(field, column->size - 1);
    return field;
}

void column_write_int(const struct column *column, void *record, int64_t value)
{
    char *field = (char *)record + column->offset;
    int narrow = column->kind == COLUMN_WORD ? word_or_damaged(value)
                 : value > INT_MAX           ? INT_MAX
                 : value < INT_MIN           ? INT_MIN
                                             : (int)value;
    if (column->kind == COLUMN_MS)
        value = value > ms_max ? ms_max : value < -ms_max ? -ms_max : value;
    if (column->kind == COLUMN_BOOL)
        *(bool *)field = value != 0;
    else if (column->kind == COLUMN_INT32 || column->kind == COLUMN_WORD)
        memcpy(field, &narrow, sizeof(narrow));
    else
        memcpy(field, &value, sizeof(value));
}

static void write_text(char *field, size_t size, const void *text, size_t length)
{
    if (length >= size)
        length = size - 1;
    if (length)
        memcpy(field, text, length);
    field[length] = '\0';
}

void column_write_text(const struct column *column, void *record, const void *text, size_t length)
{
    write_text((char *)record + column->offset, column->size, text, length);
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

void row_set_ids(struct history_row *row, const struct id *id, const struct id *job_uid)
{
    *(row->is_entry ? &row->entry.id : &row->run.id) = *id;
    *(row->is_entry ? &row->entry.job_uid : &row->run.job_uid) = *job_uid;
}

void row_set_job_name(struct history_row *row, const void *name, size_t length)
{
    write_text(row->is_entry ? row->entry.job_name : row->run.job_name, sizeof(row->run.job_name),
               name, length);
}

/* ---- strays ---- */

/* How far one of a class can be, at most. */
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
