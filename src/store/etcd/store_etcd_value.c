#include "etcd/store_etcd_value.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "document/utf8.h"
#include "words.h"

/* A cursor that is to go over ticks again is of another version: a peal that does not know of that
 * must not start them, and reads no further. */
enum { VALUE_VERSION = 1, VALUE_VERSION_REWOUND = 2 };

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
    for (; bits >= 0x80; bits >>= 7)
        strbuf_addc(to, (char)(bits | 0x80));
    strbuf_addc(to, (char)bits);
}

static void write_text(struct strbuf *to, const char *text)
{
    size_t length = strlen(text);
    write_number(to, (int64_t)length);
    strbuf_add(to, text, length);
}

/* What fails is remembered, and zeroes are read from then on. */
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

/* `length` bytes that stay where they are; NULL: so many are not there. */
static const void *read_bytes(struct reader *from, int64_t length)
{
    const uint8_t *at = from->at;
    if (from->failed != OK || length < 0 || length > from->end - at) {
        from->failed = E_CORRUPT;
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

static struct reader open_value(const struct etcd_kv *kv)
{
    const uint8_t *bytes = kv->value.data;
    struct reader from = {bytes, bytes + kv->value.length, OK};
    if (kv->value.length == 0)
        from.failed = E_CORRUPT;
    else if (*from.at++ != VALUE_VERSION)
        from.failed = E_VERSION;
    return from;
}

static struct reader open_cursor(const struct etcd_kv *kv)
{
    struct reader from = open_value(kv);
    if (from.failed == E_VERSION && from.at[-1] == VALUE_VERSION_REWOUND)
        from.failed = OK;
    return from;
}

/* ---- whole structs, by tables of their fields ---- */

/* What is beyond a field's range makes the value unreadable. */
enum field_type {
    FIELD_ID,
    FIELD_INT64, /* any 64 bits, signed or not */
    FIELD_MS,    /* a time, a duration or a count: sums and differences of some are numbers, too */
    FIELD_INT,
    FIELD_WORD, /* an enum, which may be of a newer peal (words.h) */
    FIELD_BOOL,
    FIELD_TEXT, /* an array of char */
    FIELD_NAME, /* the same, in which nothing needs an escape: a name is printed as it is */
};

static const int64_t ms_max = INT64_C(1) << 53; /* some 285,000 years */

struct value_field {
    enum field_type type;
    size_t offset, size;
};

_Static_assert(sizeof(enum run_state) == sizeof(int), "enums are read and written as int");

#define FIELD(type, of, member)                                                                    \
    {                                                                                              \
        type, offsetof(struct of, member), sizeof(((struct of *)NULL)->member)                     \
    }

static const struct value_field run_fields[] = {
    FIELD(FIELD_INT64, run_row, seq),
    FIELD(FIELD_ID, run_row, run.job_uid),
    FIELD(FIELD_NAME, run_row, run.job_name),
    FIELD(FIELD_MS, run_row, run.tick_ms),
    FIELD(FIELD_INT, run_row, run.attempt),
    FIELD(FIELD_WORD, run_row, run.cause),
    FIELD(FIELD_WORD, run_row, run.state),
    FIELD(FIELD_WORD, run_row, run.reason),
    FIELD(FIELD_NAME, run_row, run.node),
    FIELD(FIELD_INT64, run_row, run.nonce),
    FIELD(FIELD_INT64, run_row, run.fence),
    FIELD(FIELD_MS, run_row, run.job_revision),
    FIELD(FIELD_MS, run_row, run.not_before_ms),
    FIELD(FIELD_MS, run_row, run.claimed_ms),
    FIELD(FIELD_MS, run_row, run.started_ms),
    FIELD(FIELD_MS, run_row, run.finished_ms),
    FIELD(FIELD_INT, run_row, run.exit_code),
    FIELD(FIELD_INT, run_row, run.term_signal),
    FIELD(FIELD_MS, run_row, run.user_ms),
    FIELD(FIELD_MS, run_row, run.system_ms),
    FIELD(FIELD_MS, run_row, run.max_rss_kb),
    FIELD(FIELD_MS, run_row, run.output_bytes),
    FIELD(FIELD_BOOL, run_row, run.output_truncated),
    FIELD(FIELD_TEXT, run_row, run.by),
    FIELD(FIELD_TEXT, run_row, run.detail),
    FIELD(FIELD_WORD, run_row, kill_reason),
    FIELD(FIELD_TEXT, run_row, kill_by),
};

/* Which a value of an older peal does not have, or only the first of them. */
static const struct value_field newer_run_fields[] = {
    FIELD(FIELD_TEXT, run_row, run.traceparent),
    FIELD(FIELD_ID, run_row, run.owner.instance),
    FIELD(FIELD_INT64, run_row, run.owner.home),
};

static const struct value_field entry_fields[] = {
    FIELD(FIELD_ID, ledger_entry, job_uid),     FIELD(FIELD_NAME, ledger_entry, job_name),
    FIELD(FIELD_MS, ledger_entry, from_ms),     FIELD(FIELD_MS, ledger_entry, to_ms),
    FIELD(FIELD_MS, ledger_entry, count),       FIELD(FIELD_WORD, ledger_entry, state),
    FIELD(FIELD_WORD, ledger_entry, reason),    FIELD(FIELD_TEXT, ledger_entry, detail),
    FIELD(FIELD_MS, ledger_entry, recorded_ms), FIELD(FIELD_NAME, ledger_entry, node),
};

/* As newer_run_fields. */
static const struct value_field newer_entry_fields[] = {
    FIELD(FIELD_ID, ledger_entry, owner.instance),
    FIELD(FIELD_INT64, ledger_entry, owner.home),
};

static const struct value_field cursor_fields[] = {
    FIELD(FIELD_MS, job_row, cursor_ms),       FIELD(FIELD_ID, job_row, last.run_id),
    FIELD(FIELD_MS, job_row, last.started_ms), FIELD(FIELD_MS, job_row, last.ended_ms),
    FIELD(FIELD_WORD, job_row, last.state),
};

/* As newer_run_fields. */
static const struct value_field newer_cursor_fields[] = {
    FIELD(FIELD_MS, job_row, last.succeeded_ms),
};

/* Newer still; the gaps follow, counted from the cursor, so that they are short. */
static const struct value_field newest_cursor_fields[] = {
    FIELD(FIELD_MS, job_row, rewinds.count),
    FIELD(FIELD_MS, job_row, rewinds.high_ms),
    FIELD(FIELD_INT, job_row, rewinds.gap_count),
};

static const struct value_field definition_fields[] = {
    FIELD(FIELD_MS, job_row, revision),
    FIELD(FIELD_BOOL, job_row, paused),
    FIELD(FIELD_BOOL, job_row, deleted),
};

#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

static void write_field(struct strbuf *to, const struct value_field *field, const char *at)
{
    int64_t wide;
    int narrow;
    switch (field->type) {
    case FIELD_ID:
        strbuf_add(to, at, sizeof(struct id));
        break;
    case FIELD_INT64:
    case FIELD_MS:
        memcpy(&wide, at, sizeof(wide));
        write_number(to, wide);
        break;
    case FIELD_INT:
    case FIELD_WORD:
        memcpy(&narrow, at, sizeof(narrow));
        write_number(to, narrow);
        break;
    case FIELD_BOOL:
        write_number(to, *(const bool *)at);
        break;
    case FIELD_TEXT:
    case FIELD_NAME:
        write_text(to, at);
        break;
    }
}

static void write_fields(struct strbuf *to, const struct value_field *fields, size_t count,
                         const void *from)
{
    for (size_t i = 0; i < count; i++)
        write_field(to, &fields[i], (const char *)from + fields[i].offset);
}

static void read_short_text(struct reader *from, char *at, size_t size)
{
    int64_t length = read_number(from);
    const char *bytes = length < (int64_t)size ? read_bytes(from, length) : NULL;
    if (bytes)
        memcpy(at, bytes, (size_t)length);
    else
        from->failed = E_CORRUPT;
    at[bytes ? length : 0] = '\0';
}

/* A number from `least` to `most`; what is not makes the value unreadable. */
static int64_t read_within(struct reader *from, int64_t least, int64_t most)
{
    int64_t number = read_number(from);
    if (from->failed == OK && (number < least || number > most))
        from->failed = E_CORRUPT;
    return from->failed == OK ? number : least;
}

static int64_t read_ms(struct reader *from)
{
    return read_within(from, -ms_max, ms_max);
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

static void read_field(struct reader *from, const struct value_field *field, char *at)
{
    const void *bytes;
    int64_t wide;
    int narrow;
    switch (field->type) {
    case FIELD_ID:
        bytes = read_bytes(from, sizeof(struct id));
        if (bytes)
            memcpy(at, bytes, sizeof(struct id));
        break;
    case FIELD_INT64:
    case FIELD_MS:
        wide = field->type == FIELD_MS ? read_ms(from) : read_number(from);
        memcpy(at, &wide, sizeof(wide));
        break;
    case FIELD_INT:
        narrow = (int)read_within(from, INT_MIN, INT_MAX);
        memcpy(at, &narrow, sizeof(narrow));
        break;
    case FIELD_WORD:
        narrow = (int)read_within(from, 0, WORD_NUMBERS - 1);
        memcpy(at, &narrow, sizeof(narrow));
        break;
    case FIELD_BOOL:
        *(bool *)at = read_number(from) != 0;
        break;
    case FIELD_TEXT:
    case FIELD_NAME:
        read_short_text(from, at, field->size);
        if (field->type == FIELD_NAME && !is_name(at))
            from->failed = E_CORRUPT;
        break;
    }
}

static void read_fields(struct reader *from, const struct value_field *fields, size_t count,
                        void *to)
{
    for (size_t i = 0; i < count && from->failed == OK; i++)
        read_field(from, &fields[i], (char *)to + fields[i].offset);
}

/* As many as the value has. */
static void read_newer_fields(struct reader *from, const struct value_field *fields, size_t count,
                              void *to)
{
    for (size_t i = 0; i < count && from->failed == OK && from->at < from->end; i++)
        read_field(from, &fields[i], (char *)to + fields[i].offset);
}

/* ---- values ---- */

void value_write_job(struct strbuf *to, const struct job_row *row, const char *name,
                     const char *json)
{
    strbuf_addc(to, VALUE_VERSION);
    write_fields(to, definition_fields, COUNT(definition_fields), row);
    write_text(to, name);
    write_text(to, json);
}

enum status value_read_job(const struct etcd_kv *kv, struct job_row *row, char **name, char **json)
{
    struct reader from = open_value(kv);
    struct job_row read = *row;
    read_fields(&from, definition_fields, COUNT(definition_fields), &read);
    char *new_name = from.failed == OK ? read_text(&from) : NULL;
    char *new_json = from.failed == OK ? read_text(&from) : NULL;
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
    if (from->failed == OK &&
        (row->rewinds.gap_count < 0 || row->rewinds.gap_count > REWIND_GAPS_MAX))
        from->failed = E_CORRUPT;
    for (int i = 0; from->failed == OK && i < row->rewinds.gap_count; i++) {
        struct tick_gap *gap = &row->rewinds.gaps[i];
        gap->to_ms = row->cursor_ms - read_ms(from);
        gap->from_ms = gap->to_ms - read_ms(from);
    }
}

void value_write_cursor(struct strbuf *to, const struct job_row *row, enum tell tell)
{
    bool is_rewound = row->rewinds.high_ms > row->cursor_ms;
    strbuf_addc(to, is_rewound ? VALUE_VERSION_REWOUND : VALUE_VERSION);
    write_number(to, (int64_t)tell);
    write_fields(to, cursor_fields, COUNT(cursor_fields), row);
    write_fields(to, newer_cursor_fields, COUNT(newer_cursor_fields), row);
    write_fields(to, newest_cursor_fields, COUNT(newest_cursor_fields), row);
    write_gaps(to, row);
}

/* One of a newer peal is news, at least. */
static enum tell read_tell(struct reader *from)
{
    int64_t tell = from->failed == OK ? read_within(from, 0, WORD_NUMBERS - 1) : TELL_NOTHING;
    return tell <= TELL_KILL ? (enum tell)tell : TELL_CHANGE;
}

enum status value_read_cursor(const struct etcd_kv *kv, struct job_row *row, enum tell *tell)
{
    struct reader from = open_cursor(kv);
    struct job_row read = *row;
    enum tell told = read_tell(&from);
    read_fields(&from, cursor_fields, COUNT(cursor_fields), &read);
    if (from.at < from.end)
        read_fields(&from, newer_cursor_fields, COUNT(newer_cursor_fields), &read);
    else if (read.last.state == RUN_OK && read.last.ended_ms > read.last.succeeded_ms)
        read.last.succeeded_ms = read.last.ended_ms; /* what the mirror knows stays */
    if (from.failed == OK && from.at < from.end) {
        read_fields(&from, newest_cursor_fields, COUNT(newest_cursor_fields), &read);
        read_gaps(&from, &read);
    }
    if (from.failed != OK)
        return from.failed;
    *row = read;
    *tell = told;
    return OK;
}

void value_write_run(struct strbuf *to, const struct run_row *row, enum tell tell, int place)
{
    strbuf_addc(to, VALUE_VERSION);
    write_number(to, (int64_t)tell);
    write_number(to, place);
    write_fields(to, run_fields, COUNT(run_fields), row);
    write_fields(to, newer_run_fields, COUNT(newer_run_fields), row);
}

enum status value_read_run(const struct etcd_kv *kv, const struct epoch *epoch, struct run_row *ret,
                           enum tell *tell)
{
    struct reader from = open_value(kv);
    struct run_row read = {.seq = 0};
    enum tell told = read_tell(&from);
    int place = from.failed == OK ? (int)read_within(&from, 0, BATCH_PLACES - 1) : 0;
    read_fields(&from, run_fields, COUNT(run_fields), &read);
    read_newer_fields(&from, newer_run_fields, COUNT(newer_run_fields), &read);
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
    strbuf_addc(to, VALUE_VERSION);
    write_fields(to, entry_fields, COUNT(entry_fields), entry);
    write_fields(to, newer_entry_fields, COUNT(newer_entry_fields), entry);
}

enum status value_read_entry(const struct etcd_kv *kv, struct ledger_entry *ret)
{
    struct reader from = open_value(kv);
    struct ledger_entry read = {.count = 0};
    read_fields(&from, entry_fields, COUNT(entry_fields), &read);
    read_newer_fields(&from, newer_entry_fields, COUNT(newer_entry_fields), &read);
    if (from.failed == OK)
        *ret = read;
    return from.failed;
}

void value_write_doc(struct strbuf *to, const struct store_doc *doc)
{
    strbuf_addc(to, VALUE_VERSION);
    write_number(to, doc->revision);
    write_text(to, doc->json);
}

enum status value_read_doc(const struct etcd_kv *kv, int64_t *revision, char **json)
{
    struct reader from = open_value(kv);
    int64_t read = from.failed == OK ? read_within(&from, 0, ms_max) : 0;
    char *text = from.failed == OK ? read_text(&from) : NULL;
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

enum status value_read_name(const struct etcd_kv *kv, struct id *ret)
{
    struct reader from = open_value(kv);
    const void *bytes = from.failed == OK ? read_bytes(&from, sizeof(*ret)) : NULL;
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

enum status value_read_epoch(const struct etcd_kv *kv, struct epoch *ret)
{
    struct reader from = open_value(kv);
    struct epoch read = {.mod_revision = kv->mod_revision};
    const void *bytes = from.failed == OK ? read_bytes(&from, sizeof(read.lineage)) : NULL;
    if (bytes)
        memcpy(&read.lineage, bytes, sizeof(read.lineage));
    read.generation = from.failed == OK ? read_within(&from, 0, 2 * GENERATIONS) : 0;
    if (from.failed == OK && from.at < from.end) { /* older versions did not write these */
        read.stamp = (uint64_t)read_number(&from);
        read.cluster_id = from.failed == OK ? (uint64_t)read_number(&from) : 0;
        read.since = from.failed == OK ? read_within(&from, 0, INT64_MAX) : 0;
    }
    if (read.since == 0)
        read.since = kv->mod_revision;
    if (from.failed == OK)
        *ret = read;
    return from.failed;
}
