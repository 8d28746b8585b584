/* Calendars as text: {dates: [...], weekdays: [...], notes: "..."}. As for jobs, one decoder reads
 * a tree of values; JSON and YAML are two ways to that tree. */
#ifndef PEAL_CALENDAR_CODEC_H
#define PEAL_CALENDAR_CODEC_H

#include <jansson.h>

#include "calendar.h"
#include "definition/job_codec.h"

#define CALENDAR_DOC "calendar" /* the kind of its document in the store */

enum {
    CALENDAR_NAME_MAX = 63,
    CALENDAR_DATES_MAX = 2000,
    CALENDAR_NOTES_MAX = 2000, /* bytes; with the dates it fits a document in any case */
};

struct calendar_definition {
    struct calendar calendar;
    char *notes; /* NULL: none */
};
void calendar_definition_init(struct calendar_definition *definition);
void calendar_definition_release(struct calendar_definition *definition);

/* NULL, or what is wrong with the name. */
const char *calendar_name_complaint(const char *name);

/* Reads one calendar. Unknown fields are errors with the nearest known one; `name`, NULL or the
 * calendar's, may be repeated inside. E_INVALID: *reterr. */
MUST_CHECK enum status calendar_decode_json(const json_t *value, const char *name,
                                            struct calendar_definition *ret,
                                            struct job_error *reterr);

/* The same from the text of a file, YAML or JSON. */
MUST_CHECK enum status calendar_decode_text(const char *text, size_t length, const char *name,
                                            struct calendar_definition *ret,
                                            struct job_error *reterr);

/* The other way: what is there, in order. NULL when out of memory. */
json_t *calendar_encode_json(const struct calendar_definition *definition);

/* As compact JSON for the store; NULL when out of memory. */
char *calendar_encode_text(const struct calendar_definition *definition);

#endif
