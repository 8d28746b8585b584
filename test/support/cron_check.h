/* What tests ask of cron expressions. */
#ifndef PEAL_CRON_CHECK_H
#define PEAL_CRON_CHECK_H

#include "cron/cron_expr.h"

/* Same matches, and same rule for the two day fields and for DST. */
bool cron_expr_equal(const struct cron_expr *a, const struct cron_expr *b);

/* Decided field by field, without a search. */
bool cron_expr_matches(const struct cron_expr *expr, int64_t local_s);

#endif
