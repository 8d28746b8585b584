/* The decoder of job_codec.h: from a tree of values to a job. */
#ifndef PEAL_JOB_DECODE_H
#define PEAL_JOB_DECODE_H

#include "definition/job_fields.h"
#include "document/spot.h"

struct decoder {
    void *object;    /* the struct that the table's offsets refer to */
    struct job *job; /* the same object, if it is a job; what a step runs, if it is a step */
    const struct job *workflow; /* of a step: the workflow, as far as it is read; else NULL */
    const char *default_tz;
    struct zone_db *zones;
    bool with_meta;
    bool zone_is_given; /* the field `timezone` is set */
    struct job_error *err;
    struct job_errors *all; /* NULL: stop at the first error; else go on, and note each of them */
};

/* Reads a job, and checks its fields one by one and together. */
MUST_CHECK enum status job_decode_node(const struct node *node, bool with_meta,
                                       const char *default_tz, struct zone_db *zones,
                                       struct job **ret, struct job_error *reterr);

/* The same with every error, in *errors. */
MUST_CHECK enum status job_decode_node_all(const struct node *node, const char *default_tz,
                                           struct zone_db *zones, struct job **ret,
                                           struct job_errors *errors);

/* Moves the error to the end of the list; an empty one was noted already. E_NOMEM. */
MUST_CHECK enum status job_errors_take(struct job_errors *errors, struct job_error *error);

/* Goes on after an error, if all are wanted, and remembers that in *inout_st. */
MUST_CHECK enum status decoder_go_on(const struct decoder *d, enum status st,
                                     enum status *inout_st);

/* Decodes one value into the member of the field (job_decode_value.c). */
MUST_CHECK enum status field_decode(struct decoder *d, const struct field *field,
                                    const struct spot *spot);

/* Parts of field_decode: a text, and the index of one of the field's words. Without quotes `on` is
 * refused as a text, since YAML 1.1 reads it as true; so is `8`, unless `number_is_text`. */
MUST_CHECK enum status get_text(const struct decoder *d, const struct spot *spot,
                                bool number_is_text, const char **ret);
MUST_CHECK enum status find_word(const struct decoder *d, const struct field *field,
                                 const struct spot *spot, int *ret);

/* The field `after`, and the check for fields that need a schedule (job_decode_after.c). */
MUST_CHECK enum status decode_after(struct decoder *d, const struct field *field,
                                    const struct spot *spot);
MUST_CHECK enum status check_after(const struct decoder *d, const struct spot *root);

/* The variables of an HTTP call, and the check for fields that need a process (job_http.c). */
MUST_CHECK enum status check_http(const struct decoder *d, const struct spot *root);

/* The fields of `expect`, and those of `notify`, together (job_expect.c). */
MUST_CHECK enum status check_expect(const struct decoder *d, const struct spot *root);
MUST_CHECK enum status check_notify(const struct decoder *d, const struct spot *root);

/* Those of `limits` and `ionice`, and one spelling of numbers (run_limits.c). */
MUST_CHECK enum status check_run_limits(const struct decoder *d, const struct spot *root);

/* The field `params`, and the check of where its values are used (params_decode.c). */
MUST_CHECK enum status decode_params(struct decoder *d, const struct field *field,
                                     const struct spot *spot);
MUST_CHECK enum status check_params(const struct decoder *d, const struct spot *root);

/* The fields `steps` and `finally`, and those of a step alone (step_decode.c). */
MUST_CHECK enum status decode_steps(struct decoder *d, const struct field *field,
                                    const struct spot *spot);
MUST_CHECK enum status decode_step_after(struct decoder *d, const struct field *field,
                                         const struct spot *spot);
MUST_CHECK enum status decode_join(struct decoder *d, const struct field *field,
                                   const struct spot *spot);
MUST_CHECK enum status decode_items(struct decoder *d, const struct field *field,
                                    const struct spot *spot);

/* The steps together, and the fields that a workflow does not have (steps_check.c). */
MUST_CHECK enum status check_workflow(const struct decoder *d, const struct spot *root);

/* Decodes all fields of a map; unknown ones are errors. */
MUST_CHECK enum status fields_decode(struct decoder *d, const struct field *fields,
                                     const struct spot *spot);

/* The same from a JSON value, into any struct with a table of fields, except the kinds of field
 * that only jobs have. After an error the fields before it stay set. `what` is for messages: "a
 * channel (a map with type and url)". */
MUST_CHECK enum status fields_decode_json(const struct field *fields, const char *what,
                                          const json_t *value, void *object,
                                          struct job_error *reterr);

/* The fields that differ from the defaults. NULL: out of memory. */
json_t *fields_encode_json(const struct field *fields, const void *object);

/* Makes a job that has a URL or a program a JOB_HTTP or a JOB_FUNCTION. */
void job_settle_kind(struct job *job);

/* Sets a missing time zone: that of the first schedule, else the default; UTC with `after`. */
MUST_CHECK enum status settle_zone(struct decoder *d);

#endif
