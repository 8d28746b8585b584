/* What to do about a mistake, in the language of who made it. The parsers say it in English, as a
 * part of their messages (message_hint). Pure. */
#ifndef PEAL_HINT_H
#define PEAL_HINT_H

#include "strbuf.h"
#include "words/explain.h" /* enum language */

/* Appends the hint, or as it is where there is no translation. */
void hint_print(enum language language, const char *hint, struct strbuf *out);

#endif
