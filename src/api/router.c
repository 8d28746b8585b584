#include "router.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "document/utf8.h"
#include "params/run_body.h"

/* ---- text ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes percent-encoding; in a query '+' is a space, too. E_INVALID: no text. */
static enum status decode(const char *text, size_t length, bool is_query, char **ret)
{
    char *out = malloc(length + 1);
    size_t used = 0;
    if (!out)
        return E_NOMEM;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < length ? hex_digit(text[i + 1]) : -1;
            int low = i + 2 < length ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                goto invalid;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && is_query) {
            c = ' ';
        }
        out[used++] = c;
    }
    out[used] = '\0';
    if (utf8_check(out, used, NULL) != OK)
        goto invalid;
    *ret = out;
    return OK;
invalid:
    free(out);
    return E_INVALID;
}

bool word_in_list(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (*list) {
        size_t size = strcspn(list, " ");
        if (size == length && strncmp(list, word, size) == 0)
            return true;
        list += size;
        list += strspn(list, " ");
    }
    return false;
}

/* ---- the path ---- */

/* A segment as it came, not decoded. */
struct segment {
    const char *text;
    size_t length;
};

/* Segment by segment. `arguments` are those that stand for {...}. */
static bool matches(const char *pattern, const char *path,
                    struct segment arguments[ROUTE_ARGUMENTS])
{
    size_t found = 0;
    memset(arguments, 0, ROUTE_ARGUMENTS * sizeof(*arguments));
    while (*pattern == '/' && *path == '/') {
        pattern++;
        path++;
        size_t wanted = strcspn(pattern, "/"), given = strcspn(path, "/");
        if (*pattern == '{') {
            if (!given || found == ROUTE_ARGUMENTS)
                return false;
            arguments[found++] = (struct segment){path, given};
        } else if (wanted != given || strncmp(pattern, path, given) != 0) {
            return false;
        }
        pattern += wanted;
        path += given;
    }
    return !*pattern && !*path;
}

static enum route_result take_arguments(const struct segment raw[ROUTE_ARGUMENTS],
                                        char *ret[ROUTE_ARGUMENTS])
{
    char *decoded[ROUTE_ARGUMENTS] = {NULL};
    enum status st = OK;
    for (size_t i = 0; i < ROUTE_ARGUMENTS && raw[i].text && st == OK; i++)
        st = decode(raw[i].text, raw[i].length, false, &decoded[i]);
    for (size_t i = 0; i < ROUTE_ARGUMENTS; i++) {
        if (st == OK)
            ret[i] = decoded[i];
        else
            free(decoded[i]);
    }
    return st == OK ? ROUTE_FOUND : st == E_NOMEM ? ROUTE_NOMEM : ROUTE_BAD_PATH;
}

enum route_result router_find(const struct route *routes, size_t count, unsigned hidden,
                              const char *path, unsigned method, const struct route **ret,
                              char *ret_arguments[ROUTE_ARGUMENTS], unsigned *ret_methods)
{
    unsigned methods = 0;
    for (size_t i = 0; i < count; i++) {
        struct segment raw[ROUTE_ARGUMENTS];
        if (routes[i].flags & hidden || !matches(routes[i].pattern, path, raw))
            continue;
        methods |= routes[i].method;
        if (routes[i].method != method)
            continue;
        *ret = &routes[i];
        return take_arguments(raw, ret_arguments);
    }
    if (!methods)
        return ROUTE_NO_PATH;
    *ret_methods = methods;
    return ROUTE_NO_METHOD;
}

/* Parsing a megabyte of JSON takes a while: unauthenticated callers get a smaller limit. */
size_t route_body_max(const struct route *route)
{
    enum { SMALL = 16 << 10, DEFINITION = 1 << 20, BATCH = 12 << 20 };
    if (route->flags & ROUTE_HOOK)
        return RUN_BODY_MAX;
    if (route->right == RIGHT_PUBLIC || !*route->fields)
        return SMALL;
    return route->flags & ROUTE_LARGE ? BATCH : DEFINITION;
}

bool target_split(const char *target, char **ret_path, const char **ret_query)
{
    if (target[0] != '/' || target[1] == '/')
        return false;
    char *path = strdup(target);
    if (!path)
        return false;
    char *query = strchr(path, '?');
    if (query)
        *query++ = '\0';
    *ret_path = path;
    *ret_query = query;
    return true;
}

void router_print_methods(unsigned methods, struct strbuf *out)
{
    static const struct {
        unsigned method;
        const char *words;
    } names[] = {
        {HTTP_GET, "GET, HEAD"}, {HTTP_PUT, "PUT"},       {HTTP_PATCH, "PATCH"},
        {HTTP_POST, "POST"},     {HTTP_DELETE, "DELETE"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (methods & names[i].method)
            strbuf_addf(out, "%s%s", out->length ? ", " : "", names[i].words);
    }
}

/* ---- the query ---- */

static enum status mistaken(struct query_error *reterr, enum query_mistake mistake,
                            const char *name)
{
    reterr->mistake = mistake;
    snprintf(reterr->name, sizeof(reterr->name), "%.60s", name);
    return E_INVALID;
}

static enum status check(const struct query *query, const struct query_param *param,
                         const char *known, struct query_error *reterr)
{
    if (!word_in_list(known, param->name))
        return mistaken(reterr, QUERY_UNKNOWN, param->name);
    return query_get(query, param->name) ? mistaken(reterr, QUERY_TWICE, param->name) : OK;
}

/* Adds one name=value, if it is valid. */
static enum status add_param(struct query *query, const char *text, size_t length,
                             const char *known, struct query_error *reterr)
{
    const char *equals = memchr(text, '=', length);
    size_t name_length = equals ? (size_t)(equals - text) : length;
    const char *value = equals ? equals + 1 : text + length;
    struct query_param param = {0};
    enum status st = decode(text, name_length, true, &param.name);
    if (st == OK)
        st = decode(value, (size_t)(text + length - value), true, &param.value);
    if (st == E_INVALID)
        mistaken(reterr, QUERY_NOT_TEXT, "");
    if (st == OK)
        st = check(query, &param, known, reterr);
    if (st == OK)
        st = array_grow(&query->items, query->count, sizeof(*query->items));
    if (st == OK) {
        query->items[query->count++] = param;
        return OK;
    }
    free(param.name);
    free(param.value);
    return st;
}

enum status query_parse(const char *text, const char *known, struct query *ret,
                        struct query_error *reterr)
{
    struct query query = {0};
    while (text && *text) {
        size_t length = strcspn(text, "&");
        enum status st = length ? add_param(&query, text, length, known, reterr) : OK;
        if (st != OK) {
            query_release(&query);
            return st;
        }
        text += length;
        text += *text == '&';
    }
    *ret = query;
    return OK;
}

void query_release(struct query *query)
{
    for (size_t i = 0; i < query->count; i++) {
        free(query->items[i].name);
        free(query->items[i].value);
    }
    free(query->items);
    *query = (struct query){0};
}

const char *query_get(const struct query *query, const char *name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (strcmp(query->items[i].name, name) == 0)
            return query->items[i].value;
    }
    return NULL;
}
