/* Splits the URL into peal's own parameters and a URL for libmongoc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mongo/history_mongo_internal.h"

enum { EXPIRE_DAYS_MAX = 24000 }; /* expireAfterSeconds is a 32-bit number */

/* The value of a query part "KEY=VALUE"; NULL: another key. */
static const char *value_of(const char *part, const char *key)
{
    size_t length = strlen(key);
    return strncmp(part, key, length) == 0 ? part + length : NULL;
}

static enum status take_password_file(struct mongo_place *place, const char *text, size_t length,
                                      struct strbuf *why)
{
    if (!length || text[0] != '/') {
        strbuf_adds(why, "the history's address: password_file is an absolute path");
        return E_INVALID;
    }
    free(place->password_file);
    place->password_file = strndup(text, length);
    return place->password_file ? OK : E_NOMEM;
}

static enum status take_expire_days(struct mongo_place *place, const char *text, size_t length,
                                    struct strbuf *why)
{
    char *end;
    long days = strtol(text, &end, 10);
    if (!length || end != text + length || days < 0 || days > EXPIRE_DAYS_MAX) {
        strbuf_addf(why, "the history's address: expire_days is a number of days, 0 to %d",
                    EXPIRE_DAYS_MAX);
        return E_INVALID;
    }
    place->expire_days = days;
    return OK;
}

/* Copies the URL without peal's own parameters, which libmongoc does not know. */
static enum status take_ours(const char *url, struct mongo_place *place, struct strbuf *rest,
                             struct strbuf *why)
{
    const char *query = strchr(url, '?'), *value;
    size_t kept = 0;
    enum status st = OK;
    strbuf_add(rest, url, query ? (size_t)(query - url) : strlen(url));
    for (const char *part = query; part && *part && st == OK;) {
        size_t length = strcspn(++part, "&");
        const char *end = part + length;
        if ((value = value_of(part, "password_file=")))
            st = take_password_file(place, value, (size_t)(end - value), why);
        else if ((value = value_of(part, "expire_days=")))
            st = take_expire_days(place, value, (size_t)(end - value), why);
        else if (length)
            strbuf_addf(rest, "%c%.*s", kept++ ? '&' : '?', (int)length, part);
        part = end;
    }
    return st == OK ? strbuf_status(rest) : st;
}

/* libmongoc's error message is not shown: it may repeat a password. */
static enum status read_uri(struct mongo_place *place, const char *text, struct strbuf *why)
{
    bson_error_t error;
    place->uri = mongoc_uri_new_with_error(text, &error);
    if (place->uri)
        return OK;
    strbuf_adds(why,
                "the history's address cannot be read. It looks like "
                "mongodb://USER@HOST:PORT/DATABASE, with %40 for @, %3A for : and %2F for / in "
                "names and passwords, and only parameters that libmongoc knows");
    return E_INVALID;
}

static void set_unless_given(mongoc_uri_t *uri, const char *option, int value)
{
    if (!mongoc_uri_has_option(uri, option))
        mongoc_uri_set_option_as_int32(uri, option, value);
}

static enum status name_place(struct mongo_place *place, struct strbuf *why)
{
    const char *database = mongoc_uri_get_database(place->uri);
    const char *user = mongoc_uri_get_username(place->uri);
    const char *service = mongoc_uri_get_srv_hostname(place->uri);
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(place->uri);
    struct strbuf name;
    if (database && strlen(database) >= sizeof(place->database)) {
        strbuf_adds(why, "the history's address: a database has less than 64 letters");
        return E_INVALID;
    }
    snprintf(place->database, sizeof(place->database), "%s", database ? database : "peal");
    strbuf_init(&name);
    if (user)
        strbuf_addf(&name, "%s@", user);
    if (service)
        strbuf_adds(&name, service);
    for (const mongoc_host_list_t *at = service ? NULL : host; at; at = at->next)
        strbuf_addf(&name, "%s%s", at == host ? "" : ",", at->host_and_port);
    strbuf_addf(&name, "/%s", place->database);
    snprintf(place->name, sizeof(place->name), "%s", name.failed ? "" : name.text);
    strbuf_release(&name);
    return OK;
}

static enum status complete_uri(struct mongo_place *place, struct strbuf *why)
{
    mongoc_uri_t *uri = place->uri;
    set_unless_given(uri, MONGOC_URI_CONNECTTIMEOUTMS, place->limits.connect_s * 1000);
    set_unless_given(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, place->limits.connect_s * 1000);
    if (!mongoc_uri_get_appname(uri))
        mongoc_uri_set_appname(uri, "peal");
    return name_place(place, why);
}

enum status mongo_place_read(const char *url, const struct history_server_limits *limits,
                             struct mongo_place *ret, struct strbuf *why)
{
    struct mongo_place place = {.expire_days = -1};
    struct strbuf rest;
    strbuf_init(&rest);
    place.limits = history_server_limits_or_default(limits);
    enum status st = take_ours(url, &place, &rest, why);
    if (st == OK)
        st = read_uri(&place, rest.text, why);
    if (st == OK)
        st = complete_uri(&place, why);
    strbuf_release(&rest);
    if (st != OK) {
        mongo_place_release(&place);
        return st;
    }
    *ret = place;
    return OK;
}

void mongo_place_release(struct mongo_place *place)
{
    if (place->uri)
        mongoc_uri_destroy(place->uri);
    free(place->password_file);
    *place = (struct mongo_place){.uri = NULL};
}
