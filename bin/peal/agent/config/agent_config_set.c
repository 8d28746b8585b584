/* Setters with checks, for values of the command line and of the file. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "byte_size.h"
#include "call_address.h"
#include "config/agent_config.h"
#include "definition/job_fields.h"
#include "duration.h"
#include "facade/facade.h"
#include "history_open.h"
#include "listen.h"
#include "otlp.h"
#include "peer.h"
#include "proxy.h"
#include "zone/zone_db.h"

enum { CAPACITY_MAX = 1000000 };

enum status agent_config_set_store(struct agent_config *config, const char *text,
                                   struct parse_error *reterr)
{
    struct store_url url;
    enum status st = store_url_parse(text, &url, reterr);
    if (st != OK)
        return st;
    store_url_release(&config->store);
    config->store = url;
    config->has_store = true;
    return OK;
}

enum status agent_config_set_history(struct agent_config *config, const char *text,
                                     struct parse_error *reterr)
{
    bool is_sqlite = strcmp(text, "sqlite") == 0;
    if (!is_sqlite && !history_is_known(text))
        return parse_fail(reterr, 1,
                          "a history is sqlite, postgresql://USER@HOST/DATABASE or "
                          "mongodb://USER@HOST/DATABASE");
    char *copy = strdup(is_sqlite ? "" : text);
    if (!copy)
        return E_NOMEM;
    free(config->history);
    config->history = copy;
    return OK;
}

/* "; did you mean worker?", or nothing. */
static const char *print_guess(const char *const *words, const char *typed, size_t length,
                               char text[80])
{
    char word[40];
    snprintf(word, sizeof(word), "%.*s", (int)(length < 39 ? length : 39), typed);
    const char *nearest = word_nearest(words, word);
    text[0] = '\0';
    if (nearest)
        snprintf(text, 80, "; did you mean %s?", nearest);
    return text;
}

enum status agent_config_set_role(struct agent_config *config, const char *text,
                                  struct parse_error *reterr)
{
    static const char *const words[] = {"api", "worker", NULL};
    char guess[80];
    unsigned roles = 0;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        if (length == 3 && strncmp(at, "api", 3) == 0)
            roles |= PEER_API;
        else if (length == 6 && strncmp(at, "worker", 6) == 0)
            roles |= PEER_WORKER;
        else
            return parse_fail(reterr, (int)(at - text) + 1,
                              "a role is api, worker or both (api,worker), not \"%.*s\"%s",
                              (int)(length > 40 ? 40 : length), at,
                              print_guess(words, at, length, guess));
        at += length;
        if (!*at)
            break;
        at++;
    }
    config->roles = roles;
    return OK;
}

enum status agent_config_set_node_id(struct agent_config *config, const char *text,
                                     struct parse_error *reterr)
{
    for (const char *at = text; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
            return parse_fail(reterr, (int)(at - text) + 1,
                              "a node's id is of letters, digits, dots and dashes");
    }
    if (!*text || strlen(text) >= sizeof(config->node_id))
        return parse_fail(reterr, 0, "a node's id has from 1 to %zu letters",
                          sizeof(config->node_id) - 1);
    snprintf(config->node_id, sizeof(config->node_id), "%s", text);
    return OK;
}

enum status agent_config_set_capacity(struct agent_config *config, const char *text,
                                      struct parse_error *reterr)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || value < 1 || value > CAPACITY_MAX)
        return parse_fail(reterr, 0,
                          "the capacity is a number from 1 to %d, the node's weight when work is "
                          "shared out",
                          CAPACITY_MAX);
    config->capacity = (int)value;
    return OK;
}

enum status agent_config_set_address(struct agent_config *config, const char *text,
                                     struct parse_error *reterr)
{
    for (const char *at = text; *at; at++) {
        if (!isgraph((unsigned char)*at))
            return parse_fail(reterr, (int)(at - text) + 1, "an address is like host:8080");
    }
    if (strlen(text) >= sizeof(config->address))
        return parse_fail(reterr, 0, "an address has at most %zu letters",
                          sizeof(config->address) - 1);
    snprintf(config->address, sizeof(config->address), "%s", text);
    return OK;
}

static enum status replace(char **member, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return E_NOMEM;
    free(*member);
    *member = copy;
    return OK;
}

static enum status check_listen(const char *text, size_t at, size_t length,
                                struct parse_error *reterr)
{
    struct listen_address address;
    struct strbuf why;
    char one[80];
    if (length >= sizeof(one))
        return parse_fail(reterr, (int)at + 1, "this is too long for an address");
    memcpy(one, text + at, length);
    one[length] = '\0';
    strbuf_init(&why);
    enum status st = listen_parse(one, &address, &why);
    if (st != OK)
        st = parse_fail(reterr, (int)at + 1, "%s", why.text);
    strbuf_release(&why);
    return st;
}

enum status agent_config_set_listen(struct agent_config *config, const char *text,
                                    struct parse_error *reterr)
{
    for (size_t at = 0; strcmp(text, "none") != 0;) {
        size_t length = strcspn(text + at, ",");
        enum status st = check_listen(text, at, length, reterr);
        if (st != OK)
            return st;
        at += length;
        if (!text[at])
            break;
        at++;
    }
    return replace(&config->listen, text);
}

enum status agent_config_set_peer_listen(struct agent_config *config, const char *text,
                                         struct parse_error *reterr)
{
    enum status st = strcmp(text, "none") == 0 ? OK : check_listen(text, 0, strlen(text), reterr);
    return st == OK ? replace(&config->peer_listen, text) : st;
}

enum status agent_config_set_proxies(struct agent_config *config, const char *text,
                                     struct parse_error *reterr)
{
    struct proxy_list list;
    enum status st = proxy_list_parse(text, &list, reterr);
    if (st != OK)
        return st;
    proxy_list_release(&list);
    return replace(&config->trusted_proxies, text);
}

/* Where there is no data of time zones any name is taken: who is to use it says what is missing. */
enum status agent_config_set_timezone(struct agent_config *config, const char *text,
                                      struct parse_error *reterr)
{
    struct zone_db *zones;
    const struct zone *zone;
    enum status st = zone_db_new(getenv("TZDIR"), &zones);
    if (st != OK)
        return st;
    st = zone_db_get(zones, text, &zone, reterr);
    zone_db_free(zones);
    return st == E_INVALID || st == E_NOMEM ? st : replace(&config->timezone, text);
}

enum status agent_config_set_http_allow(struct agent_config *config, const char *text,
                                        struct parse_error *reterr)
{
    enum status st = call_address_check_list(text, reterr);
    return st == OK ? replace(&config->http_allow, text) : st;
}

enum status agent_config_set_public_url(struct agent_config *config, const char *text,
                                        struct parse_error *reterr)
{
    bool is_url = strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0;
    if (!is_url || text[strcspn(text, " \t?#")])
        return parse_fail(reterr, 1, "expected a URL like https://peal.example.com, not \"%.80s\"",
                          text);
    return replace(&config->public_url, text);
}

enum status agent_config_set_otlp_endpoint(struct agent_config *config, const char *text,
                                           struct parse_error *reterr)
{
    bool is_url = strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0;
    if (!is_url || text[strcspn(text, " \t?#")])
        return parse_fail(reterr, 1,
                          "expected the URL of a collector, without /v1/traces, like "
                          "http://127.0.0.1:4318");
    return replace(&config->otlp_endpoint, text);
}

enum status agent_config_set_otlp_traces(struct agent_config *config, const char *text,
                                         struct parse_error *reterr)
{
    bool is_off = strcmp(text, "off") == 0;
    if (!is_off && strcmp(text, "on") != 0)
        return parse_fail(reterr, 1, "on or off is expected, not \"%.60s\"", text);
    config->no_traces = is_off;
    return OK;
}

enum status agent_config_set_otlp_headers(struct agent_config *config, const char *text,
                                          struct parse_error *reterr)
{
    struct job_pairs headers;
    const char *why;
    enum status st = otlp_headers_parse(text, &headers, &why);
    if (st == E_INVALID)
        return parse_fail(reterr, 1, "%s", why);
    job_pairs_release(&headers);
    return st == OK ? replace(&config->otlp_headers, text) : st;
}

enum status agent_config_set_heartbeat_url(struct agent_config *config, const char *text,
                                           struct parse_error *reterr)
{
    bool is_url = strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0;
    if (!is_url || text[strcspn(text, " \t#")])
        return parse_fail(reterr, 1, "expected a URL like https://hc-ping.com/UUID");
    return replace(&config->heartbeat_url, text);
}

enum status agent_config_set_heartbeat_every(struct agent_config *config, const char *text,
                                             struct parse_error *reterr)
{
    int64_t every_s;
    enum status st = duration_parse(text, 1, &every_s, reterr);
    if (st == OK && (every_s < 10 || every_s > 86400))
        return parse_fail(reterr, 1, "expected 10s to 1d");
    if (st == OK)
        config->heartbeat_every_s = every_s;
    return st;
}

enum status agent_config_set_history_spool(struct agent_config *config, const char *text,
                                           struct parse_error *reterr)
{
    return byte_size_parse(text, 1024 * 1024, INT64_MAX, &config->spool_bytes, reterr);
}

enum status agent_config_set_facades(struct agent_config *config, const char *text,
                                     struct parse_error *reterr)
{
    static const char *const words[] = {"dkron", "tutorial", NULL};
    char guess[80];
    unsigned facades = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ", ");
        unsigned facade = facade_by_name(at, length);
        if (length && !facade)
            return parse_fail(reterr, (int)(at - text) + 1,
                              "there is no facade \"%.*s\"; expected dkron or tutorial%s",
                              (int)length, at, print_guess(words, at, length, guess));
        facades |= facade;
        at += length + (at[length] != '\0');
    }
    config->facades = facades;
    return OK;
}

enum status agent_config_add_label(struct agent_config *config, const char *text,
                                   struct parse_error *reterr)
{
    enum status st = peer_add_label(config->labels, text);
    if (st == E_INVALID)
        return parse_fail(reterr, 0,
                          "a label is NAME=VALUE of letters, digits and ._/-, like zone=eu, "
                          "not \"%.60s\"",
                          text);
    if (st == E_TOO_LARGE)
        return parse_fail(reterr, 0, "the labels of a node take at most %zu letters",
                          sizeof(config->labels) - 1);
    return st;
}

enum status agent_config_set_default_user(struct agent_config *config, const char *text,
                                          struct parse_error *reterr)
{
    if (!*text || text[strcspn(text, ":/ \t\r\n")])
        return parse_fail(reterr, 1, "the name of a user is expected");
    char *copy = strdup(text);
    if (!copy)
        return E_NOMEM;
    free(config->default_user);
    config->default_user = copy;
    return OK;
}

enum status agent_config_set_sandbox(struct agent_config *config, const char *text,
                                     struct parse_error *reterr)
{
    bool is_off = strcmp(text, "off") == 0;
    if (!is_off && strcmp(text, "on") != 0)
        return parse_fail(reterr, 1, "on or off is expected, not \"%.60s\"", text);
    config->has_sandbox = true;
    config->no_sandbox = is_off;
    return OK;
}

enum status agent_config_set_log_format(struct agent_config *config, const char *text,
                                        struct parse_error *reterr)
{
    bool is_json = strcmp(text, "json") == 0;
    if (!is_json && strcmp(text, "text") != 0)
        return parse_fail(reterr, 1, "text or json is expected, not \"%.60s\"", text);
    config->json_log = is_json;
    return OK;
}
