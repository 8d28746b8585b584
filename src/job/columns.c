#include "columns.h"

#include <limits.h>
#include <string.h>

#include "change.h"
#include "run.h"
#include "words.h"

_Static_assert(RUN_OK == 5 && RUN_LOST == 9 && RUN_MISSED == 11, "states are kept as numbers");
_Static_assert(REASON_EXIT_CODE == 1 && REASON_SHUTDOWN == 19, "reasons are kept as numbers");
_Static_assert(CHANGE_CREATE == 0 && CHANGE_USER_CREATE == 15 && CHANGE_CHANNEL_DELETE == 28,
               "actions are kept as numbers");
_Static_assert(VIA_NODE == 0 && VIA_TOKEN == 3 && TARGET_JOB == 0 && TARGET_CHANNEL == 7,
               "ways and targets are kept as numbers");
_Static_assert(CAUSE_TICK == 0 && CAUSE_AFTER == 5 && CAUSE_WEBHOOK == 6 && CAUSE_STEP == 7,
               "causes are kept as numbers");
_Static_assert(sizeof(enum run_state) == sizeof(int), "enums are read and written as int");

/* ---- the tables ---- */

#define RUN(...)    COLUMN(run, __VA_ARGS__)
#define ENTRY(...)  COLUMN(ledger_entry, __VA_ARGS__)
#define CHANGE(...) COLUMN(change_record, __VA_ARGS__)

enum { STORED = IN_STORE | IN_HISTORY, EVERYWHERE = STORED | IN_API };

/* Each format has its columns in the order of these rows. A field whose position, name or range
 * differs between formats has several rows. In etcd the id is the key, not part of the value. */
static const struct column run_rows[] = {
    RUN("id", ID, id, IN_SQLITE | IN_RECORD | IDENTITY),
    RUN("run_id", ID, id, IN_API),
    RUN("job", TEXT, job_name, IN_API),
    RUN("job", ID, job_uid, IN_STORE | IDENTITY),
    RUN("job_uid", ID, job_uid, IN_RECORD | IN_API),
    RUN("job_name", NAME, job_name, IN_STORE | IN_RECORD | IDENTITY),
    RUN("state", STATE, state, IN_HISTORY),
    RUN("reason", REASON, reason, IN_HISTORY),
    RUN("cause", CAUSE, cause, IN_HISTORY),
    RUN("tick_ms", MS, tick_ms, STORED | IDENTITY),
    RUN("tick", TIME, tick_ms, IN_API),
    RUN("attempt", INT, attempt, EVERYWHERE | IDENTITY),
    RUN("cause", CAUSE, cause, IN_STORE | IN_API | IDENTITY),
    RUN("state", STATE, state, IN_STORE | IN_API),
    RUN("reason", REASON, reason, IN_STORE | IN_API | OPTIONAL),
    RUN("detail", TEXT, detail, IN_API | OPTIONAL),
    RUN("node", NAME, node, EVERYWHERE | OPTIONAL),
    RUN("nonce", INT64, nonce, STORED),
    RUN("fence", MS, fence, IN_HISTORY),
    RUN("fence", INT64, fence, IN_STORE | IN_API | OPTIONAL),
    RUN("job_revision", COUNT, job_revision, EVERYWHERE),
    RUN("not_before_ms", MS, not_before_ms, STORED),
    RUN("claimed_ms", MS, claimed_ms, STORED),
    RUN("claimed_at", TIME, claimed_ms, IN_API | OPTIONAL),
    RUN("started_ms", MS, started_ms, STORED),
    RUN("started_at", TIME, started_ms, IN_API | OPTIONAL),
    RUN("finished_ms", MS, finished_ms, STORED),
    RUN("finished_at", TIME, finished_ms, IN_API | OPTIONAL),
    RUN("exit_code", INT, exit_code, EVERYWHERE | OF_RAN | NOT_NEGATIVE),
    RUN("term_signal", INT, term_signal, STORED),
    RUN("signal", INT, term_signal, IN_API | OF_RAN | OPTIONAL),
    RUN("user_ms", MS, user_ms, EVERYWHERE | OF_RAN),
    RUN("system_ms", MS, system_ms, EVERYWHERE | OF_RAN),
    RUN("max_rss_kb", MS, max_rss_kb, EVERYWHERE | OF_RAN),
    RUN("output_bytes", MS, output_bytes, EVERYWHERE | OF_RAN),
    RUN("output_truncated", BOOL, output_truncated, EVERYWHERE),
    RUN("by", TEXT, by, IN_HISTORY | IN_API | OPTIONAL),
    RUN("asked_by", TEXT, by, IN_STORE),
    RUN("detail", TEXT, detail, STORED),
    RUN("traceparent", TEXT, traceparent, EVERYWHERE | IDENTITY | SINCE_2 | OPTIONAL),
    RUN("instance", ID, owner.instance, IN_STORE | SINCE_3),
    RUN("home", INT64, owner.home, IN_STORE | SINCE_3),
    RUN("retried", BOOL, retried, EVERYWHERE | SINCE_4),
    RUN("attempts", INT, attempts, EVERYWHERE | IDENTITY | SINCE_4 | OPTIONAL),
    RUN("part", INT, part, EVERYWHERE | IDENTITY | SINCE_4 | OF_PARTS),
    RUN("parts", INT, parts, EVERYWHERE | SINCE_4 | OPTIONAL),
    RUN("pinned", NAME, pinned, EVERYWHERE | SINCE_4 | OPTIONAL),
    RUN("failed_on", TEXT, failed_on, IN_STORE | IDENTITY | SINCE_4),
    RUN("input", ID, input, IN_STORE | SINCE_4),
    RUN("outcome", STATE, outcome, IN_STORE | SINCE_5),
    RUN("rolling", INT, rolling, IN_STORE | SINCE_6),
    RUN("workflow_run", ID, instance, IN_STORE | SINCE_7), /* "instance" is that of the owner */
    RUN("instance", ID, instance, IN_HISTORY | IN_API | SINCE_7 | OPTIONAL),
    RUN("step", NAME, step, EVERYWHERE | SINCE_7 | OPTIONAL),
    RUN("met", INT, joins.met, IN_STORE | SINCE_7),
    RUN("unmet", INT, joins.unmet, IN_STORE | SINCE_7),
    RUN("made", INT, joins.made, IN_STORE | SINCE_7),
    RUN("expected", INT, joins.expected, IN_STORE | SINCE_7),
    RUN("is_final", BOOL, joins.is_final, IN_STORE | SINCE_7),
    RUN("in_groups", TEXT, groups, IN_STORE | SINCE_8),
    RUN("priority", INT, priority, IN_STORE | SINCE_8),
};

static const struct column entry_rows[] = {
    ENTRY("id", ID, id, IN_SQLITE | IN_RECORD | IDENTITY),
    ENTRY("entry_id", ID, id, IN_API),
    ENTRY("job", TEXT, job_name, IN_API),
    ENTRY("job", ID, job_uid, IN_STORE | IDENTITY),
    ENTRY("job_uid", ID, job_uid, IN_RECORD | IN_API),
    ENTRY("job_name", NAME, job_name, IN_STORE | IN_RECORD | IDENTITY),
    ENTRY("state", STATE, state, IN_HISTORY),
    ENTRY("reason", REASON, reason, IN_HISTORY),
    ENTRY("from_ms", MS, from_ms, STORED),
    ENTRY("from", TIME, from_ms, IN_API),
    ENTRY("to_ms", MS, to_ms, STORED),
    ENTRY("to", TIME, to_ms, IN_API),
    ENTRY("count", COUNT, count, EVERYWHERE),
    ENTRY("state", STATE, state, IN_STORE | IN_API),
    ENTRY("reason", REASON, reason, IN_STORE | IN_API | OPTIONAL),
    ENTRY("detail", TEXT, detail, EVERYWHERE | OPTIONAL),
    ENTRY("recorded_ms", MS, recorded_ms, STORED),
    ENTRY("node", NAME, node, IN_STORE),
    ENTRY("instance", ID, owner.instance, IN_STORE | SINCE_3),
    ENTRY("home", INT64, owner.home, IN_STORE | SINCE_3),
};

/* Without the definitions, which are stored separately. */
static const struct column change_rows[] = {
    CHANGE("id", ID, id, IN_RECORD),
    CHANGE("job_uid", ID, job_uid, IN_RECORD),
    CHANGE("via", WORD, via, IN_HISTORY),
    CHANGE("action", WORD, action, IN_HISTORY),
    CHANGE("target_kind", WORD, target_kind, IN_HISTORY),
    CHANGE("revision", COUNT, revision, IN_HISTORY),
    CHANGE("actor", TEXT, actor, IN_HISTORY),
    CHANGE("address", TEXT, address, IN_HISTORY),
    CHANGE("request_id", TEXT, request_id, IN_HISTORY),
    CHANGE("target", TEXT, target, IN_HISTORY),
    CHANGE("job_name", TEXT, job_name, IN_HISTORY),
    CHANGE("detail", TEXT, detail, IN_HISTORY),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct column_set run_columns(unsigned with, unsigned without)
{
    return (struct column_set){run_rows, COUNT(run_rows), with, without};
}

struct column_set entry_columns(unsigned with, unsigned without)
{
    return (struct column_set){entry_rows, COUNT(entry_rows), with, without};
}

struct column_set change_columns(unsigned with, unsigned without)
{
    return (struct column_set){change_rows, COUNT(change_rows), with, without};
}

size_t column_count(const struct column_set *set)
{
    size_t count = 0;
    for (const struct column *column = NULL; (column = column_next(set, column));)
        count++;
    return count;
}

/* ---- fields ---- */

#define MS_MAX (INT64_C(1) << 53) /* some 285,000 years */

static const struct {
    int64_t least, most;
} ranges[] = {
    [COLUMN_INT64] = {INT64_MIN, INT64_MAX},
    [COLUMN_BOOL] = {INT64_MIN, INT64_MAX},
    [COLUMN_MS] = {-MS_MAX, MS_MAX},
    [COLUMN_TIME] = {-MS_MAX, MS_MAX},
    [COLUMN_COUNT] = {0, MS_MAX},
    [COLUMN_INT] = {INT_MIN, INT_MAX},
    [COLUMN_WORD] = {0, WORD_NUMBERS - 1},
    [COLUMN_STATE] = {0, WORD_NUMBERS - 1},
    [COLUMN_REASON] = {0, WORD_NUMBERS - 1},
    [COLUMN_CAUSE] = {0, WORD_NUMBERS - 1},
};

int64_t column_read_int(const struct column *column, const void *record)
{
    const void *field = column_field(column, record);
    int64_t wide;
    int narrow;
    if (column->kind == COLUMN_BOOL)
        return *(const bool *)field;
    if (column_is_int(column)) {
        memcpy(&narrow, field, sizeof(narrow));
        return narrow;
    }
    memcpy(&wide, field, sizeof(wide));
    return wide;
}

const char *column_read_text(const struct column *column, const void *record, size_t *ret_length)
{
    const char *field = column_field(column, record);
    *ret_length = strnlen(field, column->size - 1);
    return field;
}

const char *column_read_word(const struct column *column, const void *record)
{
    int64_t number = column_read_int(column, record);
    return column->kind == COLUMN_STATE    ? run_state_name((enum run_state)number)
           : column->kind == COLUMN_REASON ? run_reason_name((enum run_reason)number)
                                           : run_cause_name((enum run_cause)number);
}

static void write_int(const struct column *column, void *record, int64_t value)
{
    char *field = (char *)record + column->offset;
    int narrow = (int)value;
    if (column->kind == COLUMN_BOOL)
        *(bool *)field = value != 0;
    else if (column_is_int(column))
        memcpy(field, &narrow, sizeof(narrow));
    else
        memcpy(field, &value, sizeof(value));
}

bool column_take_int(const struct column *column, void *record, int64_t value)
{
    if (value < ranges[column->kind].least || value > ranges[column->kind].most)
        return false;
    write_int(column, record, value);
    return true;
}

void column_write_int(const struct column *column, void *record, int64_t value)
{
    int64_t least = ranges[column->kind].least, most = ranges[column->kind].most;
    if (column_is_int(column) && column->kind != COLUMN_INT)
        value = word_or_damaged(value);
    else
        value = value < least ? least : value > most ? most : value;
    write_int(column, record, value);
}

void column_write_text(const struct column *column, void *record, const void *text, size_t length)
{
    char *field = (char *)record + column->offset;
    if (length >= column->size)
        length = column->size - 1;
    if (length)
        memcpy(field, text, length);
    field[length] = '\0';
}

void column_write_id(const struct column *column, void *record, const struct id *id)
{
    memcpy((char *)record + column->offset, id, sizeof(*id));
}
