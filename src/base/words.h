/* The names of an enum whose numbers are kept in stores, files and histories or come from other
 * nodes. A newer peal may have more values than this one: an unknown number is kept, shown as
 * "reason-1000", and written back unchanged. It is never used as an index. */
#ifndef PEAL_WORDS_H
#define PEAL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum {
    WORD_NUMBERS = 4096, /* no enum of any version has as many: a larger number is damaged data */
    WORD_DAMAGED =
        WORD_NUMBERS, /* stands for a damaged number where the rest of the record is still shown */
};

struct word_table {
    const char *kind;         /* "reason": prefix of a number without a name */
    const char *const *names; /* by number */
    size_t count;
};

/* Can the number be a value of the enum, in this version or a newer one? */
static inline bool word_can_be(int64_t number)
{
    return number >= 0 && number < WORD_NUMBERS;
}

/* The number, or WORD_DAMAGED. */
static inline int word_or_damaged(int64_t number)
{
    return word_can_be(number) ? (int)number : WORD_DAMAGED;
}

/* Never NULL. A number without a name is "reason-1000", or "reason-?" if it is damaged; these texts
 * are in a small ring of buffers of the thread, and valid until it is reused. */
const char *words_name(const struct word_table *words, unsigned number);

/* Only names that this version knows. E_NOT_FOUND. */
MUST_CHECK enum status words_find(const struct word_table *words, const char *name, unsigned *ret);

/* Also unknown numbers as words_name shows them, "reason-1000". E_NOT_FOUND. */
MUST_CHECK enum status words_read(const struct word_table *words, const char *name, unsigned *ret);

#endif
