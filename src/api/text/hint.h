/* Translates the hints of error messages. The parsers write them in English, as a part of their
 * messages (message_hint). Pure. */
#ifndef PEAL_HINT_H
#define PEAL_HINT_H

#include "language.h"
#include "strbuf.h"

/* Appends the translated hint, or the original where there is no translation. */
void hint_print(enum language language, const char *hint, struct strbuf *out);

#endif
