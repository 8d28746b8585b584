/* One task of gocron as a job: the fields that it has alone, whatever it runs after. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "foreign/gocron.h"

enum { /* gocron's own values */
       PROTOCOL_HTTP = 1,
       PROTOCOL_SHELL = 2,
       METHOD_POST = 2,
       NOTIFY_ON_FAILURE = 1,
       NOTIFY_ON_END = 2,
       NOTIFY_ON_KEYWORD = 3,
       HTTP_SECONDS = 300, /* the most that an HTTP task gets, also without a timeout */
       HTTP_REDIRECTS = 10,
       SECONDS_MAX = 365 * 86400,
};

/* Of these a job has nothing, or the import itself looks at them. */
static const char *const known[] = {"id",
                                    "name",
                                    "level",
                                    "dependency_task_id",
                                    "dependency_status",
                                    "spec",
                                    "protocol",
                                    "command",
                                    "http_method",
                                    "timeout",
                                    "multi",
                                    "retry_times",
                                    "retry_interval",
                                    "notify_status",
                                    "notify_type",
                                    "notify_receiver_id",
                                    "notify_keyword",
                                    "tag",
                                    "remark",
                                    "status",
                                    "created",
                                    "deleted",
                                    "hosts",
                                    "next_run_time",
                                    NULL};

/* ---- values ---- */

static const struct node *field_of(const struct gocron_task *task, const char *field)
{
    return node_get(task->who.node, field);
}

const char *gocron_text(const struct gocron_task *task, const char *field)
{
    const struct node *node = field_of(task, field);
    return node && node->kind == NODE_SCALAR ? node->text : "";
}

static enum status lose(struct foreign_build *build, struct gocron_task *task,
                        const struct node *at, const char *field, const char *wanted)
{
    task->is_lost = true;
    return foreign_fail_field(build, &task->who, at, field, "expected %s, found %s", wanted,
                              node_describe(at));
}

enum status gocron_number(struct foreign_build *build, struct gocron_task *task, const char *field,
                          int64_t least, int64_t most, int64_t *inout)
{
    const struct node *node = field_of(task, field);
    char *end = NULL;
    if (!node || node->kind == NODE_NULL || task->is_lost)
        return OK;
    long long value = node->kind == NODE_SCALAR ? strtoll(node->text, &end, 10) : 0;
    if (!end || end == node->text || *end)
        return lose(build, task, node, field, "a number");
    *inout = value;
    if (value >= least && value <= most)
        return OK;
    task->is_lost = true;
    return foreign_fail_field(build, &task->who, node, field, "%lld is out of range", value);
}

/* The texts must be texts. */
static enum status check_texts(struct foreign_build *build, struct gocron_task *task)
{
    static const char *const texts[] = {"name", "dependency_task_id", "spec",   "command",
                                        "tag",  "notify_keyword",     "remark", NULL};
    for (const char *const *field = texts; *field; field++) {
        const struct node *node = field_of(task, *field);
        if (node && (node->kind == NODE_LIST || node->kind == NODE_MAP))
            return lose(build, task, node, *field, "a text");
    }
    return OK;
}

static bool is_one_of(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static bool is_unset(const struct node *node)
{
    return node->kind == NODE_NULL || (node->kind != NODE_SCALAR && !node->count) ||
           (node->kind == NODE_SCALAR &&
            (!*node->text ||
             (node->plain && (!strcmp(node->text, "0") || !strcmp(node->text, "false")))));
}

/* Of another version of gocron. */
static enum status note_unknown(struct foreign_build *build, const struct gocron_task *task)
{
    enum status st = OK;
    for (const struct entry *entry = task->who.node->entries; entry && st == OK;
         entry = entry->next) {
        if (!is_one_of(known, entry->key->text) && !is_unset(entry->value))
            st = foreign_note(build, &task->who, entry->key, FOREIGN_WARNING,
                              "unknown field \"%.60s\" is not converted", entry->key->text);
    }
    return st;
}

/* ---- the definition ---- */

/* Takes the value over. */
static enum status set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0 ? OK : E_NOMEM;
}

static enum status set_seconds(json_t *object, const char *name, int64_t seconds)
{
    struct strbuf text;
    strbuf_init(&text);
    duration_print(seconds, &text);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = set(object, name, json_string(text.text));
    strbuf_release(&text);
    return st;
}

/* A text in which nothing is a variable, as gocron has none. */
static enum status set_plain(json_t *object, const char *name, const char *text, size_t length)
{
    struct strbuf plain;
    char *part = strndup(text, length);
    strbuf_init(&plain);
    foreign_plain(part ? part : "", &plain);
    enum status st = part ? strbuf_status(&plain) : E_NOMEM;
    if (st == OK)
        st = set(object, name, json_string(plain.text));
    strbuf_release(&plain);
    free(part);
    return st;
}

/* A POST has the query as a form in its body: what is between the first and a second "?". */
static enum status set_post(json_t *http, const char *url)
{
    size_t length = strcspn(url, "?");
    const char *query = url[length] ? url + length + 1 : url + length;
    enum status st = set(http, "method", json_string("POST"));
    if (st == OK)
        st = set_plain(http, "url", url, length);
    if (st == OK)
        st = set(http, "headers",
                 json_pack("{s:s}", "Content-Type", "application/x-www-form-urlencoded"));
    return st == OK && *query ? set_plain(http, "body", query, strcspn(query, "?")) : st;
}

/* A success is 200 alone; redirects are followed, as Go's client does. */
static enum status set_http(json_t *definition, const struct gocron_task *task, int64_t method,
                            int64_t timeout_s)
{
    const char *url = gocron_text(task, "command");
    json_t *http = json_object();
    enum status st = http ? OK : E_NOMEM;
    if (st == OK)
        st = method == METHOD_POST ? set_post(http, url) : set_plain(http, "url", url, strlen(url));
    if (st == OK)
        st = set(http, "status", json_pack("[s]", "200"));
    if (st == OK)
        st = set(http, "redirects", json_integer(HTTP_REDIRECTS));
    if (st == OK)
        st = set(definition, "http", json_incref(http));
    json_decref(http);
    bool is_limited = timeout_s && timeout_s <= HTTP_SECONDS;
    return st == OK ? set_seconds(definition, "timeout", is_limited ? timeout_s : HTTP_SECONDS)
                    : st;
}

static enum status set_what(struct foreign_build *build, struct gocron_task *task,
                            json_t *definition)
{
    int64_t protocol = 0, method = 1, timeout_s = 0;
    enum status st =
        gocron_number(build, task, "protocol", PROTOCOL_HTTP, PROTOCOL_SHELL, &protocol);
    if (st == OK)
        st = gocron_number(build, task, "http_method", 0, METHOD_POST, &method);
    if (st == OK)
        st = gocron_number(build, task, "timeout", 0, SECONDS_MAX, &timeout_s);
    if (st != OK || task->is_lost)
        return st;
    if (!protocol) {
        task->is_lost = true;
        return foreign_note(build, &task->who, NULL, FOREIGN_ERROR,
                            "protocol is missing: 1 is HTTP, 2 is a shell command");
    }
    if (protocol == PROTOCOL_HTTP)
        return set_http(definition, task, method, timeout_s);
    st = set(definition, "shell", json_string(gocron_text(task, "command")));
    return st == OK && timeout_s ? set_seconds(definition, "timeout", timeout_s) : st;
}

/* Without an interval gocron waits 1, 2, 3 minutes and so on; doubling with the same first and
 * longest wait is the same for up to three. */
static enum status set_growing(struct foreign_build *build, const struct gocron_task *task,
                               json_t *retries, int64_t count)
{
    enum { MINUTE_S = 60, SAME_UP_TO = 3 };
    enum status st = set_seconds(retries, "wait", MINUTE_S);
    if (st == OK && count > 1)
        st = set(retries, "backoff", json_string("exponential"));
    if (st == OK && count > 1)
        st = set_seconds(retries, "max_wait", count * MINUTE_S);
    if (st != OK || count <= SAME_UP_TO)
        return st;
    return foreign_note(build, &task->who, field_of(task, "retry_times"), FOREIGN_INFO,
                        "gocron waits 1 to %lld minutes between its attempts, a minute more each "
                        "time; here each wait is twice the one before, up to %lld minutes",
                        (long long)count, (long long)count);
}

static enum status set_retries(struct foreign_build *build, struct gocron_task *task,
                               json_t *definition)
{
    int64_t count = 0, wait_s = 0;
    enum status st = gocron_number(build, task, "retry_times", 0, 100, &count);
    if (st == OK)
        st = gocron_number(build, task, "retry_interval", 0, 86400, &wait_s);
    if (st != OK || task->is_lost || !count)
        return st;
    json_t *retries = json_pack("{s:I}", "count", (json_int_t)count);
    if (!retries)
        return E_NOMEM;
    st = wait_s ? set_seconds(retries, "wait", wait_s) : set_growing(build, task, retries, count);
    if (st == OK)
        st = set(definition, "retries", json_incref(retries));
    json_decref(retries);
    return st;
}

/* ---- hosts ---- */

/* "web-1 (10.0.0.5:5921)" */
static void add_host(const struct node *host, struct strbuf *out)
{
    static const char *const fields[] = {"alias", "name", "port"};
    const char *texts[3];
    for (int i = 0; i < 3; i++) {
        const struct node *node = node_get(host, fields[i]);
        texts[i] = node && node->kind == NODE_SCALAR ? node->text : "";
    }
    strbuf_addf(out, "%s%s", out->length ? ", " : "", *texts[0] ? texts[0] : texts[1]);
    if (*texts[0])
        strbuf_addf(out, " (%s:%s)", texts[1], texts[2]);
}

/* gocron's hosts are addresses; which nodes of the cluster they are, if any, is not known here. */
static enum status note_hosts(struct foreign_build *build, const struct gocron_task *task,
                              const struct strbuf *hosts, size_t count)
{
    const struct node *at = field_of(task, "hosts");
    if (!count)
        return foreign_note(build, &task->who, at, FOREIGN_WARNING,
                            "has no hosts, so that gocron runs it nowhere; here it runs on one of "
                            "the nodes");
    if (count == 1)
        return foreign_note(build, &task->who, at, FOREIGN_WARNING,
                            "gocron runs it on the host %.120s, peal on any of its nodes: give "
                            "that node a label, and name it in the job's where",
                            hosts->text);
    return foreign_note(build, &task->who, at, FOREIGN_WARNING,
                        "gocron runs it on each of %zu hosts (%.120s), peal on one of its nodes: "
                        "give those nodes a label, name it in the job's where, and set spread: all",
                        count, hosts->text);
}

/* The remark, and the hosts, which are needed when `where` is written. */
static enum status set_notes(struct foreign_build *build, const struct gocron_task *task,
                             json_t *definition)
{
    const struct node *hosts = field_of(task, "hosts");
    const char *remark = gocron_text(task, "remark");
    bool has_hosts = json_object_get(definition, "shell") && hosts && hosts->kind == NODE_LIST;
    struct strbuf list, notes;
    enum status st = OK;
    strbuf_init(&list);
    strbuf_init(&notes);
    strbuf_adds(&notes, remark);
    if (has_hosts) {
        for (const struct entry *entry = hosts->entries; entry; entry = entry->next)
            add_host(entry->value, &list);
        if (hosts->count)
            strbuf_addf(&notes, "%sHosts in gocron: %s", *remark ? "\n" : "", list.text);
        st = strbuf_status(&list);
        if (st == OK)
            st = note_hosts(build, task, &list, hosts->count);
    }
    if (st == OK)
        st = strbuf_status(&notes);
    if (st == OK && notes.length)
        st = set(definition, "notes", json_string(notes.text));
    strbuf_release(&list);
    strbuf_release(&notes);
    return st;
}

/* ---- notifications ---- */

/* Receivers are rows of gocron's own settings, which a listing does not have. */
static enum status note_notify(struct foreign_build *build, struct gocron_task *task)
{
    static const char *const types[] = {"nothing", "mail", "Slack", "a webhook"};
    int64_t on = 0, type = 0;
    const struct node *at = field_of(task, "notify_status");
    enum status st = gocron_number(build, task, "notify_status", 0, NOTIFY_ON_KEYWORD, &on);
    if (st == OK)
        st = gocron_number(build, task, "notify_type", 0, 3, &type);
    if (st != OK || task->is_lost || !on)
        return st;
    if (on == NOTIFY_ON_FAILURE)
        return foreign_note(build, &task->who, at, FOREIGN_WARNING,
                            "gocron tells of failures by %s: make a channel with `peal channel "
                            "set`, and name it in the job's notify",
                            types[type]);
    if (on == NOTIFY_ON_END)
        return foreign_note(build, &task->who, at, FOREIGN_WARNING,
                            "gocron tells of every end by %s: make a channel with `peal channel "
                            "set`, and name it in the job's notify, on failure and success",
                            types[type]);
    return foreign_note(build, &task->who, at, FOREIGN_WARNING,
                        "gocron tells by %s of an output that holds \"%.60s\"; peal has no such "
                        "event: let the command fail then, and name a channel in the job's notify",
                        types[type], gocron_text(task, "notify_keyword"));
}

/* ---- the whole ---- */

static enum status set_rest(struct foreign_build *build, struct gocron_task *task,
                            json_t *definition)
{
    int64_t multi = 1, status = 1;
    const char *tag = gocron_text(task, "tag");
    enum status st = gocron_number(build, task, "multi", 0, 1, &multi);
    if (st == OK)
        st = gocron_number(build, task, "status", 0, 1, &status);
    if (st == OK)
        st = set(definition, "overlap", json_string(multi ? "allow" : "skip"));
    if (st == OK && !status)
        st = set(definition, "paused", json_true());
    if (st == OK && *tag)
        st = set(definition, "labels", json_pack("{s:s}", "tag", tag));
    if (st == OK && !status && task->is_child)
        st = foreign_note(build, &task->who, field_of(task, "status"), FOREIGN_WARNING,
                          "gocron runs a child task also if it is disabled; the job is paused: "
                          "resume it if it is to run");
    return st;
}

enum status gocron_definition(struct foreign_build *build, struct gocron_task *task, json_t **ret)
{
    static enum status (*const parts[])(struct foreign_build *, struct gocron_task *,
                                        json_t *) = {set_what, set_retries, set_rest};
    json_t *definition = json_object();
    enum status st = definition ? check_texts(build, task) : E_NOMEM;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && st == OK && !task->is_lost; i++)
        st = parts[i](build, task, definition);
    if (st == OK && !task->is_lost)
        st = note_notify(build, task);
    if (st == OK && !task->is_lost)
        st = set_notes(build, task, definition);
    if (st == OK && !task->is_lost)
        st = note_unknown(build, task);
    bool is_good = st == OK && !task->is_lost;
    *ret = is_good ? definition : NULL;
    if (!is_good)
        json_decref(definition);
    return st;
}

/* Where a field of the definition came from. */
static const struct node *at_field(const struct foreign_task *task, const char *path)
{
    static const struct {
        const char *ours, *theirs;
    } origins[] = {{"/schedule", "spec"}, {"/shell", "command"},      {"/http", "command"},
                   {"/labels", "tag"},    {"/notes", "remark"},       {"/timeout", "timeout"},
                   {"/name", "name"},     {"/retries", "retry_times"}};
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
        if (strncmp(path, origins[i].ours, strlen(origins[i].ours)) == 0)
            return node_get(task->node, origins[i].theirs);
    }
    return NULL;
}

const struct foreign_origin gocron_origin = {at_field};
