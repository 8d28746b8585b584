#include "run_environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "params/run_body.h"
#include "timestamp.h"

enum { VARIABLES_STEP = 16 };

/* "NAME=VALUE"; NULL: out of memory. */
static char *new_variable(const char *name, size_t name_length, const char *value)
{
    size_t value_size = strlen(value) + 1;
    char *variable = malloc(name_length + 1 + value_size);
    if (!variable)
        return NULL;
    memcpy(variable, name, name_length);
    variable[name_length] = '=';
    memcpy(variable + name_length + 1, value, value_size);
    return variable;
}

/* Room for one more, and the NULL behind it. */
static bool make_room(struct run_environment *environment)
{
    size_t count = environment->variable_count;
    if (environment->variables && (count + 1) % VARIABLES_STEP)
        return true;
    char **grown = realloc(environment->variables, (count + 1 + VARIABLES_STEP) * sizeof(*grown));
    if (grown)
        environment->variables = grown;
    return grown;
}

static enum status set(struct run_environment *environment, const char *name, const char *value)
{
    size_t name_length = strlen(name);
    char *variable = new_variable(name, name_length, value);
    if (!variable)
        return E_NOMEM;
    for (size_t i = 0; i < environment->variable_count; i++) {
        char *old = environment->variables[i];
        if (strncmp(old, name, name_length) == 0 && old[name_length] == '=') {
            free(old);
            environment->variables[i] = variable;
            return OK;
        }
    }
    if (!make_room(environment)) {
        free(variable);
        return E_NOMEM;
    }
    environment->variables[environment->variable_count++] = variable;
    environment->variables[environment->variable_count] = NULL;
    return OK;
}

/* Sets a variable unless an earlier one has failed. */
static void also(enum status *st, struct run_environment *environment, const char *name,
                 const char *value)
{
    if (*st == OK)
        *st = set(environment, name, value);
}

static void set_user(enum status *st, struct run_environment *environment,
                     const struct job_user *user, char **ret_home)
{
    const char *path = getenv("PATH");
    const char *language = getenv("LANG");
    also(st, environment, "PATH", path ? path : "/usr/local/bin:/usr/bin:/bin");
    if (language)
        also(st, environment, "LANG", language);
    if (user->login) { /* the spawner refuses an unknown user, with a message */
        also(st, environment, "HOME", user->home);
        also(st, environment, "LOGNAME", user->login);
        also(st, environment, "USER", user->login);
    }
    also(st, environment, "SHELL", "/bin/sh");
    *ret_home = strdup(user->is_home_open ? user->home : "/");
    if (!*ret_home)
        *st = E_NOMEM;
}

static void set_number(enum status *st, struct run_environment *environment, const char *name,
                       int value)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", value);
    also(st, environment, name, number);
}

/* A part for one node alone is no shard: any node may run one of those. */
static void set_part(enum status *st, struct run_environment *environment, const struct run *run)
{
    if (!run->parts)
        return;
    set_number(st, environment, "PEAL_PART", run->part);
    set_number(st, environment, "PEAL_PARTS", run->parts);
    if (run->pinned[0])
        return;
    set_number(st, environment, "PEAL_SHARD", run->part);
    set_number(st, environment, "PEAL_SHARDS", run->parts);
}

/* The job may have been renamed since the run was made. */
static void set_run(enum status *st, struct run_environment *environment, const struct run *run,
                    const struct job *job, const char *node)
{
    char id[ID_TEXT + 1], number[32];
    struct strbuf tick;
    id_format(&run->id, id);
    also(st, environment, "PEAL_JOB", job->name);
    also(st, environment, "PEAL_RUN_ID", id);
    strbuf_init(&tick);
    timestamp_print_utc(run->tick_ms / 1000, &tick);
    if (run->tick_ms % 1000) { /* a manual run, not a scheduled tick */
        strbuf_truncate(&tick, tick.length - 1);
        strbuf_addf(&tick, ".%03dZ", (int)(run->tick_ms % 1000));
    }
    also(st, environment, "PEAL_TICK", tick.text);
    strbuf_release(&tick);
    snprintf(number, sizeof(number), "%d", run->attempt);
    also(st, environment, "PEAL_ATTEMPT", number);
    snprintf(number, sizeof(number), "%" PRId64, run->fence);
    also(st, environment, "PEAL_FENCE", number);
    also(st, environment, "PEAL_NODE", node);
    snprintf(number, sizeof(number), "%" PRId64, job->grace_s);
    also(st, environment, "PEAL_GRACE", number);
    set_part(st, environment, run);
    if (run->cause == CAUSE_AFTER) {
        also(st, environment, "PEAL_AFTER_JOB", after_noted_job(run));
        also(st, environment, "PEAL_AFTER_RUN_ID", run->by);
    }
    if (*run->traceparent)
        also(st, environment, "TRACEPARENT", run->traceparent);
    if (*run->traceparent && job->tracestate)
        also(st, environment, "TRACESTATE", job->tracestate);
}

static void set_params(enum status *st, struct run_environment *environment, const struct job *job)
{
    char name[sizeof(PARAM_VARIABLE) + PARAM_NAME_MAX];
    for (size_t i = 0; i < job->params.count; i++) {
        const struct job_param *param = &job->params.items[i];
        const char *value = job_param_value(param);
        snprintf(name, sizeof(name), PARAM_VARIABLE "%s", param->name);
        if (value)
            also(st, environment, name, value);
    }
}

/* What is known of the body; its file is made by set_input_argv. */
static void set_body(enum status *st, struct run_environment *environment,
                     const struct run_body *body)
{
    if (!body)
        return;
    if (*body->type)
        also(st, environment, "PEAL_INPUT_TYPE", body->type);
    if (!*body->source)
        return;
    also(st, environment, "PEAL_WEBHOOK", body->source);
    also(st, environment, "PEAL_WEBHOOK_EVENT", body->event);
    also(st, environment, "PEAL_WEBHOOK_DELIVERY", body->delivery);
}

/* The body comes as standard input, in a sealed memory file. A shell, as the user of the run, moves
 * it to descriptor 3, names that for all processes of the run, and becomes the command: standard
 * input is empty as in any other run. Nothing is left of the file when the main process ends,
 * however it ends, and nobody but the run's user can open it. */
static void set_input_argv(enum status *st, struct run_environment *environment)
{
    static char sh[] = "/bin/sh", run_text[] = "-c", name[] = "peal-input";
    static char script[] = "exec 3<&0 </dev/null && PEAL_INPUT=/proc/$$/fd/3 && "
                           "export PEAL_INPUT && exec \"$@\"";
    static char *const before[] = {sh, run_text, script, name};
    enum { BEFORE = sizeof(before) / sizeof(before[0]) };
    size_t count = 0;
    while (environment->argv[count])
        count++;
    environment->input_argv = calloc(BEFORE + count + 1, sizeof(char *));
    if (!environment->input_argv) {
        *st = E_NOMEM;
        return;
    }
    memcpy(environment->input_argv, before, sizeof(before));
    memcpy(environment->input_argv + BEFORE, environment->argv, count * sizeof(char *));
    environment->argv = environment->input_argv;
}

static void set_argv(enum status *st, struct run_environment *environment, const struct job *job,
                     const char *shell)
{
    static char bash[] = "/bin/bash", sh[] = "/bin/sh", run_text[] = "-c";
    if (job->kind == JOB_COMMAND) {
        if (job->params.count)
            *st = params_expand_argv(job, &environment->expanded);
        environment->argv = environment->expanded ? environment->expanded : job->command;
        return;
    }
    environment->shell_argv[0] = shell ? (char *)shell : access(bash, X_OK) == 0 ? bash : sh;
    environment->shell_argv[1] = run_text;
    environment->shell_argv[2] = job->script;
    environment->argv = environment->shell_argv;
}

enum status run_environment_init(struct run_environment *environment, const struct run *run,
                                 const struct job *job, const struct job_user *user,
                                 const char *node, const char *shell)
{
    char *home = NULL;
    enum status st = OK;
    *environment = (struct run_environment){0};
    set_argv(&st, environment, job, shell);
    set_user(&st, environment, user, &home);
    for (size_t i = 0; i < job->env.count; i++)
        also(&st, environment, job->env.items[i].name, job->env.items[i].value);
    set_params(&st, environment, job);
    set_body(&st, environment, job->body);
    if (st == OK && job->body)
        set_input_argv(&st, environment);
    set_run(&st, environment, run, job, node);
    if (job->cwd) {
        free(home);
        home = strdup(job->cwd);
    }
    environment->cwd = home;
    if (!home)
        st = E_NOMEM;
    if (st != OK)
        run_environment_release(environment);
    return st;
}

/* All of one start have other names. */
static void drop(struct run_environment *environment, const char *name)
{
    size_t length = strlen(name), kept = 0;
    for (size_t i = 0; i < environment->variable_count; i++) {
        char *variable = environment->variables[i];
        if (strncmp(variable, name, length) == 0 && variable[length] == '=')
            free(variable);
        else
            environment->variables[kept++] = variable;
    }
    environment->variable_count = kept;
    environment->variables[kept] = NULL;
}

enum status run_environment_add_secret(struct run_environment *environment, const char *name,
                                       const char *value)
{
    drop(environment, name);
    enum status st = set(environment, name, value);
    if (st == OK)
        environment->secret_count++;
    return st;
}

void run_environment_release(struct run_environment *environment)
{
    for (size_t i = environment->variable_count - environment->secret_count;
         i < environment->variable_count; i++)
        explicit_bzero(environment->variables[i], strlen(environment->variables[i]));
    for (size_t i = 0; i < environment->variable_count; i++)
        free(environment->variables[i]);
    free(environment->variables);
    free(environment->cwd);
    job_names_free(environment->expanded);
    free(environment->input_argv);
    *environment = (struct run_environment){0};
}
