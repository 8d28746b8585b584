/* peal validate: checks schedules, one or a file of them; or files of jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/json_out.h"
#include "cli/when.h"
#include "client/client.h"
#include "cmd/jobs/validate.h"
#include "data_folder.h"
#include "jobs/check/job_check.h"
#include "jobs/definition.h"
#include "jobs/documents/doc_types.h"
#include "jobs/input_file.h"
#include "jobs/schedule_args.h"
#include "text/tr.h"
#include "text/tr_parsed.h"
#include "words/explain.h"

enum { LINE_MAX_BYTES = 4096 };
enum form { AS_TEXT, AS_JSON };

struct request {
    struct request_base base;
    struct schedule_args schedule;
    struct words words;
    enum form form;
};

/* One validation. */
struct check {
    const char *file; /* for messages; NULL: a schedule on the command line */
    struct specs specs;
    int64_t now_s;
    json_t *results; /* NULL: text output */
    bool invalid;    /* at least one schedule is invalid */
};

static bool is_path(const char *text)
{
    return text[0] == '/' || strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0;
}

static bool is_spec(const char *text)
{
    return text[0] == '@' || (strpbrk(text, " \t\n") && !is_path(text));
}

static enum status parse(const struct spec *spec, const struct schedule_reader *reader,
                         struct schedule **ret, struct parse_error *reterr)
{
    if (strlen(spec->text) > LINE_MAX_BYTES)
        return parse_fail(reterr, 0, "the line is longer than %d bytes", LINE_MAX_BYTES);
    return schedule_parse(spec->text, &reader->options, reader->zones, ret, reterr);
}

static enum status report_text(const struct check *check, const struct spec *spec,
                               const struct schedule *schedule)
{
    struct strbuf canonical, place;
    strbuf_init(&canonical);
    strbuf_init(&place);
    if (check->file)
        strbuf_addf(&place, "%s:%d: ", check->file, spec->line);
    schedule_print(schedule, &canonical);
    enum status st = canonical.failed ? E_NOMEM : strbuf_status(&place);
    if (st == OK) {
        printf(tr("%sok %s"), place.text, canonical.text);
        putchar('\n');
        st = schedule_print_warnings(schedule, check->now_s, tr_language(), place.text);
    }
    strbuf_release(&place);
    strbuf_release(&canonical);
    return st;
}

static void report_error_text(const struct check *check, const struct spec *spec,
                              struct parse_error *err)
{
    tr_parsed(err->message, sizeof(err->message));
    if (!check->file)
        cli_parse_error(tr("invalid schedule"), spec->text, err);
    else if (err->column > 0)
        fprintf(stderr, "%s:%d:%d: %s\n", check->file, spec->line, err->column, err->message);
    else
        fprintf(stderr, "%s:%d: %s\n", check->file, spec->line, err->message);
}

static enum status report_json(const struct check *check, const struct spec *spec,
                               const struct schedule *schedule, const struct parse_error *err)
{
    json_t *result = json_object();
    int failed = 0;
    if (spec->line)
        failed |= json_object_set_new(result, "line", json_integer(spec->line));
    failed |= json_object_set_new(result, "spec", json_text(spec->text));
    failed |= json_object_set_new(result, "ok", json_boolean(schedule != NULL));
    if (schedule) {
        const char *tz = zone_name(schedule_zone(schedule));
        struct strbuf canonical;
        strbuf_init(&canonical);
        schedule_print(schedule, &canonical);
        failed |= strbuf_status(&canonical) != OK;
        failed |= json_object_set_new(result, "canonical", json_text(canonical.text));
        failed |= json_object_set_new(result, "tz", json_text(tz));
        failed |= json_object_set_new(result, "warnings",
                                      json_warnings(schedule, LANGUAGE_EN, check->now_s));
        strbuf_release(&canonical);
    } else {
        if (err->column > 0)
            failed |= json_object_set_new(result, "column", json_integer(err->column));
        failed |= json_object_set_new(result, "error", json_text(err->message));
    }
    failed |= json_array_append_new(check->results, result);
    return failed ? E_NOMEM : OK;
}

static enum status check_one(struct check *check, const struct spec *spec,
                             const struct schedule_reader *reader)
{
    struct parse_error err = {0};
    struct schedule *schedule = NULL;
    enum status st = parse(spec, reader, &schedule, &err);
    if (st == E_NOMEM)
        return st;
    if (st != OK)
        check->invalid = true;
    st = OK;
    if (check->results)
        st = report_json(check, spec, schedule, &err);
    else if (schedule)
        st = report_text(check, spec, schedule);
    else
        report_error_text(check, spec, &err);
    schedule_free(schedule);
    return st;
}

/* Reads the input: a spec, or five and more words that are one without its quotes; else a file;
 * else standard input. */
static enum exit_code read_specs(const struct request *request, struct check *check)
{
    int argc = request->words.count;
    char **argv = request->words.items;
    if (argc >= 5 || (argc == 1 && is_spec(argv[0]))) {
        enum status st = specs_add_args(&check->specs, argc, argv);
        if (st == OK && check->specs.count > 0 && check->specs.items[0].line)
            check->file = "SPEC";
        return cli_fail(st);
    }
    if (argc > 1)
        return cli_usage(request->base.command, "one schedule, in quotes, or one file of them");

    struct strbuf text;
    strbuf_init(&text);
    check->file = strcmp(argv[0], "-") == 0 ? "stdin" : argv[0];
    enum exit_code code = input_file_read(argv[0], &text);
    if (code == EXIT_OK)
        code = cli_fail(specs_add_text(&check->specs, text.text));
    strbuf_release(&text);
    return code;
}

static enum exit_code check_all(struct check *check, const struct schedule_reader *reader)
{
    enum status st = OK;
    if (check->specs.count == 0 && check->file)
        cli_note("%s has no schedules", check->file);
    else if (check->specs.count == 0)
        cli_note("the text has no schedules");
    for (size_t i = 0; i < check->specs.count && st == OK; i++)
        st = check_one(check, &check->specs.items[i], reader);
    if (st == OK && check->results)
        st = json_print(check->results);
    if (st != OK)
        return cli_fail(st);
    if (check->specs.unquoted && check->invalid)
        cli_note("put the schedule in quotes, or the shell takes it apart");
    return check->invalid ? EXIT_INVALID : EXIT_OK;
}

/* Files of jobs are known by their names, and by being a folder. */
static bool holds_jobs(const char *path)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    struct stat about;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t length = strlen(path), ending = strlen(endings[i]);
        if (length > ending && strcmp(path + length - ending, endings[i]) == 0)
            return true;
    }
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static enum status report_job(const struct check *check, const struct job *job)
{
    if (!check->results) {
        printf(tr("%sok %s"), "", job->name);
        putchar('\n');
        return OK;
    }
    json_t *result = json_pack("{s:s, s:b}", "name", job->name, "ok", true);
    return json_array_append_new(check->results, result) == 0 ? OK : E_NOMEM;
}

static enum status report_doc(const struct check *check, const struct file_doc *doc)
{
    if (!check->results) {
        struct strbuf words;
        strbuf_init(&words);
        doc_words(doc->type, doc->name, &words);
        printf(tr("%sok %s"), "", words.text);
        putchar('\n');
        enum status st = strbuf_status(&words);
        strbuf_release(&words);
        return st;
    }
    json_t *result = json_pack("{s:s, s:s, s:b}", "kind", doc_type_rows[doc->type].kind, "name",
                               doc->name, "ok", true);
    return json_array_append_new(check->results, result) == 0 ? OK : E_NOMEM;
}

/* Are all of them files of jobs? A shell pattern may give many. */
static bool all_hold_jobs(const struct words *words)
{
    for (int i = 0; i < words->count; i++) {
        if (is_spec(words->items[i]) || !holds_jobs(words->items[i]))
            return false;
    }
    return true;
}

/* Opens the local agent silently; false: none. */
static bool open_own(struct client **ret)
{
    struct strbuf folder, path;
    strbuf_init(&folder);
    strbuf_init(&path);
    bool is_there = data_folder_find(NULL, &folder) == OK;
    strbuf_addf(&path, "%s/api.sock", folder.text);
    is_there = is_there && strbuf_status(&path) == OK && access(path.text, W_OK) == 0 &&
               client_open(folder.text, ret) == EXIT_OK;
    strbuf_release(&path);
    strbuf_release(&folder);
    return is_there;
}

/* The agent of the options, which must answer; else that of this machine, if it does. *ret may be
 * NULL, else *ret_agent is its answer. */
static enum exit_code find_agent(const struct request *request, struct client **ret,
                                 json_t **ret_agent)
{
    const char *url = getenv("PEAL_URL");
    struct reply reply = {0};
    if (request->base.data || (url && *url)) {
        enum exit_code code = client_open(request->base.data, ret);
        return code == EXIT_OK ? client_get(*ret, "/agent", ret_agent) : code;
    }
    if (!open_own(ret))
        return EXIT_OK;
    if (client_try(*ret, &(struct client_request){.path = "/agent"}, &reply) == OK &&
        reply.status < 300)
        *ret_agent = json_incref(reply.body);
    else
        *ret = client_close(*ret);
    reply_release(&reply);
    return EXIT_OK;
}

/* Jobs without a user that the agent would not start. */
static void warn_of_user(const struct job_list *jobs, const json_t *agent)
{
    const json_t *user = json_object_get(agent, "jobs_user");
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        count += !jobs->items[i]->user;
    if (count && json_is_object(user) && !json_is_true(json_object_get(user, "ok")))
        cli_note("%zu of %zu jobs name no user: %s", count, jobs->count,
                 answer_text(user, "detail"));
}

/* Mistakes of one job are no reason to be silent about those of the others. */
static enum exit_code check_together(const struct request *request, const struct job_list *jobs,
                                     const struct file_docs *docs,
                                     const struct job_sources *sources)
{
    struct client *client = NULL;
    json_t *agent = NULL;
    enum exit_code code = find_agent(request, &client, &agent);
    if (code == EXIT_OK)
        code = job_check(client, jobs, docs, sources);
    if (code == EXIT_OK && agent)
        warn_of_user(jobs, agent);
    json_decref(agent);
    client_close(client);
    return code;
}

static enum exit_code check_jobs(const struct check *check, const struct request *request)
{
    const struct words *files = &request->words;
    struct reading reading;
    struct job_list jobs;
    struct job_sources sources;
    enum status st = OK;
    job_list_init(&jobs);
    job_sources_init(&sources);
    enum exit_code code = reading_init(&reading, NULL);
    reading.hides_secrets = true;
    if (code == EXIT_OK)
        code = definitions_read(&reading, (const char *const *)files->items, (size_t)files->count,
                                &jobs, &sources);
    if (code == EXIT_OK || code == EXIT_INVALID) {
        enum exit_code more = check_together(request, &jobs, &reading.docs, &sources);
        code = more == EXIT_OK ? code : more;
    }
    for (size_t i = 0; code == EXIT_OK && st == OK && i < reading.docs.count; i++)
        st = report_doc(check, &reading.docs.items[i]);
    for (size_t i = 0; code == EXIT_OK && st == OK && i < jobs.count; i++)
        st = report_job(check, jobs.items[i]);
    if (code == EXIT_OK && st == OK && check->results)
        st = json_print(check->results);
    job_sources_release(&sources);
    job_list_release(&jobs);
    reading_release(&reading);
    return st == OK ? code : cli_fail(st);
}

static enum exit_code run(void *place)
{
    const struct request *request = place;
    struct schedule_reader reader;
    struct check check = {.now_s = time(NULL)};
    specs_init(&check.specs);
    enum exit_code code = schedule_reader_init(&reader, request->base.command, &request->schedule);
    if (code == EXIT_OK && request->form == AS_JSON && !(check.results = json_array()))
        code = cli_fail(E_NOMEM);
    if (code == EXIT_OK && all_hold_jobs(&request->words)) {
        code = check_jobs(&check, request);
    } else if (code == EXIT_OK) {
        code = read_specs(request, &check);
        if (code == EXIT_OK)
            code = check_all(&check, &reader);
    }
    json_decref(check.results);
    specs_release(&check.specs);
    schedule_reader_release(&reader);
    return code;
}

enum exit_code validate_job_files(const struct request_base *base, const struct words *files)
{
    struct request request = {.base = *base, .words = *files};
    if (!all_hold_jobs(files))
        return cli_usage(base->command, "give files that end in .yaml, .yml or .json, or folders");
    return run(&request);
}

static const char *const forms[] = {"text", "json", NULL};

const struct command cmd_validate = {
    .name = "validate",
    .summary = "check schedules or job files",
    .examples = EXAMPLES({"peal validate '0 0 L * *'", NULL}, {"peal validate schedules.txt", NULL},
                         {"peal validate jobs/*.yaml", NULL},
                         {"grep -h ^schedule *.conf | cut -d= -f2 | peal validate -", NULL}),
    .usage = "SPEC|FILE|- [options]\n"
             "JOBS... [options]",
    .notes = "SPEC is a schedule in quotes; it has white space or starts with @. FILE has one "
             "schedule per line; blank lines and lines that start with # are ignored. Valid "
             "schedules are printed in canonical form, invalid ones as FILE:LINE:COLUMN: and the "
             "reason. Exit status 6: at least one is invalid. JOBS are files that end in .yaml, "
             ".yml or .json, or folders of them, with jobs as in docs/JOBS.md: all mistakes are "
             "listed as FILE:LINE:COLUMN, also jobs that wait for themselves by way of others. If "
             "there is an agent, that of this machine or the one that is named, groups, calendars, "
             "channels and jobs that it does not have are mistakes, too, and a note lists jobs "
             "without a user if it does not start such jobs.",
    .arguments = ROWS(ARGUMENTS(request, words, "SPEC|FILE", .complete = COMPLETE_FILES)),
    .options =
        ROWS(OPTION_GROUP(request, schedule, schedule_options_rows),
             OPTION_CHOICE(request, form, 'o', "output", "F", forms, "text (default) or json"),
             OPTION_GROUP(request, base, client_options)),
    .too_few = "validate what? A schedule in quotes, a file, or - for stdin",
    .request_size = sizeof(struct request),
    .run = run,
};
