/* peal export: definitions as YAML, JSON or a crontab. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_out.h"
#include "crontab/crontab.h"
#include "jobs/definition.h"
#include "text/tr.h"

enum form { FORM_CRONTAB, FORM_YAML, FORM_JSON };

struct request {
    struct request_base base;
    enum form form;
    struct words names;
    bool system;
};

/* The jobs of these names, or all. */
static enum exit_code collect(struct client *client, const struct words *names, json_t **ret)
{
    if (names->count == 0)
        return client_list(client, "/jobs?", 0, ret);
    json_t *jobs = json_array();
    enum exit_code code = jobs ? EXIT_OK : cli_fail(E_NOMEM);
    for (int i = 0; i < names->count && code == EXIT_OK; i++) {
        struct reply reply;
        code = client_job(client, names->items[i], &reply);
        if (code != EXIT_OK)
            break;
        if (json_array_append(jobs, reply.body) != 0)
            code = cli_fail(E_NOMEM);
        reply_release(&reply);
    }
    if (code == EXIT_OK)
        *ret = jobs;
    else
        json_decref(jobs);
    return code;
}

static enum exit_code decode_all(const struct reading *reading, const json_t *found,
                                 struct job_list *jobs)
{
    const json_t *each;
    size_t i;
    jobs->items = calloc(json_array_size(found) + 1, sizeof(struct job *));
    if (!jobs->items)
        return cli_fail(E_NOMEM);
    json_array_foreach (found, i, each) {
        enum status st = definition_decode(reading, each, &jobs->items[jobs->count]);
        if (st != OK)
            return cli_fail(st);
        jobs->count++;
    }
    return EXIT_OK;
}

static enum status print_json(const struct job_list *jobs)
{
    json_t *list = json_array();
    enum status st = list ? OK : E_NOMEM;
    for (size_t i = 0; i < jobs->count && st == OK; i++) {
        if (json_array_append_new(list, job_encode_json(jobs->items[i], false)) != 0)
            st = E_NOMEM;
    }
    if (st == OK)
        st = json_print(list);
    json_decref(list);
    return st;
}

static enum status print_text(const struct reading *reading, const struct job_list *jobs,
                              enum form form, bool system)
{
    struct strbuf text;
    strbuf_init(&text);
    enum status st = OK;
    if (form == FORM_CRONTAB)
        st = crontab_export(jobs->items, jobs->count, system, reading->zones, &text);
    for (size_t i = 0; form == FORM_YAML && i < jobs->count && st == OK; i++) {
        strbuf_adds(&text, i ? "---\n" : "");
        st = job_encode_yaml(jobs->items[i], &text);
    }
    if (st == OK)
        fputs(text.text, stdout);
    strbuf_release(&text);
    return st;
}

static enum exit_code export_jobs(struct client *client, void *place)
{
    const struct request *request = place;
    struct reading reading;
    struct job_list jobs;
    json_t *found = NULL;
    job_list_init(&jobs);
    enum exit_code code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = collect(client, &request->names, &found);
    if (code == EXIT_OK)
        code = decode_all(&reading, found, &jobs);
    if (code == EXIT_OK)
        code = cli_fail(request->form == FORM_JSON
                            ? print_json(&jobs)
                            : print_text(&reading, &jobs, request->form, request->system));
    json_decref(found);
    job_list_release(&jobs);
    reading_release(&reading);
    return code;
}

static const char *const forms[] = {"crontab", "yaml", "json", NULL};

const struct command cmd_export = {
    .name = "export",
    .summary = "definitions as YAML, JSON or a crontab",
    .examples = EXAMPLES({"peal export yaml > jobs.yaml", NULL},
                         {"peal export crontab backup report", NULL},
                         {"peal export json | jq length", NULL}),
    .usage = "crontab|yaml|json [NAME...] [options]",
    .notes = "All jobs, unless names are given. Fields that a crontab has no syntax for become "
             "comments.",
    .arguments =
        ROWS({.name = "FORM",
              .value = TR("the form"),
              .take = take_choice,
              .place = OPTION_PLACE(request, form, unsigned),
              .choices = forms},
             ARGUMENTS(request, names, "NAME", .is_optional = true, .complete = COMPLETE_JOBS)),
    .options = ROWS(OPTION_FLAG(request, system, 0, "system",
                                "a crontab with a user in every line, like /etc/crontab"),
                    OPTION_GROUP(request, base, client_options)),
    .too_few = "which format? crontab, yaml or json",
    .request_size = sizeof(struct request),
    .with_agent = export_jobs,
};
