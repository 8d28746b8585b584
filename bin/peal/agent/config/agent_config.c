#include "config/agent_config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "byte_size.h"
#include "definition/job_fields.h"
#include "document/node.h"
#include "duration.h"
#include "peer.h"
#include "pg.h"
#include "redis.h"

enum { FILE_BYTES_MAX = 1024 * 1024, KEYS_MAX = 31 };

void agent_config_init(struct agent_config *config)
{
    *config = (struct agent_config){
        .keep_runs = 1000,
        .keep_s = 90 * 86400,
        .audit_s = 400 * 86400,
        .stats_s = 400 * 86400,
        .roles = PEER_API | PEER_WORKER,
        .quotas = {.jobs = 1000000,
                   .namespace_jobs = 100000,
                   .bytes = INT64_C(512) << 20,
                   .streams = 500},
    };
}

static kv_opener *find_opener(void *context, enum store_kind kind, struct strbuf *why)
{
    static kv_opener *const linked[] = {
        [STORE_OF_POSTGRES] = pg_client_new, [STORE_OF_REDIS] = redis_client_new};
    (void)context;
    (void)why; /* all are there */
    return linked[kind];
}

struct store_access agent_config_store(const struct agent_config *config)
{
    return (struct store_access){.url = &config->store,
                                 .etcd = &config->etcd,
                                 .redis = &config->redis,
                                 .config_file = config->file,
                                 .find_opener = find_opener};
}

static void release_access(struct server_access *access)
{
    free(access->user);
    free(access->password_file);
    free(access->ca_file);
    free(access->cert_file);
    free(access->key_file);
}

void agent_config_release(struct agent_config *config)
{
    free(config->data);
    free(config->log_file);
    free(config->options);
    free(config->file);
    free(config->timezone);
    free(config->allow_file);
    free(config->secrets_dir);
    free(config->secret_key);
    free(config->default_user);
    free(config->listen);
    free(config->peer_listen);
    free(config->hosts);
    free(config->trusted_proxies);
    free(config->http_allow);
    free(config->public_url);
    free(config->heartbeat_url);
    free(config->notify_ca);
    free(config->tls_cert);
    free(config->tls_key);
    store_url_release(&config->store);
    free(config->history);
    release_access(&config->etcd);
    release_access(&config->redis);
    quotas_release(&config->quotas);
    *config = (struct agent_config){0};
}

/* A file that is being read, for messages. */
struct reader {
    struct agent_config *config;
    struct strbuf *why;
};

static enum status complain(const struct reader *reader, const struct node *node,
                            const char *format, ...) __attribute__((format(printf, 3, 4)));

static enum status complain(const struct reader *reader, const struct node *node,
                            const char *format, ...)
{
    va_list args;
    strbuf_addf(reader->why, "%s:%d:%d: ", reader->config->file, node->line, node->column);
    va_start(args, format);
    strbuf_addv(reader->why, format, args);
    va_end(args);
    return E_INVALID;
}

/* ---- values ---- */

enum value_kind {
    VALUE_PATH,
    VALUE_TEXT,
    VALUE_NUMBER,
    VALUE_COUNT,
    VALUE_SPAN,
    VALUE_SIZE,
    VALUE_OWN, /* checked by `set` */
    VALUE_LABELS,
    VALUE_NAMESPACES, /* of quotas */
    VALUE_MAP,
};

typedef enum status set_value(struct agent_config *config, const char *text,
                              struct parse_error *reterr);

struct key {
    const char *name; /* NULL ends a table */
    enum value_kind kind;
    size_t offset; /* in struct agent_config */
    const struct key *keys;
    set_value *set;
};

#define AT(member) offsetof(struct agent_config, member)

static const struct key retention_keys[] = {
    {"runs", VALUE_COUNT, AT(keep_runs), NULL, NULL},
    {"age", VALUE_SPAN, AT(keep_s), NULL, NULL},
    {"bytes", VALUE_SIZE, AT(keep_bytes), NULL, NULL},
    {"total", VALUE_SIZE, AT(total_bytes), NULL, NULL},
    {"audit", VALUE_SPAN, AT(audit_s), NULL, NULL},
    {"stats", VALUE_SPAN, AT(stats_s), NULL, NULL},
    {0},
};

static const struct key etcd_keys[] = {
    {"user", VALUE_TEXT, AT(etcd.user), NULL, NULL},
    {"password_file", VALUE_PATH, AT(etcd.password_file), NULL, NULL},
    {"ca", VALUE_PATH, AT(etcd.ca_file), NULL, NULL},
    {"cert", VALUE_PATH, AT(etcd.cert_file), NULL, NULL},
    {"key", VALUE_PATH, AT(etcd.key_file), NULL, NULL},
    {0},
};

static const struct key redis_keys[] = {
    {"user", VALUE_TEXT, AT(redis.user), NULL, NULL},
    {"password_file", VALUE_PATH, AT(redis.password_file), NULL, NULL},
    {"ca", VALUE_PATH, AT(redis.ca_file), NULL, NULL},
    {"cert", VALUE_PATH, AT(redis.cert_file), NULL, NULL},
    {"key", VALUE_PATH, AT(redis.key_file), NULL, NULL},
    {0},
};

static const struct key tls_keys[] = {
    {"cert", VALUE_PATH, AT(tls_cert), NULL, NULL},
    {"key", VALUE_PATH, AT(tls_key), NULL, NULL},
    {0},
};

static const struct key quota_keys[] = {
    {"jobs", VALUE_COUNT, AT(quotas.jobs), NULL, NULL},
    {"namespace_jobs", VALUE_COUNT, AT(quotas.namespace_jobs), NULL, NULL},
    {"namespaces", VALUE_NAMESPACES, 0, NULL, NULL},
    {"definitions", VALUE_SIZE, AT(quotas.bytes), NULL, NULL},
    {"streams", VALUE_COUNT, AT(quotas.streams), NULL, NULL},
    {0},
};

static const struct key top_keys[] = {
    {"data", VALUE_PATH, AT(data), NULL, NULL},
    {"log", VALUE_PATH, AT(log_file), NULL, NULL},
    {"timezone", VALUE_TEXT, AT(timezone), NULL, NULL},
    {"max_running", VALUE_NUMBER, AT(max_running), NULL, NULL},
    {"retention", VALUE_MAP, 0, retention_keys, NULL},
    {"quotas", VALUE_MAP, 0, quota_keys, NULL},
    {"allow_users", VALUE_PATH, AT(allow_file), NULL, NULL},
    {"default_user", VALUE_OWN, 0, NULL, agent_config_set_default_user},
    {"secrets_dir", VALUE_PATH, AT(secrets_dir), NULL, NULL},
    {"secret_key", VALUE_PATH, AT(secret_key), NULL, NULL},
    {"sandbox", VALUE_OWN, 0, NULL, agent_config_set_sandbox},
    {"store", VALUE_OWN, 0, NULL, agent_config_set_store},
    {"history", VALUE_OWN, 0, NULL, agent_config_set_history},
    {"etcd", VALUE_MAP, 0, etcd_keys, NULL},
    {"redis", VALUE_MAP, 0, redis_keys, NULL},
    {"role", VALUE_OWN, 0, NULL, agent_config_set_role},
    {"node_id", VALUE_OWN, 0, NULL, agent_config_set_node_id},
    {"labels", VALUE_LABELS, 0, NULL, NULL},
    {"capacity", VALUE_OWN, 0, NULL, agent_config_set_capacity},
    {"address", VALUE_OWN, 0, NULL, agent_config_set_address},
    {"listen", VALUE_OWN, 0, NULL, agent_config_set_listen},
    {"peer_listen", VALUE_OWN, 0, NULL, agent_config_set_peer_listen},
    {"hosts", VALUE_TEXT, AT(hosts), NULL, NULL},
    {"trusted_proxies", VALUE_OWN, 0, NULL, agent_config_set_proxies},
    {"http_allow", VALUE_OWN, 0, NULL, agent_config_set_http_allow},
    {"public_url", VALUE_OWN, 0, NULL, agent_config_set_public_url},
    {"heartbeat_url", VALUE_OWN, 0, NULL, agent_config_set_heartbeat_url},
    {"heartbeat_every", VALUE_OWN, 0, NULL, agent_config_set_heartbeat_every},
    {"notify_ca", VALUE_PATH, AT(notify_ca), NULL, NULL},
    {"facades", VALUE_OWN, 0, NULL, agent_config_set_facades},
    {"tls", VALUE_MAP, 0, tls_keys, NULL},
    {0},
};

static enum status read_map(const struct reader *reader, const struct key *keys,
                            const struct node *map);

static enum status read_number(const struct reader *reader, const struct key *key,
                               const struct node *node, int64_t *ret)
{
    char *end;
    errno = 0;
    long long value = strtoll(node->text, &end, 10);
    if (errno || end == node->text || *end || value < 0 || value > INT32_MAX)
        return complain(reader, node, "%s is a number, 0 or more, not \"%s\"", key->name,
                        node->text);
    *ret = value;
    return OK;
}

static enum status read_text(const struct node *node, char **member)
{
    char *copy = strdup(node->text);
    if (!copy)
        return E_NOMEM;
    free(*member);
    *member = copy;
    return OK;
}

static enum status read_scalar(const struct reader *reader, const struct key *key,
                               const struct node *node, void *member)
{
    struct parse_error err;
    int64_t number = 0;
    enum status st = OK;
    switch (key->kind) {
    case VALUE_PATH:
        if (node->text[0] != '/')
            return complain(reader, node, "%s must be an absolute path, not \"%s\"", key->name,
                            node->text);
        return read_text(node, member);
    case VALUE_TEXT:
        return read_text(node, member);
    case VALUE_NUMBER:
        st = read_number(reader, key, node, &number);
        if (st == OK)
            *(int *)member = (int)number;
        return st;
    case VALUE_COUNT:
        return read_number(reader, key, node, member);
    case VALUE_SPAN:
        if (duration_parse(node->text, 1, member, &err) == OK)
            return OK;
        return complain(reader, node, "%s: %s", key->name, err.message);
    case VALUE_SIZE:
        if (byte_size_parse(node->text, 0, INT64_MAX, member, &err) == OK)
            return OK;
        return complain(reader, node, "%s: %s", key->name, err.message);
    case VALUE_OWN:
        st = key->set(reader->config, node->text, &err);
        return st == E_INVALID ? complain(reader, node, "%s: %s", key->name, err.message) : st;
    case VALUE_LABELS:
    case VALUE_NAMESPACES:
    case VALUE_MAP:
        break;
    }
    return complain(reader, node, "%s is a map", key->name);
}

static enum status read_labels(const struct reader *reader, const struct node *map)
{
    enum status st = OK;
    if (map->kind == NODE_NULL)
        return OK;
    if (map->kind != NODE_MAP)
        return complain(reader, map, "labels are names and values, like zone: eu, not %s",
                        node_describe(map));
    for (const struct entry *entry = map->entries; entry && st == OK; entry = entry->next) {
        bool has_value = entry->value->kind == NODE_SCALAR && *entry->value->text;
        struct parse_error err;
        struct strbuf label;
        if (entry->value->kind != NODE_SCALAR && entry->value->kind != NODE_NULL)
            return complain(reader, entry->value, "a label has one value, not %s",
                            node_describe(entry->value));
        strbuf_init(&label);
        strbuf_addf(&label, "%s%s%s", entry->key->text, has_value ? "=" : "",
                    has_value ? entry->value->text : "");
        st = strbuf_status(&label);
        if (st == OK)
            st = agent_config_add_label(reader->config, label.text, &err);
        if (st == E_INVALID)
            st = complain(reader, entry->key, "%s", err.message);
        strbuf_release(&label);
    }
    return st;
}

/* Quotas of namespaces. */
static enum status read_namespaces(const struct reader *reader, const struct key *key,
                                   const struct node *map)
{
    enum status st = OK;
    if (map->kind == NODE_NULL)
        return OK;
    if (map->kind != NODE_MAP)
        return complain(reader, map, "%s are namespaces and numbers, like team: 500, not %s",
                        key->name, node_describe(map));
    for (const struct entry *entry = map->entries; entry && st == OK; entry = entry->next) {
        struct parse_error err;
        int64_t jobs = 0;
        if (entry->value->kind != NODE_SCALAR)
            return complain(reader, entry->value, "a namespace has one number of jobs, not %s",
                            node_describe(entry->value));
        st = read_number(reader, &(struct key){.name = entry->key->text}, entry->value, &jobs);
        if (st != OK)
            return st;
        st = quotas_set_namespace(&reader->config->quotas, entry->key->text, jobs, &err);
        if (st == E_INVALID)
            st = complain(reader, entry->key, "%s", err.message);
    }
    return st;
}

static enum status read_value(const struct reader *reader, const struct key *key,
                              const struct node *node)
{
    if (key->kind == VALUE_MAP)
        return read_map(reader, key->keys, node);
    if (key->kind == VALUE_LABELS)
        return read_labels(reader, node);
    if (key->kind == VALUE_NAMESPACES)
        return read_namespaces(reader, key, node);
    if (node->kind != NODE_SCALAR)
        return complain(reader, node, "%s is one value, not %s", key->name, node_describe(node));
    return read_scalar(reader, key, node, (char *)reader->config + key->offset);
}

static enum status unknown_key(const struct reader *reader, const struct key *keys,
                               const struct node *node)
{
    const char *names[KEYS_MAX + 1] = {0};
    for (size_t i = 0; i < KEYS_MAX && keys[i].name; i++)
        names[i] = keys[i].name;
    const char *near = word_nearest(names, node->text);
    return near ? complain(reader, node, "unknown key \"%s\"; did you mean %s?", node->text, near)
                : complain(reader, node, "unknown key \"%s\"", node->text);
}

static enum status read_map(const struct reader *reader, const struct key *keys,
                            const struct node *map)
{
    enum status st = OK;
    if (map->kind == NODE_NULL)
        return OK;
    if (map->kind != NODE_MAP)
        return complain(reader, map, "a map of keys and values is expected here, not %s",
                        node_describe(map));
    for (const struct entry *entry = map->entries; entry && st == OK; entry = entry->next) {
        const struct key *key = keys;
        while (key->name && strcmp(key->name, entry->key->text) != 0)
            key++;
        st = key->name ? read_value(reader, key, entry->value)
                       : unknown_key(reader, keys, entry->key);
    }
    return st;
}

/* ---- the file ---- */

static enum status load(const struct agent_config *config, struct strbuf *text, struct strbuf *why)
{
    char chunk[4096];
    size_t length;
    FILE *file = fopen(config->file, "re");
    if (!file) {
        enum status st = errno == ENOENT ? E_NOT_FOUND : E_IO;
        strbuf_addf(why, "can't read %s: %s", config->file, strerror(errno));
        return st;
    }
    while ((length = fread(chunk, 1, sizeof(chunk), file)) > 0 && text->length < FILE_BYTES_MAX)
        strbuf_add(text, chunk, length);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed || text->length >= FILE_BYTES_MAX) {
        strbuf_addf(why, "can't read %s: %s", config->file, failed ? strerror(errno) : "too large");
        return E_IO;
    }
    return strbuf_status(text);
}

enum status agent_config_read(struct agent_config *config, struct strbuf *why)
{
    struct reader reader = {config, why};
    struct parse_error err = {0};
    struct strbuf text;
    struct tree tree;
    const struct node *documents;
    strbuf_init(&text);
    tree_init(&tree);
    enum status st = load(config, &text, why);
    if (st != OK)
        goto out;
    st = tree_from_yaml(&tree, text.text, text.length, &documents, &err);
    if (st != OK) {
        strbuf_addf(why, "%s:%d:%d: %s", config->file, err.line, err.column, err.message);
        goto out;
    }
    if (documents->count > 1)
        st = complain(&reader, documents->entries->next->value, "one document is enough");
    else if (documents->count == 1)
        st = read_map(&reader, top_keys, documents->entries->value);
out:
    tree_release(&tree);
    strbuf_release(&text);
    return st;
}

enum status agent_config_reload(struct agent_config *config, struct strbuf *why)
{
    struct agent_config fresh;
    if (!config->file)
        return OK;
    agent_config_init(&fresh);
    fresh.file = strdup(config->file);
    enum status st = fresh.file ? agent_config_read(&fresh, why) : E_NOMEM;
    if (st == OK) {
        char *old = config->timezone;
        config->timezone = fresh.timezone;
        fresh.timezone = old;
        old = config->http_allow;
        config->http_allow = fresh.http_allow;
        fresh.http_allow = old;
        config->max_running = fresh.max_running;
        config->keep_runs = fresh.keep_runs;
        config->keep_s = fresh.keep_s;
        config->keep_bytes = fresh.keep_bytes;
        config->total_bytes = fresh.total_bytes;
        config->audit_s = fresh.audit_s;
        config->stats_s = fresh.stats_s;
        struct quotas old_quotas = config->quotas;
        config->quotas = fresh.quotas;
        fresh.quotas = old_quotas;
    }
    agent_config_release(&fresh);
    return st;
}
