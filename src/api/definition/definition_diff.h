/* Definitions as they were: shown, and compared. */
#ifndef PEAL_DEFINITION_DIFF_H
#define PEAL_DEFINITION_DIFF_H

#include "call.h"
#include "definition/job_secrets.h"

/* A definition that the store or the trail has, as JSON, without what peal keeps in it. JSON null
 * if it can't be read; NULL: out of memory. */
json_t *show_definition(const char *stored, enum secrets secrets);

/* [{"pointer", "before", "after"}], null for what is not there; NULL: out of memory. */
json_t *definition_changes(const json_t *from, const json_t *to);

/* A unified diff of their YAML; JSON null if one of them can't be read by this version, or is too
 * long. NULL: out of memory. */
json_t *definition_text_diff(const struct call *call, const char *from_name, const json_t *from,
                             const char *to_name, const json_t *to);

#endif
