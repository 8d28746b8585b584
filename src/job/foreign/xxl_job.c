/* One job of XXL-JOB: the fields that it has alone. */
#include <stdlib.h>
#include <string.h>

#include "cron/cron_expr.h"
#include "duration.h"
#include "foreign/rows.h"
#include "foreign/xxl.h"

enum { SECONDS_MAX = 365 * 86400, RETRY_WAIT_S = 10 /* between looks at failed runs */ };

/* Read here or by xxl.c, or without a meaning for a job. */
static const char *const known[] = {"id",
                                    "job_group",
                                    "job_desc",
                                    "job_cron",
                                    "add_time",
                                    "update_time",
                                    "author",
                                    "alarm_email",
                                    "schedule_type",
                                    "schedule_conf",
                                    "misfire_strategy",
                                    "executor_route_strategy",
                                    "executor_handler",
                                    "executor_param",
                                    "executor_block_strategy",
                                    "executor_timeout",
                                    "executor_fail_retry_count",
                                    "executor_fail_strategy",
                                    "glue_type",
                                    "glue_source",
                                    "glue_remark",
                                    "glue_updatetime",
                                    "child_jobid",
                                    "trigger_status",
                                    "trigger_last_time",
                                    "trigger_next_time",
                                    NULL};

/* ---- values ---- */

static enum status set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0 ? OK : E_NOMEM;
}

static enum status set_text(json_t *object, const char *name, const char *text)
{
    return set(object, name, json_string(text));
}

static enum status set_seconds(json_t *object, const char *name, int64_t seconds)
{
    struct strbuf text;
    strbuf_init(&text);
    duration_print(seconds, &text);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = set_text(object, name, text.text);
    strbuf_release(&text);
    return st;
}

static const char *text_of(const struct xxl_job *job, const char *column)
{
    return row_text(job->who.node, column);
}

static bool is(const struct xxl_job *job, const char *column, const char *word)
{
    return strcmp(text_of(job, column), word) == 0;
}

enum status xxl_number(struct foreign_build *build, struct xxl_job *job, const char *column,
                       int64_t least, int64_t most, int64_t *inout)
{
    const struct node *node = row_get(job->who.node, column);
    char *end;
    if (!node || job->is_lost || (node->kind == NODE_SCALAR && !*node->text))
        return OK;
    long long value = node->kind == NODE_SCALAR ? strtoll(node->text, &end, 10) : least - 1;
    if (node->kind == NODE_SCALAR && !*end && end != node->text && value >= least &&
        value <= most) {
        *inout = value;
        return OK;
    }
    job->is_lost = true;
    return foreign_fail_field(build, &job->who, node, column, "expected %s, found %s", "a number",
                              node_describe(node));
}

static enum status note(struct foreign_build *build, const struct xxl_job *job, const char *column,
                        enum foreign_severity severity, const char *text)
{
    return foreign_note(build, &job->who, row_get(job->who.node, column), severity, "%s", text);
}

/* ---- when ---- */

/* Quartz' expression in peal's words; an empty text, if it can't be read, which has been noted. */
static enum status convert_cron(struct foreign_build *build, struct xxl_job *job,
                                const char *column, struct strbuf *out)
{
    const struct node *node = row_get(job->who.node, column);
    struct cron_expr expr;
    struct parse_error err = {0};
    if (!*text_of(job, column)) {
        job->is_lost = true;
        return foreign_fail_field(build, &job->who, node, column, "the schedule is empty");
    }
    enum status st = cron_expr_parse(&expr, text_of(job, column), CRON_QUARTZ, NULL, &err);
    if (st == E_INVALID) {
        job->is_lost = true;
        return foreign_fail_field(build, &job->who, node, column, "%s (at column %d of the text)",
                                  err.message, err.column);
    }
    if (st == OK) {
        cron_expr_print(&expr, out);
        cron_expr_release(&expr);
    }
    return st == OK ? strbuf_status(out) : st;
}

static enum status convert_rate(struct foreign_build *build, struct xxl_job *job, const char *macro,
                                struct strbuf *out)
{
    int64_t seconds = 0;
    enum status st = xxl_number(build, job, "schedule_conf", 1, SECONDS_MAX, &seconds);
    if (st != OK || job->is_lost)
        return st;
    if (!seconds) {
        job->is_lost = true;
        return foreign_fail_field(build, &job->who, row_get(job->who.node, "schedule_conf"),
                                  "schedule_conf", "an interval is 1s or more");
    }
    strbuf_adds(out, macro);
    duration_print(seconds, out);
    return strbuf_status(out);
}

/* Before 2.3 a job had `job_cron` alone. *ret_any: it has a schedule. */
static enum status convert_schedule(struct foreign_build *build, struct xxl_job *job,
                                    struct strbuf *out, bool *ret_any)
{
    const char *type = text_of(job, "schedule_type");
    *ret_any = true;
    if (!*type && *text_of(job, "job_cron"))
        return convert_cron(build, job, "job_cron", out);
    if (strcmp(type, "CRON") == 0)
        return convert_cron(build, job, "schedule_conf", out);
    if (strcmp(type, "FIX_RATE") == 0)
        return convert_rate(build, job, "@every ", out);
    if (strcmp(type, "FIX_DELAY") == 0)
        return convert_rate(build, job, "@after ", out);
    *ret_any = false;
    if (!*type || strcmp(type, "NONE") == 0)
        return OK;
    job->is_lost = true;
    return foreign_fail_field(build, &job->who, row_get(job->who.node, "schedule_type"),
                              "schedule_type", "\"%.40s\" is not known: CRON, FIX_RATE or NONE",
                              type);
}

enum status xxl_schedule(struct foreign_build *build, struct xxl_job *job, json_t *definition,
                         bool *ret_any)
{
    struct strbuf text;
    int64_t status = 1;
    strbuf_init(&text);
    enum status st = convert_schedule(build, job, &text, ret_any);
    if (st == OK)
        st = xxl_number(build, job, "trigger_status", 0, 1, &status);
    if (st == OK && !job->is_lost && *ret_any)
        st = set_text(definition, "schedule", text.text);
    if (st == OK && !job->is_lost && *ret_any && !is(job, "misfire_strategy", "FIRE_ONCE_NOW"))
        st = set_text(definition, "catch_up", "skip");
    if (st == OK && !job->is_lost && *ret_any && !status)
        st = set(definition, "paused", json_true());
    strbuf_release(&text);
    return st;
}

/* ---- what ---- */

/* The programs that run a script of GLUE, from their standard input with the parameter behind. */
static const struct interpreter {
    const char *type, *program, *dash;
} interpreters[] = {{"GLUE_PYTHON", "python3", "-"},
                    {"GLUE_PHP", "php", "--"},
                    {"GLUE_NODEJS", "node", "-"},
                    {"GLUE_SHELL", "bash", "-s"}};

static enum status set_script(struct foreign_build *build, struct xxl_job *job,
                              const struct interpreter *how, json_t *definition)
{
    const char *source = text_of(job, "glue_source"), *param = text_of(job, "executor_param");
    bool is_shell = strcmp(how->type, "GLUE_SHELL") == 0;
    if (!*source) {
        job->is_lost = true;
        return note(build, job, "glue_source", FOREIGN_ERROR, "its script is empty");
    }
    if (is_shell && !*param)
        return set_text(definition, "shell", source);
    json_t *words = is_shell
                        ? json_pack("[s, s, s, s, s]", how->program, "-c", source, "glue", param)
                        : json_pack("[s, s, s]", how->program, how->dash, param);
    enum status st = set(definition, "command", words);
    return st == OK && !is_shell ? set_text(definition, "stdin", source) : st;
}

/* A method of the executor, which is Java. */
static enum status set_handler(struct foreign_build *build, struct xxl_job *job, json_t *definition)
{
    const char *handler = text_of(job, "executor_handler");
    const char *app = *job->app ? job->app : "executor";
    if (!*handler) {
        job->is_lost = true;
        return note(build, job, "executor_handler", FOREIGN_ERROR,
                    "executor_handler is missing: which method of the executor is it?");
    }
    enum status st =
        set(definition, "function", json_pack("{s:s, s:s}", "program", app, "name", handler));
    if (st == OK)
        st = foreign_note(build, &job->who, row_get(job->who.node, "executor_handler"),
                          FOREIGN_WARNING,
                          "the handler \"%.80s\" is a method of the executor: register it as a "
                          "function of the program \"%.60s\", or give the job a command or an HTTP "
                          "call",
                          handler, app);
    if (st == OK && *text_of(job, "executor_param"))
        st = foreign_note(build, &job->who, row_get(job->who.node, "executor_param"),
                          FOREIGN_WARNING,
                          "executor_param \"%.80s\" is not converted: a function has parameters by "
                          "name",
                          text_of(job, "executor_param"));
    return st;
}

static enum status set_what(struct foreign_build *build, struct xxl_job *job, json_t *definition)
{
    const char *type = text_of(job, "glue_type");
    if (!*type || strcmp(type, "BEAN") == 0)
        return set_handler(build, job, definition);
    for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
        if (strcmp(type, interpreters[i].type) == 0)
            return set_script(build, job, &interpreters[i], definition);
    }
    job->is_lost = true;
    return foreign_fail_field(build, &job->who, row_get(job->who.node, "glue_type"), "glue_type",
                              "\"%.40s\" runs only inside of an executor", type);
}

/* ---- how ---- */

static enum status set_overlap(struct foreign_build *build, struct xxl_job *job, json_t *definition)
{
    const char *policy = text_of(job, "executor_block_strategy");
    const char *overlap = !*policy || strcmp(policy, "SERIAL_EXECUTION") == 0 ? "queue"
                          : strcmp(policy, "COVER_EARLY") == 0                ? "replace"
                                                                              : "skip";
    if (*policy && strcmp(overlap, "skip") == 0 && strcmp(policy, "DISCARD_LATER") != 0)
        return note(build, job, "executor_block_strategy", FOREIGN_WARNING,
                    "the block strategy is not known: overlap is skip");
    return strcmp(overlap, "skip") == 0 ? OK : set_text(definition, "overlap", overlap);
}

/* On which executors. Where peal chooses in another way, nothing is lost but the choice. */
static enum status set_route(struct foreign_build *build, struct xxl_job *job, json_t *definition)
{
    static const struct {
        const char *theirs, *field, *ours;
    } routes[] = {{"", NULL, NULL},
                  {"CONSISTENT_HASH", NULL, NULL},
                  {"FAILOVER", NULL, NULL},
                  {"BUSYOVER", "place", "least_loaded"},
                  {"LEAST_FREQUENTLY_USED", "place", "least_loaded"},
                  {"LEAST_RECENTLY_USED", "place", "least_loaded"},
                  {"ROUND", "place", "least_loaded"},
                  {"RANDOM", "place", "least_loaded"},
                  {"SHARDING_BROADCAST", "spread", "all"}};
    const char *route = text_of(job, "executor_route_strategy");
    enum status st = OK;
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (strcmp(route, routes[i].theirs) != 0)
            continue;
        if (routes[i].field)
            st = set_text(definition, routes[i].field, routes[i].ours);
        if (st == OK && strcmp(route, "SHARDING_BROADCAST") == 0)
            st = note(build, job, "executor_route_strategy", FOREIGN_WARNING,
                      "SHARDING_BROADCAST: each node has a run, whose number and count are "
                      "PEAL_PART and PEAL_PARTS instead of the executor's shard index and total");
        return st;
    }
    return foreign_note(build, &job->who, row_get(job->who.node, "executor_route_strategy"),
                        FOREIGN_INFO,
                        "the route strategy %.40s is not converted: peal chooses the node, and "
                        "another one when that is gone",
                        route);
}

static enum status set_limits(struct foreign_build *build, struct xxl_job *job, json_t *definition)
{
    int64_t timeout_s = 0, retries = 0;
    enum status st = xxl_number(build, job, "executor_timeout", 0, SECONDS_MAX, &timeout_s);
    if (st == OK)
        st = xxl_number(build, job, "executor_fail_retry_count", 0, 100, &retries);
    if (st != OK || job->is_lost)
        return st;
    if (timeout_s)
        st = set_seconds(definition, "timeout", timeout_s);
    if (st == OK && retries) {
        json_t *map = json_pack("{s:I}", "count", (json_int_t)retries);
        st = map ? set_seconds(map, "wait", RETRY_WAIT_S) : E_NOMEM;
        if (st == OK)
            st = set(definition, "retries", json_incref(map));
        json_decref(map);
    }
    return st;
}

static enum status set_people(struct foreign_build *build, struct xxl_job *job, json_t *definition)
{
    const char *mail = text_of(job, "alarm_email");
    enum status st = OK;
    if (*text_of(job, "author"))
        st = set_text(definition, "owner", text_of(job, "author"));
    if (st == OK && *job->app)
        st = set(definition, "labels", json_pack("{s:s}", "executor", job->app));
    if (st == OK && *mail)
        st =
            foreign_note(build, &job->who, row_get(job->who.node, "alarm_email"), FOREIGN_WARNING,
                         "XXL-JOB mails failures to %.80s: make a channel with `peal channel set`, "
                         "and name it in the job's notify",
                         mail);
    return st;
}

static enum status note_unknown(struct foreign_build *build, const struct xxl_job *job)
{
    enum status st = OK;
    for (const struct entry *entry = job->who.node->entries; entry && st == OK;
         entry = entry->next) {
        const struct node *value = entry->value;
        bool is_unset =
            value->kind == NODE_NULL ||
            (value->kind == NODE_SCALAR && (!*value->text || strcmp(value->text, "0") == 0)) ||
            (value->kind != NODE_SCALAR && !value->count);
        const char *const *each = known;
        while (*each && !row_is_column(entry->key->text, *each))
            each++;
        if (!*each && !is_unset)
            st = foreign_note(build, &job->who, entry->key, FOREIGN_WARNING,
                              "unknown field \"%.60s\" is not converted", entry->key->text);
    }
    return st;
}

enum status xxl_definition(struct foreign_build *build, struct xxl_job *job, json_t **ret)
{
    static enum status (*const parts[])(struct foreign_build *, struct xxl_job *, json_t *) = {
        set_what, set_overlap, set_route, set_limits, set_people};
    json_t *definition = json_object();
    enum status st = definition ? OK : E_NOMEM;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && st == OK && !job->is_lost; i++)
        st = parts[i](build, job, definition);
    if (st == OK && !job->is_lost)
        st = note_unknown(build, job);
    bool is_good = st == OK && !job->is_lost;
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
    } origins[] = {{"/schedule", "schedule_conf"},
                   {"/shell", "glue_source"},
                   {"/command", "glue_source"},
                   {"/stdin", "glue_source"},
                   {"/function", "executor_handler"},
                   {"/timeout", "executor_timeout"},
                   {"/owner", "author"},
                   {"/retries", "executor_fail_retry_count"},
                   {"/name", "job_desc"}};
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
        if (strncmp(path, origins[i].ours, strlen(origins[i].ours)) == 0)
            return row_get(task->node, origins[i].theirs);
    }
    return NULL;
}

const struct foreign_origin xxl_origin = {at_field};
