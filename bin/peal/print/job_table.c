#include "print/job_table.h"

#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "print/state_words.h"
#include "text/tr.h"

const char *job_status_word(const json_t *api_job)
{
    const json_t *status = json_object_get(api_job, "status");
    const char *last = answer_text(json_object_get(status, "last"), "state");
    if (*answer_text(api_job, "deleted_at"))
        return tr("deleted");
    if (answer_int(status, "running", 0) > 0)
        return tr("running");
    if (json_is_true(json_object_get(status, "paused")))
        return tr("paused");
    if (*answer_text(status, "problem"))
        return tr("problem");
    if (*answer_text(json_object_get(status, "warning"), "reason"))
        return tr("warning");
    if (answer_int(status, "retrying", 0) > 0)
        return tr("retrying");
    if (answer_int(status, "queued", 0) > 0)
        return tr("queued");
    return *last ? state_word(last) : "-";
}

static void print_labels(const json_t *job, struct strbuf *out)
{
    const char *name;
    const json_t *value;
    json_object_foreach (json_object_get(job, "labels"), name, value) {
        strbuf_addf(out, "%s%s=%s", out->length ? "," : "", name,
                    json_is_string(value) ? json_string_value(value) : "");
    }
}

/* Of a function: `function: billing`, or a map with its program. */
static void print_program(const json_t *job, struct strbuf *out)
{
    const json_t *function = json_object_get(job, "function");
    const char *program =
        json_is_string(function) ? json_string_value(function) : answer_text(function, "program");
    strbuf_adds(out, *program ? program : "-");
}

static void print_status(const json_t *job, struct strbuf *out)
{
    const json_t *mute = json_object_get(json_object_get(job, "status"), "mute");
    bool is_ack = strcmp(answer_text(mute, "kind"), "ack") == 0;
    strbuf_adds(out, job_status_word(job));
    if (json_is_true(json_object_get(mute, "active")))
        strbuf_addf(out, " (%s)", tr(is_ack ? TR("acknowledged") : TR("muted")));
}

/* What is wrong with it, or with what it needs. */
static void print_problem(const json_t *job, struct strbuf *out)
{
    const json_t *status = json_object_get(job, "status");
    const char *problem = answer_text(status, "problem");
    if (!*problem)
        problem = answer_text(json_object_get(status, "warning"), "detail");
    strbuf_adds(out, *problem ? problem : "-");
}

static enum exit_code print_definitions(struct client *client, const json_t *jobs)
{
    struct reading reading;
    struct strbuf yaml;
    const json_t *job;
    size_t i;
    enum exit_code code = reading_init(&reading, client);
    strbuf_init(&yaml);
    json_array_foreach (jobs, i, job) {
        if (code != EXIT_OK)
            break;
        strbuf_reset(&yaml);
        enum status st = definition_yaml(&reading, job, &yaml);
        if (st == OK)
            printf("%s%s", i ? "---\n" : "", yaml.text);
        code = st == E_INVALID ? EXIT_ERROR : cli_fail(st); /* an invalid one was told */
    }
    strbuf_release(&yaml);
    reading_release(&reading);
    return code;
}

static const struct list_column columns[] = {
    COLUMN("NAME", "name"),
    COLUMN_BY("SCHEDULE", definition_schedules, .goes = 6),
    COLUMN("NEXT", "status.next_at", .form = COLUMN_TIME, .goes = 5),
    COLUMN("LEFT", "status.next_at", .form = COLUMN_LEFT, .goes = 7),
    COLUMN("LAST", "status.last.started_at", .form = COLUMN_LEFT, .goes = 4),
    COLUMN_BY("STATUS", print_status),
    COLUMN_BY("PROBLEM", print_problem, .is_wide = true, .goes = 8),
    COLUMN_BY("PROGRAM", print_program, .is_wide = true, .goes = 9),
    COLUMN("OWNER", "owner", .is_wide = true, .goes = 3),
    COLUMN("ZONE", "timezone", .is_wide = true, .goes = 2),
    COLUMN_BY("LABELS", print_labels, .is_wide = true, .goes = 1),
    {0},
};

const struct list_form jobs_form = {.name = "name", .columns = columns, .keeps_last = true};

enum exit_code jobs_print(struct client *client, const json_t *jobs, enum output output)
{
    return output == OUTPUT_YAML ? print_definitions(client, jobs)
                                 : list_print(jobs, output, &jobs_form);
}
