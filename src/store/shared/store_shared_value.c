/* A change as bytes: its kind, then the columns of its record. Numbers are varints, texts have
 * their length in front. All openers of a database have the same columns (shared_format). */
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "hash.h"
#include "rules/row_columns.h"
#include "shared/store_shared.h"

enum { FORMAT = 1 };

static struct column_set job_set(void)
{
    return job_row_columns(IN_SQLITE, 0);
}

/* ---- writing ---- */

static void write_number(struct strbuf *to, int64_t number)
{
    uint64_t bits = (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0); /* zigzag */
    for (; bits >= 0x80; bits >>= 7)
        strbuf_addc(to, (char)(bits | 0x80));
    strbuf_addc(to, (char)bits);
}

/* NULL is told apart from the empty text. */
static void write_text(struct strbuf *to, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    write_number(to, text ? (int64_t)length : -1);
    strbuf_add(to, text ? text : "", length);
}

static void write_record(struct strbuf *to, struct column_set columns, const void *record)
{
    for (const struct column *column = NULL; (column = column_next(&columns, column));) {
        if (column->kind == COLUMN_ID)
            strbuf_add(to, column_field(column, record), sizeof(struct id));
        else if (column_is_text(column))
            write_text(to, column_field(column, record));
        else
            write_number(to, column_read_int(column, record));
    }
}

static void write_job(struct strbuf *to, const struct store_change *change)
{
    char gaps[REWIND_GAPS_TEXT];
    struct job_row row = {.uid = change->job_uid,
                          .revision = change->job_revision,
                          .cursor_ms = change->cursor_ms,
                          .rewinds = change->rewinds,
                          .last = change->last,
                          .deleted = change->job_deleted};
    write_record(to, job_set(), &row);
    rewinds_write_gaps(&change->rewinds, gaps);
    write_text(to, gaps);
    write_number(to, change->last_node);
    write_text(to, change->job_name);
    write_text(to, change->job_json);
}

void shared_encode(const struct store_change *change, struct strbuf *to)
{
    strbuf_addc(to, (char)change->kind);
    switch (change->kind) {
    case STORE_CHANGE_JOB:
    case STORE_CHANGE_DELETE:
    case STORE_CHANGE_CURSOR:
        write_job(to, change);
        break;
    case STORE_CHANGE_RUN:
    case STORE_CHANGE_KILL:
        write_record(to, run_columns(IN_SQLITE, 0), change->run);
        break;
    case STORE_CHANGE_ENTRY:
        write_record(to, entry_columns(IN_SQLITE, 0), change->entry);
        break;
    case STORE_CHANGE_FORGET:
        strbuf_add(to, &change->gone_id, sizeof(change->gone_id));
        break;
    case STORE_CHANGE_DRAIN:
        write_text(to, change->drain->node);
        write_text(to, change->drain->by);
        write_number(to, change->drain->drained);
        break;
    case STORE_CHANGE_DOC:
        write_text(to, change->doc->kind);
        write_text(to, change->doc->name);
        write_number(to, change->doc->revision);
        write_text(to, change->doc->json);
        break;
    case STORE_CHANGE_META:
    case STORE_CHANGE_PEER:
    case STORE_CHANGE_LEADER:
    case STORE_CHANGE_ASIDE:
    case STORE_CHANGE_LOADED:
        break; /* no request makes them */
    }
}

/* ---- reading ---- */

/* What fails first is remembered, and zeroes are read from then on. */
struct reader {
    const uint8_t *at, *end;
    enum status failed;
};

static int64_t read_number(struct reader *from)
{
    uint64_t bits = 0;
    for (int shift = 0; shift < 64 && from->at < from->end; shift += 7) {
        uint8_t byte = *from->at++;
        bits |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return (int64_t)(bits >> 1 ^ (bits & 1 ? UINT64_MAX : 0));
    }
    from->failed = E_CORRUPT;
    return 0;
}

static const void *read_bytes(struct reader *from, int64_t length)
{
    const uint8_t *at = from->at;
    if (length < 0 || length > from->end - at) {
        from->failed = E_CORRUPT;
        return NULL;
    }
    from->at += length;
    return at;
}

/* The bytes of a text and their number; NULL: none. */
static const char *read_text(struct reader *from, size_t *ret_length)
{
    int64_t length = read_number(from);
    const char *bytes = length == -1 ? NULL : read_bytes(from, length);
    *ret_length = bytes ? (size_t)length : 0;
    return bytes;
}

static void read_into(struct reader *from, char *text, size_t size)
{
    size_t length;
    const char *bytes = read_text(from, &length);
    if (length >= size)
        from->failed = E_CORRUPT;
    else if (length)
        memcpy(text, bytes, length);
    text[length < size ? length : 0] = '\0';
}

/* A copy on the heap, which is the caller's; NULL: none, or out of memory. */
static char *read_copy(struct reader *from)
{
    size_t length;
    const char *bytes = read_text(from, &length);
    char *copy = bytes ? strndup(bytes, length) : NULL;
    if (bytes && !copy)
        from->failed = E_NOMEM;
    return copy;
}

static void read_id(struct reader *from, struct id *ret)
{
    const void *bytes = read_bytes(from, sizeof(*ret));
    if (bytes)
        memcpy(ret, bytes, sizeof(*ret));
}

static void read_record(struct reader *from, struct column_set columns, void *record)
{
    for (const struct column *column = NULL; (column = column_next(&columns, column));) {
        char *field = (char *)record + column->offset;
        if (column->kind == COLUMN_ID)
            read_id(from, (struct id *)(void *)field);
        else if (column_is_text(column))
            read_into(from, field, column->size);
        else if (!column_take_int(column, record, read_number(from)))
            from->failed = E_CORRUPT;
    }
}

static void read_job(struct reader *from, enum store_change_kind kind, struct feed *feed)
{
    struct job_row row = {.revision = 0};
    char gaps[REWIND_GAPS_TEXT];
    read_record(from, job_set(), &row);
    read_into(from, gaps, sizeof(gaps));
    if (!rewinds_read_gaps(&row.rewinds, gaps))
        from->failed = E_CORRUPT;
    uint32_t last_node = (uint32_t)read_number(from);
    char *name = read_copy(from), *json = read_copy(from);
    if (from->failed == OK)
        feed_add(feed, &(struct store_change){.kind = kind,
                                              .job_uid = row.uid,
                                              .job_revision = row.revision,
                                              .cursor_ms = row.cursor_ms,
                                              .rewinds = row.rewinds,
                                              .last = row.last,
                                              .last_node = last_node,
                                              .job_name = name,
                                              .job_json = json,
                                              .job_deleted = row.deleted});
    free(name);
    free(json);
}

static void read_run(struct reader *from, enum store_change_kind kind, struct feed *feed)
{
    struct run run = {.attempt = 0};
    read_record(from, run_columns(IN_SQLITE, 0), &run);
    if (from->failed == OK)
        feed_add_run(feed, kind, &run);
}

static void read_entry(struct reader *from, struct feed *feed)
{
    struct ledger_entry entry = {.count = 0};
    read_record(from, entry_columns(IN_SQLITE, 0), &entry);
    if (from->failed == OK)
        feed_add_entry(feed, &entry);
}

static void read_forget(struct reader *from, struct feed *feed)
{
    struct id id = {{0}};
    read_id(from, &id);
    if (from->failed == OK)
        feed_add_gone(feed, &id);
}

static void read_drain(struct reader *from, struct feed *feed)
{
    struct store_drain drain = {.drained = false};
    read_into(from, drain.node, sizeof(drain.node));
    read_into(from, drain.by, sizeof(drain.by));
    drain.drained = read_number(from) != 0;
    if (from->failed == OK)
        feed_add(feed, &(struct store_change){.kind = STORE_CHANGE_DRAIN, .drain = &drain});
}

static void read_doc(struct reader *from, struct feed *feed)
{
    struct store_doc doc = {.json = NULL};
    read_into(from, doc.kind, sizeof(doc.kind));
    read_into(from, doc.name, sizeof(doc.name));
    doc.revision = read_number(from);
    char *json = read_copy(from);
    doc.json = json;
    if (from->failed == OK)
        feed_add(feed, &(struct store_change){.kind = STORE_CHANGE_DOC, .doc = &doc});
    free(json);
}

enum status shared_decode(const void *bytes, size_t length, struct feed *feed)
{
    struct reader from = {bytes, (const uint8_t *)bytes + length, OK};
    while (from.at < from.end && from.failed == OK && !feed->failed) {
        enum store_change_kind kind = (enum store_change_kind) * from.at++;
        if (kind == STORE_CHANGE_JOB || kind == STORE_CHANGE_DELETE || kind == STORE_CHANGE_CURSOR)
            read_job(&from, kind, feed);
        else if (kind == STORE_CHANGE_RUN || kind == STORE_CHANGE_KILL)
            read_run(&from, kind, feed);
        else if (kind == STORE_CHANGE_ENTRY)
            read_entry(&from, feed);
        else if (kind == STORE_CHANGE_FORGET)
            read_forget(&from, feed);
        else if (kind == STORE_CHANGE_DRAIN)
            read_drain(&from, feed);
        else if (kind == STORE_CHANGE_DOC)
            read_doc(&from, feed);
        else
            from.failed = E_CORRUPT;
    }
    return feed->failed ? E_NOMEM : from.failed;
}

/* ---- the format ---- */

static uint64_t hash_columns(uint64_t seed, struct column_set columns)
{
    for (const struct column *column = NULL; (column = column_next(&columns, column));)
        seed = hash_text(seed + (uint64_t)column->kind + column->size, column->name);
    return seed;
}

uint64_t shared_format(void)
{
    uint64_t hash = hash_columns(FORMAT, job_set());
    hash = hash_columns(hash, run_columns(IN_SQLITE, 0));
    return hash_columns(hash, entry_columns(IN_SQLITE, 0)) >> 1; /* fits a column of SQLite */
}
