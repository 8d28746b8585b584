/* Which nodes may run a job, by their labels: "zone=eu,disk=ssd,!gpu,arch!=arm". A comma is "and";
 * each term is one of
 *     key=value     the label has this value
 *     key!=value    it has another one, or is not there
 *     key           it is there, whatever its value
 *     !key          it is not there
 * Blanks around terms don't count. Kept as its text, since most jobs have none. */
#ifndef PEAL_SELECTOR_H
#define PEAL_SELECTOR_H

#include <stdbool.h>

#include "status.h"

/* E_INVALID: *reterr says where and why. */
MUST_CHECK enum status selector_check(const char *text, struct parse_error *reterr);

/* Do these labels ("disk=ssd,zone=eu", as in struct peer) meet it? The text is a good one. */
bool selector_matches(const char *text, const char *labels);

#endif
