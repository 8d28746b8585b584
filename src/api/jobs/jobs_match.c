/* Finds the jobs that an action by filter affects, and those that it leaves out and why. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "input.h"
#include "jobs/jobs_act.h"
#include "server.h"
#include "text/json_text.h"

enum {
    PAGE = 200,
    PAGE_MAX = 500,
    LOOKS = 20000, /* jobs checked per page */
    SLICE_MS = 1,
    LOOKS_PER_CLOCK = 32, /* checks between two clock reads */
    NAMES = 20,           /* names in a preview */
    LEFT_NAMES = 5,       /* the same, per reason */
};

static const char *const act_names[] = {"run", "pause", "resume", "kill", "label", "delete", NULL};

static const struct {
    const char *reason, *message;
} leaves[LEAVE_COUNT] = {
    [LEAVE_FORBIDDEN] = {"forbidden", "you may not do this with them"},
    [LEAVE_BROKEN] = {"broken", "their definitions can't be read by this version"},
    [LEAVE_PAUSED] = {"paused", "they are paused already"},
    [LEAVE_NOT_PAUSED] = {"not_paused", "they are not paused"},
    [LEAVE_IDLE] = {"idle", "they have no run that is under way or waits"},
    [LEAVE_LABELLED] = {"labelled", "they have these labels already"},
    [LEAVE_BUSY] = {"busy", "a run of them is under way, and they do not overlap"},
    [LEAVE_AWAY] = {"away", "they run on a node that is away, and will be recorded as lost"},
    [LEAVE_GONE] = {"gone", "they were deleted meanwhile"},
};

void job_act_release(void *state)
{
    struct job_act *act = state;
    job_filter_release(&act->filter);
    json_decref(act->names);
    json_decref(act->failed);
    for (size_t i = 0; i < LEAVE_COUNT; i++)
        json_decref(act->left[i].names);
    for (size_t i = 0; i < act->count; i++)
        job_write_release(&act->items[i].write);
    free(act->items);
    free(act->asked.any);
    free(act->killed);
}

/* ---- what is told ---- */

void job_act_name(struct job_act *act, json_t *names, const char *name)
{
    act->no_memory |= json_array_append_new(names, json_string(name)) != 0;
}

void job_act_leave(struct job_act *act, enum leave why, const char *name)
{
    if (act->left[why].count++ < LEFT_NAMES)
        job_act_name(act, act->left[why].names, name);
}

void job_act_fail(struct job_act *act, const char *name, const char *error)
{
    const char *words = message_in(act->call->language, error);
    act->no_memory |= json_array_append_new(
                          act->failed, json_pack("{s:s, s:s}", "name", name, "error", words)) != 0;
}

static json_t *encode_left(const struct job_act *act)
{
    json_t *list = json_array();
    for (size_t i = 0; i < LEAVE_COUNT; i++) {
        if (!act->left[i].count)
            continue;
        json_t *item = json_pack("{s:s, s:s, s:I, s:O}", "reason", leaves[i].reason, "message",
                                 message_in(act->call->language, leaves[i].message), "count",
                                 (json_int_t)act->left[i].count, "names", act->left[i].names);
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

void job_act_reply(struct call *call)
{
    const struct job_act *act = call->state;
    if (act->no_memory) {
        call_fail(call, 500, "out of memory");
        return;
    }
    call_reply(call, 200,
               json_pack("{s:s, s:b, s:I, s:I, s:I, s:O, s:o, s:O, s:o}", "action",
                         act_names[act->act], "dry_run", act->dry_run, "matched",
                         (json_int_t)act->matched, "touched", (json_int_t)act->touched, "runs",
                         (json_int_t)act->runs, "names", act->names, "left", encode_left(act),
                         "failed", act->failed, "next",
                         act->more ? cursor_encode(act->last) : json_null()));
}

/* ---- which jobs ---- */

static enum right right_of(enum act act)
{
    return act == ACT_LABEL || act == ACT_DELETE ? RIGHT_EDIT : RIGHT_OPERATE;
}

static bool has_labels(const struct job_act *act, const struct catalog_job *job)
{
    const char *name;
    json_t *value;
    json_object_foreach (act->labels, name, value) {
        const char *text = json_string_value(value);
        if (job_has_label(job->json, name, text) != (text != NULL))
            return false;
    }
    return true;
}

/* Would the store refuse a run because of `overlap`? */
static bool is_busy(const struct catalog_job *job)
{
    struct json_span overlap;
    static const char skip[] = "\"skip\"";
    return job->open_runs &&
           (!json_text_get(job->json, "overlap", &overlap) ||
            (overlap.length == strlen(skip) && memcmp(overlap.text, skip, overlap.length) == 0));
}

static enum leave leave_why(const struct job_act *act, const struct catalog_job *job)
{
    if (!scope_may(&act->call->principal.scope, right_of(act->act), job->name))
        return LEAVE_FORBIDDEN;
    if (job->broken && act->act != ACT_KILL)
        return LEAVE_BROKEN;
    switch (act->act) {
    case ACT_RUN:
        return is_busy(job) ? LEAVE_BUSY : LEAVE_COUNT;
    case ACT_PAUSE:
        return job->paused ? LEAVE_PAUSED : LEAVE_COUNT;
    case ACT_RESUME:
        return job->paused ? LEAVE_COUNT : LEAVE_NOT_PAUSED;
    case ACT_KILL:
        return job->open_runs ? LEAVE_COUNT : LEAVE_IDLE;
    case ACT_LABEL:
        return has_labels(act, job) ? LEAVE_LABELLED : LEAVE_COUNT;
    case ACT_DELETE:
        return LEAVE_COUNT;
    }
    return LEAVE_COUNT;
}

static void take(struct job_act *act, const struct catalog_job *job)
{
    enum leave why = leave_why(act, job);
    act->matched++;
    if (why != LEAVE_COUNT) {
        job_act_leave(act, why, job->name);
        return;
    }
    act->touched++;
    if (!act->dry_run) {
        struct act_item *item = &act->items[act->count++];
        *item = (struct act_item){.uid = job->uid, .place = SIZE_MAX};
        snprintf(item->name, sizeof(item->name), "%s", job->name);
        return;
    }
    act->runs += act->act == ACT_KILL ? job->open_runs : 0;
    if (act->touched <= NAMES)
        job_act_name(act, act->names, job->name);
}

/* Before a job is checked: does this page, or this slice, end here? */
static bool is_over(struct job_act *act)
{
    act->more = !act->dry_run && (act->count == (size_t)act->limit || act->looks == LOOKS);
    act->is_cut = act->has_last && act->looks % LOOKS_PER_CLOCK == 0 &&
                  clock_now().boot.ms >= act->slice_end_ms;
    return act->more || act->is_cut;
}

static bool visit(void *context, const struct catalog_job *job)
{
    struct job_act *act = context;
    if (is_over(act))
        return false;
    act->looks++;
    act->has_last = true;
    snprintf(act->last, sizeof(act->last), "%s", job->name);
    if (job_filter_takes(&act->filter, job))
        take(act, job);
    return true;
}

void job_act_look(struct call *call)
{
    struct job_act *act = call->state;
    act->slice_end_ms = clock_now().boot.ms + SLICE_MS;
    act->is_cut = false;
    call_each_job(call, act->has_last ? act->last : NULL, false, visit, act);
    if (act->is_cut && !act->more)
        call_later(call, job_act_look);
    else if (act->dry_run)
        job_act_reply(call);
    else
        job_act_do(call);
}

/* ---- what is asked ---- */

static bool read_action(struct call *call, struct job_act *act)
{
    const char *name = json_string_value(json_object_get(call->body, "action"));
    for (int i = 0; name && act_names[i]; i++) {
        if (strcmp(act_names[i], name) == 0) {
            act->act = (enum act)i;
            return true;
        }
    }
    call_fail_at(call, "/action", "action: expected run, pause, resume, kill, label or delete");
    return false;
}

/* Labels are checked like those of a definition, before the first job is changed. */
static enum status check_labels(const struct call *call, json_t *labels, struct job_error *reterr)
{
    struct job *job = NULL;
    json_t *given = json_object();
    const char *name;
    json_t *value;
    json_object_foreach (labels, name, value) {
        if (!json_is_null(value) && json_object_set(given, name, value) != 0) {
            json_decref(given);
            return E_NOMEM;
        }
    }
    json_t *definition = json_pack("{s:s, s:s, s:[s], s:o}", "name", "labels", "schedule",
                                   "@manual", "command", "true", "labels", given);
    enum status st = definition ? job_decode_json(definition, false, call->api->default_tz,
                                                  call->api->ports.zones, &job, reterr)
                                : E_NOMEM;
    json_decref(definition);
    job_free(job);
    return st;
}

static bool read_labels(struct call *call, struct job_act *act)
{
    json_t *labels = json_object_get(call->body, "labels");
    struct job_error error = {0};
    if (act->act != ACT_LABEL && !labels)
        return true;
    if (act->act != ACT_LABEL) {
        call_fail_at(call, "/labels", "labels: only for the action label");
        return false;
    }
    bool is_right = json_object_size(labels) > 0;
    const char *name;
    json_t *value;
    json_object_foreach (labels, name, value) {
        is_right &= json_is_string(value) || json_is_null(value);
    }
    if (!is_right) {
        call_fail_at(call, "/labels",
                     "labels: expected names and their values; null removes a label");
        return false;
    }
    act->labels = labels;
    enum status st = check_labels(call, labels, &error);
    return call_check(call, st, &error);
}

/* An empty filter must be explicit, to mean all jobs. */
static bool read_filter(struct call *call, struct job_act *act)
{
    bool all = false;
    if (!job_filter_read(call, &act->filter) || !field_bool(call, "all", &all))
        return false;
    const struct job_filter *filter = &act->filter;
    if (all || filter->q || filter->label || filter->owner || filter->node || filter->folder ||
        filter->status != STATUS_ANY)
        return true;
    call_fail_at(call, "/all",
                 "all: say which jobs, by q, label, owner, node, status or folder, or \"all\": "
                 "true for every job");
    return false;
}

static bool read_cursor(struct call *call, struct job_act *act)
{
    const char *cursor = json_string_value(json_object_get(call->body, "cursor"));
    char *name = cursor ? cursor_decode(call, cursor) : NULL;
    if (!name)
        return !cursor;
    snprintf(act->last, sizeof(act->last), "%s", name);
    act->has_last = true;
    free(name);
    return true;
}

bool job_act_read(struct call *call, struct job_act *act)
{
    act->call = call;
    act->limit = PAGE;
    return read_action(call, act) && read_labels(call, act) && read_filter(call, act) &&
           read_cursor(call, act) && field_bool(call, "dry_run", &act->dry_run) &&
           field_number(call, "limit", 1, PAGE_MAX, &act->limit);
}
