/* Calendars as text: {dates: [...], weekdays: [...], windows: [...], timezone: "...", notes:
 * "..."}. As for jobs, JSON and YAML are both parsed into a tree of values, which one decoder
 * reads. */
#ifndef PEAL_CALENDAR_CODEC_H
#define PEAL_CALENDAR_CODEC_H

#include <jansson.h>

#include "calendar.h"
#include "definition/job_codec.h"
#include "job_name.h"
#include "zone/zone_db.h"

#define CALENDAR_DOC "calendar" /* kind of the document in the store */

enum {
    CALENDAR_DATES_MAX = 2000,
    CALENDAR_WINDOWS_MAX = 1000,
    CALENDAR_NOTES_MAX = 2000,     /* bytes; together with all dates this fits into a document */
    CALENDAR_TEXT_MAX = 62 * 1024, /* of one with windows, as it is stored */
};

struct calendar_definition {
    struct calendar calendar;
    char *timezone; /* whose clock it goes by; NULL: that of the schedule */
    char *notes;    /* NULL: none */
};
void calendar_definition_init(struct calendar_definition *definition);
void calendar_definition_release(struct calendar_definition *definition);

/* Reads one calendar. An unknown field is an error that suggests the nearest known one. A field
 * `name` must equal `name` unless that is NULL. `zones` NULL: its time zone is not looked up, and
 * the calendar is not for lookups then. E_INVALID: *reterr. */
MUST_CHECK enum status calendar_decode_json(const json_t *value, const char *name,
                                            struct zone_db *zones, struct calendar_definition *ret,
                                            struct job_error *reterr);

/* The same from the text of a file, YAML or JSON. */
MUST_CHECK enum status calendar_decode_text(const char *text, size_t length, const char *name,
                                            struct zone_db *zones, struct calendar_definition *ret,
                                            struct job_error *reterr);

/* Has the stored text a field that peal knows only since there are windows? An older peal can't
 * read it, and is to leave it alone. */
bool calendar_text_is_new(const char *json);

/* The fields dates and weekdays and, if there are any, the others. NULL when out of memory. */
json_t *calendar_encode_json(const struct calendar_definition *definition);

/* Compact JSON for the store; NULL when out of memory. */
char *calendar_encode_text(const struct calendar_definition *definition);

#endif
