/* "Did you mean ...?": the nearest of the offered names, if any is near. A name that begins with
 * the typed word is near. */
#ifndef PEAL_SUGGEST_H
#define PEAL_SUGGEST_H

#include <stddef.h>

struct suggestion {
    const char *name; /* the nearest so far; NULL: none */
    const char *word;
    size_t length;
    size_t distance;
};

/* `word` is the typed word; it need not be terminated, and must outlive the search. */
struct suggestion suggest_start(const char *word, size_t length);
void suggest_offer(struct suggestion *suggestion, const char *name);

#endif
