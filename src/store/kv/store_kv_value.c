#include "kv/store_kv_value.h"

#include <stdlib.h>
#include <string.h>

#include "calendar_codec.h"
#include "definition/job_codec.h"
#include "document/utf8.h"
#include "rules/row_columns.h"
#include "words.h"

/* A cursor that is to go over ticks again is of another version: a peal that does not know of that
 * must not start them, and reads no further. */
enum { VALUE_VERSION = 1, VALUE_VERSION_REWOUND = 2 };

/* So is a run that a peal without retries, parts and inputs must leave alone: it would start it
 * wrongly, or on another node. */
enum { VALUE_VERSION_SPECIAL = 3 };

/* And a part of a tick, which a peal that does not spread jobs must leave alone. */
enum { VALUE_VERSION_PART = 4 };

/* And what came with rolling ticks, `place` and webhooks: a part whose end is the turn of the next,
 * a run that has a body, and one that waits for a node, of a job with `place` (see
 * value_leave_to_newer). */
enum { VALUE_VERSION_ROLLING = 5 };

/* And the runs of a workflow, which a peal without workflows must leave alone, and so a run that
 * waits for a node to become the instance of one (see value_leave_to_newer). */
enum { VALUE_VERSION_WORKFLOW = 6 };

/* And the runs that need a slot of a group, or wait for one: a peal without groups would run them
 * beside too many others. Steps are those of a workflow: see docs/GROUPS.md. */
enum { VALUE_VERSION_GROUPS = 7 };

/* A document that an older peal can't read, and is neither to replace nor to delete: a calendar
 * with windows or a time zone. */
enum { VALUE_VERSION_NEW_DOC = 2 };

int64_t place_number(const struct epoch *epoch, int64_t revision, int place)
{
    /* What was written before the epoch began, and is still open, ends before it does. */
    int64_t generation = epoch->generation;
    if (generation > 0 && revision <= epoch->since)
        generation--;
    return (generation * (INT64_C(1) << 32) + revision) * BATCH_PLACES + place;
}

/* ---- single fields ---- */

static void write_number(struct strbuf *to, int64_t number)
{
    uint64_t bits = (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0); /* zigzag */
    char bytes[10];
    size_t length = 0;
    for (; bits >= 0x80; bits >>= 7)
        bytes[length++] = (char)(bits | 0x80);
    bytes[length++] = (char)bits;
    strbuf_add(to, bytes, length);
}

static void write_text(struct strbuf *to, const char *text)
{
    size_t length = strlen(text);
    write_number(to, (int64_t)length);
    strbuf_add(to, text, length);
}

/* What fails first is remembered, and zeroes are read from then on. */
struct reader {
    const uint8_t *at, *end;
    enum status failed;
};

static void fail(struct reader *from)
{
    if (from->failed == OK)
        from->failed = E_CORRUPT;
}

static bool has_more(const struct reader *from)
{
    return from->failed == OK && from->at < from->end;
}

static int64_t read_number(struct reader *from)
{
    uint64_t bits = 0;
    for (int shift = 0; shift < 64 && has_more(from); shift += 7) {
        uint8_t byte = *from->at++;
        bits |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return (int64_t)(bits >> 1 ^ (bits & 1 ? UINT64_MAX : 0));
    }
    fail(from);
    return 0;
}

/* `length` bytes that stay where they are; NULL: so many are not there. */
static const void *read_bytes(struct reader *from, int64_t length)
{
    const uint8_t *at = from->at;
    if (from->failed != OK || length < 0 || length > from->end - at) {
        fail(from);
        return NULL;
    }
    from->at += length;
    return at;
}

static char *read_text(struct reader *from)
{
    int64_t length = read_number(from);
    const char *bytes = read_bytes(from, length);
    char *text = bytes ? strndup(bytes, (size_t)length) : NULL;
    if (bytes && !text)
        from->failed = E_NOMEM;
    return text;
}

static struct reader open_value(const struct kv_pair *kv)
{
    const uint8_t *bytes = kv->value.data;
    struct reader from = {bytes, bytes + kv->value.length, OK};
    if (kv->value.length == 0)
        from.failed = E_CORRUPT;
    else if (*from.at++ != VALUE_VERSION)
        from.failed = E_VERSION;
    return from;
}

static struct reader open_cursor(const struct kv_pair *kv)
{
    struct reader from = open_value(kv);
    if (from.failed == E_VERSION && from.at[-1] == VALUE_VERSION_REWOUND)
        from.failed = OK;
    return from;
}

static struct reader open_run_value(const struct kv_pair *kv)
{
    struct reader from = open_value(kv);
    if (from.failed == E_VERSION && from.at[-1] >= VALUE_VERSION_SPECIAL &&
        from.at[-1] <= VALUE_VERSION_GROUPS)
        from.failed = OK;
    return from;
}

static const int64_t ms_max = INT64_C(1) << 53; /* as that of columns */

/* A number from `least` to `most`; what is not makes the value unreadable. */
static int64_t read_within(struct reader *from, int64_t least, int64_t most)
{
    int64_t number = read_number(from);
    if (number < least || number > most)
        fail(from);
    return from->failed == OK ? number : least;
}

static void read_short_text(struct reader *from, char *at, size_t size)
{
    int64_t length = read_number(from);
    const char *bytes = length < (int64_t)size ? read_bytes(from, length) : NULL;
    if (bytes)
        memcpy(at, bytes, (size_t)length);
    else
        fail(from);
    at[bytes ? length : 0] = '\0';
}

/* ---- whole structs, by the tables of their columns ---- */

/* Those behind `after` (NULL: all), up to the first with a use of `until`; the last that was
 * written. */
static const struct column *write_columns(struct strbuf *to, const struct column_set *columns,
                                          const struct column *after, unsigned until,
                                          const void *record)
{
    const struct column *column;
    for (; (column = column_next(columns, after)) && !(column->uses & until); after = column) {
        const void *field = column_field(column, record);
        if (column->kind == COLUMN_ID)
            strbuf_add(to, field, sizeof(struct id));
        else if (column_is_text(column))
            write_text(to, field);
        else
            write_number(to, column_read_int(column, record));
    }
    return after;
}

/* All of it is characters, and none of them would need an escape. */
static bool is_name(const char *text)
{
    size_t length = strlen(text), step;
    uint32_t c;
    for (size_t at = 0; at < length; at += step) {
        if (!utf8_decode(text + at, length - at, &c, &step) || c < ' ' || c == 0x7f || c == '"' ||
            c == '\\')
            return false;
    }
    return true;
}

/* False: it is not there, or beyond the range of its column. */
static bool read_column(struct reader *from, const struct column *column, void *record)
{
    char *field = (char *)record + column->offset;
    if (column->kind == COLUMN_ID) {
        const void *bytes = read_bytes(from, sizeof(struct id));
        if (bytes)
            memcpy(field, bytes, sizeof(struct id));
        return bytes != NULL;
    }
    if (!column_is_text(column))
        return column_take_int(column, record, read_number(from));
    read_short_text(from, field, column->size);
    return column->kind == COLUMN_TEXT || is_name(field);
}

/* The same; the value of an older peal ends before what was added since, which then is not read. */
static const struct column *read_columns(struct reader *from, const struct column_set *columns,
                                         const struct column *after, unsigned until, void *record)
{
    const struct column *column;
    unsigned since = 0;
    while (from->failed == OK && (column = column_next(columns, after)) &&
           !(column->uses & until)) {
        if ((column->uses & LATER) != since && !has_more(from))
            break;
        if (!read_column(from, column, record))
            fail(from);
        since = column->uses & LATER;
        after = column;
    }
    return after;
}

/* ---- values ---- */

void value_write_job(struct strbuf *to, const struct job_row *row, const char *name,
                     const char *json)
{
    const struct column_set columns = job_row_columns(IN_DEFINITION, 0);
    strbuf_addc(to, VALUE_VERSION);
    write_columns(to, &columns, NULL, 0, row);
    write_text(to, name);
    write_text(to, json);
}

enum status value_read_job(const struct kv_pair *kv, struct job_row *row, char **name, char **json)
{
    struct reader from = open_value(kv);
    struct job_row read = *row;
    const struct column_set columns = job_row_columns(IN_DEFINITION, 0);
    read_columns(&from, &columns, NULL, 0, &read);
    char *new_name = read_text(&from);
    char *new_json = read_text(&from);
    if (from.failed != OK) {
        free(new_name);
        free(new_json);
        return from.failed;
    }
    *row = read;
    *name = new_name;
    *json = new_json;
    return OK;
}

static void write_gaps(struct strbuf *to, const struct job_row *row)
{
    for (int i = 0; i < row->rewinds.gap_count; i++) {
        const struct tick_gap *gap = &row->rewinds.gaps[i];
        write_number(to, row->cursor_ms - gap->to_ms);
        write_number(to, gap->to_ms - gap->from_ms);
    }
}

static void read_gaps(struct reader *from, struct job_row *row)
{
    if (row->rewinds.gap_count < 0 || row->rewinds.gap_count > REWIND_GAPS_MAX)
        fail(from);
    for (int i = 0; from->failed == OK && i < row->rewinds.gap_count; i++) {
        struct tick_gap *gap = &row->rewinds.gaps[i];
        gap->to_ms = row->cursor_ms - read_within(from, -ms_max, ms_max);
        gap->from_ms = gap->to_ms - read_within(from, -ms_max, ms_max);
    }
}

void value_write_cursor(struct strbuf *to, const struct job_row *row, enum tell tell)
{
    const struct column_set columns = job_row_columns(IN_ETCD, 0);
    bool is_rewound = row->rewinds.high_ms > row->cursor_ms;
    strbuf_addc(to, is_rewound ? VALUE_VERSION_REWOUND : VALUE_VERSION);
    write_number(to, (int64_t)tell);
    write_columns(to, &columns, NULL, 0, row);
    write_gaps(to, row);
    if (row->last.retried || row->last_node)
        write_number(to, row->last.retried);
    if (row->last_node)
        write_number(to, row->last_node);
}

/* One of a newer peal is news, at least. */
static enum tell read_tell(struct reader *from)
{
    int64_t tell = read_within(from, TELL_NOTHING, WORD_NUMBERS - 1);
    return tell <= TELL_KILL ? (enum tell)tell : TELL_CHANGE;
}

enum status value_read_cursor(const struct kv_pair *kv, struct job_row *row, enum tell *tell)
{
    struct reader from = open_cursor(kv);
    struct job_row read = *row;
    const struct column_set columns = job_row_columns(IN_ETCD, 0);
    enum tell told = read_tell(&from);
    const struct column *last = read_columns(&from, &columns, NULL, LATER, &read);
    if (has_more(&from))
        last = read_columns(&from, &columns, last, SINCE_3, &read);
    else if (read.last.state == RUN_OK && read.last.ended_ms > read.last.succeeded_ms)
        read.last.succeeded_ms = read.last.ended_ms; /* what the mirror knows stays */
    if (has_more(&from)) {
        read_columns(&from, &columns, last, 0, &read);
        read_gaps(&from, &read);
    }
    read.last.retried = has_more(&from) && read_number(&from) != 0;
    read.last_node = has_more(&from) ? (uint32_t)read_within(&from, 0, UINT32_MAX) : 0;
    if (from.failed != OK)
        return from.failed;
    *row = read;
    *tell = told;
    return OK;
}

static bool is_special(const struct run *run)
{
    return run->attempt > 1 || run->parts || run->pinned[0] || !id_is_zero(&run->input);
}

static char version_of(const struct run *run)
{
    if (!id_is_zero(&run->instance))
        return VALUE_VERSION_WORKFLOW;
    if (run->groups[0])
        return VALUE_VERSION_GROUPS;
    if (run->rolling || run->cause == CAUSE_WEBHOOK)
        return VALUE_VERSION_ROLLING;
    return run->parts        ? VALUE_VERSION_PART
           : is_special(run) ? VALUE_VERSION_SPECIAL
                             : VALUE_VERSION;
}

/* The first version of a run's value that came with a field of the definition, or after it. */
static char version_for(const struct job *job)
{
    if (job->kind == JOB_WORKFLOW)
        return VALUE_VERSION_WORKFLOW;
    if (job->groups && job->groups[0])
        return VALUE_VERSION_GROUPS;
    if (job->rolling.at_once || job->place != PLACE_EVEN)
        return VALUE_VERSION_ROLLING;
    if (job->spread)
        return VALUE_VERSION_PART;
    return job->params.count || job->retries.count ? VALUE_VERSION_SPECIAL : VALUE_VERSION;
}

void value_leave_to_newer(struct strbuf *value, size_t at, const char *json)
{
    struct job *job = NULL;
    struct job_error error;
    if (at >= value->length || job_decode_stored(json, NULL, &job, &error) != OK)
        return;
    char version = version_for(job);
    if (value->text[at] < version)
        value->text[at] = version;
    job_free(job);
}

void value_leave_body_to_newer(struct strbuf *value, size_t at)
{
    if (at < value->length && value->text[at] < VALUE_VERSION_ROLLING)
        value->text[at] = VALUE_VERSION_ROLLING;
}

/* Columns that the value of this run ends before. */
static unsigned missing_in(const struct run *run)
{
    bool is_of_workflow = !id_is_zero(&run->instance);
    bool has_more = is_special(run) || run->retried || run->attempts || is_of_workflow;
    if (run->groups[0])
        return 0;
    unsigned without = has_more ? SINCE_8 : SINCE_4 | SINCE_8;
    without |= run->parts || is_of_workflow ? 0 : SINCE_5;
    without |= run->rolling || is_of_workflow ? 0 : SINCE_6;
    return is_of_workflow ? without : without | SINCE_7;
}

void value_write_run(struct strbuf *to, const struct run_row *row, enum tell tell, int place)
{
    const struct column_set columns = run_columns(IN_ETCD, missing_in(&row->run));
    strbuf_addc(to, version_of(&row->run));
    write_number(to, (int64_t)tell);
    write_number(to, place);
    write_number(to, row->seq);
    const struct column *last = write_columns(to, &columns, NULL, LATER, &row->run);
    write_number(to, (int)row->kill_reason);
    write_text(to, row->kill_by);
    write_columns(to, &columns, last, 0, &row->run);
}

enum status value_read_run(const struct kv_pair *kv, const struct epoch *epoch, struct run_row *ret,
                           enum tell *tell)
{
    struct reader from = open_run_value(kv);
    struct run_row read = {.seq = 0};
    const struct column_set columns = run_columns(IN_ETCD, 0);
    enum tell told = read_tell(&from);
    int place = (int)read_within(&from, 0, BATCH_PLACES - 1);
    read.seq = read_number(&from);
    const struct column *last = read_columns(&from, &columns, NULL, LATER, &read.run);
    read.kill_reason = (enum run_reason)read_within(&from, 0, WORD_NUMBERS - 1);
    read_short_text(&from, read.kill_by, sizeof(read.kill_by));
    read_columns(&from, &columns, last, 0, &read.run);
    if (from.failed != OK)
        return from.failed;
    if (read.seq == 0)
        read.seq = place_number(epoch, kv->mod_revision, place);
    if (read.run.state == RUN_BEGUN && read.run.fence == 0)
        read.run.fence = place_number(epoch, kv->mod_revision, place);
    *ret = read;
    *tell = told;
    return OK;
}

void value_write_entry(struct strbuf *to, const struct ledger_entry *entry)
{
    const struct column_set columns = entry_columns(IN_ETCD, 0);
    strbuf_addc(to, VALUE_VERSION);
    write_columns(to, &columns, NULL, 0, entry);
}

enum status value_read_entry(const struct kv_pair *kv, struct ledger_entry *ret)
{
    struct reader from = open_value(kv);
    struct ledger_entry read = {.count = 0};
    const struct column_set columns = entry_columns(IN_ETCD, 0);
    read_columns(&from, &columns, NULL, 0, &read);
    if (from.failed == OK)
        *ret = read;
    return from.failed;
}

static struct reader open_doc(const struct kv_pair *kv)
{
    struct reader from = open_value(kv);
    if (from.failed == E_VERSION && from.at[-1] == VALUE_VERSION_NEW_DOC)
        from.failed = OK;
    return from;
}

static bool is_new(const struct store_doc *doc)
{
    return strcmp(doc->kind, CALENDAR_DOC) == 0 && calendar_text_is_new(doc->json);
}

void value_write_doc(struct strbuf *to, const struct store_doc *doc)
{
    strbuf_addc(to, is_new(doc) ? VALUE_VERSION_NEW_DOC : VALUE_VERSION);
    write_number(to, doc->revision);
    write_text(to, doc->json);
}

enum status value_read_doc(const struct kv_pair *kv, int64_t *revision, char **json)
{
    struct reader from = open_doc(kv);
    int64_t read = read_within(&from, 0, ms_max);
    char *text = read_text(&from);
    if (from.failed != OK)
        return from.failed;
    *revision = read;
    *json = text;
    return OK;
}

void value_write_name(struct strbuf *to, const struct id *uid)
{
    strbuf_addc(to, VALUE_VERSION);
    strbuf_add(to, uid->bytes, sizeof(uid->bytes));
}

enum status value_read_name(const struct kv_pair *kv, struct id *ret)
{
    struct reader from = open_value(kv);
    const void *bytes = read_bytes(&from, sizeof(*ret));
    if (bytes)
        memcpy(ret, bytes, sizeof(*ret));
    return from.failed;
}

void value_write_epoch(struct strbuf *to, const struct epoch *epoch)
{
    strbuf_addc(to, VALUE_VERSION);
    strbuf_add(to, epoch->lineage.bytes, sizeof(epoch->lineage.bytes));
    write_number(to, epoch->generation);
    write_number(to, (int64_t)epoch->stamp);
    write_number(to, (int64_t)epoch->cluster_id);
    write_number(to, epoch->since);
}

enum status value_read_epoch(const struct kv_pair *kv, struct epoch *ret)
{
    struct reader from = open_value(kv);
    struct epoch read = {.mod_revision = kv->mod_revision};
    const void *bytes = read_bytes(&from, sizeof(read.lineage));
    if (bytes)
        memcpy(&read.lineage, bytes, sizeof(read.lineage));
    read.generation = read_within(&from, 0, 2 * GENERATIONS);
    if (has_more(&from)) {
        read.stamp = (uint64_t)read_number(&from);
        read.cluster_id = (uint64_t)read_number(&from);
        read.since = read_within(&from, 0, INT64_MAX);
    }
    if (read.since == 0)
        read.since = kv->mod_revision;
    if (from.failed == OK)
        *ret = read;
    return from.failed;
}
