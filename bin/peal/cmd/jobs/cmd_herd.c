/* peal herd: the seconds in which many jobs start, and how to spread them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/json_out.h"
#include "cli/when.h"
#include "hash.h"
#include "herd/herd_json.h"
#include "jobs/definition.h"
#include "plan/calendars_read.h"
#include "plan/herd_print.h"
#include "plan/plan_calendars.h"
#include "plan/plan_gates.h"
#include "text/tr.h"

enum {
    WEEK_S = 7 * 86400,
    HOUR_S = 3600,
    AT_MOST = 10,
    SECONDS = 10,
    SHOWN = 20,
    ALL = 200 * 1000,
    TICKS_MAX = 10 * 1000 * 1000,
};
enum form { FORM_TEXT, FORM_JSON };

struct request {
    struct request_base base;
    struct option_list files;
    const char *calendars;
    int64_t horizon_s, within_s, at_most;
    enum form form;
    bool apply, detail, yes;
};

/* ---- of files ---- */

static enum exit_code read_files(const struct request *request, struct reading *reading,
                                 struct job_list *jobs, struct job_sources *sources,
                                 struct calendar_book *book)
{
    enum exit_code code = reading_init(reading, NULL);
    reading->hides_secrets = true;
    if (code == EXIT_OK)
        code = definitions_read(reading, request->files.items, request->files.count, jobs, sources);
    if (code == EXIT_OK)
        code = cli_fail(calendars_of_files(book, &reading->docs, reading->zones));
    return code == EXIT_OK ? calendars_of_folder(book, request->calendars, reading->zones) : code;
}

/* The names of all jobs that others wait for. NULL: out of memory. */
static json_t *awaited_names(const struct job_list *jobs)
{
    json_t *names = json_object();
    for (size_t i = 0; names && i < jobs->count; i++) {
        for (size_t j = 0; j < jobs->items[i]->after_count; j++) {
            if (json_object_set_new(names, jobs->items[i]->after[j].job, json_true()) == 0)
                continue;
            json_decref(names);
            return NULL;
        }
    }
    return names;
}

/* Jitter is drawn from the uid, which a job gets when it is made; until then from its name, so that
 * the jobs of a file differ. */
static void draw_uid(struct job *job)
{
    const uint64_t hashes[] = {hash_text(1, job->name), hash_text(2, job->name)};
    memcpy(job->uid.bytes, hashes, sizeof(job->uid.bytes));
}

static enum status add_all(struct herd *herd, const struct job_list *jobs,
                           struct calendar_book *book)
{
    json_t *awaited = awaited_names(jobs);
    enum status st = awaited ? OK : E_NOMEM;
    for (size_t i = 0; i < jobs->count && st == OK; i++) {
        struct job *job = jobs->items[i];
        struct calendars calendars;
        draw_uid(job);
        st = calendar_book_of_job(book, job, &calendars);
        if (st == OK)
            st = herd_add(herd, job, &calendars, json_object_get(awaited, job->name) != NULL);
    }
    json_decref(awaited);
    return st;
}

static const struct job *find_job(void *context, const char *name)
{
    return definitions_find(context, name);
}

/* Without an agent there are no nodes: only limits for all of them together count. */
static enum status count_limits(struct herd *herd)
{
    struct herd_limits *limits = herd->limits;
    enum status st = herd_limits_settle(limits);
    for (size_t i = 0; i < limits->count && st == OK; i++)
        st = herd_limit_count(&limits->items[i], limits, herd->groups.from_s, herd->groups.until_s);
    return st;
}

static enum status count_all(const struct request *request, const struct job_list *jobs,
                             const struct reading *reading, struct calendar_book *book,
                             json_t **ret)
{
    const struct herd_view view = {
        .wish = {.at_most = (uint32_t)request->at_most, .within_s = request->within_s},
        .seconds = SECONDS,
        .proposals = ALL,
    };
    int64_t from_s = now_ms() / 1000;
    struct herd herd;
    struct plan_gates gates;
    bool is_done;
    plan_gates_init(&gates);
    gates.groups.find = find_job;
    gates.groups.context = (void *)reading;
    herd_init(&herd, reading->zones, from_s, from_s + request->horizon_s, TICKS_MAX);
    herd.limits = &gates.groups;
    enum status st = plan_gates_of_files(&gates, &reading->docs);
    if (st == OK)
        st = add_all(&herd, jobs, book);
    if (st == OK)
        st = herd_count(&herd);
    if (st == OK)
        st = count_limits(&herd);
    if (st == OK)
        st = herd_propose(&herd, &view.wish, herd.count, &is_done);
    if (st == OK) {
        *ret = herd_json(&herd, &view);
        st = *ret ? OK : E_NOMEM;
    }
    plan_gates_release(&gates);
    herd_release(&herd);
    return st;
}

static enum exit_code herd_of_files(const struct request *request, json_t **ret)
{
    struct reading reading = {0};
    struct job_list jobs;
    struct job_sources sources;
    struct calendar_book book;
    job_list_init(&jobs);
    job_sources_init(&sources);
    calendar_book_init(&book);
    enum exit_code code = read_files(request, &reading, &jobs, &sources, &book);
    if (code == EXIT_OK) {
        enum status st = count_all(request, &jobs, &reading, &book, ret);
        if (st == E_TOO_LARGE)
            cli_error("there are too many ticks to count; give a shorter --horizon");
        code = st == E_TOO_LARGE ? EXIT_INVALID : cli_fail(st);
    }
    calendar_book_release(&book);
    job_sources_release(&sources);
    job_list_release(&jobs);
    reading_release(&reading);
    return code;
}

/* ---- of the agent ---- */

static enum exit_code herd_of_agent(struct client *client, const struct request *request,
                                    json_t **ret)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path,
                "/herd?horizon=%" PRId64 "s&within=%" PRId64 "s&at_most=%" PRId64
                "&limit=%d&proposals=%d",
                request->horizon_s, request->within_s, request->at_most, SECONDS, ALL);
    enum exit_code code = cli_fail(strbuf_status(&path));
    if (code == EXIT_OK)
        code = client_get(client, path.text, ret);
    strbuf_release(&path);
    return code;
}

static enum exit_code get_room(struct client *client, struct herd_room *ret)
{
    json_t *answer = NULL;
    const json_t *node;
    size_t i;
    enum exit_code code = client_get(client, "/nodes", &answer);
    json_array_foreach (json_object_get(answer, "items"), i, node) {
        if (strcmp(answer_text(node, "state"), "ready") != 0)
            continue;
        ret->nodes++;
        ret->capacity += answer_int(node, "capacity", 0);
    }
    json_decref(answer);
    return code;
}

/* ---- making it so ---- */

static json_t *patch_of(const json_t *proposal)
{
    const char *schedule = answer_text(proposal, "schedule");
    return *schedule ? json_pack("{s:s}", "schedule", schedule)
                     : json_pack("{s:s}", "jitter", answer_text(proposal, "jitter"));
}

enum outcome { DONE, IN_FILES, CHANGED_MEANWHILE };

/* Only if the job has still the schedule that the proposal was made for, and nobody changes it
 * between this look and the change. */
static enum exit_code change_one(struct client *client, const json_t *proposal,
                                 enum outcome *ret_outcome)
{
    const char *name = answer_text(proposal, "job");
    struct reply job = {0}, reply = {0};
    struct strbuf path, schedules;
    strbuf_init(&path);
    strbuf_init(&schedules);
    enum exit_code code = client_job(client, name, &job);
    if (code == EXIT_OK)
        definition_schedules(job.body, &schedules);
    *ret_outcome = CHANGED_MEANWHILE;
    if (code == EXIT_OK && *answer_text(job.body, "applied_at")) {
        *ret_outcome = IN_FILES;
    } else if (code == EXIT_OK && strcmp(schedules.text, answer_text(proposal, "before")) == 0) {
        json_t *patch = patch_of(proposal);
        const struct client_request request = {.method = "PATCH",
                                               .path = job_path(&path, name, ""),
                                               .body = patch,
                                               .if_match = job.revision};
        enum status st = patch ? client_try(client, &request, &reply) : E_NOMEM;
        bool is_conflict = st == OK && reply.status == 412;
        if (!is_conflict)
            code = client_report(client, st, &reply);
        if (!is_conflict && code == EXIT_OK)
            *ret_outcome = DONE;
        json_decref(patch);
    }
    reply_release(&reply);
    reply_release(&job);
    strbuf_release(&schedules);
    strbuf_release(&path);
    return code;
}

static enum exit_code apply(struct client *client, const json_t *herd,
                            const struct request *request)
{
    const json_t *list = json_object_get(herd, "proposals"), *proposal;
    size_t counts[3] = {0}, i;
    size_t count = json_array_size(list);
    enum exit_code code = EXIT_OK;
    if (!count)
        return EXIT_OK;
    if (!confirmed(request->yes, "Change %zu job%s?", count, count == 1 ? "" : "s")) {
        fprintf(stderr, "%s\n", tr("nothing was changed"));
        return EXIT_ERROR;
    }
    json_array_foreach (list, i, proposal) {
        enum outcome outcome;
        code = change_one(client, proposal, &outcome);
        if (code != EXIT_OK)
            break;
        counts[outcome]++;
        if (outcome == DONE)
            printf(tr("changed %s\n"), answer_text(proposal, "job"));
        else if (outcome == IN_FILES)
            cli_note("%s is defined by files (peal apply): change it there",
                     answer_text(proposal, "job"));
        else
            cli_note("%s was changed meanwhile, and is left alone", answer_text(proposal, "job"));
    }
    cli_note("%zu changed, %zu defined by files, %zu changed meanwhile", counts[DONE],
             counts[IN_FILES], counts[CHANGED_MEANWHILE]);
    return code;
}

/* ---- the command ---- */

static enum exit_code show(struct client *client, const struct request *request, const json_t *herd)
{
    struct herd_room room = {0};
    if (request->form == FORM_JSON)
        return cli_fail(json_print(herd));
    enum exit_code code = client ? get_room(client, &room) : EXIT_OK;
    if (code != EXIT_OK)
        return code;
    size_t most = request->detail || request->apply ? ALL : SHOWN;
    code = cli_fail(herd_print(herd, client ? &room : NULL, most));
    if (code == EXIT_OK && client && !request->apply && answer_int(herd, "proposed", 0))
        cli_note("peal herd --apply makes these changes");
    return code;
}

static enum exit_code run(void *place)
{
    const struct request *request = place;
    const struct command *self = request->base.command;
    struct client *client = NULL;
    json_t *herd = NULL;
    if (request->files.count && request->apply)
        return cli_usage(self, "--apply changes jobs of the agent; of files, change the files");
    if (!request->files.count && request->calendars)
        return cli_usage(self, "--calendars is for -f; an agent has calendars");
    if (request->form == FORM_JSON && request->apply)
        return cli_usage(self, "either --apply or -o json");
    if (request->horizon_s < 60 || request->horizon_s > WEEK_S)
        return cli_usage(self, "--horizon is a minute to a week");
    if (request->within_s < 1 || request->within_s > 86400)
        return cli_usage(self, "--within is a second to a day");
    enum exit_code code = request->files.count ? EXIT_OK : client_open(request->base.data, &client);
    if (code == EXIT_OK)
        code = client ? herd_of_agent(client, request, &herd) : herd_of_files(request, &herd);
    if (code == EXIT_OK)
        code = show(client, request, herd);
    if (code == EXIT_OK && request->apply)
        code = apply(client, herd, request);
    json_decref(herd);
    client_close(client);
    return code;
}

static const char *const forms[] = {"text", "json", NULL};

const struct command cmd_herd = {
    .name = "herd",
    .summary = "the seconds in which many jobs start, and how to spread them",
    .examples = EXAMPLES({"peal herd", NULL}, {"peal herd --at-most 50 --horizon 1d", NULL},
                         {"peal herd --apply", "shows the changes, asks, and makes them"},
                         {"peal herd -f jobs.d", "of files, without an agent"}),
    .notes = "Counts the starts of each second to come, and proposes for jobs in crowded ones `H` "
             "in place of a constant minute, or jitter: never another number of ticks on a day. "
             "Left alone are jobs with the label herd=keep, jobs that others wait for, @at, jobs "
             "whose deadline is shorter than the delay, and jobs that are spread already.",
    .options = ROWS(
        OPTION_DURATION(request, horizon_s, "horizon", "how far ahead, up to a week (default)"),
        OPTION_NUMBER(request, at_most, 0, "at-most", 1, 1000000,
                      "starts in one second that need no spreading (default: 10)"),
        OPTION_DURATION(request, within_s, "within",
                        "a start moves by less than this (default: 1h)"),
        OPTION_LIST(request, files, 'f', "file", "F",
                    "a file, a folder, or - for stdin; may repeat", .complete = COMPLETE_FILES),
        OPTION_TEXT(request, calendars, 0, "calendars", "DIR",
                    "with -f: calendars in files NAME.yaml", .complete = COMPLETE_FILES),
        OPTION_FLAG(request, apply, 0, "apply", "change the jobs as proposed"),
        OPTION_FLAG(request, yes, 'y', "yes", YES_TEXT),
        OPTION_FLAG(request, detail, 0, "detail", "all proposals, not only the first"),
        OPTION_CHOICE(request, form, 'o', "output", "F", forms, "text (default) or json"),
        OPTION_GROUP(request, base, client_options)),
    .too_many = "unexpected \"%s\"; files go with -f",
    .defaults =
        &(const struct request){.horizon_s = WEEK_S, .within_s = HOUR_S, .at_most = AT_MOST},
    .request_size = sizeof(struct request),
    .run = run,
};
