/* Calendars as text: {dates: [...], weekdays: [...], notes: "..."}. As for jobs, JSON and YAML are
 * both parsed into a tree of values, which one decoder reads. */
#ifndef PEAL_CALENDAR_CODEC_H
#define PEAL_CALENDAR_CODEC_H

#include <jansson.h>

#include "calendar.h"
#include "definition/job_codec.h"
#include "job_name.h"

#define CALENDAR_DOC "calendar" /* kind of the document in the store */

enum {
    CALENDAR_DATES_MAX = 2000,
    CALENDAR_NOTES_MAX = 2000, /* bytes; together with all dates this fits into a document */
};

struct calendar_definition {
    struct calendar calendar;
    char *notes; /* NULL: none */
};
void calendar_definition_init(struct calendar_definition *definition);
void calendar_definition_release(struct calendar_definition *definition);

/* Reads one calendar. An unknown field is an error that suggests the nearest known one. A field
 * `name` must equal `name` unless that is NULL. E_INVALID: *reterr. */
MUST_CHECK enum status calendar_decode_json(const json_t *value, const char *name,
                                            struct calendar_definition *ret,
                                            struct job_error *reterr);

/* The same from the text of a file, YAML or JSON. */
MUST_CHECK enum status calendar_decode_text(const char *text, size_t length, const char *name,
                                            struct calendar_definition *ret,
                                            struct job_error *reterr);

/* The fields dates, weekdays and, if there are any, notes. NULL when out of memory. */
json_t *calendar_encode_json(const struct calendar_definition *definition);

/* Compact JSON for the store; NULL when out of memory. */
char *calendar_encode_text(const struct calendar_definition *definition);

#endif
