/* Filters a job's output for a terminal, against terminal injection. Text, tabs, line ends and
 * colours pass; other control characters are shown as ^G or <U+009B>, and invalid UTF-8 as <9b>.
 * Input comes in pieces that may end anywhere. */
#ifndef PEAL_OUTPUT_TEXT_H
#define PEAL_OUTPUT_TEXT_H

#include <stddef.h>

#include "strbuf.h"

enum { OUTPUT_HELD_MAX = 40 };

struct output_text {
    char held[OUTPUT_HELD_MAX]; /* an incomplete character or colour sequence */
    size_t length;
};

/* Appends the filtered text, except for an incomplete end. */
void output_text_add(struct output_text *text, const char *bytes, size_t length,
                     struct strbuf *out);

/* The end of the input: appends the rest. */
void output_text_end(struct output_text *text, struct strbuf *out);

#endif
