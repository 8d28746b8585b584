/* A pattern as `grep -E` takes them, that is looked for in the lines of a text. The time of a
 * search grows with the length of the text alone, whatever the pattern: there is no going back.
 *
 *     . [a-z] [^,] [[:digit:]] \d \w \s   a byte; `.` and [^...] are no line break
 *     ^ $                                 the beginning and the end of a line
 *     ab  a|b  (a)  a* a+ a? a{2,4}       as everywhere
 *     \. \t                               a character of its own, a tab
 */
#ifndef PEAL_PATTERN_H
#define PEAL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* Bytes and anchors of a pattern, with those that a repetition repeats. */
enum { PATTERN_POSITIONS = 255 };

struct pattern;

/* E_INVALID: *reterr says where and why, also of one that is too large, and of one that is found in
 * every text. */
MUST_CHECK enum status pattern_parse(const char *text, struct pattern **ret,
                                     struct parse_error *reterr);
struct pattern *pattern_free(struct pattern *pattern); /* accepts NULL */

/* A search in one text, which comes in pieces. */
struct pattern_search {
    const struct pattern *pattern;
    uint64_t active[4]; /* positions that the line has come to */
    bool is_in_line, is_return;
    bool is_found; /* in one of the lines so far */
};
void pattern_search_init(struct pattern_search *search, const struct pattern *pattern);

/* Returns is_found, at the first line that has it: the rest of the bytes is not looked at then. */
bool pattern_search_feed(struct pattern_search *search, const char *bytes, size_t length);

/* The text, or a piece of it behind which something is missing, is over: so is its line. */
bool pattern_search_break(struct pattern_search *search);

#endif
