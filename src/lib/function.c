#include "function.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "calls/command.h"
#include "clock.h"
#include "definition/job_codec.h"
#include "definition/job_digest.h"
#include "function/job_function.h"
#include "function_group.h"
#include "outside/process.h"

static const struct table_type by_name_type = {.key_at = offsetof(struct function, name),
                                               .is_pointer = true};
static const struct table_type groups_type = {.key_at = offsetof(struct function_group, definition),
                                              .is_pointer = true};
static const struct table_type former_type = {0}; /* texts */

/* ---- the definition, as text ---- */

static void add_text(struct strbuf *out, const char *field, const char *text)
{
    json_t *value = text ? json_string(text) : NULL;
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (text)
        strbuf_addf(out, "%s: %s\n", field, quoted ? quoted : "\"\\uFFFD\""); /* not UTF-8 */
    free(quoted);
    json_decref(value);
}

/* Milliseconds are refused where the field has whole seconds: not rounded in silence. */
static void add_duration(struct strbuf *out, const char *field, int64_t ms)
{
    if (ms)
        strbuf_addf(out, ms % 1000 ? "%s: %" PRId64 "ms\n" : "%s: %" PRId64 "s\n", field,
                    ms % 1000 ? ms : ms / 1000);
}

static const char *const overlap_words[] = {"skip", "allow", "queue", "replace"};
static const char *const catch_up_words[] = {"last", "skip", "all"};

/* The members of {...} as lines; any other text as it is. */
static enum status add_more(struct strbuf *out, const char *more, struct strbuf *why)
{
    json_error_t error;
    const char *name;
    json_t *value;
    if (more[strspn(more, " \t\r\n")] != '{') {
        strbuf_addf(out, "%s\n", more);
        return OK;
    }
    json_t *all = json_loads(more, JSON_REJECT_DUPLICATES, &error);
    if (!all) {
        strbuf_addf(why, ".more is not JSON: %s at column %d", error.text, error.column);
        return E_INVALID;
    }
    json_object_foreach (all, name, value) {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        strbuf_addf(out, "\"%s\": %s\n", name, text ? text : "null");
        free(text);
    }
    json_decref(all);
    return OK;
}

static enum status print_when(const peal_job *job, struct strbuf *out, struct strbuf *why)
{
    if (job->schedule && job->interval_ms) {
        strbuf_adds(why, "give a schedule or .interval_ms, not both");
        return E_INVALID;
    }
    if (job->schedule)
        add_text(out, "schedule", job->schedule);
    else if (job->interval_ms)
        strbuf_addf(out, "schedule: '@every %" PRId64 "%s'\n",
                    job->interval_ms % 1000 ? job->interval_ms : job->interval_ms / 1000,
                    job->interval_ms % 1000 ? "ms" : "s");
    else
        strbuf_adds(out, "schedule: '@manual'\n");
    return OK;
}

enum status function_print(const struct functions *functions, const peal_job *job, const char *more,
                           struct strbuf *out, struct strbuf *why)
{
    add_text(out, "name", job->name);
    enum status st = print_when(job, out, why);
    if (st != OK)
        return st;
    strbuf_addf(out, "function:\n  program: \"%s\"\n  version: %d\n", functions->program,
                functions->version);
    add_text(out, "  name", job->name); /* also when people rename the job */
    add_text(out, "timezone", job->tz);
    add_text(out, "where", job->where);
    add_duration(out, "timeout", job->timeout_ms);
    add_duration(out, "deadline", job->deadline_ms);
    add_duration(out, "jitter", job->jitter_ms);
    strbuf_addf(out, "overlap: %s\ncatch_up: %s\n", overlap_words[job->overlap],
                catch_up_words[job->catch_up]);
    if (job->retries)
        strbuf_addf(out, "retries: {count: %d, wait: %" PRId64 "%s}\n", job->retries,
                    job->retry_wait_ms % 1000 ? job->retry_wait_ms
                    : job->retry_wait_ms      ? job->retry_wait_ms / 1000
                                              : 10,
                    job->retry_wait_ms % 1000 ? "ms" : "s");
    return more ? add_more(out, more, why) : OK;
}

/* ---- one function ---- */

/* "FILE:LINE" behind the name. */
struct function *function_new(const char *name, const peal_job *job)
{
    const char *file = job->place ? job->place->file : "";
    size_t length = strlen(name), size = length + strlen(file) + sizeof(":-2147483648") + 1;
    struct function *function = calloc(1, sizeof(*function) + size);
    if (!function)
        return NULL;
    char *place = function->text + length + 1;
    memcpy(function->text, name, length + 1);
    if (job->place)
        snprintf(place, size - length - 1, "%s:%d", file, job->place->line);
    function->name = function->text;
    function->place = place;
    function->call = job->function;
    function->arg = job->arg;
    function->is_local = job->local;
    return function;
}

struct function *function_free(struct function *function)
{
    if (!function)
        return NULL;
    job_free(function->job);
    job_free(function->process);
    free(function);
    return NULL;
}

/* Where in the job, as a program's author knows it. */
static void tell_mistake(const struct job_error *error, struct strbuf *why)
{
    strbuf_adds(why, error->message);
    if (error->text_column)
        strbuf_addf(why, " (at character %d)", error->text_column);
}

static enum status decode(struct functions *functions, const struct strbuf *text, struct job **ret,
                          struct strbuf *why)
{
    struct job_list list;
    struct job_error error = {0};
    job_list_init(&list);
    enum status st = strbuf_status(text);
    if (st == OK)
        st = jobs_decode_text(text->text, text->length, functions->default_zone, functions->zones,
                              &list, &error);
    if (st != OK) {
        tell_mistake(&error, why);
    } else if (list.count != 1) {
        strbuf_adds(why, ".more has a job of its own");
        st = E_INVALID;
    } else {
        *ret = list.items[0];
        list.items[0] = NULL;
        list.count = 0;
    }
    job_list_release(&list);
    return st;
}

/* The start is part of what is registered: as a time, or as a length of time from then. */
static enum status set_start(struct function *function, const peal_job *job, int64_t now_ms)
{
    struct job *definition = function->job;
    char digest[JOB_DIGEST_TEXT];
    int64_t from_now_ms = -(job->start_ms + 1);
    if (job->start_ms < 0)
        definition->start_s = from_now_ms / 1000;
    else if (job->start_ms)
        definition->start_s = job->start_ms / 1000;
    enum status st = job_digest(definition, digest);
    if (st == OK && job->start_ms < 0)
        definition->start_s = (now_ms + from_now_ms + 999) / 1000;
    return st == OK ? job_set_text(&definition->function.digest, digest) : st;
}

enum status function_define(struct functions *functions, const peal_job *job,
                            struct function *function, struct strbuf *why)
{
    struct strbuf text, rest;
    bool is_process = job->command || job->http;
    strbuf_init(&text);
    strbuf_init(&rest);
    enum status st = is_process ? process_define(job, functions->tools, functions->zones, &rest,
                                                 &function->process, why)
                                : OK;
    if (st == OK)
        st = function_print(functions, job, is_process ? rest.text : job->more, &text, why);
    if (st == OK)
        st = decode(functions, &text, &function->job, why);
    strbuf_release(&text);
    strbuf_release(&rest);
    if (st == OK && !function->job->function.program) {
        strbuf_adds(why, ".more makes it another kind of job");
        st = E_INVALID;
    }
    if (st == OK)
        st = set_start(function, job, clock_now().wall.ms);
    if (is_process)
        function->call = command_call;
    return st;
}

/* ---- all of them ---- */

enum status functions_init(struct functions *functions, const char *program, int version,
                           const struct tools *tools, struct strbuf *why)
{
    struct strbuf zone;
    const char *complaint = program_complaint(program);
    if (complaint) {
        strbuf_addf(why, "this program is called \"%s\": %s; give another with .program", program,
                    complaint);
        return E_INVALID;
    }
    *functions = (struct functions){.version = version, .tools = tools};
    snprintf(functions->program, sizeof(functions->program), "%s", program);
    table_init(&functions->by_name, &by_name_type);
    table_init(&functions->groups, &groups_type);
    table_init(&functions->former, &former_type);
    STAILQ_INIT(&functions->fresh);
    pthread_mutex_init(&functions->lock, NULL);
    strbuf_init(&zone);
    enum status st = zone_db_new(NULL, &functions->zones);
    if (st == OK) {
        zone_db_local_name(functions->zones, &zone);
        st = strbuf_status(&zone);
    }
    if (st == OK && !(functions->default_zone = strdup(zone.text)))
        st = E_NOMEM;
    strbuf_release(&zone);
    if (st != OK)
        functions_release(functions);
    return st;
}

void functions_release(struct functions *functions)
{
    size_t at = 0;
    struct function *function;
    while ((function = table_next(&functions->by_name, &at)))
        function_free(function);
    table_release(&functions->by_name);
    at = 0;
    for (struct function_group *group; (group = table_next(&functions->groups, &at));)
        function_group_free(group);
    table_release(&functions->groups);
    table_release_items(&functions->former);
    zone_db_free(functions->zones);
    free(functions->default_zone);
    pthread_mutex_destroy(&functions->lock);
}

static enum status check(const peal_job *job, struct strbuf *why)
{
    if (!job->name || !*job->name)
        strbuf_adds(why, "a function needs a name");
    else if (!!job->function + !!job->command + !!job->http != 1)
        strbuf_addf(why, "\"%s\" needs either a function, a .command or an .http", job->name);
    else if ((unsigned)job->overlap > PEAL_REPLACE || (unsigned)job->catch_up > PEAL_ALL)
        strbuf_addf(why, "\"%s\": .overlap or .catch_up is none of its values", job->name);
    else if (job->retries < 0 || job->timeout_ms < 0 || job->deadline_ms < 0 ||
             job->jitter_ms < 0 || job->interval_ms < 0 || job->retry_wait_ms < 0)
        strbuf_addf(why, "\"%s\": a length of time or a number is negative", job->name);
    return why->length ? E_INVALID : OK;
}

/* With the lock: the function is in the table, and its job, or that of a new group, to be written.
 */
static enum status enlist(struct functions *functions, const peal_job *job,
                          struct function *function, struct strbuf *why)
{
    struct function *fresh = function;
    enum status st = function_is_plain(functions, job)
                         ? function_group_join(functions, job, function, &fresh, why)
                         : function_define(functions, job, function, why);
    if (st == OK)
        st = table_insert(&functions->by_name, function);
    if (fresh && (st == OK || fresh != function))
        STAILQ_INSERT_TAIL(&functions->fresh, fresh, in_new);
    if (st != OK && function->member)
        call_group_remove(&function->group->calls, function->member); /* frees it */
    else if (st != OK)
        function_free(function);
    if (st != OK)
        return st;
    functions->commands += job->command != NULL;
    functions->https += job->http != NULL;
    return OK;
}

enum status functions_add(struct functions *functions, const peal_job *job, struct strbuf *why)
{
    struct strbuf problem;
    char place[200] = "";
    if (job->place)
        snprintf(place, sizeof(place), "%s:%d: ", job->place->file, job->place->line);
    strbuf_init(&problem);
    enum status st = check(job, &problem);
    pthread_mutex_lock(&functions->lock);
    const struct function *other = st == OK ? table_find(&functions->by_name, job->name) : NULL;
    if (other) {
        strbuf_addf(&problem, "there is a function \"%s\" already%s%s", job->name,
                    *other->place ? ", at " : "", other->place);
        st = E_CONFLICT;
    }
    if (st == OK) {
        struct function *function = function_new(job->name, job);
        st = function ? enlist(functions, job, function, &problem) : E_NOMEM;
    }
    pthread_mutex_unlock(&functions->lock);
    if (st != OK)
        strbuf_addf(why, "%s%s", place, problem.length ? problem.text : status_text(st));
    strbuf_release(&problem);
    return st;
}

/* With the lock. A local job stays in the store: the next function of its name must have it. */
static void note_former(struct functions *functions, const struct function *function)
{
    if (function->is_local && !table_find(&functions->former, function->name) &&
        !table_add(&functions->former, function->name, strlen(function->name) + 1))
        return; /* without memory, its job is passed over, as nobody has the function */
}

static void take_out(struct functions *functions, struct function *function)
{
    table_remove(&functions->by_name, function);
    if (function->job && function->state == FUNCTION_NEW)
        STAILQ_REMOVE(&functions->fresh, function, function, in_new);
    functions->refused -= function->state == FUNCTION_REFUSED;
    function->is_removed = true;
    if (function->member) { /* freed with its last call, or when its job was written */
        call_group_remove(&function->group->calls, function->member);
        return;
    }
    note_former(functions, function);
    if (function->state != FUNCTION_WRITING)
        function_free(function);
}

static bool is_group(const struct function *function)
{
    return function->group && !function->member;
}

enum status functions_remove(struct functions *functions, const char *name)
{
    pthread_mutex_lock(&functions->lock);
    struct function *function = table_find(&functions->by_name, name);
    bool is_there = function && !is_group(function);
    if (is_there)
        take_out(functions, function);
    pthread_mutex_unlock(&functions->lock);
    return is_there ? OK : E_NOT_FOUND;
}

/* ---- for the engine and the executor ---- */

static void aim(const struct function *function, struct call_target *ret)
{
    *ret = (struct call_target){.function = function->call, .arg = function->arg};
    if (is_group(function)) {
        ret->group = &function->group->calls;
    } else if (function->member && call_group_enter(function->member, MEMBER_CALL, false)) {
        ret->member = function->member;
        ret->group_of = &function->group->calls;
    }
}

bool functions_find(void *context, const struct call_order *order, struct call_target *ret)
{
    struct functions *functions = context;
    enum status st = E_NOT_FOUND;
    pthread_mutex_lock(&functions->lock);
    const struct function *function = table_find(&functions->by_name, order->name);
    if (function) {
        aim(function, ret);
        st = function->process ? command_new(function->process, order->run, order->job, order->node,
                                             &ret->command)
                               : OK;
    }
    pthread_mutex_unlock(&functions->lock);
    return st == OK;
}

void functions_part(struct functions *functions, const char *name)
{
    pthread_mutex_lock(&functions->lock);
    struct function *function = table_find(&functions->by_name, name);
    if (function && function->member && !function->job && function_group_part(function) == OK) {
        function->state = FUNCTION_NEW;
        STAILQ_INSERT_TAIL(&functions->fresh, function, in_new);
    }
    pthread_mutex_unlock(&functions->lock);
}

bool functions_is_busy(struct functions *functions, const char *name)
{
    pthread_mutex_lock(&functions->lock);
    const struct function *function = table_find(&functions->by_name, name);
    bool is_busy = function && function->member && function->group->calls.skips_overlap &&
                   call_group_is_open(&function->group->calls, function->member);
    pthread_mutex_unlock(&functions->lock);
    return is_busy;
}

bool functions_have_fresh(struct functions *functions)
{
    pthread_mutex_lock(&functions->lock);
    bool have = !STAILQ_EMPTY(&functions->fresh);
    pthread_mutex_unlock(&functions->lock);
    return have;
}

bool functions_is_group(struct functions *functions, const char *name)
{
    pthread_mutex_lock(&functions->lock);
    const struct function *function = table_find(&functions->by_name, name);
    bool is = function && is_group(function);
    pthread_mutex_unlock(&functions->lock);
    return is;
}

bool functions_of_job(struct functions *functions, const char *job, char ret[JOB_NAME_SIZE],
                      size_t *ret_more)
{
    size_t count = 1;
    pthread_mutex_lock(&functions->lock);
    const struct function *function = table_find(&functions->by_name, job);
    if (function && is_group(function))
        count = call_group_print(&function->group->calls, ret, JOB_NAME_SIZE);
    else
        snprintf(ret, JOB_NAME_SIZE, "%s", job);
    pthread_mutex_unlock(&functions->lock);
    *ret_more = count ? count - 1 : 0;
    return count > 0;
}

bool functions_with_process(struct functions *functions, const char *name,
                            void (*use)(void *context, const struct job *process), void *context)
{
    pthread_mutex_lock(&functions->lock);
    const struct function *function = table_find(&functions->by_name, name);
    bool has = function && function->process;
    if (has)
        use(context, function->process);
    pthread_mutex_unlock(&functions->lock);
    return has;
}

bool functions_have_commands(struct functions *functions)
{
    return atomic_load(&functions->commands) > 0;
}

bool functions_have_https(struct functions *functions)
{
    return atomic_load(&functions->https) > 0;
}

bool functions_have_processes(struct functions *functions)
{
    return functions_have_commands(functions) || functions_have_https(functions);
}

bool functions_awaits(struct functions *functions, const char *name)
{
    pthread_mutex_lock(&functions->lock);
    const struct function *function = table_find(&functions->by_name, name);
    bool awaits =
        function && (function->state == FUNCTION_NEW || function->state == FUNCTION_WRITING);
    pthread_mutex_unlock(&functions->lock);
    return awaits;
}

bool functions_has(void *context, const char *name)
{
    struct functions *functions = context;
    pthread_mutex_lock(&functions->lock);
    bool has = table_find(&functions->by_name, name);
    pthread_mutex_unlock(&functions->lock);
    return has;
}

size_t functions_count(struct functions *functions)
{
    pthread_mutex_lock(&functions->lock);
    size_t count = functions->by_name.count;
    pthread_mutex_unlock(&functions->lock);
    return count;
}

struct function *functions_next(struct functions *functions)
{
    pthread_mutex_lock(&functions->lock);
    struct function *function = STAILQ_FIRST(&functions->fresh);
    if (function) {
        STAILQ_REMOVE_HEAD(&functions->fresh, in_new);
        function->state = FUNCTION_WRITING;
    }
    if (function && function->member && !call_group_enter(function->member, MEMBER_LOOK, false))
        function = NULL; /* never: it was taken out of `fresh` */
    pthread_mutex_unlock(&functions->lock);
    return function;
}

void functions_settle(struct functions *functions, struct function *function,
                      enum function_state state)
{
    pthread_mutex_lock(&functions->lock);
    struct group_member *member = function->member;
    struct function_group *group = function->group;
    if (!function->is_removed) {
        function->state = state;
        functions->refused += state == FUNCTION_REFUSED;
        if (state == FUNCTION_NEW)
            STAILQ_INSERT_TAIL(&functions->fresh, function, in_new);
    } else if (!member) {
        function_free(function);
    }
    if (member)
        call_group_leave(&group->calls, member, MEMBER_LOOK); /* may free it */
    pthread_mutex_unlock(&functions->lock);
}
