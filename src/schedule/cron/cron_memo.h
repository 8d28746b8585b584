/* Cron expressions that were parsed before, by their texts: of a hundred thousand jobs most are due
 * at one of a few hundred times of the day, and each is read several times on its way from a file
 * to the catalog. What is kept is bounded; a text takes the place of one that was there before. */
#ifndef PEAL_CRON_MEMO_H
#define PEAL_CRON_MEMO_H

#include "cron/cron_expr.h"

struct cron_memo;

/* NULL: out of memory. */
struct cron_memo *cron_memo_new(void);
struct cron_memo *cron_memo_free(struct cron_memo *memo);

/* As cron_expr_parse, by the profile CRON_PEAL. `memo` may be NULL. */
MUST_CHECK enum status cron_memo_parse(struct cron_memo *memo, struct cron_expr *ret,
                                       const char *text, const struct cron_seed *seed,
                                       struct parse_error *reterr);

#endif
