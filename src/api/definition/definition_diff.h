/* Former definitions, and the comparison of two definitions. */
#ifndef PEAL_DEFINITION_DIFF_H
#define PEAL_DEFINITION_DIFF_H

#include "call.h"
#include "definition/definition_changes.h"
#include "definition/job_secrets.h"

/* A definition of the store or the audit trail as JSON, without the fields that peal maintains.
 * JSON null if it can't be read; NULL: out of memory. */
json_t *show_definition(const char *stored, enum secrets secrets);

/* A unified diff of both definitions as YAML; JSON null if this version can't read one of them, or
 * one is too long. NULL: out of memory. */
json_t *definition_text_diff(const struct call *call, const char *from_name, const json_t *from,
                             const char *to_name, const json_t *to);

#endif
