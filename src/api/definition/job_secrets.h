/* What of a job's definition is secret: the fields that are marked so in the table, of pairs the
 * values whose names say so. Whoever may not define the job sees asterisks in their place, and
 * sends them back for what is to stay as it is. Pure. */
#ifndef PEAL_JOB_SECRETS_H
#define PEAL_JOB_SECRETS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "status.h"

#define SECRET_MASK "********"

/* How a definition is written out. Masked unless somebody says otherwise: call_secrets does. */
enum secrets { SECRETS_MASKED, SECRETS_CLEAR };

struct field;
struct json_member;
struct strbuf;
struct job_error;

/* Writes the value of one member of a definition, given by its JSON text; `field` NULL: no field of
 * a job has this name. */
void secrets_write(struct strbuf *out, const struct field *field, const struct json_member *member,
                   enum secrets secrets);

/* Asterisks in `definition` become what `stored`, a definition as the store has it, or NULL, has in
 * their place; *ret is a copy with them, or the same one if there are none. E_INVALID: there is
 * nothing that they could stand for, and *reterr says where. E_NOMEM. */
MUST_CHECK enum status secrets_restore(const json_t *definition, const char *stored, json_t **ret,
                                       struct job_error *reterr);

#endif
