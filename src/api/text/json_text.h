/* Reads JSON text without building a tree: the stored definitions of a page of jobs are copied as
 * text. For valid JSON; other input gives nonsense, but is never read beyond its end. */
#ifndef PEAL_JSON_TEXT_H
#define PEAL_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

struct json_span {
    const char *text; /* a string includes its quotes */
    size_t length;
};

struct json_member {
    struct json_span name, value;
};

/* Walks the members of an object: *at is first its text. False: the end. */
bool json_text_next(const char **at, struct json_member *ret);

/* Walks the items of an array likewise. */
bool json_text_item(const char **at, struct json_span *ret);

/* The value of a member; false: no such member. */
bool json_text_get(const char *object, const char *name, struct json_span *ret);

/* A whole number; anything else is 0. */
int64_t json_text_number(const struct json_span *value);

/* Appends a JSON string; invalid UTF-8 is replaced. */
void json_text_quote(struct strbuf *out, const char *text);

#endif
