#include "node_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data_folder.h"
#include "kv/store_kv.h"

enum {
    PASSWORD_MAX = 1024,
    PROBE_MS = 4000, /* how long a start waits for the first answer */
};

/* ---- the password ---- */

static enum status read_password(const char *whose, const char *path, char **ret,
                                 struct strbuf *why)
{
    char line[PASSWORD_MAX] = "";
    struct stat info;
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &info) != 0) {
        strbuf_addf(why, "can't read %s's password from %s: %s", whose, path, strerror(errno));
        if (file)
            fclose(file);
        return E_IO;
    }
    bool is_open_to_all = info.st_mode & S_IRWXO;
    bool got = fgets(line, sizeof(line), file);
    fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    if (is_open_to_all || !got || !*line) {
        strbuf_addf(why,
                    is_open_to_all ? "every user can read %s, which holds a password: chmod 600 it"
                                   : "%s holds no password: write it on the first line",
                    path);
        return E_INVALID;
    }
    *ret = strdup(line);
    explicit_bzero(line, sizeof(line));
    return *ret ? OK : E_NOMEM;
}

static enum status find_password(const char *whose, const char *variable,
                                 const struct server_access *server, char **ret, struct strbuf *why)
{
    const char *given = getenv(variable);
    if (given && *given) {
        *ret = strdup(given);
        return *ret ? OK : E_NOMEM;
    }
    if (server->password_file)
        return read_password(whose, server->password_file, ret, why);
    *ret = NULL;
    return OK;
}

static void forget_password(char *password)
{
    if (password)
        explicit_bzero(password, strlen(password));
    free(password);
}

/* ---- the login ---- */

static enum status check_login(const struct store_access *access, const char *user,
                               const char *password, struct strbuf *why)
{
    const struct server_access *etcd = access->etcd;
    if (user && !password)
        strbuf_addf(why,
                    "etcd's user %s needs a password: etcd.password_file in the configuration, or "
                    "PEAL_ETCD_PASSWORD",
                    user);
    else if (!access->url->is_tls && (etcd->ca_file || etcd->cert_file || etcd->key_file))
        strbuf_adds(why, "certificates are configured, but the store is etcd://, without TLS: "
                         "write etcds://");
    else if (!etcd->cert_file != !etcd->key_file)
        strbuf_adds(why, "etcd.cert and etcd.key belong together: name both, or none");
    return why->length ? E_INVALID : OK;
}

enum status etcd_login_make(const struct store_access *access, struct etcd_login *ret,
                            struct strbuf *why)
{
    const struct store_url *url = access->url;
    const char *user = url->user ? url->user : access->etcd->user;
    char *password = NULL;
    enum status st =
        user ? find_password("etcd", "PEAL_ETCD_PASSWORD", access->etcd, &password, why) : OK;
    if (st == OK)
        st = check_login(access, user, password, why);
    if (st != OK) {
        free(password);
        return st;
    }
    *ret = (struct etcd_login){
        .password = password,
        .client = {.endpoints = (const char *const *)url->endpoints,
                   .endpoint_count = url->endpoint_count,
                   .user = user,
                   .password = password,
                   .ca_file = access->etcd->ca_file,
                   .cert_file = access->etcd->cert_file,
                   .key_file = access->etcd->key_file},
    };
    return OK;
}

void etcd_login_release(struct etcd_login *login)
{
    forget_password(login->password);
    *login = (struct etcd_login){0};
}

/* ---- a client ---- */

static enum status open_etcd(const struct store_access *access, struct loop *loop,
                             int64_t deadline_ms, struct kv_client **ret, struct strbuf *why)
{
    struct etcd_login login;
    struct parse_error error = {0};
    enum status st = etcd_login_make(access, &login, why);
    if (st != OK)
        return st;
    login.client.deadline_ms = deadline_ms;
    st = etcd_client_new(loop, &login.client, ret, &error);
    if (st != OK)
        strbuf_adds(why, error.message);
    etcd_login_release(&login);
    return st;
}

static enum status open_by_url(const struct store_access *access, struct loop *loop,
                               const struct kv_server *server, struct kv_client **ret,
                               struct strbuf *why)
{
    struct parse_error error = {0};
    kv_opener *open = access->find_opener(access->context, access->url->kind, why);
    if (!open)
        return E_INVALID;
    enum status st = open(loop, server, ret, &error);
    if (st != OK)
        strbuf_adds(why, error.message);
    return st;
}

/* libpq finds its credentials by itself. */
static enum status open_postgres(const struct store_access *access, struct loop *loop,
                                 int64_t deadline_ms, struct kv_client **ret, struct strbuf *why)
{
    const struct kv_server server = {.url = access->url->whole, .deadline_ms = deadline_ms};
    return open_by_url(access, loop, &server, ret, why);
}

static enum status open_redis(const struct store_access *access, struct loop *loop,
                              int64_t deadline_ms, struct kv_client **ret, struct strbuf *why)
{
    const struct server_access *redis = access->redis;
    char *password = NULL;
    if (!access->url->is_tls && (redis->ca_file || redis->cert_file || redis->key_file))
        strbuf_adds(why, "certificates are configured, but the store is redis://, without TLS: "
                         "write rediss://");
    else if (!redis->cert_file != !redis->key_file)
        strbuf_adds(why, "redis.cert and redis.key belong together: name both, or none");
    if (why->length)
        return E_INVALID;
    enum status st = find_password("Redis", "PEAL_REDIS_PASSWORD", redis, &password, why);
    const struct kv_server server = {.url = access->url->whole,
                                     .deadline_ms = deadline_ms,
                                     .user = redis->user,
                                     .password = password,
                                     .ca_file = redis->ca_file,
                                     .cert_file = redis->cert_file,
                                     .key_file = redis->key_file};
    if (st == OK)
        st = open_by_url(access, loop, &server, ret, why);
    forget_password(password);
    return st;
}

enum status node_kv_open(const struct store_access *access, struct loop *loop, int64_t deadline_ms,
                         struct kv_client **ret, struct strbuf *why)
{
    switch (access->url->kind) {
    case STORE_OF_ETCD:
        return open_etcd(access, loop, deadline_ms, ret, why);
    case STORE_OF_POSTGRES:
        return open_postgres(access, loop, deadline_ms, ret, why);
    case STORE_OF_REDIS:
        return open_redis(access, loop, deadline_ms, ret, why);
    case STORE_OF_SQLITE:
        break;
    }
    return E_INVALID;
}

/* ---- the store ---- */

struct probe {
    bool is_over;
    enum status status;
    struct strbuf *why;
};

static void on_probe(void *context, const struct kv_result *result)
{
    struct probe *probe = context;
    probe->is_over = true;
    probe->status = result->status == E_UNKNOWN ? E_UNREACHABLE : result->status;
    if (result->status != OK)
        strbuf_adds(probe->why, result->message);
}

/* Checks once that a server answers, accepts the login and can read the prefix: the store itself
 * retries for long, but a mistyped address should fail at once. */
static enum status knock(struct loop *loop, const struct store_access *access, struct strbuf *why)
{
    struct kv_client *client = NULL;
    struct probe probe = {.why = why};
    const struct kv_reply reply = {on_probe, &probe,
                                   access->patience_ms ? access->patience_ms : PROBE_MS};
    enum status st = node_kv_open(access, loop, 0, &client, why);
    if (st != OK)
        return st;
    struct strbuf key;
    strbuf_init(&key);
    strbuf_addf(&key, "%s/", access->url->prefix);
    const struct kv_range range = {
        .key = kv_text(key.text), .prefix = true, .keys_only = true, .limit = 1};
    st = kv_range(client, &range, &reply, NULL);
    while (st == OK && !probe.is_over)
        loop_run_once(loop);
    strbuf_release(&key);
    kv_client_free(client);
    return st == OK ? probe.status : st;
}

static void tell_not_opened(const struct store_access *access, enum status st, const char *problem,
                            struct strbuf *why)
{
    struct strbuf name;
    strbuf_init(&name);
    store_url_print(access->url, &name);
    strbuf_addf(why, "can't open the store %s: %s\nCheck it: peal doctor", name.text,
                *problem ? problem : status_text(st));
    if (access->config_file) /* has the user, the password and the certificates */
        strbuf_addf(why, " --config %s", access->config_file);
    strbuf_addf(why, " --store %s", name.text);
    strbuf_release(&name);
}

enum status node_store_try(const struct store_access *access, struct strbuf *why)
{
    struct strbuf problem;
    struct loop *loop = NULL;
    strbuf_init(&problem);
    enum status st = loop_new(&loop);
    if (st == OK)
        st = knock(loop, access, &problem);
    if (st != OK)
        tell_not_opened(access, st, problem.length ? problem.text : "", why);
    loop_free(loop);
    strbuf_release(&problem);
    return st;
}

enum status node_store_open(const struct store_access *access, struct loop *loop, const char *node,
                            const char *data, struct store_wake wake, struct store **ret,
                            struct strbuf *why)
{
    struct strbuf problem;
    char *revision_file = data ? data_folder_file(data, "store.revision") : NULL;
    struct store_kv_config config = {
        .prefix = access->url->prefix,
        .node = node,
        .revision_file = revision_file,
    };
    strbuf_init(&problem);
    enum status st = knock(loop, access, &problem);
    if (st == OK)
        st = node_kv_open(access, loop, 0, &config.client, &problem);
    if (st == OK)
        st = store_kv_open(loop, &config, wake, ret, &problem);
    if (st != OK)
        tell_not_opened(access, st, problem.length ? problem.text : "", why);
    strbuf_release(&problem);
    free(revision_file);
    return st;
}
