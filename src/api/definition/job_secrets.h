/* Secrets in a job's definition: the fields that the table marks as secret; of pairs, the values
 * with names like PASSWORD. A client without the right to define the job sees asterisks instead,
 * and sends asterisks back to keep the stored value. Pure. */
#ifndef PEAL_JOB_SECRETS_H
#define PEAL_JOB_SECRETS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "status.h"

#define SECRET_MASK "********"

/* How a definition is shown: masked by default; call_secrets decides by the client's rights. */
enum secrets { SECRETS_MASKED, SECRETS_CLEAR };

struct field;
struct json_member;
struct node;
struct strbuf;
struct job_error;

/* Appends the value of one member of a definition as JSON; `field` NULL: an unknown field. */
void secrets_write(struct strbuf *out, const struct field *field, const struct json_member *member,
                   enum secrets secrets);

/* Has the definition (a map) asterisks for a secret? */
bool secrets_are_masked(const struct node *definition);

/* Replaces asterisks in `definition` by the values of the stored definition `stored` (NULL: none).
 * E_INVALID: no stored value for asterisks; *reterr says where. E_NOMEM. */
MUST_CHECK enum status secrets_restore(json_t *definition, const char *stored,
                                       struct job_error *reterr);

#endif
