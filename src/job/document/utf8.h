/* UTF-8 decoding, and the check that a file is text. */
#ifndef PEAL_UTF8_H
#define PEAL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* Bytes of the character at `text`, 1 to 4; 1 for an invalid byte. `length` is at least 1. */
size_t utf8_length(const char *text, size_t length);

/* Characters in the text. */
size_t utf8_count(const char *text, size_t length);

/* Decodes the character at `text`: its code point and length. False: not a character. */
bool utf8_decode(const char *text, size_t length, uint32_t *ret, size_t *ret_length);

/* Is the character allowed in a text file: no control character but tab and line ends? */
bool utf8_is_printable(uint32_t c);

/* E_INVALID with line and column at the first byte that is not text. */
MUST_CHECK enum status utf8_check(const char *text, size_t length, struct parse_error *reterr);

#endif
