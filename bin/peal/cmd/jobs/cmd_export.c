/* peal export: the definitions, for elsewhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_out.h"
#include "crontab/crontab.h"
#include "jobs/definition.h"

enum { OPTION_SYSTEM = OPTION_LONG_ONLY };
enum form { FORM_CRONTAB, FORM_YAML, FORM_JSON };

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"system", no_argument, NULL, OPTION_SYSTEM},
    {0},
};

/* The jobs of these names, or all. */
static enum exit_code collect(struct client *client, char **names, int count, json_t **ret)
{
    if (count == 0)
        return client_list(client, "/jobs?", 0, ret);
    json_t *jobs = json_array();
    enum exit_code code = jobs ? EXIT_OK : cli_fail(E_NOMEM);
    for (int i = 0; i < count && code == EXIT_OK; i++) {
        struct reply reply;
        code = client_job(client, names[i], &reply);
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

static enum exit_code export_jobs(struct client *client, enum form form, bool system, char **names,
                                  int count)
{
    struct reading reading;
    struct job_list jobs;
    json_t *found = NULL;
    job_list_init(&jobs);
    enum exit_code code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = collect(client, names, count, &found);
    if (code == EXIT_OK)
        code = decode_all(&reading, found, &jobs);
    if (code == EXIT_OK)
        code = cli_fail(form == FORM_JSON ? print_json(&jobs)
                                          : print_text(&reading, &jobs, form, system));
    json_decref(found);
    job_list_release(&jobs);
    reading_release(&reading);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    static const char *const forms[] = {"crontab", "yaml", "json", NULL};
    const char *data = NULL;
    struct client *client;
    bool system = false;
    int opt, form;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        if (opt == OPTION_SYSTEM)
            system = true;
        else
            data = optarg;
    }
    if (optind == argc)
        return cli_usage(self, "as what? crontab, yaml or json");
    if (!cli_choice(self, "the form", argv[optind], forms, &form))
        return EXIT_USAGE;
    enum exit_code code = client_open(data, &client);
    if (code != EXIT_OK)
        return code;
    code = export_jobs(client, (enum form)form, system, argv + optind + 1, argc - optind - 1);
    client_close(client);
    return code;
}

const struct command cmd_export = {
    .name = "export",
    .summary = "definitions as YAML, JSON or a crontab",
    .help = "Examples:\n"
            "  peal export yaml > jobs.yaml\n"
            "  peal export crontab backup report\n"
            "  peal export json | jq length\n"
            "\n"
            "Usage: peal export crontab|yaml|json [NAME...]\n"
            "\n"
            "All jobs, unless names are given. What a crontab can't say stands in it as a\n"
            "comment.\n"
            "\n"
            "Options:\n"
            "  --system         a crontab with a user in every line, as /etc/crontab\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
