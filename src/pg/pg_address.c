#include "pg_address.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

static bool is_plain_name(const char *name, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    return length > 0 && length < PG_SCHEMA_MAX && !strchr("0123456789", name[0]) &&
           strspn(name, letters) >= length && strncmp(name, "pg_", 3) != 0;
}

/* Copies the URL without "schema=NAME", which libpq does not know. */
static enum status take_schema(const char *url, const char *what, struct pg_address *address,
                               struct strbuf *rest, struct strbuf *why)
{
    static const char key[] = "schema=";
    const size_t key_length = sizeof(key) - 1;
    size_t kept = 0;
    const char *query = strchr(url, '?');
    strcpy(address->schema, "peal");
    strbuf_add(rest, url, query ? (size_t)(query - url) : strlen(url));
    for (const char *part = query; part && *part;) {
        size_t length = strcspn(++part, "&");
        if (strncmp(part, key, key_length) != 0) {
            if (length)
                strbuf_addf(rest, "%c%.*s", kept++ ? '&' : '?', (int)length, part);
        } else if (is_plain_name(part + key_length, length - key_length)) {
            memcpy(address->schema, part + key_length, length - key_length);
            address->schema[length - key_length] = '\0';
        } else {
            strbuf_addf(why,
                        "%s: a schema is named by small letters, digits and _, such as schema=peal",
                        what);
            return E_INVALID;
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
static enum status read_name(const char *what, struct pg_address *address, struct strbuf *why)
{
    PQconninfoOption *options = PQconninfoParse(address->conninfo, NULL);
    if (!options) {
        strbuf_addf(
            why,
            "%s cannot be read. It looks like postgresql://USER@HOST:PORT/DATABASE, with "
            "%%40 for @, %%3A for : and %%2F for / in names, and only parameters that libpq "
            "knows",
            what);
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
    if (name.text)
        strncpy(address->name, name.text, sizeof(address->name) - 1);
    strbuf_release(&name);
    PQconninfoFree(options);
    return OK;
}

enum status pg_address_read(const char *url, const char *what, struct pg_address *ret,
                            struct strbuf *why)
{
    struct pg_address address = {.conninfo = NULL};
    struct strbuf rest;
    strbuf_init(&rest);
    enum status st = take_schema(url, what, &address, &rest, why);
    if (st == OK) {
        address.conninfo = strbuf_detach(&rest);
        st = address.conninfo ? read_name(what, &address, why) : E_NOMEM;
    }
    strbuf_release(&rest);
    if (st == OK)
        *ret = address;
    else
        pg_address_release(&address);
    return st;
}

void pg_address_release(struct pg_address *address)
{
    if (address->conninfo)
        explicit_bzero(address->conninfo, strlen(address->conninfo));
    free(address->conninfo);
    *address = (struct pg_address){0};
}
