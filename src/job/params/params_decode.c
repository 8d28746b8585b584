/* The field `params`: a map of names, each with type, default, allowed and help. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/job_decode.h"
#include "job.h"

static const struct field type_field = {"type", FIELD_CHOICE, .words = param_type_names};

/* A value as it is typed: numbers and true or false need no quotes. */
static enum status get_value(const struct decoder *d, const struct spot *spot, char **ret)
{
    if (spot->node->kind != NODE_SCALAR)
        return spot_fail(d->err, spot, "expected %s, found %s", "a value",
                         node_describe(spot->node));
    *ret = strdup(spot->node->text);
    return *ret ? OK : E_NOMEM;
}

static enum status check_value(const struct decoder *d, const struct spot *spot,
                               const struct job_param *param, const char *text)
{
    char why[PARAM_WHY_SIZE];
    if (param_value_check(param, text, why) == OK)
        return OK;
    return spot_fail(d->err, spot, "%s", why);
}

static enum status decode_allowed(struct decoder *d, const struct spot *spot,
                                  struct job_param *param)
{
    const struct node *list = spot->node;
    struct spot item = {.up = spot};
    if (list->kind != NODE_LIST)
        return spot_fail(d->err, spot, "expected %s, found %s", "a list of values",
                         node_describe(list));
    if (list->count < 1 || list->count > PARAM_ALLOWED_MAX)
        return spot_fail(d->err, spot, "expected a list of 1 to %d values, found %zu",
                         PARAM_ALLOWED_MAX, list->count);
    char **allowed = calloc(list->count + 1, sizeof(*allowed));
    enum status st = allowed ? OK : E_NOMEM;
    for (const struct entry *entry = list->entries; entry && st == OK; entry = entry->next) {
        item.node = entry->value;
        st = get_value(d, &item, &allowed[item.index]);
        if (st == OK)
            st = check_value(d, &item, param, allowed[item.index]);
        item.index++;
    }
    if (st == OK)
        param->allowed = allowed;
    else
        job_names_free(allowed);
    return st;
}

static enum status decode_help(struct decoder *d, const struct spot *spot, struct job_param *param)
{
    const char *text;
    enum status st = get_text(d, spot, false, &text);
    if (st != OK)
        return st;
    if (spot->node->length > PARAM_HELP_MAX)
        return spot_fail(d->err, spot, "is longer than %lld bytes", (long long)PARAM_HELP_MAX);
    return job_set_text(&param->help, text);
}

/* The type first, since the values are checked by it. */
static enum status decode_param(struct decoder *d, const struct spot *spot, struct job_param *param)
{
    struct spot type = {spot, "type", 0, node_get(spot->node, "type")};
    struct spot allowed = {spot, "allowed", 0, node_get(spot->node, "allowed")};
    struct spot initial = {spot, "default", 0, node_get(spot->node, "default")};
    struct spot help = {spot, "help", 0, node_get(spot->node, "help")};
    int word = PARAM_STRING;
    for (const struct entry *entry = spot->node->entries; entry; entry = entry->next) {
        const struct node *value = entry->value;
        struct spot key = {spot, entry->key->text, 0, entry->key};
        if (value != type.node && value != allowed.node && value != initial.node &&
            value != help.node)
            return spot_fail(d->err, &key,
                             "unknown field; type, default, allowed and help may stand here");
    }
    enum status st = type.node ? find_word(d, &type_field, &type, &word) : OK;
    param->type = (enum param_type)word;
    if (st == OK && allowed.node)
        st = decode_allowed(d, &allowed, param);
    if (st == OK && initial.node)
        st = get_value(d, &initial, &param->initial);
    if (st == OK && initial.node)
        st = check_value(d, &initial, param, param->initial);
    return st == OK && help.node ? decode_help(d, &help, param) : st;
}

enum status decode_params(struct decoder *d, const struct field *field, const struct spot *spot)
{
    struct job_params *params = &d->job->params;
    if (spot->node->kind != NODE_MAP)
        return spot_fail(d->err, spot, "expected %s, found %s", "a map of parameters",
                         node_describe(spot->node));
    if ((int64_t)spot->node->count > field->max)
        return spot_fail(d->err, spot, "expected at most %lld parameters, found %zu",
                         (long long)field->max, spot->node->count);
    for (const struct entry *entry = spot->node->entries; entry; entry = entry->next) {
        struct spot key = {spot, entry->key->text, 0, entry->key};
        struct spot item = {spot, entry->key->text, 0, entry->value};
        const char *complaint = param_name_complaint(entry->key->text);
        if (complaint)
            return spot_fail(d->err, &key, "%s", complaint);
        if (job_params_find(params, entry->key->text, strlen(entry->key->text)))
            return spot_fail(d->err, &key, "\"%s\" is named twice", entry->key->text);
        if (entry->value->kind != NODE_MAP && entry->value->kind != NODE_NULL)
            return spot_fail(d->err, &item, "expected %s, found %s",
                             "a map like {type: integer, default: 5}", node_describe(entry->value));
        if (array_grow(&params->items, params->count, sizeof(*params->items)) != OK)
            return E_NOMEM;
        struct job_param *param = &params->items[params->count++];
        *param = (struct job_param){.name = strdup(entry->key->text)};
        enum status st = param->name ? OK : E_NOMEM;
        if (st == OK && entry->value->kind == NODE_MAP)
            st = decode_param(d, &item, param);
        if (st != OK)
            return st;
    }
    return OK;
}

/* ---- with the other fields ---- */

/* Nobody is asked when a tick is due. */
static bool is_only_asked_for(const struct job *job)
{
    for (size_t i = 0; i < job->schedule_count; i++) {
        const char *text = job->schedules[i] + strspn(job->schedules[i], " \t\r\n");
        if (strncmp(text, "@manual", 7) != 0 || text[7 + strspn(text + 7, " \t\r\n")])
            return false;
    }
    return job->schedule_count > 0;
}

static enum status check_defaults(const struct decoder *d, const struct spot *params)
{
    const struct job *job = d->job;
    for (size_t i = 0; i < job->params.count && !is_only_asked_for(job); i++) {
        const struct job_param *param = &job->params.items[i];
        struct spot spot = {params, param->name, 0, node_get(params->node, param->name)};
        if (!param->initial)
            return spot_fail(d->err, &spot,
                             "needs a \"default\"; only a job with the schedule \"@manual\" has "
                             "somebody to ask for a value");
    }
    return OK;
}

static enum status refuse_code(const struct decoder *d, const struct spot *spot,
                               const struct job_param *param)
{
    return spot_fail(d->err, spot,
                     "the value of ${%s} would be read as code here; use \"$" PARAM_VARIABLE
                     "%s\", which the environment has",
                     param->name, param->name);
}

static enum status check_words(const struct decoder *d, const struct spot *command)
{
    const struct job *job = d->job;
    const struct entry *entry = command->node->entries;
    for (size_t i = 0; job->command[i] && entry; i++, entry = entry->next) {
        const char *at = job->command[i];
        struct spot item = {command, NULL, i, entry->value};
        const struct job_param *param = params_next_use(&job->params, &at);
        if (param && i == 0)
            return spot_fail(d->err, &item, "the program can't be a parameter");
        if (param && argv_word_is_code(job->command, i))
            return refuse_code(d, &item, param);
    }
    return OK;
}

enum status check_params(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    struct spot params = {root, "params", 0, node_get(root->node, "params")};
    struct spot command = {root, "command", 0, node_get(root->node, "command")};
    struct spot script = {root, "shell", 0, node_get(root->node, "shell")};
    if (!job->params.count)
        return OK;
    enum status st = check_defaults(d, &params);
    if (st == OK && job->script) {
        const char *at = job->script;
        const struct job_param *param = params_next_use(&job->params, &at);
        return param ? refuse_code(d, &script, param) : OK;
    }
    return st == OK && job->command ? check_words(d, &command) : st;
}
