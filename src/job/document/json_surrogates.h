/* JSON writes a character beyond U+FFFF as two escapes (\ud83d\ude00), which YAML does not know. */
#ifndef PEAL_JSON_SURROGATES_H
#define PEAL_JSON_SURROGATES_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

/* Is it JSON (a text that starts with a brace or a bracket) with a surrogate pair? */
bool json_has_surrogates(const char *text, size_t length);

/* Appends the text with every pair as one escape of YAML. Columns after a pair shift. */
void json_join_surrogates(const char *text, size_t length, struct strbuf *out);

#endif
