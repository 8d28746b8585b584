/* The messages of the parsers, as in struct parse_error, in the language of the command. */
#ifndef PEAL_TR_PARSED_H
#define PEAL_TR_PARSED_H

#include <stddef.h>

/* Replaces an English message by its translation; it stays as it is where there is none, or where
 * the translation does not fit. */
void tr_parsed(char *message, size_t size);

#endif
