/* JSON text, looked at without parsing it: the stored definitions of a page of jobs are shown as
 * they are. For text that is known to be JSON; any other gives nonsense, but is never left. */
#ifndef PEAL_JSON_TEXT_H
#define PEAL_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

struct json_span {
    const char *text; /* of a string: with its quotes */
    size_t length;
};

struct json_member {
    struct json_span name, value;
};

/* The members of an object one after another: *at is its text first. False: there are no more. */
bool json_text_next(const char **at, struct json_member *ret);

/* The value of one member; false: there is none of this name. */
bool json_text_get(const char *object, const char *name, struct json_span *ret);

bool json_text_is_name(const struct json_member *member, const char *name);

/* A whole number; anything else is 0. */
int64_t json_text_number(const struct json_span *value);

/* Adds a text as a JSON string; what is not UTF-8 is replaced. */
void json_text_quote(struct strbuf *out, const char *text);

#endif
