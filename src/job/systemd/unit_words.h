/* Words in the value of a unit file: quotes, escapes and specifiers (systemd.syntax(7),
 * systemd.unit(5)). Pure. */
#ifndef PEAL_UNIT_WORDS_H
#define PEAL_UNIT_WORDS_H

#include <stdbool.h>

#include "status.h"
#include "strbuf.h"

/* What specifiers stand for. */
struct unit_names {
    const char *unit; /* "sync@home.service" */
    bool is_user;     /* of a user's manager, whose folders are not known here */
};

/* Appends the next word of *inout_at to *word, which is empty, and moves *inout_at behind it.
 * *ret_any is false at the end. E_INVALID: *reterr has the column in `text`, of which *inout_at is
 * a part. */
MUST_CHECK enum status unit_word(const char *text, const char **inout_at,
                                 const struct unit_names *names, struct strbuf *word, bool *ret_any,
                                 struct parse_error *reterr);

/* Appends a text with its specifiers replaced: %% is a percent sign. E_INVALID: *reterr names the
 * first that can't be. */
MUST_CHECK enum status unit_specifiers(const char *text, const struct unit_names *names,
                                       struct strbuf *out, struct parse_error *reterr);

#endif
