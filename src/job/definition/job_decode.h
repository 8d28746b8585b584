/* From a tree of values to a job: the one decoder behind job_codec.h. */
#ifndef PEAL_JOB_DECODE_H
#define PEAL_JOB_DECODE_H

#include "definition/job_fields.h"
#include "document/spot.h"

struct decoder {
    void *object;    /* what the table's offsets are of */
    struct job *job; /* the same, if it is a job */
    const char *default_tz;
    struct zone_db *zones;
    bool with_meta;
    bool zone_is_given; /* by the field `timezone` */
    struct job_error *err;
};

/* Reads a whole job, and checks it as a whole. */
MUST_CHECK enum status job_decode_node(const struct node *node, bool with_meta,
                                       const char *default_tz, struct zone_db *zones,
                                       struct job **ret, struct job_error *reterr);

/* One value into the job's member that the field names (job_decode_value.c). */
MUST_CHECK enum status field_decode(struct decoder *d, const struct field *field,
                                    const struct spot *spot);

/* Parts of that: a text (without quotes, `on` is none to every reader of YAML, nor is `8` unless a
 * number is taken as it was typed), and which of the field's words stands there. */
MUST_CHECK enum status get_text(const struct decoder *d, const struct spot *spot,
                                bool number_is_text, const char **ret);
MUST_CHECK enum status find_word(const struct decoder *d, const struct field *field,
                                 const struct spot *spot, int *ret);

/* The field `after`, and what does not go with it (job_decode_after.c). */
MUST_CHECK enum status decode_after(struct decoder *d, const struct field *field,
                                    const struct spot *spot);
MUST_CHECK enum status check_after(const struct decoder *d, const struct spot *root);

/* All fields of a map; unknown ones are errors. */
MUST_CHECK enum status fields_decode(struct decoder *d, const struct field *fields,
                                     const struct spot *spot);

/* The same from a JSON value, into anything that a table describes, by kinds of field that are not
 * a job's own. What was read before a mistake stays. `what` is for messages: "a channel (a map with
 * type and url)". */
MUST_CHECK enum status fields_decode_json(const struct field *fields, const char *what,
                                          const json_t *value, void *object,
                                          struct job_error *reterr);

/* The other way; only what differs from the defaults. NULL: out of memory. */
json_t *fields_encode_json(const struct field *fields, const void *object, const void *defaults);

/* Gives the job a time zone if it has none: that of its first schedule, else the default. */
MUST_CHECK enum status settle_zone(struct decoder *d);

#endif
