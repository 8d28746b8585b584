/* What a job has written, for a terminal: a job must not be able to steer the terminal of whoever
 * looks at its output. Text, tabs, line ends and colours pass; other control characters are shown:
 * ^G, <U+009B>, and bytes that are no UTF-8 as <9b>. Comes in pieces that may end anywhere. */
#ifndef PEAL_OUTPUT_TEXT_H
#define PEAL_OUTPUT_TEXT_H

#include <stddef.h>

#include "strbuf.h"

enum { OUTPUT_HELD_MAX = 40 };

struct output_text {
    char held[OUTPUT_HELD_MAX]; /* the beginning of a character or a colour */
    size_t length;
};

/* Appends what can be told by now. */
void output_text_add(struct output_text *text, const char *bytes, size_t length,
                     struct strbuf *out);

/* There is no more: the rest. */
void output_text_end(struct output_text *text, struct strbuf *out);

#endif
