#include "redis_place.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum { PORT = 6379, SENTINEL_PORT = 26379, DB_MAX = 9999, REPLICAS_MAX = 16, HOST_MAX = 253 };

/* A URL that is being read. */
struct reader {
    const char *text; /* whole, for columns */
    struct redis_place *place;
    struct parse_error *err;
};

#define COLUMN(reader, at) ((int)((at) - (reader)->text) + 1)

static enum status read_number(const struct reader *reader, const char *at, const char *end,
                               long low, long high, const char *what, int *ret)
{
    long number = 0;
    const char *c = at;
    while (c < end && isdigit((unsigned char)*c) && number <= high)
        number = number * 10 + (*c++ - '0');
    if (c != end || at == end || number < low || number > high)
        return parse_fail(reader->err, COLUMN(reader, at), "%s is a number from %ld to %ld", what,
                          low, high);
    *ret = (int)number;
    return OK;
}

/* ---- the scheme ---- */

static const struct {
    const char *scheme;
    bool is_tls, is_sentinel, is_unix;
} schemes[] = {
    {"redis", false, false, false},          {"rediss", true, false, false},
    {"redis+unix", false, false, true},      {"redis+sentinel", false, true, false},
    {"rediss+sentinel", true, true, false},  {"valkey", false, false, false},
    {"valkeys", true, false, false},         {"valkey+unix", false, false, true},
    {"valkey+sentinel", false, true, false}, {"valkeys+sentinel", true, true, false},
};

static int find_scheme(const char *scheme, size_t length)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
        if (strlen(schemes[i].scheme) == length && strncmp(schemes[i].scheme, scheme, length) == 0)
            return (int)i;
    return -1;
}

bool redis_place_is_scheme(const char *scheme, size_t length)
{
    return find_scheme(scheme, length) >= 0;
}

static enum status read_scheme(const struct reader *reader, const char **ret_rest, bool *ret_unix)
{
    size_t length = strcspn(reader->text, ":");
    int i = find_scheme(reader->text, length);
    if (i < 0)
        return parse_fail(reader->err, 1,
                          "\"%.*s\" is not known; write redis://HOST:PORT, rediss:// with TLS, "
                          "redis+unix:///SOCKET or redis+sentinel://HOST:PORT,.../MASTER",
                          length > 40 ? 40 : (int)length, reader->text);
    const char *example = schemes[i].is_unix       ? "/PATH/OF/SOCKET"
                          : schemes[i].is_sentinel ? "HOST:PORT,.../MASTER"
                                                   : "HOST:PORT";
    if (strncmp(reader->text + length, "://", 3) != 0)
        return parse_fail(reader->err, (int)length + 1, "write %s://%s", schemes[i].scheme,
                          example);
    reader->place->is_tls = schemes[i].is_tls;
    reader->place->is_sentinel = schemes[i].is_sentinel;
    *ret_unix = schemes[i].is_unix;
    *ret_rest = reader->text + length + 3;
    return OK;
}

/* ---- servers ---- */

static enum status add_host(const struct reader *reader, const char *at, size_t length, int port)
{
    struct redis_place *place = reader->place;
    if (place->host_count == REDIS_HOSTS_MAX)
        return parse_fail(reader->err, COLUMN(reader, at), "at most %d servers", REDIS_HOSTS_MAX);
    struct redis_host *host = &place->hosts[place->host_count];
    host->host = strndup(at, length);
    host->port = port;
    if (!host->host)
        return E_NOMEM;
    place->host_count++;
    return OK;
}

static enum status read_host(const struct reader *reader, const char *at, const char *end)
{
    int port = reader->place->is_sentinel ? SENTINEL_PORT : PORT;
    bool is_bracketed = at < end && *at == '[';
    const char *close = is_bracketed ? memchr(at, ']', (size_t)(end - at)) : NULL;
    const char *name = is_bracketed ? at + 1 : at;
    if (is_bracketed && !close)
        return parse_fail(reader->err, COLUMN(reader, at), "the bracket is not closed");
    const char *colon = close ? close + 1 : memchr(at, ':', (size_t)(end - at));
    const char *name_end = close ? close : colon ? colon : end;
    if (colon == end)
        colon = NULL;
    if (close && colon && *colon != ':')
        return parse_fail(reader->err, COLUMN(reader, colon),
                          "behind the bracket only a colon and the port may follow");
    if (!close && colon && memchr(colon + 1, ':', (size_t)(end - colon - 1)))
        return parse_fail(reader->err, COLUMN(reader, at),
                          "an IPv6 address stands in brackets: [::1]:%d", port);
    for (const char *c = name; c < name_end; c++)
        if (!isalnum((unsigned char)*c) && !strchr(is_bracketed ? ":.%" : ".-_", *c))
            return parse_fail(reader->err, COLUMN(reader, c),
                              "a host is of letters, digits, dots and dashes");
    if (name == name_end || name_end - name > HOST_MAX)
        return parse_fail(reader->err, COLUMN(reader, at), "a host is missing here");
    enum status st = colon ? read_number(reader, colon + 1, end, 1, 65535, "a port", &port) : OK;
    return st == OK ? add_host(reader, name, (size_t)(name_end - name), port) : st;
}

static enum status refuse_password(const struct reader *reader, const char *at)
{
    return parse_fail(reader->err, COLUMN(reader, at),
                      "a password does not belong here, where everybody can read it; use "
                      "redis.password_file of the configuration, or PEAL_REDIS_PASSWORD");
}

static enum status read_user(const struct reader *reader, const char **at, const char *end)
{
    const char *sign = memchr(*at, '@', (size_t)(end - *at));
    const char *colon = sign ? memchr(*at, ':', (size_t)(sign - *at)) : NULL;
    if (!sign)
        return OK;
    if (colon)
        return refuse_password(reader, colon);
    if (sign == *at)
        return parse_fail(reader->err, COLUMN(reader, sign), "the user is missing before the @");
    reader->place->user = strndup(*at, (size_t)(sign - *at));
    *at = sign + 1;
    return reader->place->user ? OK : E_NOMEM;
}

static enum status read_hosts(const struct reader *reader, const char *at, const char *end)
{
    enum status st = read_user(reader, &at, end);
    for (bool is_more = true; st == OK && is_more;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        if (comma && !reader->place->is_sentinel)
            return parse_fail(reader->err, COLUMN(reader, comma),
                              "one server holds the keys; several are watched by Sentinel: "
                              "redis+sentinel://HOST:PORT,.../MASTER");
        st = read_host(reader, at, comma ? comma : end);
        is_more = comma != NULL;
        at = comma ? comma + 1 : end;
    }
    return st;
}

static enum status read_socket(const struct reader *reader, const char *at, const char *end)
{
    const struct sockaddr_un address;
    if (*at != '/' || at + 1 >= end)
        return parse_fail(reader->err, COLUMN(reader, at),
                          "a socket is named by its whole path: redis+unix:///run/redis/x.sock");
    if ((size_t)(end - at) >= sizeof(address.sun_path))
        return parse_fail(reader->err, COLUMN(reader, at),
                          "a socket's path has at most %zu letters", sizeof(address.sun_path) - 1);
    return add_host(reader, at, (size_t)(end - at), 0);
}

/* ---- what follows ---- */

static enum status read_path(const struct reader *reader, const char *at, const char *end)
{
    struct redis_place *place = reader->place;
    if (at < end)
        at++; /* its slash */
    if (place->is_sentinel) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        size_t length = (size_t)((slash ? slash : end) - at);
        if (length == 0 || length >= sizeof(place->master))
            return parse_fail(reader->err, COLUMN(reader, at),
                              "the master's name in Sentinel is missing, as in /mymaster");
        memcpy(place->master, at, length);
        at = slash ? slash + 1 : end;
    }
    return at == end ? OK : read_number(reader, at, end, 0, DB_MAX, "a database", &place->db);
}

static enum status read_prefix(const struct reader *reader, const char *at, const char *end)
{
    size_t length = (size_t)(end - at);
    for (const char *c = at; c < end; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.:/", *c))
            return parse_fail(reader->err, COLUMN(reader, c),
                              "a prefix is of letters, digits and - _ . : /");
    if (length == 0 || length >= sizeof(reader->place->prefix))
        return parse_fail(reader->err, COLUMN(reader, at), "a prefix has 1 to %d letters",
                          REDIS_PREFIX_MAX - 1);
    memcpy(reader->place->prefix, at, length);
    reader->place->prefix[length] = '\0';
    return OK;
}

static enum status read_yes(const struct reader *reader, const char *at, const char *end, bool *ret)
{
    if (end - at != 3 || memcmp(at, "yes", 3) != 0)
        return parse_fail(reader->err, COLUMN(reader, at),
                          "write accept-loss=yes, or leave it out");
    *ret = true;
    return OK;
}

static bool is(const char *at, size_t length, const char *name)
{
    return length == strlen(name) && memcmp(at, name, length) == 0;
}

static enum status read_parameter(const struct reader *reader, const char *at, const char *end)
{
    const char *sign = memchr(at, '=', (size_t)(end - at));
    size_t length = (size_t)((sign ? sign : end) - at);
    const char *value = sign ? sign + 1 : end;
    if (is(at, length, "prefix"))
        return read_prefix(reader, value, end);
    if (is(at, length, "replicas"))
        return read_number(reader, value, end, 0, REPLICAS_MAX, "replicas",
                           &reader->place->replicas);
    if (is(at, length, "db"))
        return read_number(reader, value, end, 0, DB_MAX, "a database", &reader->place->db);
    if (is(at, length, "accept-loss"))
        return read_yes(reader, value, end, &reader->place->accepts_loss);
    if (is(at, length, "password"))
        return refuse_password(reader, at);
    return parse_fail(reader->err, COLUMN(reader, at),
                      "\"%.*s\" is not known here; there are prefix=NAME, replicas=N, db=N and "
                      "accept-loss=yes",
                      length > 40 ? 40 : (int)length, at);
}

static void name_place(struct redis_place *place)
{
    const struct redis_host *first = &place->hosts[0];
    const char *user = place->user ? place->user : "", *at = place->user ? "@" : "";
    if (place->is_sentinel)
        snprintf(place->name, sizeof(place->name), "%s%s%.100s by Sentinel", user, at,
                 place->master);
    else if (first->port)
        snprintf(place->name, sizeof(place->name), "%.60s%s%.120s:%d", user, at, first->host,
                 first->port);
    else
        snprintf(place->name, sizeof(place->name), "%.60s%s%s", user, at, first->host);
}

static enum status read_all(const struct reader *reader)
{
    const char *at;
    bool is_unix = false;
    enum status st = read_scheme(reader, &at, &is_unix);
    if (st != OK)
        return st;
    for (const char *c = at; *c; c++)
        if (!isgraph((unsigned char)*c) || *c == '#')
            return parse_fail(reader->err, COLUMN(reader, c), "an address has no such letter");
    const char *query = at + strcspn(at, "?");
    if (is_unix) {
        st = read_socket(reader, at, query);
    } else {
        const char *path = at + strcspn(at, "/?");
        st = read_hosts(reader, at, path);
        if (st == OK)
            st = read_path(reader, path, query);
    }
    for (at = query; st == OK && *at;) {
        at++; /* its sign */
        const char *end = at + strcspn(at, "&");
        st = read_parameter(reader, at, end);
        at = end;
    }
    return st;
}

enum status redis_place_read(const char *url, struct redis_place *ret, struct parse_error *reterr)
{
    struct redis_place place = {.replicas = REDIS_REPLICAS_SEEN, .prefix = "peal"};
    const struct reader reader = {url, &place, reterr};
    enum status st = read_all(&reader);
    if (st != OK) {
        redis_place_release(&place);
        return st;
    }
    name_place(&place);
    *ret = place;
    return OK;
}

void redis_place_release(struct redis_place *place)
{
    for (size_t i = 0; i < place->host_count; i++)
        free(place->hosts[i].host);
    free(place->user);
    *place = (struct redis_place){0};
}
