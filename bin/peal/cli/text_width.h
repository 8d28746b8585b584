/* UTF-8 on a terminal: the width of a text in columns, and a safe form of it. Independent of the
 * locale, so that tables line up everywhere. */
#ifndef PEAL_TEXT_WIDTH_H
#define PEAL_TEXT_WIDTH_H

#include <stddef.h>
#include <stdint.h>

#include "strbuf.h"

/* Columns: 2 for wide East Asian characters and emoji, 0 for combining ones. */
int text_width(const char *text);
int text_width_of(const char *text, size_t length); /* of its first bytes */

/* Bytes of the piece that `text` begins with, which must not be broken: up to a blank, a line end,
 * or between two characters where East Asian text may be broken. */
size_t text_piece(const char *text);

/* Bytes of the longest start of `text` that fits into `columns`. */
size_t text_fit(const char *text, int columns);

/* Decodes the character at `text`, of which `length` > 0 bytes may be read; *ret_bytes is its
 * length. NOT_UTF8, with length 1: invalid. */
enum { NOT_UTF8 = -1 };
int32_t text_decode(const char *text, size_t length, size_t *ret_bytes);

/* Appends the text with control characters as a space (tab, line end) or '?', and bytes that are
 * not UTF-8 as U+FFFD. */
void text_print_safe(const char *text, size_t length, struct strbuf *out);

#endif
