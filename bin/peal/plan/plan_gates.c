#include "plan/plan_gates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cli/when.h"
#include "forecast/ticks.h"
#include "group/group.h"

enum { WINDOW_TICKS = 1000 * 1000 }; /* of one job in one window */

void plan_gates_release(struct plan_gates *gates)
{
    free(gates->windows);
    free(gates->groups);
    *gates = (struct plan_gates){.window_count = 0};
}

/* ---- of the agent ---- */

static enum status add_window(struct plan_gates *gates, const json_t *item)
{
    int64_t to_ms = answer_time(item, "to");
    struct maintenance window = {.from_ms = answer_time(item, "from")};
    if (strcmp(answer_text(item, "state"), "over") == 0)
        return OK;
    window.to_ms = to_ms == NO_TIME ? 0 : to_ms;
    window.is_pause = strcmp(answer_text(item, "kind"), "pause") == 0;
    snprintf(window.id, sizeof(window.id), "%s", answer_text(item, "id"));
    snprintf(window.space, sizeof(window.space), "%s", answer_text(item, "namespace"));
    snprintf(window.reason, sizeof(window.reason), "%s", answer_text(item, "reason"));
    enum status st = array_grow(&gates->windows, gates->window_count, sizeof(window));
    if (st == OK)
        gates->windows[gates->window_count++] = window;
    return st;
}

static enum status add_group(struct plan_gates *gates, const json_t *item)
{
    struct plan_group group = {.most = (int)answer_int(item, "cluster", 0)};
    if (!group.most)
        return OK;
    snprintf(group.name, sizeof(group.name), "%s", answer_text(item, "name"));
    enum status st = array_grow(&gates->groups, gates->group_count, sizeof(group));
    if (st == OK)
        gates->groups[gates->group_count++] = group;
    return st;
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

enum exit_code plan_gates_read(struct plan_gates *gates, struct client *client)
{
    enum exit_code code = read_list(gates, client, "/maintenance", add_window);
    return code == EXIT_OK ? read_list(gates, client, "/groups", add_group) : code;
}

/* ---- what they do ---- */

bool plan_group_has(const struct plan_group *group, const struct job *job)
{
    if (group_is_space(group->name))
        return job->kind != JOB_WORKFLOW && group_space_has(group->name, job->name);
    for (char **name = job->groups; name && *name; name++)
        if (strcmp(*name, group->name) == 0)
            return true;
    return false;
}

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
