#include "plan/plan_gates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cli/when.h"
#include "forecast/ticks.h"
#include "group/group.h"

enum { WINDOW_TICKS = 1000 * 1000 }; /* of one job in one window */

void plan_gates_init(struct plan_gates *gates)
{
    *gates = (struct plan_gates){.window_count = 0};
    herd_limits_init(&gates->groups);
}

void plan_gates_release(struct plan_gates *gates)
{
    free(gates->windows);
    herd_limits_release(&gates->groups);
    free(gates->nodes);
    plan_gates_init(gates);
}

/* ---- of the agent ---- */

static enum status add_window(struct plan_gates *gates, const json_t *item)
{
    int64_t to_ms = answer_time(item, "to");
    int64_t from_ms = answer_time(item, "from");
    struct maintenance window = {.from_ms = from_ms == NO_TIME ? 0 : from_ms};
    if (strcmp(answer_text(item, "state"), "over") == 0)
        return OK;
    window.to_ms = to_ms == NO_TIME ? 0 : to_ms;
    window.is_pause = window.to_ms == 0;
    snprintf(window.id, sizeof(window.id), "%s", answer_text(item, "id"));
    snprintf(window.space, sizeof(window.space), "%s", answer_text(item, "namespace"));
    snprintf(window.reason, sizeof(window.reason), "%s", answer_text(item, "reason"));
    enum status st = array_grow(&gates->windows, gates->window_count, sizeof(window));
    if (st == OK)
        gates->windows[gates->window_count++] = window;
    return st;
}

/* Of a newer peal: it is none that is known here. */
static enum status add_group(struct plan_gates *gates, const char *name, const json_t *shown)
{
    struct group group;
    struct job_error error = {0};
    enum status st = group_decode_json(shown, name, &group, &error);
    if (st != OK)
        return st == E_INVALID ? OK : st;
    st = herd_limits_add_group(&gates->groups, name, &group.limits);
    group_release(&group);
    return st;
}

/* "disk=ssd,zone=eu" */
static enum status add_node(struct plan_gates *gates, const json_t *item)
{
    const char *name, *text;
    json_t *value;
    bool takes_runs =
        strcmp(answer_text(item, "state"), "ready") == 0 && !*answer_text(item, "program");
    enum status st =
        takes_runs ? array_grow(&gates->nodes, gates->groups.node_count, sizeof(*gates->nodes))
                   : OK;
    if (!takes_runs || st != OK)
        return st;
    char *labels = gates->nodes[gates->groups.node_count++];
    labels[0] = '\0';
    json_object_foreach (json_object_get(item, "labels"), name, value) {
        size_t length = strlen(labels);
        text = json_string_value(value);
        snprintf(labels + length, sizeof(*gates->nodes) - length, "%s%s%s%s", length ? "," : "",
                 name, text && *text ? "=" : "", text ? text : "");
    }
    gates->groups.labels = gates->nodes;
    return OK;
}

static enum exit_code read_list(struct plan_gates *gates, struct client *client, const char *path,
                                enum status (*add)(struct plan_gates *gates, const json_t *item))
{
    json_t *answer = NULL;
    const json_t *item;
    size_t i;
    enum status st = OK;
    enum exit_code code = client_get(client, path, &answer);
    json_array_foreach (json_object_get(answer, "items"), i, item) {
        if (code == EXIT_OK && st == OK)
            st = add(gates, item);
    }
    json_decref(answer);
    return st == OK ? code : cli_fail(st);
}

enum status plan_gates_of_files(struct plan_gates *gates, const struct file_docs *docs)
{
    enum status st = OK;
    for (size_t i = 0; i < docs->count && st == OK; i++) {
        const struct file_doc *doc = &docs->items[i];
        if (doc->type == DOC_GROUP)
            st = add_group(gates, doc->name, doc->shown);
        else if (doc->type == DOC_MAINTENANCE)
            st = add_window(gates, doc->shown);
    }
    return st;
}

/* As they are to be. */
static enum status add_planned(struct plan_gates *gates, const struct plan_docs *docs)
{
    enum status st = OK;
    for (size_t i = 0; i < docs->count && st == OK; i++) {
        const struct plan_doc *item = &docs->items[i];
        if (item->doc && item->type == DOC_GROUP)
            st = add_group(gates, item->name, item->doc->shown);
        else if (item->doc && item->type == DOC_MAINTENANCE)
            st = add_window(gates, item->doc->shown);
    }
    return st;
}

/* Those that the plan changes come with it. */
static enum exit_code read_groups(struct plan_gates *gates, struct client *client,
                                  const struct plan_docs *docs)
{
    struct agent_docs groups = {NULL, 0};
    enum exit_code code = agent_docs_read(client, 1u << DOC_GROUP, NULL, &groups);
    for (size_t i = 0; i < groups.count && code == EXIT_OK; i++) {
        const struct agent_doc *group = &groups.items[i];
        if (group->shown && !plan_docs_change(docs, DOC_GROUP, group->name))
            code = cli_fail(add_group(gates, group->name, group->shown));
    }
    agent_docs_release(&groups);
    return code;
}

enum exit_code plan_gates_read(struct plan_gates *gates, struct client *client,
                               const struct plan_docs *docs)
{
    enum exit_code code = read_list(gates, client, "/maintenance", add_window);
    if (code == EXIT_OK)
        code = read_groups(gates, client, docs);
    if (code == EXIT_OK)
        code = cli_fail(add_planned(gates, docs));
    return code == EXIT_OK && gates->groups.group_count
               ? read_list(gates, client, "/nodes", add_node)
               : code;
}

/* ---- what they do ---- */

/* The first whole second that is not before it. */
static int64_t second_from(int64_t ms)
{
    return ms / 1000 + (ms % 1000 > 0);
}

/* A tick counts by its start, which may be later than itself. */
static enum status count_ticks(const struct schedule_set *set, const struct calendars *calendars,
                               const struct maintenance *window, int64_t from_s, int64_t until_s,
                               size_t *ret)
{
    struct ticks ticks = {0};
    int64_t later_ms = set->count ? schedule_jitter_ms(set->items[0]) : 0;
    int64_t begin_s = second_from(window->from_ms - later_ms);
    int64_t end_s = window->to_ms ? second_from(window->to_ms - later_ms) : until_s;
    begin_s = begin_s > from_s ? begin_s : from_s;
    end_s = end_s < until_s ? end_s : until_s;
    enum status st =
        begin_s < end_s ? ticks_collect(set, calendars, begin_s, end_s, WINDOW_TICKS, &ticks) : OK;
    *ret = ticks.count;
    ticks_release(&ticks);
    return st;
}

enum status plan_gates_skipped(const struct plan_gates *gates, const struct job *job,
                               struct calendar_book *book, struct zone_db *zones, int64_t from_s,
                               int64_t until_s, struct plan_skipped **ret, size_t *ret_count)
{
    struct schedule_set set;
    struct parse_error error;
    struct calendars calendars;
    *ret = NULL;
    *ret_count = 0;
    if (job->paused || !job->schedule_count || !gates->window_count)
        return OK;
    schedule_set_init(&set);
    enum status st = job_schedules(job, zones, &set, &error);
    if (st == OK)
        st = calendar_book_of_job(book, job, &calendars);
    for (size_t i = 0; i < gates->window_count && st == OK; i++) {
        struct plan_skipped skipped = {.window = &gates->windows[i]};
        if (!maintenance_space_has(skipped.window->space, job->name))
            continue;
        st = count_ticks(&set, &calendars, skipped.window, from_s, until_s, &skipped.ticks);
        if (st == OK && skipped.ticks)
            st = array_grow(ret, *ret_count, sizeof(skipped));
        if (st == OK && skipped.ticks)
            (*ret)[(*ret_count)++] = skipped;
    }
    schedule_set_release(&set);
    return st;
}
