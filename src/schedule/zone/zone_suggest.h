/* Suggestions for an unknown time zone name. Reads the whole directory. */
#ifndef PEAL_ZONE_SUGGEST_H
#define PEAL_ZONE_SUGGEST_H

#include <stdbool.h>

enum {
    ZONE_SUGGESTIONS_MAX = 3,
    ZONE_SUGGESTION_SIZE = 64, /* no name in the database is near this length */
};

struct zone_suggestions {
    bool any_zone; /* is there any zone at all in the directory? */
    int count;
    char names[ZONE_SUGGESTIONS_MAX][ZONE_SUGGESTION_SIZE]; /* the nearest first */
};

/* Names that differ in case or spaces only; if there are none, those with the same last part
 * ("New_York"); if there are none, those with a few letters changed. */
struct zone_suggestions zone_suggest(const char *dir, const char *wanted);

#endif
