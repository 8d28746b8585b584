/* Searches for a command like execvp, but in the job's own PATH. */
#ifndef PEAL_SPAWNER_SEARCH_H
#define PEAL_SPAWNER_SEARCH_H

#include <limits.h>
#include <stdbool.h>

struct search {
    const char *name;
    const char *at; /* the rest of PATH; NULL: at its end */
    char file[PATH_MAX];
};

/* `name` has no slash. Allocates nothing: it is used on the way to an exec. */
void search_begin(struct search *search, const char *name, char *const *env);

/* True: ->file is the next one to try. */
bool search_next(struct search *search);

#endif
