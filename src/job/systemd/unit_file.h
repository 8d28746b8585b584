/* Unit files of systemd as lines with their places (systemd.syntax(7)). A unit may come in several
 * files, its drop-ins, and one text may hold several files, as `systemctl cat` prints them. */
#ifndef PEAL_UNIT_FILE_H
#define PEAL_UNIT_FILE_H

#include "document/node.h"
#include "table.h"

/* NAME=value. `at` is the place of the value; its node has no text. */
struct unit_line {
    const char *file; /* the path as it was given */
    struct node at;
    char *section, *name, *value;
};

struct unit {
    char *name; /* "backup.timer" */
    struct unit_line *lines;
    size_t count;
};

struct unit_set {
    struct unit **units; /* in the order of their first file */
    size_t count;
    struct table names;
};
void unit_set_init(struct unit_set *set);
void unit_set_release(struct unit_set *set);

/* A line that is none: the reader goes on behind it. */
typedef enum status unit_refused(void *context, const char *file, int line, const char *why);

/* Adds the lines of a file, whose path says which unit it is: DIR/backup.timer, or
 * DIR/backup.timer.d/NAME.conf. In a text with another name each line "# DIR/backup.timer" begins
 * the next file, as from `systemctl cat`; *ret_any is false if it has none. The path must outlive
 * the set. */
MUST_CHECK enum status unit_set_read(struct unit_set *set, const char *path, const char *text,
                                     size_t length, unit_refused *refused, void *context,
                                     bool *ret_any);

/* NULL: there is none. */
const struct unit *unit_find(const struct unit_set *set, const char *name);

/* The last value of a name that is not a list; NULL: it has none, or an empty one. */
const struct unit_line *unit_get(const struct unit *unit, const char *section, const char *name);

/* Walks the lines of a name that may be given several times: start with *at = 0. An empty value
 * drops those before it. NULL at the end. */
const struct unit_line *unit_next(const struct unit *unit, const char *section, const char *name,
                                  size_t *at);

/* yes, true, on, 1. */
bool unit_is_true(const struct unit_line *line);

#endif
