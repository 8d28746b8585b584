/* The line of an output that most likely says why it ended: the last one of stderr, or, if nothing
 * was printed there, of stdout. Pure. */
#ifndef PEAL_LAST_LINE_H
#define PEAL_LAST_LINE_H

#include <stddef.h>

#include "history.h"

enum { LINE_SIZE = 320 };

/* Without escape sequences (colours), other control characters and the spaces around it; UTF-8,
 * cut to LINE_SIZE. Empty: there is no line with a letter in these chunks. */
void last_line(const struct output_chunk *chunks, size_t count, char ret[LINE_SIZE]);

#endif
