/* peal plan: what files would change, with the ticks of the next year. */
#include <stdlib.h>
#include <string.h>

#include "cli/when.h"
#include "client/batch/digests.h"
#include "jobs/definition.h"
#include "jobs/documents/docs_prune.h"
#include "plan/calendars_read.h"
#include "plan/plan.h"
#include "plan/plan_calendars.h"

enum { DAYS = 365, DAYS_MAX = 3660 };
enum form { FORM_TEXT, FORM_JSON, FORM_MARKDOWN };

struct request {
    struct request_base base;
    struct option_list files, against;
    const char *revision, *calendars, *tz;
    int64_t days;
    enum form form;
    bool prune, prune_documents, detail;
};

/* Both sides. The jobs of a folder or a revision are read like those of the files. */
struct input {
    struct reading reading, old_reading;
    struct job_list jobs, old, others; /* `others`: of the agent, that no file has */
    struct job_sources sources, old_sources;
    struct agent_docs docs;  /* before */
    struct docs_prune prune; /* of those, what is deleted */
};

static void input_init(struct input *input)
{
    *input = (struct input){0};
    job_list_init(&input->jobs);
    job_list_init(&input->old);
    job_list_init(&input->others);
    job_sources_init(&input->sources);
    job_sources_init(&input->old_sources);
}

static void input_release(struct input *input)
{
    job_sources_release(&input->sources);
    job_sources_release(&input->old_sources);
    job_list_release(&input->jobs);
    job_list_release(&input->old);
    job_list_release(&input->others);
    reading_release(&input->reading);
    reading_release(&input->old_reading);
    agent_docs_release(&input->docs);
    docs_prune_release(&input->prune);
}

/* What becomes of the documents that input->docs are, and of the calendars among them. */
static enum exit_code plan_docs(struct input *input, bool removes, struct job_plan *plan)
{
    struct file_docs *after = &input->reading.docs;
    enum status st = file_docs_meet(after, &input->docs, now_ms());
    if (st == OK)
        st = plan_docs_compare(&plan->docs, after, &input->docs, removes, now_ms());
    if (st == OK)
        st = plan_calendars_lay(&plan->after, &plan->book, &plan->docs, input->reading.zones);
    return cli_fail(st);
}

/* ---- against files ---- */

static enum exit_code init_reading(struct reading *reading, const struct request *request)
{
    const struct zone *zone;
    struct parse_error error;
    enum exit_code code = reading_init(reading, NULL);
    if (code != EXIT_OK || !request->tz)
        return code;
    if (zone_db_get(reading->zones, request->tz, &zone, &error) != OK)
        return cli_usage(request->base.command, "--tz: %s", error.message);
    strbuf_reset(&reading->default_tz);
    strbuf_adds(&reading->default_tz, request->tz);
    return cli_fail(strbuf_status(&reading->default_tz));
}

static enum exit_code read_old(const struct request *request, struct input *input)
{
    const struct option_list *paths = request->against.count ? &request->against : &request->files;
    if (request->revision)
        return definitions_read_git(&input->old_reading, request->revision, paths->items,
                                    paths->count, &input->old, &input->old_sources);
    return definitions_read(&input->old_reading, paths->items, paths->count, &input->old,
                            &input->old_sources);
}

static enum exit_code compare_files(const struct request *request, struct input *input,
                                    struct job_plan *plan)
{
    enum status st = OK;
    enum exit_code code = init_reading(&input->old_reading, request);
    input->old_reading.hides_secrets = true;
    if (code == EXIT_OK)
        code = read_old(request, input);
    if (code == EXIT_OK)
        st = agent_docs_of_files(&input->old_reading.docs, &input->docs);
    if (code == EXIT_OK && st == OK)
        st = calendars_of_files(&plan->book, &input->old_reading.docs, input->reading.zones);
    if (code == EXIT_OK && st == OK)
        code = plan_docs(input, true, plan);
    if (code == EXIT_OK && st == OK)
        code = calendars_of_folder(&plan->book, request->calendars, input->reading.zones);
    if (code == EXIT_OK && st == OK)
        st = plan_gates_of_files(&plan->gates, &input->reading.docs);
    for (size_t i = 0; code == EXIT_OK && st == OK && i < input->jobs.count; i++) {
        const struct job *after = input->jobs.items[i];
        st = job_plan_add(plan, definitions_find(&input->old_reading, after->name), after,
                          &input->sources);
    }
    for (size_t i = 0; code == EXIT_OK && st == OK && i < input->old.count; i++) {
        const struct job *before = input->old.items[i];
        if (!definitions_find(&input->reading, before->name))
            st = job_plan_add(plan, before, NULL, &input->sources);
    }
    return st == OK ? code : cli_fail(st);
}

/* ---- against the agent ---- */

/* Decodes a job of the agent, with what seeds its `H`, `~` and jitter, and adds it to the list. */
static enum status take_job(const struct input *input, const json_t *item, struct job_list *list,
                            struct job **ret)
{
    struct job *job;
    const char *hash_name = answer_text(item, "hash_name");
    enum status st = definition_decode(&input->reading, item, &job);
    if (st != OK)
        return st;
    struct job **items = reallocarray(list->items, list->count + 1, sizeof(struct job *));
    if (!items) {
        job_free(job);
        return E_NOMEM;
    }
    list->items = items;
    list->items[list->count++] = job;
    if (id_parse(answer_text(item, "uid"), &job->uid) != OK)
        job->uid = (struct id){0};
    *ret = job;
    return *hash_name ? job_set_text(&job->hash_name, hash_name) : OK;
}

/* The jobs of files that the agent has keep its seeds. */
static enum status take_seeds(const struct job *from, struct job *to)
{
    to->uid = from->uid;
    return from->hash_name ? job_set_text(&to->hash_name, from->hash_name) : OK;
}

static enum exit_code compare_one(struct input *input, const json_t *there, struct job *after,
                                  struct job_plan *plan)
{
    const json_t *item = json_object_get(there, after->name);
    struct job *before = NULL;
    enum status st = item ? take_job(input, item, &input->old, &before) : OK;
    if (st == OK && before)
        st = take_seeds(before, after);
    if (st == OK)
        st = job_plan_add(plan, before, after, &input->sources);
    return cli_fail(st);
}

/* Names of the jobs that differ by their digests, or whose calendars change, and of all if digests
 * are not known. */
static enum status differing(const struct input *input, const struct job_plan *plan,
                             const json_t *digests, json_t *names)
{
    enum status st = OK;
    for (size_t i = 0; i < input->jobs.count && st == OK; i++) {
        const struct job *job = input->jobs.items[i];
        bool is_same = false;
        if (!json_object_get(digests, job->name))
            continue;
        st = digests_have(digests, job, DIGEST_ANY, &is_same);
        is_same = is_same && !plan_calendars_touch(&plan->docs, job);
        if (st == OK && !is_same && json_array_append_new(names, json_string(job->name)) != 0)
            st = E_NOMEM;
    }
    return st;
}

struct others {
    struct input *input;
    struct job_plan *plan;
    bool prune;
};

/* Jobs that no file has: deleted by --prune, or left as they are. */
static enum exit_code take_others(void *context, const json_t *items, bool is_last)
{
    struct others *others = context;
    struct input *input = others->input;
    const json_t *item;
    size_t i;
    (void)is_last;
    json_array_foreach (items, i, item) {
        struct job *job;
        bool is_pruned = others->prune && definition_is_pruned(&input->reading, item);
        if (definitions_find(&input->reading, answer_text(item, "name")))
            continue;
        enum status st = take_job(input, item, is_pruned ? &input->old : &input->others, &job);
        if (st == OK && is_pruned)
            st = job_plan_add(others->plan, job, NULL, &input->sources);
        else if (st == OK)
            st = job_plan_touch(others->plan, job);
        if (st == E_INVALID)
            continue; /* of another version; told */
        if (st != OK)
            return cli_fail(st);
    }
    return EXIT_OK;
}

static enum exit_code add_pruned_docs(struct client *client, struct input *input,
                                      struct job_plan *plan)
{
    json_t *deleted = json_array();
    enum status st = deleted ? OK : E_NOMEM;
    for (size_t i = 0; i < plan->count && st == OK; i++) {
        if (plan->items[i].action == PLAN_DELETE &&
            json_array_append_new(deleted, json_string(plan->items[i].name)) != 0)
            st = E_NOMEM;
    }
    input->prune.client = client;
    enum exit_code code = cli_fail(st);
    if (code == EXIT_OK)
        code = docs_prune_find(&input->prune, &input->reading, &input->jobs, deleted);
    for (size_t i = 0; i < input->prune.docs.count && code == EXIT_OK; i++)
        code = cli_fail(plan_docs_delete(&plan->docs, &input->prune.docs.items[i]));
    json_decref(deleted);
    return code;
}

static enum exit_code compare_agent(struct client *client, const struct request *request,
                                    struct input *input, struct job_plan *plan)
{
    json_t *digests = NULL, *there = NULL, *names = json_array();
    struct others others = {input, plan, request->prune};
    enum exit_code code = names ? EXIT_OK : cli_fail(E_NOMEM);
    if (code == EXIT_OK && input->reading.docs.count)
        code = agent_docs_read(client, file_docs_types(&input->reading.docs), input->reading.zones,
                               &input->docs);
    if (code == EXIT_OK)
        code = plan_docs(input, false, plan);
    if (code == EXIT_OK)
        code = digests_get(client, DIGESTS_SHOWN, &digests);
    if (code == EXIT_OK)
        code = cli_fail(differing(input, plan, digests, names));
    if (code == EXIT_OK)
        code = jobs_by_name(client, names, &there);
    for (size_t i = 0; i < input->jobs.count && code == EXIT_OK; i++) {
        struct job *job = input->jobs.items[i];
        if (json_object_get(digests, job->name) && !json_object_get(there, job->name))
            plan->same++;
        else
            code = compare_one(input, there, job, plan);
    }
    if (code == EXIT_OK && (plan->count || plan->docs.count || request->prune))
        code = client_pages(client, "/jobs?", 0, take_others, &others);
    if (code == EXIT_OK && request->prune_documents)
        code = add_pruned_docs(client, input, plan);
    if (code == EXIT_OK && plan->count)
        code = calendars_of_agent(&plan->book, client, input->reading.zones);
    if (code == EXIT_OK && plan->count)
        code = plan_gates_read(&plan->gates, client, &plan->docs);
    json_decref(names);
    json_decref(there);
    json_decref(digests);
    return code;
}

/* ---- the command ---- */

static enum exit_code check(const struct request *request)
{
    const struct command *self = request->base.command;
    bool is_offline = request->against.count || request->revision;
    if (request->files.count == 0)
        return cli_usage(self, "which file? Give it with -f");
    if (is_offline && request->prune)
        return cli_usage(self, "--prune is for the jobs of an agent");
    if (is_offline && request->prune_documents)
        return cli_usage(self, "--prune-documents is for what an agent has");
    if (!is_offline && request->calendars)
        return cli_usage(self, "--calendars is for --against and --git; an agent has calendars");
    if (!is_offline && request->tz)
        return cli_usage(self, "--tz is for --against and --git; an agent has a zone");
    return EXIT_OK;
}

static enum exit_code print(const struct job_plan *plan, const struct request *request)
{
    enum status st = request->form == FORM_JSON ? job_plan_print_json(plan, request->detail)
                     : request->form == FORM_MARKDOWN
                         ? job_plan_print_markdown(plan, request->detail)
                         : job_plan_print_text(plan, request->detail);
    return cli_fail(st);
}

static enum exit_code make(struct client *client, const struct request *request,
                           struct input *input, struct job_plan *plan)
{
    enum exit_code code =
        client ? reading_init(&input->reading, client) : init_reading(&input->reading, request);
    input->reading.hides_secrets = true; /* which no plan shows */
    if (code == EXIT_OK)
        code = definitions_read(&input->reading, request->files.items, request->files.count,
                                &input->jobs, &input->sources);
    if (code != EXIT_OK)
        return code;
    int64_t from_s = now_ms() / 1000;
    job_plan_init(plan, input->reading.zones, from_s, from_s + request->days * 86400);
    code =
        client ? compare_agent(client, request, input, plan) : compare_files(request, input, plan);
    if (code == EXIT_OK)
        code = cli_fail(job_plan_look_ahead(plan, &input->jobs, &input->others));
    return code == EXIT_OK ? print(plan, request) : code;
}

static enum exit_code run(void *place)
{
    const struct request *request = place;
    struct client *client = NULL;
    struct input input;
    struct job_plan plan = {0};
    enum exit_code code = check(request);
    if (code != EXIT_OK)
        return code;
    if (!request->against.count && !request->revision)
        code = client_open(request->base.data, &client);
    input_init(&input);
    if (code == EXIT_OK)
        code = make(client, request, &input, &plan);
    bool differs = plan.count + plan.docs.count > 0;
    job_plan_release(&plan);
    input_release(&input);
    client_close(client);
    return code == EXIT_OK && differs ? EXIT_DIFFERS : code;
}

static const char *const forms[] = {"text", "json", "markdown", NULL};

const struct command cmd_plan = {
    .name = "plan",
    .summary = "what `peal apply` would change, with the ticks of the next year",
    .examples =
        EXAMPLES({"peal plan -f jobs.d", NULL}, {"peal plan -f jobs.d --prune --detail", NULL},
                 {"peal plan -f new/ --against old/", "without an agent"},
                 {"peal plan -f jobs.d --git main -o markdown", "for a pull request"}),
    .usage = "-f FILE|DIR|- [-f ...] [options]",
    .notes =
        "Compares the jobs of files, and their groups, calendars, channels and maintenance, with "
        "those of the agent, or, without an agent, with other "
        "files: --against, or --git, which reads a revision of the files' repository. Shows each "
        "field that changes, with its file and line, and of each job whose ticks change how many "
        "of a year's are gained, lost or moved, what the clock's changes and calendars do to them, "
        "and with how many other jobs they start in one second; of an agent also which fall in "
        "maintenance, and where more runs of a group start than may run. Secrets are masked.\n"
        "Exit status: 0 nothing changes, 2 something does, 1 an error.",
    .options = ROWS(
        OPTION_LIST(request, files, 'f', "file", "F",
                    "a file, a folder, or - for stdin; may repeat", .complete = COMPLETE_FILES),
        OPTION_LIST(request, against, 0, "against", "F",
                    "compare with the jobs of this file or folder; may repeat",
                    .complete = COMPLETE_FILES),
        OPTION_TEXT(request, revision, 0, "git", "REV",
                    "compare with the files as they are in this revision"),
        OPTION_TEXT(request, calendars, 0, "calendars", "DIR",
                    "with --against or --git: calendars in files NAME.yaml",
                    .complete = COMPLETE_FILES),
        OPTION_TEXT(request, tz, 0, "tz", "ZONE",
                    "with --against or --git: the zone of jobs without one (default: this "
                    "machine's)"),
        OPTION_NUMBER(request, days, 0, "days", 1, DAYS_MAX, "how far ahead (default: 365)"),
        OPTION_FLAG(request, prune, 0, "prune",
                    "also show jobs that were applied and are in no file any more"),
        OPTION_FLAG(request, prune_documents, 0, "prune-documents",
                    "also show groups, calendars and channels that no file has and no job needs"),
        OPTION_FLAG(request, detail, 0, "detail", "single ticks, and values in full"),
        OPTION_CHOICE(request, form, 'o', "output", "F", forms, "text (default), json or markdown"),
        OPTION_GROUP(request, base, client_options)),
    .too_many = "unexpected \"%s\"; files go with -f",
    .compares = true,
    .defaults = &(const struct request){.days = DAYS},
    .request_size = sizeof(struct request),
    .run = run,
};
