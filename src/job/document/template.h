/* Texts with variables: ${NAME} stands for a value, $${ for a plain ${. A value is inserted as it
 * is and never read again, so that it can't bring variables of its own. */
#ifndef PEAL_TEMPLATE_H
#define PEAL_TEMPLATE_H

#include "strbuf.h"

enum template_use {
    TEMPLATE_TEXT, /* values as they are */
    TEMPLATE_URL,  /* values percent-encoded, except for one that is the whole text */
};

/* The value of a variable, which need not end at `name`; NULL: there is none of that name. */
typedef const char *template_lookup(void *context, const char *name, size_t length);

/* Appends the text with its values to `out` (NULL: only checks it). E_INVALID: *reterr says which
 * variable is not known, or what is no variable, and at which column. */
MUST_CHECK enum status template_expand(const char *text, enum template_use use,
                                       template_lookup *lookup, void *context, struct strbuf *out,
                                       struct parse_error *reterr);

#endif
