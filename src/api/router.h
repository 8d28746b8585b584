/* Finds the route of a request, and decodes path and query. Pure: no HTTP library, no JSON. */
#ifndef PEAL_ROUTER_H
#define PEAL_ROUTER_H

#include <stdbool.h>
#include <stddef.h>

#include "auth/principal.h"
#include "head.h"
#include "strbuf.h"

struct call;

/* "*": the body is required, and may be any JSON. */
#define ANY_BODY "*"

enum route_flag {
    ROUTE_EARLY = 1 << 0,  /* served also while the jobs are being loaded */
    ROUTE_LARGE = 1 << 1,  /* its body may be a whole batch: its handler reads the text */
    ROUTE_STREAM = 1 << 2, /* its answer is a stream of events */
    ROUTE_TEXT = 1 << 3,   /* its answer is not JSON */
    ROUTE_PAGE = 1 << 4,   /* a file of the console, not part of the API */
    ROUTE_FORM = 1 << 5,   /* its body is a form (application/x-www-form-urlencoded) */
    ROUTE_DKRON = 1 << 6,  /* of a facade, which may be disabled; likewise: */
    ROUTE_TUTORIAL = 1 << 7,
    ROUTE_FACADES = ROUTE_DKRON | ROUTE_TUTORIAL,
    ROUTE_HOOK = 1 << 10, /* its body is any bytes, and signed */
    /* Where the right is needed; without one of these flags: everywhere. */
    ROUTE_JOB = 1 << 8,    /* on the job in its path */
    ROUTE_SCOPED = 1 << 9, /* in any namespace: its handler hides the others */
};

/* The right is a mandatory column, so that no route can lack it. */
struct route {
    enum http_method method; /* GET also serves HEAD */
    const char *pattern; /* the whole path; {name} or {id} stands for one segment; two at most */
    enum right right;
    unsigned flags;     /* of enum route_flag */
    const char *params; /* known parameters of the query, separated by spaces */
    const char *fields; /* known fields of the body, likewise; or ANY_BODY */
    void (*handle)(struct call *call);
    const char *summary; /* for the description of the API */
};

enum route_result {
    ROUTE_FOUND,
    ROUTE_NO_PATH,   /* 404 */
    ROUTE_NO_METHOD, /* 405: *ret_methods are the allowed ones */
    ROUTE_BAD_PATH,  /* an argument is not percent-encoded UTF-8 text */
    ROUTE_NOMEM,
};

enum { ROUTE_ARGUMENTS = 2 };

/* Routes with a flag of `hidden` are ignored. `path` is as it came, not decoded: a segment may hold
 * %2F. FOUND: ret_arguments are the decoded segments (the caller's); NULL beyond the last. */
enum route_result router_find(const struct route *routes, size_t count, unsigned hidden,
                              const char *path, unsigned method, const struct route **ret,
                              char *ret_arguments[ROUTE_ARGUMENTS], unsigned *ret_methods);

/* The size limit of the body: that of a batch, of a definition or of a few fields. */
size_t route_body_max(const struct route *route);

/* Splits a request's target. Only "/path?query" is served: targets with two leading slashes or a
 * host are read differently by different servers, and refused: false. *ret_path is the caller's,
 * *ret_query is inside it or NULL. */
bool target_split(const char *target, char **ret_path, const char **ret_query);

/* "GET, HEAD, PUT" */
void router_print_methods(unsigned methods, struct strbuf *out);

/* Is `word` in the space-separated `list`? */
bool word_in_list(const char *list, const char *word);

/* ---- the query ---- */

struct query_param {
    char *name, *value;
};

struct query {
    struct query_param *items;
    size_t count;
};

enum query_mistake { QUERY_NOT_TEXT, QUERY_UNKNOWN, QUERY_TWICE };

struct query_error {
    enum query_mistake mistake;
    char name[64]; /* of the parameter */
};

/* `text` is the part after the '?', or NULL. E_INVALID: a parameter that is not in `known`, or
 * given twice, or not percent-encoded text; *reterr says which. */
MUST_CHECK enum status query_parse(const char *text, const char *known, struct query *ret,
                                   struct query_error *reterr);
void query_release(struct query *query);

/* NULL: not given. */
const char *query_get(const struct query *query, const char *name);

#endif
