/* Words for sh. */
#ifndef PEAL_SHELL_WORD_H
#define PEAL_SHELL_WORD_H

#include "strbuf.h"

/* Appends the word as sh reads it back, in single quotes if it has special characters. */
void shell_word(struct strbuf *out, const char *word);

#endif
