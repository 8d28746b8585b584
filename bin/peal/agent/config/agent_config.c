#include "config/agent_config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "byte_size.h"
#include "duration.h"
#include "peer.h"
#include "pg.h"
#include "redis.h"

enum { LINE_BYTES_MAX = 65536 };

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
    free(config->otlp_endpoint);
    free(config->otlp_headers);
    free(config->notify_ca);
    free(config->tls_cert);
    free(config->tls_key);
    store_url_release(&config->store);
    free(config->history);
    release_access(&config->etcd);
    release_access(&config->redis);
    quotas_release(&config->quotas);
    for (size_t i = 0; i < SETTINGS_MAX; i++) {
        free(config->given[i].text);
        free(config->given[i].origin);
    }
    *config = (struct agent_config){0};
}

/* ---- values ---- */

static enum status replace(char **member, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return E_NOMEM;
    free(*member);
    *member = copy;
    return OK;
}

static enum status take_number(const char *name, const char *text, int64_t *ret,
                               struct parse_error *reterr)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || !isdigit((unsigned char)*text) || *end || value > INT32_MAX)
        return parse_fail(reterr, 0, "%s is a number from 0 to %d, not \"%.60s\"", name, INT32_MAX,
                          text);
    *ret = value;
    return OK;
}

/* "team=500" */
enum status agent_config_set_namespace(struct agent_config *config, const char *text,
                                       struct parse_error *reterr)
{
    const char *value = strrchr(text, '=');
    int64_t jobs = 0;
    char name[256];
    if (!value || (size_t)(value - text) >= sizeof(name))
        return parse_fail(reterr, 0, "a namespace has one number of jobs, not %s", text);
    snprintf(name, sizeof(name), "%.*s", (int)(value - text), text);
    enum status st = take_number(name, value + 1, &jobs, reterr);
    return st == OK ? quotas_set_namespace(&config->quotas, name, jobs, reterr) : st;
}

static enum status take(struct agent_config *config, const struct setting *setting,
                        const char *text, struct parse_error *reterr)
{
    void *member = (char *)config + setting->offset;
    int64_t number = 0;
    enum status st = OK;
    switch (setting->kind) {
    case SETTING_PATH:
        if (text[0] != '/')
            return parse_fail(reterr, 0, "%s must be an absolute path, not \"%s\"",
                              setting_leaf(setting), text);
        return replace(member, text);
    case SETTING_TEXT:
        return replace(member, text);
    case SETTING_INT:
        st = take_number(setting_leaf(setting), text, &number, reterr);
        if (st == OK)
            *(int *)member = (int)number;
        return st;
    case SETTING_COUNT:
        return take_number(setting_leaf(setting), text, member, reterr);
    case SETTING_SPAN:
        return duration_parse(text, 1, member, reterr);
    case SETTING_SIZE:
        return byte_size_parse(text, 0, INT64_MAX, member, reterr);
    case SETTING_OWN:
    case SETTING_PAIRS:
        break;
    }
    return setting->set(config, text, reterr);
}

/* "zone=eu,disk=ssd" and "zone=us": the pairs of other names, and the new one. */
static void join_pairs(const char *pairs, const char *added, struct strbuf *out)
{
    size_t name = strcspn(added, "=");
    for (const char *at = pairs ? pairs : ""; *at;) {
        size_t length = strcspn(at, ",");
        if (strcspn(at, "=,") != name || strncmp(at, added, name) != 0)
            strbuf_addf(out, "%.*s,", (int)length, at);
        at += length + (at[length] != '\0');
    }
    strbuf_adds(out, added);
}

/* Each of the pairs may come from elsewhere; the last one's origin is kept. */
static enum status note(struct agent_config *config, const struct setting *setting,
                        const char *text, const char *origin)
{
    struct setting_given *given = &config->given[setting_index(setting)];
    struct strbuf value;
    strbuf_init(&value);
    if (setting->kind == SETTING_PAIRS)
        join_pairs(given->text, text, &value);
    else
        strbuf_adds(&value, text);
    enum status st = strbuf_status(&value);
    if (st == OK)
        st = replace(&given->text, value.text);
    strbuf_release(&value);
    return st == OK ? replace(&given->origin, origin) : st;
}

enum status agent_config_give(struct agent_config *config, const struct setting *setting,
                              const char *text, const char *origin, struct parse_error *reterr)
{
    enum status st = take(config, setting, text, reterr);
    return st == OK ? note(config, setting, text, origin) : st;
}

/* "zone=eu,disk=ssd" */
static enum status give_pairs(struct agent_config *config, const struct setting *setting,
                              const struct setting_found *found, struct parse_error *reterr)
{
    enum status st = OK;
    char *copy = strdup(found->text), *rest = NULL;
    if (!copy)
        return E_NOMEM;
    for (char *pair = strtok_r(copy, ", ", &rest); pair && st == OK;
         pair = strtok_r(NULL, ", ", &rest))
        st = agent_config_give(config, setting, pair, found->variable, reterr);
    free(copy);
    return st;
}

const char *agent_config_origin(const struct agent_config *config, const struct setting *setting)
{
    return config->given[setting_index(setting)].origin;
}

const char *agent_config_value(const struct agent_config *config, const struct setting *setting)
{
    const char *text = config->given[setting_index(setting)].text;
    return text ? text : setting->initial;
}

/* ---- the environment ---- */

static enum status check_line(const char *line, const char *path, struct parse_error *reterr)
{
    size_t length = strcspn(line, "\r\n");
    if (!length)
        return parse_fail(reterr, 0, "can't read a value from %s: %s", path,
                          "its first line is empty");
    if (length + 1 == LINE_BYTES_MAX)
        return parse_fail(reterr, 0, "can't read a value from %s: %s", path,
                          "its first line is too long");
    return OK;
}

/* The first line of a file, without its end. */
static enum status read_line(const char *path, char **ret, struct parse_error *reterr)
{
    char *line = malloc(LINE_BYTES_MAX);
    FILE *file = line ? fopen(path, "re") : NULL;
    enum status st = line ? OK : E_NOMEM;
    if (line && (!file || !fgets(line, LINE_BYTES_MAX, file)))
        st = parse_fail(reterr, 0, "can't read a value from %s: %s", path,
                        file && !ferror(file) ? "it is empty" : strerror(errno));
    else if (line)
        st = check_line(line, path, reterr);
    if (file)
        fclose(file);
    if (st == OK) {
        line[strcspn(line, "\r\n")] = '\0';
        *ret = line;
        line = NULL;
    }
    free(line);
    return st;
}

/* `text` is the caller's; NULL: none is set. */
static enum status find_variable(const struct setting *setting, struct setting_found *ret,
                                 struct parse_error *reterr)
{
    *ret = (struct setting_found){0};
    setting_variable(setting, ret->variable);
    const char *text = getenv(ret->variable);
    if (text && *text) {
        ret->text = strdup(text);
        return ret->text ? OK : E_NOMEM;
    }
    strncat(ret->variable, "_FILE", sizeof(ret->variable) - strlen(ret->variable) - 1);
    const char *path = setting_of_variable(ret->variable) ? NULL : getenv(ret->variable);
    if (path && *path)
        return read_line(path, &ret->text, reterr);
    text = setting->standard ? getenv(setting->standard) : NULL;
    if (!text || !*text)
        return OK;
    snprintf(ret->variable, sizeof(ret->variable), "%s", setting->standard);
    ret->text = strdup(text);
    return ret->text ? OK : E_NOMEM;
}

/* $PEAL_DEFAULT_USER is meant for an agent of root. $PEAL_DATA may be relative, and the folder is
 * found by data_folder_find. */
static bool has_variable(const struct setting *setting)
{
    return strcmp(setting->name, "data") != 0 &&
           (strcmp(setting->name, "default_user") != 0 || geteuid() == 0);
}

enum status agent_config_take_variable(struct agent_config *config, const struct setting *setting,
                                       struct setting_found *ret, struct parse_error *reterr)
{
    *ret = (struct setting_found){0};
    if (agent_config_origin(config, setting) || !has_variable(setting))
        return OK;
    enum status st = find_variable(setting, ret, reterr);
    if (st == OK && ret->text)
        st = setting->kind == SETTING_PAIRS
                 ? give_pairs(config, setting, ret, reterr)
                 : agent_config_give(config, setting, ret->text, ret->variable, reterr);
    return st;
}

/* ---- again ---- */

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Where the files and the variables say nothing, the next start finds the folder, and its store and
 * history, as this one has. */
static bool is_found_again(const struct agent_config *old, const struct setting *setting)
{
    const char *origin = agent_config_origin(old, setting);
    bool is_folder = strcmp(setting->name, "data") == 0;
    return strcmp(setting->name, "store") == 0 || strcmp(setting->name, "history") == 0 ||
           (is_folder && origin && strcmp(origin, "PEAL_DATA") == 0);
}

/* Is the value that the files and the variables have now another one? An option goes before them.
 */
static bool is_changed(const struct agent_config *old, const struct agent_config *fresh,
                       const struct setting *setting)
{
    const char *origin = agent_config_origin(old, setting);
    if (origin && strncmp(origin, "--", 2) == 0)
        return false;
    if (!agent_config_origin(fresh, setting) && is_found_again(old, setting))
        return false;
    return !is_same(agent_config_value(old, setting), agent_config_value(fresh, setting));
}

static void print_reload(const struct agent_config *old, const struct agent_config *fresh,
                         struct config_reload *ret)
{
    for (const struct setting *each = settings; each->name; each++) {
        const char *value = agent_config_value(fresh, each);
        if (!is_changed(old, fresh, each))
            continue;
        struct strbuf *out = each->reloads ? &ret->taken : &ret->later;
        strbuf_addf(out, "%s%s", out->length ? ", " : "", each->name);
        if (each->reloads)
            strbuf_addf(out, "=%s", value ? value : "");
    }
}

/* Exchanges what the two have of a setting. */
static void exchange_given(struct agent_config *a, struct agent_config *b,
                           const struct setting *setting)
{
    struct setting_given *mine = &a->given[setting_index(setting)];
    struct setting_given *other = &b->given[setting_index(setting)];
    const struct setting_given old = *mine;
    *mine = *other;
    *other = old;
}

static void exchange_text(char **a, char **b)
{
    char *old = *a;
    *a = *b;
    *b = old;
}

/* What is old is released with `fresh`. */
static void take_over(struct agent_config *config, struct agent_config *fresh)
{
    exchange_text(&config->timezone, &fresh->timezone);
    exchange_text(&config->http_allow, &fresh->http_allow);
    config->max_running = fresh->max_running;
    config->keep_runs = fresh->keep_runs;
    config->keep_s = fresh->keep_s;
    config->keep_bytes = fresh->keep_bytes;
    config->total_bytes = fresh->total_bytes;
    config->audit_s = fresh->audit_s;
    config->stats_s = fresh->stats_s;
    const struct quotas old = config->quotas;
    config->quotas = fresh->quotas;
    fresh->quotas = old;
    for (const struct setting *each = settings; each->name; each++) {
        if (each->reloads)
            exchange_given(config, fresh, each);
    }
}

/* The variables for what the file leaves open, as at the start. */
static enum status take_variables(struct agent_config *config, struct strbuf *why)
{
    enum status st = OK;
    for (const struct setting *each = settings; each->name && st == OK; each++) {
        struct parse_error err = {0};
        struct setting_found found;
        st = agent_config_take_variable(config, each, &found, &err);
        if (st == E_INVALID)
            strbuf_addf(why, "%s: %s", found.variable, err.message);
        free(found.text);
    }
    return st;
}

enum status agent_config_reload(struct agent_config *config, struct config_reload *ret,
                                struct strbuf *why)
{
    struct agent_config fresh;
    agent_config_init(&fresh);
    enum status st = OK;
    if (config->file)
        st = replace(&fresh.file, config->file);
    if (st == OK && fresh.file)
        st = agent_config_read(&fresh, why);
    if (st == OK)
        st = take_variables(&fresh, why);
    if (st == OK) {
        print_reload(config, &fresh, ret);
        take_over(config, &fresh);
    }
    agent_config_release(&fresh);
    return st;
}
