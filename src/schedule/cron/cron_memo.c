#include "cron/cron_memo.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum {
    PLACES = 1024,
    TEXT_MAX = 24, /* with its end; longer ones are rare, and parsed each time */
};

struct known {
    char text[TEXT_MAX]; /* empty: the place is free */
    struct cron_expr expr;
};

struct cron_memo {
    struct known places[PLACES]; /* by the hash of the text */
};

struct cron_memo *cron_memo_new(void)
{
    return calloc(1, sizeof(struct cron_memo));
}

struct cron_memo *cron_memo_free(struct cron_memo *memo)
{
    free(memo); /* what is known owns no memory */
    return NULL;
}

/* Where the text is kept. NULL: nowhere, since it is long, or has letters and signs by which its
 * meaning may depend on the job. */
static struct known *place_of(struct cron_memo *memo, const char *text, size_t *ret_length)
{
    size_t length = strspn(text, "0123456789 */,-");
    if (!memo || !length || length >= TEXT_MAX || text[length])
        return NULL;
    *ret_length = length;
    return &memo->places[hash_bytes(0, text, length) % PLACES];
}

/* All bytes, also those between the members: equal schedules are found by them. */
static void copy(struct cron_expr *to, const struct cron_expr *from)
{
    memcpy(to, from, sizeof(*to));
}

enum status cron_memo_parse(struct cron_memo *memo, struct cron_expr *ret, const char *text,
                            const struct cron_seed *seed, struct parse_error *reterr)
{
    size_t length = 0;
    struct known *known = place_of(memo, text, &length);
    if (known && strcmp(known->text, text) == 0) {
        copy(ret, &known->expr);
        return OK;
    }
    enum status st = cron_expr_parse(ret, text, CRON_PEAL, seed, reterr);
    if (st == OK && known && !ret->years) {
        memcpy(known->text, text, length + 1);
        copy(&known->expr, ret);
    }
    return st;
}
