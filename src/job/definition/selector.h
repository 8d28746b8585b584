/* Which nodes may run a job, by their labels: "zone=eu,disk=ssd,!gpu,arch!=arm". A comma is "and";
 * each term is one of
 *     key=value     the label has this value
 *     key!=value    the label has another value, or is missing
 *     key           the label exists, with any value
 *     !key          the label is missing
 * Blanks around terms are ignored. Stored as text, since most jobs have no selector. */
#ifndef PEAL_SELECTOR_H
#define PEAL_SELECTOR_H

#include <stdbool.h>

#include "status.h"

/* E_INVALID: *reterr says where and why. */
MUST_CHECK enum status selector_check(const char *text, struct parse_error *reterr);

/* Do the labels ("disk=ssd,zone=eu", as in struct peer) match the selector, which is valid? */
bool selector_matches(const char *text, const char *labels);

#endif
