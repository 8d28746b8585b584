/* The title and the text of a channel's messages as its admin wants them: "${job}: ${state}". There
 * is nothing but fields, so that a template can neither fail nor run long. Pure. */
#ifndef PEAL_TEMPLATE_H
#define PEAL_TEMPLATE_H

#include "notice_text.h"

enum { TEMPLATE_TITLE_MAX = 500, TEMPLATE_TEXT_MAX = 4096 }; /* bytes */

/* False: *why says what is wrong, with the nearest field. */
bool template_check(const char *template, struct strbuf *why);

/* Fills in the fields; one that the notice has no value for is empty. `$$` is `$`. */
void template_fill(const char *template, const struct notice *notice, enum language language,
                   const struct notice_world *world, struct strbuf *out);

#endif
