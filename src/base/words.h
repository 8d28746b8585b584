/* The words of an enum whose numbers are kept in stores, files and histories or come from other
 * nodes. A newer peal may have more of them than this one: such a number is kept, shown as
 * "reason-1000", and written back as it was. It is never an index. */
#ifndef PEAL_WORDS_H
#define PEAL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum {
    WORD_NUMBERS = 4096,         /* no enum of any version has as many: what is beyond is damage */
    WORD_DAMAGED = WORD_NUMBERS, /* stands for those where the rest is shown all the same */
};

struct words {
    const char *kind;         /* "reason": what a number without a word is shown as */
    const char *const *names; /* by number */
    size_t count;
};

/* Can be the number of a word, of this version or of a newer one. */
static inline bool word_can_be(int64_t number)
{
    return number >= 0 && number < WORD_NUMBERS;
}

/* The number, or WORD_DAMAGED. */
static inline int word_or_damaged(int64_t number)
{
    return word_can_be(number) ? (int)number : WORD_DAMAGED;
}

/* Never NULL. A number without a word is "reason-1000", or "reason-?" if it can be none; that text
 * is the thread's, and good until it has asked for some more of these. */
const char *words_name(const struct words *words, unsigned number);

/* Only what this version has a word for. E_NOT_FOUND. */
MUST_CHECK enum status words_find(const struct words *words, const char *name, unsigned *ret);

/* Also "reason-1000", as words_name shows it. E_NOT_FOUND. */
MUST_CHECK enum status words_read(const struct words *words, const char *name, unsigned *ret);

#endif
