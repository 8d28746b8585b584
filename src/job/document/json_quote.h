/* Texts as JSON strings, straight into a buffer. */
#ifndef PEAL_JSON_QUOTE_H
#define PEAL_JSON_QUOTE_H

#include "strbuf.h"

/* Appends the text in quotes, with escapes as jansson writes them. False: it is not UTF-8, and
 * nothing was appended. */
MUST_CHECK bool json_quote(struct strbuf *out, const char *text);

#endif
