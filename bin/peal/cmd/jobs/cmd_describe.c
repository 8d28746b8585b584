/* peal describe: everything about a job, for reading. */
#include <stdio.h>
#include <string.h>

#include "cli/text_table.h"
#include "cli/text_width.h"
#include "cli/when.h"
#include "client/quiet/job_mute.h"
#include "fires.h"
#include "jobs/definition.h"
#include "print/job_table.h"
#include "print/run_table.h"
#include "print/state_words.h"
#include "text/tr.h"
#include "words/explain.h"

enum { SHOWN = 5 };

struct request {
    struct request_base base;
    struct words names;
};

static void print_line(const char *label, const char *text)
{
    struct strbuf safe;
    if (!*text)
        return;
    strbuf_init(&safe);
    text_print_safe(text, strlen(text), &safe);
    cli_line(11, label, "%s", safe.text);
    strbuf_release(&safe);
}

static void print_time(const char *label, int64_t at_ms)
{
    struct strbuf text;
    if (at_ms == NO_TIME)
        return;
    strbuf_init(&text);
    when_print_full(at_ms, &text);
    print_line(label, text.text);
    strbuf_release(&text);
}

/* Each schedule as typed, and in words below. */
static enum status print_schedules(const struct reading *reading, const struct job *job)
{
    struct schedule_set set;
    struct parse_error err;
    struct strbuf text;
    schedule_set_init(&set);
    strbuf_init(&text);
    enum status st = job_schedules(job, reading->zones, &set, &err);
    for (size_t i = 0; i < job->schedule_count; i++) {
        print_line(i ? "" : "Schedule", job->schedules[i]);
        if (st != OK || i >= set.count)
            continue;
        strbuf_truncate(&text, 0);
        schedule_explain(set.items[i], tr_language(), &text);
        print_line("", text.text);
    }
    schedule_set_release(&set);
    enum status text_st = strbuf_status(&text);
    strbuf_release(&text);
    return text_st;
}

static void print_mute(const json_t *mute)
{
    struct strbuf text;
    if (!json_is_object(mute))
        return;
    strbuf_init(&text);
    mute_print(mute, &text);
    print_line("Messages", text.text);
    strbuf_release(&text);
}

static void print_status(const json_t *api_job)
{
    const json_t *status = json_object_get(api_job, "status");
    print_line("Status", job_status_word(api_job));
    print_line("Problem", answer_text(status, "problem"));
    print_line("Warning", answer_text(json_object_get(status, "warning"), "detail"));
    print_time("Since", answer_time(json_object_get(status, "warning"), "since"));
    print_line("Uid", answer_text(api_job, "uid"));
    print_time("Created", answer_time(api_job, "created_at"));
    print_time("Changed", answer_time(api_job, "updated_at"));
    print_time("Applied", answer_time(api_job, "applied_at"));
    print_time("Last ok", answer_time(status, "succeeded_at"));
    print_time("Next", answer_time(status, "next_at"));
    print_mute(json_object_get(status, "mute"));
}

/* Indented, as a file for `peal apply` would have it. */
static enum status print_definition(const struct job *job)
{
    struct strbuf yaml;
    strbuf_init(&yaml);
    enum status st = job_encode_yaml(job, &yaml);
    if (st == OK)
        printf("\n%s\n", tr("Definition"));
    for (const char *line = yaml.text; st == OK && *line;) {
        int length = (int)strcspn(line, "\n");
        printf("  %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
    strbuf_release(&yaml);
    return st;
}

static enum exit_code print_fires(struct client *client, const char *name)
{
    struct strbuf path;
    json_t *answer;
    const json_t *fire;
    size_t i;
    strbuf_init(&path);
    job_path(&path, name, "/next");
    strbuf_addf(&path, "?n=%d", SHOWN);
    enum exit_code code = client_get(client, path.text, &answer);
    if (code == EXIT_OK) {
        const json_t *fires = json_object_get(answer, "fires");
        printf("\n%s\n", tr(json_array_size(fires) ? TR("Next ticks") : TR("No next ticks")));
        json_array_foreach (fires, i, fire) {
            const char *note = answer_text(fire, "note");
            int64_t at_ms = answer_time(fire, "at"), now = now_ms();
            strbuf_truncate(&path, 0);
            when_print_in(at_ms, now, &path);
            printf("  %-30s %s%s%s\n", answer_text(fire, "local"), path.text, *note ? "  " : "",
                   note);
        }
        json_array_foreach (json_object_get(answer, "left_out"), i, fire) {
            printf("  %-30s ", answer_text(fire, "local"));
            printf(tr("left out: calendar %s"), answer_text(fire, "calendar"));
            printf(*answer_text(fire, "window") ? ", %s\n" : "%s\n", answer_text(fire, "window"));
        }
        json_decref(answer);
    }
    strbuf_release(&path);
    return code;
}

static enum status print_waits(const json_t *waits)
{
    static const char *const headers[] = {"  AFTER", "ON", "LAST", "ENDED", "SINCE ITS LAST RUN",
                                          NULL};
    struct text_table table;
    struct strbuf text;
    const json_t *wait;
    size_t i;
    text_table_init(&table, headers);
    strbuf_init(&text);
    json_array_foreach (waits, i, wait) {
        bool exists = json_is_true(json_object_get(wait, "exists"));
        strbuf_truncate(&text, 0);
        strbuf_addf(&text, "  %s", answer_text(wait, "job"));
        text_table_cell(&table, text.text);
        text_table_cell(&table, after_word(answer_text(wait, "on")));
        text_table_cell(&table, exists ? state_word(answer_text(wait, "state"))
                                       : tr("there is no such job"));
        strbuf_truncate(&text, 0);
        when_print_left(answer_time(wait, "ended_at"), now_ms(), &text);
        text_table_cell(&table, text.text);
        text_table_cell(&table,
                        tr(json_is_true(json_object_get(wait, "met")) ? TR("yes") : TR("not yet")));
    }
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = text_table_print(&table, stdout);
    strbuf_release(&text);
    text_table_release(&table);
    return st;
}

/* Dependencies and dependents; most jobs have neither. */
static enum exit_code print_dependencies(struct client *client, const char *name)
{
    struct strbuf path;
    json_t *answer;
    const json_t *item;
    size_t i;
    strbuf_init(&path);
    enum exit_code code = client_get(client, job_path(&path, name, "/dependencies"), &answer);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    const json_t *waits = json_object_get(answer, "after");
    if (json_array_size(waits)) {
        printf("\n%s\n", tr("Waits for"));
        code = cli_fail(print_waits(waits));
    }
    json_array_foreach (json_object_get(answer, "before"), i, item) {
        if (i == 0)
            printf("\n%s\n", tr("These wait for it"));
        printf("  ");
        printf(tr("%s (on %s)"), answer_text(item, "job"), after_word(answer_text(item, "on")));
        putchar('\n');
    }
    json_decref(answer);
    return code;
}

static enum exit_code print_runs(struct client *client, const char *name)
{
    struct strbuf path;
    json_t *runs;
    strbuf_init(&path);
    strbuf_adds(&path, "/runs?");
    url_param(&path, "job", name);
    enum exit_code code = client_list(client, path.text, SHOWN, &runs);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    printf("\n%s\n", tr(json_array_size(runs) ? TR("Last runs") : TR("No runs yet")));
    if (json_array_size(runs))
        code = runs_print(runs, OUTPUT_TABLE, nodes_are_many(client));
    json_decref(runs);
    return code;
}

static enum exit_code describe(struct client *client, const char *name)
{
    struct reading reading;
    struct reply reply;
    struct job *job = NULL;
    enum exit_code code = client_job(client, name, &reply);
    if (code != EXIT_OK)
        return code;
    code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = cli_fail(definition_decode(&reading, reply.body, &job));
    if (code == EXIT_OK) {
        print_line("Name", name);
        code = cli_fail(print_schedules(&reading, job));
        print_line("Time zone", job->after_count ? "" : job->timezone);
        print_status(reply.body);
    }
    if (code == EXIT_OK)
        code = cli_fail(print_definition(job));
    if (code == EXIT_OK && !job->after_count)
        code = print_fires(client, name);
    if (code == EXIT_OK)
        code = print_dependencies(client, name);
    if (code == EXIT_OK)
        code = print_runs(client, name);
    job_free(job);
    reading_release(&reading);
    reply_release(&reply);
    return code;
}

static enum exit_code describe_each(struct client *client, void *place)
{
    const struct request *request = place;
    enum exit_code worst = EXIT_OK;
    for (int i = 0; i < request->names.count; i++) {
        if (i)
            putchar('\n');
        enum exit_code code = describe(client, request->names.items[i]);
        if (code != EXIT_OK)
            worst = code;
    }
    return worst;
}

const struct command cmd_describe = {
    .name = "describe",
    .summary = "all about a job, as a readable page",
    .examples = EXAMPLES({"peal describe backup", NULL}),
    .notes = "The schedules in words, the status, the definition, the next five ticks, upstream "
             "and downstream jobs, and the last five runs.\nFor programs: peal get NAME -o json",
    .arguments = ROWS(ARGUMENTS(request, names, "NAME", .complete = COMPLETE_JOBS)),
    .options = client_options,
    .too_few = "which job?",
    .request_size = sizeof(struct request),
    .with_agent = describe_each,
};
