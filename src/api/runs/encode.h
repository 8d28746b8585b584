/* Values as the API shows them. Every function gives NULL when out of memory, and json_pack and the
 * setters of jansson pass that on. */
#ifndef PEAL_ENCODE_H
#define PEAL_ENCODE_H

#include <jansson.h>

#include "history.h"
#include "run.h"
#include "state/catalog.h"

enum { TIME_TEXT = 40 };

/* 2026-03-08T07:00:00.000Z */
void time_format(int64_t ms, char text[TIME_TEXT]);

json_t *json_time(int64_t ms); /* 0 and NEVER_MS: null */
json_t *json_tick(int64_t ms); /* NEVER_MS: null */
json_t *json_id(const struct id *id);

/* The text, with what is not UTF-8 replaced: words may have been cut in the middle of a letter. */
json_t *json_words(const char *text);
json_t *json_words_or_null(const char *text); /* "": null */

/* The members of both; takes them over. NULL: out of memory, or one of them was NULL. */
json_t *json_joined(json_t *value, json_t *more);

json_t *encode_run(const struct run *run);
json_t *encode_entry(const struct ledger_entry *entry);
json_t *encode_row(const struct history_row *row);

/* Adds "incomplete": which nodes could not be asked, and so what the answer lacks; nothing if none.
 * `value` may be NULL. Takes it over and gives it back; NULL: out of memory. */
json_t *add_absent(json_t *value, const struct history_absences *absent);

/* Whose ticks: schedules, and what takes some of theirs out. */
struct fire_source {
    struct schedule_set set;
    struct calendars calendars;
    const struct calendar_use *uses; /* by the same index; NULL: there are none */
    int64_t ended_s;                 /* `@after` counts from here */
    int64_t skip_until_s;            /* ticks up to it have a note that they are left out */
};

/* {"fires","left_out"}: the next `count` ticks after `after_s`, and of those that calendars take
 * out before the last of them, the first of each row. */
json_t *encode_fires(const struct fire_source *source, int64_t after_s, int64_t count);

/* The latter alone, of ticks after `after_s` and before `end_s`. */
json_t *encode_left_out(const struct fire_source *source, int64_t after_s, int64_t end_s);

/* Takes out of a stored definition what peal keeps in it: uid, times. */
void drop_kept(json_t *definition);

/* A number that peal keeps in the stored definition ("deleted_ms"); 0: none. */
int64_t stored_time(const json_t *definition, const char *name);

#endif
