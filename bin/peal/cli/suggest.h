/* "Did you mean ...?": the nearest of the names that are offered, if any is near. One that begins
 * with what was typed is. */
#ifndef PEAL_SUGGEST_H
#define PEAL_SUGGEST_H

#include <stddef.h>

struct suggestion {
    const char *name; /* the nearest so far, or NULL: nothing is near */
    const char *word;
    size_t length;
    size_t distance;
};

/* For what was typed; `word` need not be terminated, and must outlive the search. */
struct suggestion suggest_start(const char *word, size_t length);
void suggest_offer(struct suggestion *suggestion, const char *name);

#endif
