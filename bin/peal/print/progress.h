/* How far a long command is: one line on stderr, drawn over and over, and erased at the end. Only
 * on a terminal, and only if it takes longer than a moment. */
#ifndef PEAL_PROGRESS_H
#define PEAL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    const char *what; /* "checked" */
    size_t done, total;
    int64_t next_ms; /* when the line may be drawn again */
    bool is_on, is_drawn;
};

/* `total` 0: not known. */
void progress_begin(struct progress *progress, const char *what, size_t total);
void progress_step(struct progress *progress, size_t count);
void progress_end(struct progress *progress);

/* The line for a terminal of so many columns, without its end; `text` has room for 256 bytes. */
void progress_format(const struct progress *progress, int columns, char text[256]);

#endif
