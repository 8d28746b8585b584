#include "runs/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "civil.h"
#include "columns.h"
#include "document/utf8.h"
#include "fires.h"
#include "timestamp.h"
#include "window/held.h"

enum {
    LEFT_OUT_MAX = 20, /* ranges of excluded ticks */
    LOOKS = 5000,      /* ticks checked in search of one */
};

/* Pages are full of times: printf would dominate their cost. */
static void put_digits(char *text, int count, int number)
{
    while (count--) {
        text[count] = (char)('0' + number % 10);
        number /= 10;
    }
}

void time_format(int64_t ms, char text[TIME_TEXT])
{
    int64_t seconds = ms / 1000 - (ms % 1000 < 0);
    struct civil at = civil_from_seconds(seconds);
    if (at.year < 0 || at.year > 9999) {
        snprintf(text, TIME_TEXT, "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ", (long long)at.year,
                 at.month, at.day, at.hour, at.minute, at.second, (int)(ms - seconds * 1000));
        return;
    }
    memcpy(text, "0000-00-00T00:00:00.000Z", sizeof("0000-00-00T00:00:00.000Z"));
    put_digits(text, 4, (int)at.year);
    put_digits(text + 5, 2, at.month);
    put_digits(text + 8, 2, at.day);
    put_digits(text + 11, 2, at.hour);
    put_digits(text + 14, 2, at.minute);
    put_digits(text + 17, 2, at.second);
    put_digits(text + 20, 3, (int)(ms - seconds * 1000));
}

json_t *json_tick(int64_t ms)
{
    char text[TIME_TEXT];
    if (ms == NEVER_MS)
        return json_null();
    time_format(ms, text);
    return json_string(text);
}

json_t *json_time(int64_t ms)
{
    return ms ? json_tick(ms) : json_null();
}

json_t *json_words(const char *text)
{
    size_t length = strlen(text);
    json_t *plain = json_stringn(text, length);
    if (plain)
        return plain;
    char *fixed = strdup(text);
    if (!fixed)
        return NULL;
    for (size_t at = 0; at < length;) {
        uint32_t c;
        size_t size = 1;
        if (!utf8_decode(fixed + at, length - at, &c, &size))
            fixed[at] = '?';
        at += size;
    }
    plain = json_stringn(fixed, length);
    free(fixed);
    return plain;
}

json_t *json_words_or_null(const char *text)
{
    return *text ? json_words(text) : json_null();
}

json_t *json_joined(json_t *value, json_t *more)
{
    if (!value || !more || json_object_update(value, more) != 0) {
        json_decref(value);
        value = NULL;
    }
    json_decref(more);
    return value;
}

/* ---- runs and entries ---- */

/* `hidden`: uses of columns that this record has no value of. */
static bool is_none(const struct column *column, const void *record, unsigned hidden)
{
    const char *text = column_field(column, record);
    if (column_is_text(column))
        return column->uses & OPTIONAL && !*text;
    if (column->kind == COLUMN_ID)
        return column->uses & OPTIONAL && id_is_zero(column_field(column, record));
    int64_t number = column_read_int(column, record);
    return (column->uses & OPTIONAL && number == 0) ||
           (column->uses & NOT_NEGATIVE && number < 0) || column->uses & hidden;
}

static json_t *encode_column(const struct column *column, const void *record)
{
    switch (column->kind) {
    case COLUMN_ID:
        return json_id(column_field(column, record));
    case COLUMN_TIME:
        return json_tick(column_read_int(column, record));
    case COLUMN_BOOL:
        return json_boolean(column_read_int(column, record));
    case COLUMN_TEXT:
    case COLUMN_NAME:
        return json_words(column_field(column, record));
    case COLUMN_STATE:
    case COLUMN_REASON:
    case COLUMN_CAUSE:
        return json_string(column_read_word(column, record));
    case COLUMN_INT64:
    case COLUMN_MS:
    case COLUMN_COUNT:
    case COLUMN_INT:
    case COLUMN_WORD:
        break;
    }
    return json_integer(column_read_int(column, record));
}

static json_t *encode_columns(struct column_set columns, const void *record, unsigned hidden)
{
    json_t *value = json_object();
    for (const struct column *column = NULL; value && (column = column_next(&columns, column));) {
        json_t *field =
            is_none(column, record, hidden) ? json_null() : encode_column(column, record);
        if (json_object_set_new(value, column->name, field) != 0) {
            json_decref(value);
            value = NULL;
        }
    }
    return value;
}

json_t *add_progress(json_t *value, const struct progress *progress)
{
    json_t *told = json_pack("{s:i, s:o}", "percent", progress->percent, "text",
                             json_words_or_null(progress->words));
    if (value && json_object_set_new(value, "progress", told) == 0)
        return value;
    json_decref(value);
    return NULL;
}

json_t *encode_run(const struct run *run)
{
    struct progress progress;
    bool ran = run_state_is_end(run->state) && run->started_ms;
    unsigned hidden = (ran ? 0 : OF_RAN) | (run->parts ? 0 : OF_PARTS);
    json_t *value = encode_columns(run_columns(IN_API, 0), run, hidden);
    return progress_of_run(run, &progress) ? add_progress(value, &progress) : value;
}

json_t *encode_entry(const struct ledger_entry *entry)
{
    return encode_columns(entry_columns(IN_API, 0), entry, OF_RAN);
}

/* "spooled": it waits on its node's disk for the database. */
static json_t *mark_spooled(json_t *value, bool is_spooled)
{
    if (value && is_spooled && json_object_set_new(value, "spooled", json_true()) != 0) {
        json_decref(value);
        return NULL;
    }
    return value;
}

json_t *encode_row(const struct history_row *row)
{
    return mark_spooled(row->is_entry ? encode_entry(&row->entry) : encode_run(&row->run),
                        row->is_spooled);
}

json_t *encode_recorded(const struct history_log *log)
{
    return mark_spooled(encode_run(&log->run), log->is_spooled);
}

json_t *add_absent(json_t *value, const struct history_absences *absent)
{
    json_t *list = absent->count ? json_array() : NULL;
    bool failed = !value || (absent->count && !list);
    for (size_t i = 0; i < absent->count && !failed; i++)
        failed =
            json_array_append_new(list, json_pack("{s:o, s:o}", "node",
                                                  json_words_or_null(absent->items[i].node), "why",
                                                  json_words(absent->items[i].why))) != 0;
    if (!failed && list)
        failed = json_object_set(value, "incomplete", list) != 0;
    json_decref(list);
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

int64_t stored_time(const json_t *definition, const char *name)
{
    return json_integer_value(json_object_get(definition, name));
}

void drop_kept(json_t *definition)
{
    static const char *const kept[] = {"uid",           "revision",     "created_ms", "updated_ms",
                                       "applied_ms",    "paused_ms",    "resumed_ms", "deleted_ms",
                                       "skip_until_ms", "former_names", "hash_name"};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        json_object_del(definition, kept[i]);
}

/* ---- coming ticks ---- */

static json_t *take_text(struct strbuf *text)
{
    json_t *value = strbuf_status(text) == OK ? json_string(text->text) : NULL;
    strbuf_reset(text);
    return value;
}

/* Why a tick is left out in spite of its schedule; "": it is not. */
static const char *leave_out_word(const struct fire_source *source, int64_t at_s)
{
    const struct maintenance *maintenance =
        source->maintenance ? known_maintenance_at(source->maintenance, source->job_name,
                                                   at_s * 1000 + source->jitter_ms)
                            : NULL;
    if (at_s <= source->skip_until_s)
        return "skip-next";
    return !maintenance ? "" : maintenance->is_pause ? "pause" : "maintenance";
}

static json_t *encode_fire(const struct fire *fire, bool jitter, const char *left_out)
{
    struct strbuf text;
    strbuf_init(&text);
    timestamp_print_local(fire->at_s, schedule_zone(fire->schedule), &text);
    json_t *value =
        json_pack("{s:o, s:o}", "at", json_tick(fire->at_s * 1000), "local", take_text(&text));
    int failed = !value;
    fire_note(fire, &text);
    if (*left_out)
        strbuf_addf(&text, "%sleft out: %s", text.length ? "; " : "", left_out);
    if (text.length)
        failed |= json_object_set_new(value, "note", take_text(&text));
    if (jitter) {
        fire_start(fire, &text);
        failed |= json_object_set_new(value, "starts_at", take_text(&text));
    }
    strbuf_release(&text);
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

/* A tick that a calendar excludes. */
struct left_out {
    struct fire tick;
    size_t which;                /* of the source's calendars */
    const struct window *window; /* of that calendar; NULL: its whole date, or one is required */
};

/* The first one after `after_s`. *ret_behind_s is the end of its range of ticks that the same
 * calendar excludes, for the next call. False: none before end_s. */
static bool next_left_out(const struct fire_source *source, int64_t after_s, int64_t end_s,
                          struct left_out *ret, int64_t *ret_behind_s)
{
    const struct calendars *calendars = &source->calendars;
    static const struct calendars none = {NULL, 0, 0};
    struct fire tick, fire;
    for (int i = 0; i < LOOKS; i++) {
        if (!fires_next(&source->set, &none, source->ended_s, after_s, &tick) || tick.at_s >= end_s)
            return false;
        bool runs = fires_next(&source->set, calendars, source->ended_s, after_s, &fire);
        if (runs && fire.at_s == tick.at_s) {
            after_s = tick.at_s;
            continue;
        }
        const struct zone *zone = schedule_zone(tick.schedule);
        size_t which = calendars_which(calendars, zone, tick.at_s);
        struct calendars alone = calendars_alone(calendars, which);
        int64_t behind_s = calendars_free_from(&alone, zone, tick.at_s);
        *ret = (struct left_out){.tick = tick, .which = which};
        if (which < calendars->count)
            ret->window = calendar_window_at(calendars->items[which], zone, tick.at_s);
        *ret_behind_s = (runs && fire.at_s < behind_s ? fire.at_s : behind_s) - 1;
        return true;
    }
    return false;
}

static json_t *encode_out(const struct fire_source *source, const struct left_out *out)
{
    json_t *item = encode_fire(&out->tick, false, "");
    struct strbuf window;
    strbuf_init(&window);
    int failed = !item || json_object_set_new(item, "calendar",
                                              json_string(source->uses[out->which].known->name));
    if (out->window) {
        window_print(out->window, &window);
        failed = failed || json_object_set_new(item, "window", take_text(&window));
    }
    strbuf_release(&window);
    if (!failed)
        return item;
    json_decref(item);
    return NULL;
}

json_t *encode_left_out(const struct fire_source *source, int64_t after_s, int64_t end_s)
{
    json_t *list = json_array();
    struct left_out out;
    while (list && calendars_matter(&source->calendars) && json_array_size(list) < LEFT_OUT_MAX &&
           next_left_out(source, after_s, end_s, &out, &after_s)) {
        if (json_array_append_new(list, encode_out(source, &out)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

json_t *encode_fires(const struct fire_source *source, int64_t after_s, int64_t count)
{
    const struct schedule_set *set = &source->set;
    bool jitter = set->count && schedule_jitter_limit(set->items[0]) > 0;
    json_t *fires = json_array();
    struct fire fire;
    int64_t from_s = after_s, end_s = NEVER;
    for (int64_t i = 0; i < count && fires; i++) {
        if (!fires_next(set, &source->calendars, source->ended_s, after_s, &fire))
            break;
        after_s = fire.at_s;
        end_s = i + 1 == count ? after_s : NEVER;
        if (json_array_append_new(
                fires, encode_fire(&fire, jitter, leave_out_word(source, after_s))) != 0) {
            json_decref(fires);
            fires = NULL;
        }
    }
    return json_pack("{s:o, s:o}", "fires", fires, "left_out",
                     encode_left_out(source, from_s, end_s));
}
