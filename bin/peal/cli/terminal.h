/* Capabilities of the terminal of a stream. */
#ifndef PEAL_TERMINAL_H
#define PEAL_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

struct terminal {
    int columns; /* 0: no limit; the stream is not a terminal */
    bool colour; /* a terminal, not a dumb one, and NO_COLOR is unset or empty */
};

struct terminal terminal_of(FILE *stream);

#endif
