/* Encodes values for the API. Every function returns NULL when out of memory, which json_pack and
 * jansson's setters pass on. */
#ifndef PEAL_ENCODE_H
#define PEAL_ENCODE_H

#include "function/progress.h"
#include "history.h"
#include "id_json.h"
#include "run.h"
#include "state/catalog.h"

enum { TIME_TEXT = 40 };

/* 2026-03-08T07:00:00.000Z */
void time_format(int64_t ms, char text[TIME_TEXT]);

json_t *json_time(int64_t ms); /* 0 and NEVER_MS: null */
json_t *json_tick(int64_t ms); /* NEVER_MS: null */

/* The text with invalid UTF-8 replaced: it may have been cut in the middle of a character. */
json_t *json_words(const char *text);
json_t *json_words_or_null(const char *text); /* "": null */

/* The members of both; takes them over. NULL: out of memory, or one of them was NULL. */
json_t *json_joined(json_t *value, json_t *more);

json_t *encode_run(const struct run *run);
json_t *encode_entry(const struct ledger_entry *entry);
json_t *encode_row(const struct history_row *row);
json_t *encode_recorded(const struct history_log *log); /* the run, which was found */

/* Adds "progress", of a call that goes on; one that has ended has it anyway. `value` as below. */
json_t *add_progress(json_t *value, const struct progress *progress);

/* Adds "incomplete", the nodes (null: the database) that did not answer, if there are any. `value`
 * may be NULL; it is taken over and returned; NULL: out of memory. */
json_t *add_absent(json_t *value, const struct history_absences *absent);

/* A source of ticks: schedules and calendars. */
struct fire_source {
    struct schedule_set set;
    struct calendars calendars;
    const struct calendar_use *uses; /* by the same index; NULL: none */
    int64_t ended_s;                 /* `@after` counts from here */
    int64_t skip_until_s;            /* ticks up to here are marked as skipped */
    const struct table *maintenance; /* of known_maintenance.h; NULL: not looked at */
    const char *job_name;            /* whose maintenance it is, and jitter */
    int64_t jitter_ms;
};

/* {"fires","left_out"}: the next `count` ticks after `after_s`, and the first tick of each range
 * before the last of them that calendars exclude. */
json_t *encode_fires(const struct fire_source *source, int64_t after_s, int64_t count);

/* Only "left_out", for ticks after `after_s` and before `end_s`. */
json_t *encode_left_out(const struct fire_source *source, int64_t after_s, int64_t end_s);

/* Removes peal's own members from a stored definition: uid, times. */
void drop_kept(json_t *definition);

/* A number among peal's own members of the stored definition ("deleted_ms"); 0: none. */
int64_t stored_time(const json_t *definition, const char *name);

#endif
