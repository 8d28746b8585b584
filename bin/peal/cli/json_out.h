/* JSON on stdout. */
#ifndef PEAL_JSON_OUT_H
#define PEAL_JSON_OUT_H

#include <jansson.h>

#include "words/explain.h"

/* A string of any bytes: control characters stay, and what is not UTF-8, which jansson would
 * refuse, becomes U+FFFD. NULL when out of memory, which jansson's setters take for a failure. */
json_t *json_text(const char *text);

/* The warnings of a schedule: [{"id": "never", "text": "..."}]. NULL when out of memory. */
json_t *json_warnings(const struct schedule *schedule, enum language language, int64_t now_s);

/* Prints a value and a line end. `root` stays the caller's. Write errors are left to cli_finish. */
MUST_CHECK enum status json_print(const json_t *root);

#endif
