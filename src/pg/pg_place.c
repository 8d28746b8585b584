/* Splits the URL into what is peal's own and a URL for libpq. */
#include <stdlib.h>
#include <string.h>

#include "pg_internal.h"

static bool is_plain_name(const char *name, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    return length > 0 && length < PG_SCHEMA_MAX && !strchr("0123456789", name[0]) &&
           strspn(name, letters) >= length && strncmp(name, "pg_", 3) != 0;
}

/* Copies the URL without "schema=NAME", which libpq does not know. */
static enum status take_schema(const char *url, struct pg_place *place, struct strbuf *rest,
                               struct parse_error *reterr)
{
    static const char key[] = "schema=";
    const size_t key_length = sizeof(key) - 1;
    size_t kept = 0;
    const char *query = strchr(url, '?');
    strcpy(place->schema, "peal");
    strbuf_add(rest, url, query ? (size_t)(query - url) : strlen(url));
    for (const char *part = query; part && *part;) {
        size_t length = strcspn(++part, "&");
        if (strncmp(part, key, key_length) != 0) {
            if (length)
                strbuf_addf(rest, "%c%.*s", kept++ ? '&' : '?', (int)length, part);
        } else if (is_plain_name(part + key_length, length - key_length)) {
            memcpy(place->schema, part + key_length, length - key_length);
            place->schema[length - key_length] = '\0';
        } else {
            return parse_fail(reterr, 0,
                              "a schema is named by small letters, digits and _, such as "
                              "schema=peal");
        }
        part += length;
    }
    return strbuf_status(rest);
}

static const char *value_of(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0 && options->val && options->val[0])
            return options->val;
    return NULL;
}

/* libpq's error message is not shown: it may repeat a password. */
static enum status read_name(struct pg_place *place, struct parse_error *reterr)
{
    PQconninfoOption *options = PQconninfoParse(place->conninfo, NULL);
    if (!options)
        return parse_fail(reterr, 0,
                          "the address cannot be read. It looks like "
                          "postgresql://USER@HOST:PORT/DATABASE, with %%40 for @ and %%2F for / in "
                          "names, and only parameters that libpq knows");
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
    if (name.text)
        strncpy(place->name, name.text, sizeof(place->name) - 1);
    strbuf_release(&name);
    PQconninfoFree(options);
    return OK;
}

enum status pg_place_read(const struct pg_client_config *config, struct pg_place *ret,
                          struct parse_error *reterr)
{
    struct pg_place place = {.conninfo = NULL};
    struct strbuf rest;
    strbuf_init(&rest);
    enum status st = take_schema(config->url, &place, &rest, reterr);
    if (st == OK) {
        place.conninfo = strbuf_detach(&rest);
        st = place.conninfo ? read_name(&place, reterr) : E_NOMEM;
    }
    if (st == OK && config->password && !(place.password = strdup(config->password)))
        st = E_NOMEM;
    strbuf_release(&rest);
    if (st == OK)
        *ret = place;
    else
        pg_place_release(&place);
    return st;
}

void pg_place_release(struct pg_place *place)
{
    if (place->password)
        explicit_bzero(place->password, strlen(place->password));
    if (place->conninfo)
        explicit_bzero(place->conninfo, strlen(place->conninfo));
    free(place->password);
    free(place->conninfo);
    *place = (struct pg_place){0};
}
