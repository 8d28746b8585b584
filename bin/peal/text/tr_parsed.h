/* The messages of the parsers, as in struct parse_error, and of an agent that does not start, in
 * the language of the command. */
#ifndef PEAL_TR_PARSED_H
#define PEAL_TR_PARSED_H

#include <stddef.h>

#include "strbuf.h"

/* Replaces an English message by its translation; it stays as it is where there is none, or where
 * the translation does not fit. */
void tr_parsed(char *message, size_t size);

/* Appends the translation of a message of any length, or the message itself. */
void tr_parsed_text(const char *message, struct strbuf *out);

#endif
