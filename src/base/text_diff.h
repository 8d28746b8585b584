/* The difference of two texts, as `diff -u` shows it. Pure. */
#ifndef PEAL_TEXT_DIFF_H
#define PEAL_TEXT_DIFF_H

#include <stdbool.h>

#include "status.h"
#include "strbuf.h"

/* Appends a unified diff with three lines of context, headed by the two names; nothing when the
 * texts are the same. E_TOO_LARGE: more than 5,000 lines. */
MUST_CHECK enum status text_diff(const char *old_name, const char *old_text, const char *new_name,
                                 const char *new_text, struct strbuf *out);

#endif
