/* On which nodes a job runs.
 *
 * Which ones may run it, by their labels: "zone=eu,disk=ssd,!gpu,arch!=arm". A comma is "and";
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

/* On how many of those a tick of the job runs, as the field `spread` says:
 *     one          on one of them
 *     all          one run on each node that is there at the tick
 *     3            one run on each of three nodes, or on all if there are fewer
 *     shards 8     eight runs, each with its number, on any of the nodes */
enum spread_kind {
    SPREAD_ONE,
    SPREAD_ALL,
    SPREAD_NODES,
    SPREAD_SHARDS,
};

struct spread {
    enum spread_kind kind;
    int count; /* of NODES and SHARDS */
};

/* What is wrong with the text; NULL: nothing. */
const char *spread_complaint(const char *text);

/* NULL: SPREAD_ONE. */
struct spread spread_read(const char *text);

#endif
