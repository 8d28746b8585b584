#include "store_url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_place.h"

enum { ENDPOINTS_MAX = 16, HOST_MAX = 253, PREFIX_MAX = 200, DEFAULT_PORT = 2379 };

static const char default_prefix[] = "/peal";

/* A URL that is being parsed. */
struct reader {
    const char *text; /* whole, for columns */
    struct store_url *url;
    struct parse_error *err;
};

#define COLUMN(reader, at) ((int)((at) - (reader)->text) + 1)

/* ---- the scheme ---- */

static bool starts_with(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && strncmp(text, word, length) == 0;
}

static enum status unknown_scheme(const struct reader *reader, size_t length)
{
    static const struct {
        const char *word, *meant;
    } mistakes[] = {
        {"pgsql", "postgresql://"},
        {"pg", "postgresql://"},
        {"http", "etcd://"},
        {"https", "etcds://"},
        {"etc", "etcd://"},
        {"ectd", "etcd://"},
        {"etcd3", "etcd://"},
        {"etcd+tls", "etcds://"},
        {"etcdtls", "etcds://"},
        {"sqlite3", "sqlite"},
        {"embedded", "sqlite"},
        {"file", "sqlite"},
        {"redis+tls", "rediss://"},
        {"sentinel", "redis+sentinel://"},
        {"redis-sentinel", "redis+sentinel://"},
        {"unix", "redis+unix://"},
    };
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        if (starts_with(reader->text, length, mistakes[i].word))
            return parse_fail(reader->err, 1,
                              "unknown store \"%s\"; peal knows sqlite, etcd://, "
                              "postgresql:// and redis://: did you mean %s?",
                              mistakes[i].word, mistakes[i].meant);
    }
    return parse_fail(reader->err, 1,
                      "unknown store \"%.*s\"; peal knows sqlite, "
                      "etcd://HOST:PORT,.../PREFIX (etcds:// with TLS), "
                      "postgresql://USER@HOST/DATABASE and redis://HOST:PORT",
                      length > 40 ? 40 : (int)length, reader->text);
}

/* ---- one server ---- */

static enum status read_port(const struct reader *reader, const char *at, const char *end, int *ret)
{
    long port = 0;
    if (at == end)
        return parse_fail(reader->err, COLUMN(reader, at), "the port is missing behind the colon");
    for (const char *c = at; c < end; c++) {
        if (!isdigit((unsigned char)*c))
            return parse_fail(reader->err, COLUMN(reader, c), "a port is a number, not \"%.*s\"",
                              (int)(end - at > 40 ? 40 : end - at), at);
        port = port > 65535 ? port : port * 10 + (*c - '0');
    }
    if (port < 1 || port > 65535)
        return parse_fail(reader->err, COLUMN(reader, at), "a port is a number from 1 to 65535");
    *ret = (int)port;
    return OK;
}

/* *ret_end: behind the host, where the colon of the port may be. */
static enum status read_address(const struct reader *reader, const char *at, const char *end,
                                const char **ret_end)
{
    const char *close = memchr(at, ']', (size_t)(end - at));
    if (!close)
        return parse_fail(reader->err, COLUMN(reader, at), "the bracket is not closed");
    for (const char *c = at + 1; c < close; c++) {
        if (!isxdigit((unsigned char)*c) && *c != ':' && *c != '.' && *c != '%')
            return parse_fail(reader->err, COLUMN(reader, c),
                              "only an IPv6 address stands in brackets, like [::1]");
    }
    if (close == at + 1)
        return parse_fail(reader->err, COLUMN(reader, at), "there is no address in the brackets");
    if (close + 1 < end && close[1] != ':')
        return parse_fail(reader->err, COLUMN(reader, close + 1),
                          "behind the bracket only a colon and the port may follow");
    *ret_end = close + 1;
    return OK;
}

static enum status read_name(const struct reader *reader, const char *at, const char *end,
                             const char **ret_end)
{
    const char *colon = memchr(at, ':', (size_t)(end - at));
    const char *name_end = colon ? colon : end;
    if (colon && memchr(colon + 1, ':', (size_t)(end - colon - 1)))
        return parse_fail(reader->err, COLUMN(reader, at),
                          "an IPv6 address stands in brackets: [::1]:%d", DEFAULT_PORT);
    for (const char *c = at; c < name_end; c++) {
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != '-' && *c != '_')
            return parse_fail(reader->err, COLUMN(reader, c),
                              "a host is of letters, digits, dots and dashes");
    }
    if (name_end == at || name_end - at > HOST_MAX)
        return parse_fail(reader->err, COLUMN(reader, at),
                          name_end == at ? "a host is missing here" : "the host is too long");
    *ret_end = name_end;
    return OK;
}

static enum status add_endpoint(const struct reader *reader, const char *host, size_t length,
                                int port)
{
    struct store_url *url = reader->url;
    char *text;
    if (asprintf(&text, "%s://%.*s:%d", url->is_tls ? "https" : "http", (int)length, host, port) <
        0)
        return E_NOMEM;
    for (size_t i = 0; i < url->endpoint_count; i++) {
        if (strcmp(url->endpoints[i], text) == 0) {
            free(text);
            return parse_fail(reader->err, COLUMN(reader, host), "%.*s:%d is named twice",
                              (int)length, host, port);
        }
    }
    if (url->endpoint_count == ENDPOINTS_MAX) {
        free(text);
        return parse_fail(reader->err, COLUMN(reader, host), "at most %d servers", ENDPOINTS_MAX);
    }
    url->endpoints[url->endpoint_count++] = text;
    return OK;
}

static enum status read_endpoint(const struct reader *reader, const char *at, const char *end)
{
    const char *host_end;
    int port = DEFAULT_PORT;
    enum status st = at < end && *at == '[' ? read_address(reader, at, end, &host_end)
                                            : read_name(reader, at, end, &host_end);
    if (st == OK && host_end < end)
        st = read_port(reader, host_end + 1, end, &port);
    return st == OK ? add_endpoint(reader, at, (size_t)(host_end - at), port) : st;
}

/* ---- the parts ---- */

/* USER@, if it is there; *at goes behind it. */
static enum status read_user(const struct reader *reader, const char **at, const char *end)
{
    const char *sign = memchr(*at, '@', (size_t)(end - *at));
    if (!sign)
        return OK;
    const char *colon = memchr(*at, ':', (size_t)(sign - *at));
    if (colon)
        return parse_fail(reader->err, COLUMN(reader, colon),
                          "a password does not belong here, where everybody can read it; use "
                          "etcd.password_file of the configuration, or PEAL_ETCD_PASSWORD");
    if (sign == *at)
        return parse_fail(reader->err, COLUMN(reader, sign), "the user is missing before the @");
    reader->url->user = strndup(*at, (size_t)(sign - *at));
    *at = sign + 1;
    return reader->url->user ? OK : E_NOMEM;
}

static enum status read_endpoints(const struct reader *reader, const char *at, const char *end)
{
    enum status st = OK;
    reader->url->endpoints = calloc(ENDPOINTS_MAX, sizeof(*reader->url->endpoints));
    if (!reader->url->endpoints)
        return E_NOMEM;
    do {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        st = read_endpoint(reader, at, stop);
        at = comma ? comma + 1 : NULL;
    } while (st == OK && at);
    return st;
}

static enum status read_prefix(const struct reader *reader, const char *at)
{
    size_t length = strlen(at);
    while (length && at[length - 1] == '/')
        length--;
    for (size_t i = 0; i < length; i++) {
        if (at[i] == '?' || at[i] == '#')
            return parse_fail(reader->err, COLUMN(reader, at + i),
                              "nothing may follow the prefix; users and certificates are in the "
                              "configuration file");
        if (!isgraph((unsigned char)at[i]) || (at[i] == '/' && i && at[i - 1] == '/'))
            return parse_fail(reader->err, COLUMN(reader, at + i),
                              "a prefix is of visible ASCII letters with single slashes, "
                              "like /peal");
    }
    if (length > PREFIX_MAX)
        return parse_fail(reader->err, COLUMN(reader, at), "a prefix has at most %d letters",
                          PREFIX_MAX);
    reader->url->prefix = length ? strndup(at, length) : strdup(default_prefix);
    return reader->url->prefix ? OK : E_NOMEM;
}

static enum status read_etcd(const struct reader *reader, const char *at)
{
    const char *end = at + strcspn(at, "/?#");
    enum status st = read_user(reader, &at, end);
    if (st == OK)
        st = read_endpoints(reader, at, end);
    if (st == OK)
        st = read_prefix(reader, end);
    return st;
}

static enum status refuse_password(const struct reader *reader, const char *at)
{
    return parse_fail(reader->err, COLUMN(reader, at),
                      "a password does not belong here, where everybody can read it; use "
                      "~/.pgpass, a file that passfile=FILE names, or PGPASSWORD");
}

/* One host of PostgreSQL, as far as it says where the server is; a socket's folder, or nothing, is
 * this machine. */
static enum status add_server(struct store_url *url, const char *host, size_t length)
{
    bool is_here = length == 0 || *host == ':' || *host == '/' || *host == '%';
    const char *bracket = memrchr(host, ']', length);
    const char *colon =
        memrchr(bracket ? bracket : host, ':', length - (bracket ? (size_t)(bracket - host) : 0));
    char *text;
    if (url->endpoint_count == ENDPOINTS_MAX)
        return OK;
    if (asprintf(&text, "tcp://%.*s%s", is_here ? 9 : (int)length, is_here ? "localhost" : host,
                 is_here || !colon ? ":5432" : "") < 0)
        return E_NOMEM;
    url->endpoints[url->endpoint_count++] = text;
    return OK;
}

/* The hosts before the path, or those of host= and hostaddr=. */
static enum status read_servers(struct store_url *url, const char *hosts, const char *end)
{
    static const char *const keys[] = {"host=", "hostaddr="};
    enum status st = OK;
    url->endpoints = calloc(ENDPOINTS_MAX, sizeof(*url->endpoints));
    if (!url->endpoints)
        return E_NOMEM;
    for (const char *part = strchr(end, '?'); hosts == end && part; part = strchr(part + 1, '&'))
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            if (strncmp(part + 1, keys[i], strlen(keys[i])) == 0) {
                hosts = part + 1 + strlen(keys[i]);
                end = hosts + strcspn(hosts, "&");
            }
    while (st == OK) {
        size_t length = 0;
        while (hosts + length < end && hosts[length] != ',')
            length++;
        st = add_server(url, hosts, length);
        hosts += length;
        if (hosts == end)
            break;
        hosts++;
    }
    return st;
}

/* What follows "postgresql". The rest is libpq's to read. */
static enum status read_postgres(const struct reader *reader, const char *at)
{
    if (strncmp(at, "://", 3) != 0)
        return parse_fail(reader->err, COLUMN(reader, at),
                          "write postgresql://USER@HOST:PORT/DATABASE");
    const char *hosts = at + 3, *end = hosts + strcspn(hosts, "/?#");
    const char *sign = memchr(hosts, '@', (size_t)(end - hosts));
    const char *colon = sign ? memchr(hosts, ':', (size_t)(sign - hosts)) : NULL;
    if (colon)
        return refuse_password(reader, colon);
    for (const char *part = strchr(hosts, '?'); part; part = strchr(part + 1, '&'))
        if (strncmp(part + 1, "password=", 9) == 0)
            return refuse_password(reader, part + 1);
    for (const char *c = hosts; *c; c++)
        if (!isgraph((unsigned char)*c))
            return parse_fail(reader->err, COLUMN(reader, c),
                              "an address has no blanks; write %%20 for one");
    reader->url->whole = strdup(reader->text);
    reader->url->prefix = strdup(default_prefix);
    return reader->url->whole && reader->url->prefix
               ? read_servers(reader->url, sign ? sign + 1 : hosts, end)
               : E_NOMEM;
}

/* ---- Redis ---- */

static enum status add_host(struct store_url *url, const struct redis_host *host)
{
    bool is_v6 = strchr(host->host, ':') != NULL;
    char *text;
    int length = host->port ? asprintf(&text, is_v6 ? "tcp://[%s]:%d" : "tcp://%s:%d", host->host,
                                       host->port)
                            : asprintf(&text, "tcp://localhost:6379"); /* a socket */
    if (length < 0)
        return E_NOMEM;
    url->endpoints[url->endpoint_count++] = text;
    return OK;
}

static enum status read_redis(const struct reader *reader)
{
    struct store_url *url = reader->url;
    struct redis_place place;
    enum status st = redis_place_read(reader->text, &place, reader->err);
    if (st != OK)
        return st;
    url->is_tls = place.is_tls;
    url->whole = strdup(reader->text);
    url->prefix = strdup(default_prefix);
    url->endpoints = calloc(place.host_count, sizeof(*url->endpoints));
    if (!url->whole || !url->prefix || !url->endpoints)
        st = E_NOMEM;
    for (size_t i = 0; st == OK && i < place.host_count; i++)
        st = add_host(url, &place.hosts[i]);
    redis_place_release(&place);
    return st;
}

enum status store_url_accept_loss(struct store_url *url, struct parse_error *reterr)
{
    static const char parameter[] = "accept-loss=yes";
    char *whole;
    if (url->kind != STORE_OF_REDIS)
        return parse_fail(reterr, 0, "only a store in Redis can be told to accept a loss");
    if (strstr(url->whole, parameter))
        return OK;
    if (asprintf(&whole, "%s%s%s", url->whole, strchr(url->whole, '?') ? "&" : "?", parameter) < 0)
        return E_NOMEM;
    free(url->whole);
    url->whole = whole;
    return OK;
}

/* What follows "sqlite". */
static enum status read_sqlite(const struct reader *reader, const char *at)
{
    size_t length = strlen(at);
    if (!length)
        return OK;
    if (strncmp(at, ":///", 4) != 0 || length == 4)
        return parse_fail(reader->err, COLUMN(reader, at),
                          "sqlite alone is in the data folder, which --data names; "
                          "sqlite:///FOLDER is shared by several agents");
    reader->url->shared = strdup(at + 3);
    if (!reader->url->shared)
        return E_NOMEM;
    while (length > 5 && reader->url->shared[length - 4] == '/')
        reader->url->shared[--length - 3] = '\0';
    return OK;
}

enum status store_url_parse(const char *text, struct store_url *ret, struct parse_error *reterr)
{
    struct store_url url = {0};
    const struct reader reader = {text, &url, reterr};
    size_t length = strcspn(text, ":");
    enum status st = OK;
    if (starts_with(text, length, "sqlite")) {
        st = read_sqlite(&reader, text + length);
    } else if (starts_with(text, length, "etcd") || starts_with(text, length, "etcds")) {
        url.kind = STORE_OF_ETCD;
        url.is_tls = text[length - 1] == 's';
        if (strncmp(text + length, "://", 3) == 0)
            st = read_etcd(&reader, text + length + 3);
        else
            st = parse_fail(reterr, (int)length + 1, "write %.*s://HOST:PORT,.../PREFIX",
                            (int)length, text);
    } else if (starts_with(text, length, "postgresql") || starts_with(text, length, "postgres")) {
        url.kind = STORE_OF_POSTGRES;
        st = read_postgres(&reader, text + length);
    } else if (redis_place_is_scheme(text, length)) {
        url.kind = STORE_OF_REDIS;
        st = read_redis(&reader);
    } else {
        st = unknown_scheme(&reader, length);
    }
    if (st == OK)
        *ret = url;
    else
        store_url_release(&url);
    return st;
}

void store_url_release(struct store_url *url)
{
    for (size_t i = 0; i < url->endpoint_count; i++)
        free(url->endpoints[i]);
    free(url->endpoints);
    free(url->user);
    free(url->prefix);
    free(url->shared);
    free(url->whole);
    *url = (struct store_url){0};
}

void store_url_print(const struct store_url *url, struct strbuf *out)
{
    if (url->whole) {
        strbuf_adds(out, url->whole);
        return;
    }
    if (url->kind == STORE_OF_SQLITE) {
        strbuf_addf(out, "sqlite%s%s", url->shared ? "://" : "", url->shared ? url->shared : "");
        return;
    }
    strbuf_adds(out, url->is_tls ? "etcds://" : "etcd://");
    if (url->user)
        strbuf_addf(out, "%s@", url->user);
    for (size_t i = 0; i < url->endpoint_count; i++)
        strbuf_addf(out, "%s%s", i ? "," : "", strstr(url->endpoints[i], "://") + 3);
    strbuf_adds(out, url->prefix);
}
