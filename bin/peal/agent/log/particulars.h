/* What an event of the log has: `key=value key="a value"`. */
#ifndef PEAL_AGENT_PARTICULARS_H
#define PEAL_AGENT_PARTICULARS_H

#include <stdbool.h>
#include <stddef.h>

/* Parts of the text that was read. */
struct particular {
    const char *key; /* without a name: NULL */
    size_t key_length;
    const char *value; /* without its quotes */
    size_t value_length;
    bool is_quoted;
};

/* The next one, from *text on, which moves behind it. False: there is none. */
bool particulars_next(const char **text, struct particular *ret);

#endif
