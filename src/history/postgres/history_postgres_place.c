/* Splits the URL into peal's own parameters and a URL for libpq. */
#include <stdlib.h>
#include <string.h>

#include "postgres/history_postgres_internal.h"

static bool is_plain_name(const char *name, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    return length > 0 && length < 64 && !strchr("0123456789", name[0]) &&
           strspn(name, letters) >= length && strncmp(name, "pg_", 3) != 0;
}

/* Copies the URL without "schema=NAME", which libpq does not know. */
static enum status take_schema(const char *url, struct place *place, struct strbuf *rest,
                               struct strbuf *why)
{
    static const char key[] = "schema=";
    size_t key_length = sizeof(key) - 1, kept = 0;
    const char *query = strchr(url, '?');
    strcpy(place->schema, "peal");
    strbuf_add(rest, url, query ? (size_t)(query - url) : strlen(url));
    for (const char *part = query; part && *part;) {
        size_t length = strcspn(++part, "&");
        const char *name = part + key_length;
        if (strncmp(part, key, key_length) != 0) {
            if (length)
                strbuf_addf(rest, "%c%.*s", kept++ ? '&' : '?', (int)length, part);
        } else if (is_plain_name(name, length - key_length)) {
            memcpy(place->schema, name, length - key_length);
            place->schema[length - key_length] = '\0';
        } else {
            strbuf_adds(why, "the history's address: a schema is named by small letters, digits "
                             "and _, such as schema=peal");
            return E_INVALID;
        }
        part += length;
    }
    return strbuf_status(rest);
}

static const char *value_of(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword; options++) {
        if (strcmp(options->keyword, keyword) == 0 && options->val && options->val[0])
            return options->val;
    }
    return NULL;
}

/* libpq's error message is not shown: it may repeat a password. */
static enum status read_name(struct place *place, struct strbuf *why)
{
    PQconninfoOption *options = PQconninfoParse(place->conninfo, NULL);
    if (!options) {
        strbuf_adds(why, "the history's address cannot be read. It looks like "
                         "postgresql://USER@HOST:PORT/DATABASE, with %40 for @, %3A for : and %2F "
                         "for / in names and passwords, and only parameters that libpq knows");
        return E_INVALID;
    }
    const char *user = value_of(options, "user"), *host = value_of(options, "host");
    const char *port = value_of(options, "port"), *database = value_of(options, "dbname");
    struct strbuf name;
    strbuf_init(&name);
    if (user)
        strbuf_addf(&name, "%s@", user);
    strbuf_adds(&name, host ? host : "localhost");
    if (port && port[strspn(port, ",")]) /* of several hosts that name none: "," */
        strbuf_addf(&name, ":%s", port);
    if (database)
        strbuf_addf(&name, "/%s", database);
    strncpy(place->name, name.text, sizeof(place->name) - 1);
    strbuf_release(&name);
    PQconninfoFree(options);
    return OK;
}

enum status place_read(const char *url, const struct history_server_limits *limits,
                       struct place *ret, struct strbuf *why)
{
    struct place place = {.conninfo = NULL};
    struct strbuf rest;
    strbuf_init(&rest);
    place.limits = history_server_limits_or_default(limits);
    enum status st = take_schema(url, &place, &rest, why);
    if (st == OK) {
        place.conninfo = strbuf_detach(&rest);
        st = place.conninfo ? read_name(&place, why) : E_NOMEM;
    }
    strbuf_release(&rest);
    if (st != OK) {
        free(place.conninfo);
        return st;
    }
    *ret = place;
    return OK;
}

void place_release(struct place *place)
{
    free(place->conninfo);
    place->conninfo = NULL;
}
