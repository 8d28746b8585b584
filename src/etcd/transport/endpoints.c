#include "transport/endpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum {
    REST_FIRST_MS = 50,
    REST_MAX_MS = 5000,
    ALL_REST_MS = 50, /* at most, when all endpoints rest */
};

static bool strip(const char **text, const char *scheme)
{
    size_t length = strlen(scheme);
    if (strncmp(*text, scheme, length) != 0)
        return false;
    *text += length;
    return true;
}

static int parse_port(const char *text)
{
    char *end;
    long port = strtol(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && port > 0 && port < 65536 ? (int)port
                                                                                        : 0;
}

static enum status parse_endpoint(struct endpoint *endpoint, const char *text, bool default_tls,
                                  struct parse_error *reterr)
{
    const char *rest = text;
    endpoint->use_tls = strip(&rest, "https://") || (!strip(&rest, "http://") && default_tls);
    size_t length = strlen(rest);
    while (length > 0 && rest[length - 1] == '/')
        length--;
    endpoint->name = strndup(rest, length);
    if (!endpoint->name)
        return E_NOMEM;
    const char *colon = strrchr(endpoint->name, ':');
    endpoint->port = colon ? parse_port(colon + 1) : 0;
    const char *host = endpoint->name;
    size_t host_length = colon ? (size_t)(colon - host) : 0;
    if (host_length > 2 && host[0] == '[' && host[host_length - 1] == ']') {
        host++;
        host_length -= 2;
    } else if (memchr(host, ':', host_length) || memchr(host, '/', host_length)) {
        host_length = 0;
    }
    if (!endpoint->port || host_length == 0)
        return parse_fail(reterr, 0,
                          "etcd endpoint \"%s\": expected http://HOST:PORT or https://HOST:PORT",
                          text);
    endpoint->host = strndup(host, host_length);
    return endpoint->host ? OK : E_NOMEM;
}

enum status endpoints_init(struct endpoints *endpoints, const char *const *texts, size_t count,
                           bool default_tls, uint64_t seed, struct parse_error *reterr)
{
    struct endpoints made = {.jitter = seed};
    enum status st = OK;
    if (count == 0)
        return parse_fail(reterr, 0, "no etcd endpoint is given");
    made.items = calloc(count, sizeof(*made.items));
    if (!made.items)
        return E_NOMEM;
    for (size_t i = 0; i < count && st == OK; i++) {
        made.count = i + 1;
        st = parse_endpoint(&made.items[i], texts[i], default_tls, reterr);
    }
    if (st != OK) {
        endpoints_release(&made);
        return st;
    }
    *endpoints = made;
    return OK;
}

void endpoints_release(struct endpoints *endpoints)
{
    for (size_t i = 0; i < endpoints->count; i++) {
        free(endpoints->items[i].name);
        free(endpoints->items[i].host);
    }
    free(endpoints->items);
    *endpoints = (struct endpoints){0};
}

struct endpoint *endpoints_pick(struct endpoints *endpoints, int64_t now_ms, int64_t *ret_at_ms)
{
    struct endpoint *first = &endpoints->items[0]; /* there is one at least */
    for (size_t i = 0; i < endpoints->count; i++) {
        struct endpoint *endpoint = &endpoints->items[i];
        if (endpoint->rest_until_ms <= now_ms)
            return endpoint;
        if (endpoint->rest_until_ms < first->rest_until_ms)
            first = endpoint;
    }
    if (first->rest_until_ms > now_ms + ALL_REST_MS)
        first->rest_until_ms = now_ms + ALL_REST_MS;
    *ret_at_ms = first->rest_until_ms;
    return NULL;
}

struct endpoint *endpoints_better(struct endpoints *endpoints, const struct endpoint *current,
                                  int64_t now_ms)
{
    for (size_t i = 0; &endpoints->items[i] != current; i++)
        if (endpoints->items[i].rest_until_ms <= now_ms)
            return &endpoints->items[i];
    return NULL;
}

void endpoints_failed(struct endpoints *endpoints, struct endpoint *endpoint, int64_t now_ms,
                      const char *error)
{
    int64_t rest_ms = REST_FIRST_MS;
    for (int i = 0; i < endpoint->failures && rest_ms < REST_MAX_MS; i++)
        rest_ms *= 2;
    if (rest_ms > REST_MAX_MS)
        rest_ms = REST_MAX_MS;
    endpoint->failures++;
    endpoints->jitter = hash_bytes(endpoints->jitter, endpoint->name, strlen(endpoint->name));
    /* Jitter between half and all of the pause, so that many clients do not reconnect at once. */
    rest_ms = rest_ms / 2 + (int64_t)hash_below(endpoints->jitter, (uint64_t)rest_ms / 2 + 1);
    endpoint->rest_until_ms = now_ms + rest_ms;
    snprintf(endpoint->error, sizeof(endpoint->error), "%s", error);
}

void endpoints_worked(struct endpoint *endpoint)
{
    endpoint->failures = 0;
    endpoint->rest_until_ms = 0;
    endpoint->error[0] = '\0';
}

void endpoints_describe(const struct endpoints *endpoints, struct strbuf *out)
{
    for (size_t i = 0; i < endpoints->count; i++) {
        const struct endpoint *endpoint = &endpoints->items[i];
        strbuf_addf(out, "%s%s", i ? ", " : "", endpoint->name);
        if (endpoint->error[0])
            strbuf_addf(out, " (%s)", endpoint->error);
    }
}
