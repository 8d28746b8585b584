/* The comparison of two definitions, field by field. Pure. */
#ifndef PEAL_DEFINITION_CHANGES_H
#define PEAL_DEFINITION_CHANGES_H

#include <jansson.h>

/* [{"pointer", "before", "after"}], with null for a missing value; NULL: out of memory. */
json_t *definition_changes(const json_t *from, const json_t *to);

/* The same, with the values of the `shown` definitions, whose secrets are masked: a secret that
 * changes is there, and its values are not. */
json_t *definition_changes_shown(const json_t *from, const json_t *shown_from, const json_t *to,
                                 const json_t *shown_to);

#endif
