#include "print/job_table.h"

#include <stdio.h>
#include <string.h>

#include "cli/text_table.h"
#include "cli/when.h"

const char *job_status_word(const json_t *api_job)
{
    const json_t *status = json_object_get(api_job, "status");
    const char *last = answer_text(json_object_get(status, "last"), "state");
    if (*answer_text(api_job, "deleted_at"))
        return "deleted";
    if (answer_int(status, "running", 0) > 0)
        return "running";
    if (json_is_true(json_object_get(status, "paused")))
        return "paused";
    if (*answer_text(status, "problem"))
        return "problem";
    if (answer_int(status, "queued", 0) > 0)
        return "queued";
    return *last ? last : "-";
}

static void add_labels(const json_t *labels, struct strbuf *text)
{
    const char *name;
    const json_t *value;
    json_object_foreach ((json_t *)labels, name, value) {
        strbuf_addf(text, "%s%s=%s", text->length ? "," : "", name,
                    json_is_string(value) ? json_string_value(value) : "");
    }
}

static void add_row(struct text_table *table, const json_t *job, bool wide, int64_t now)
{
    const json_t *status = json_object_get(job, "status");
    const json_t *last = json_object_get(status, "last");
    int64_t next_ms = answer_time(status, "next_at");
    int64_t last_ms = answer_time(last, "started_at");
    struct strbuf text;
    strbuf_init(&text);
#define CELL(call) (strbuf_truncate(&text, 0), call, text_table_cell(table, text.text))
    text_table_cell(table, answer_text(job, "name"));
    CELL(definition_schedules(job, &text));
    CELL(when_print_local(next_ms, &text));
    CELL(when_print_left(next_ms, now, &text));
    CELL(when_print_left(last_ms, now, &text));
    text_table_cell(table, job_status_word(job));
    if (wide) {
        text_table_cell(table, answer_text(job, "timezone"));
        text_table_cell(table, answer_text(job, "owner"));
        CELL(add_labels(json_object_get(job, "labels"), &text));
        text_table_cell(table, answer_text(status, "problem"));
    }
#undef CELL
    if (text.failed)
        table->status = E_NOMEM;
    strbuf_release(&text);
}

static enum exit_code print_table(const json_t *jobs, bool wide)
{
    static const char *const narrow_headers[] = {"NAME", "SCHEDULE", "NEXT", "LEFT",
                                                 "LAST", "STATUS",   NULL};
    static const char *const wide_headers[] = {"NAME",   "SCHEDULE", "NEXT", "LEFT",
                                               "LAST",   "STATUS",   "ZONE", "OWNER",
                                               "LABELS", "PROBLEM",  NULL};
    struct text_table table;
    const json_t *job;
    size_t i;
    int64_t now = now_ms();
    text_table_init(&table, wide ? wide_headers : narrow_headers);
    json_array_foreach (jobs, i, job) {
        add_row(&table, job, wide, now);
    }
    enum status st = text_table_print(&table, stdout);
    text_table_release(&table);
    return cli_fail(st);
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

enum exit_code jobs_print(struct client *client, const json_t *jobs, enum output output)
{
    const json_t *job;
    size_t i;
    switch (output) {
    case OUTPUT_TABLE:
    case OUTPUT_WIDE:
        return print_table(jobs, output == OUTPUT_WIDE);
    case OUTPUT_JSON:
        return output_print(jobs, output);
    case OUTPUT_YAML:
        return print_definitions(client, jobs);
    case OUTPUT_NAME:
        break;
    }
    json_array_foreach (jobs, i, job) {
        printf("%s\n", answer_text(job, "name"));
    }
    return EXIT_OK;
}
