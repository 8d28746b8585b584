/* peal explain: a schedule in words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "jobs/schedule_args.h"
#include "text/tr.h"
#include "words/explain.h"

enum form { AS_TEXT, AS_JSON };

struct request {
    struct request_base base;
    struct schedule_args schedule;
    enum form form;
    struct words specs;
};

static enum status print_text(const struct schedule *schedule, enum language language,
                              int64_t now_s)
{
    struct strbuf text;
    strbuf_init(&text);
    schedule_explain(schedule, language, &text);
    enum status st = strbuf_status(&text);
    if (st == OK)
        printf("%s\n", text.text);
    strbuf_release(&text);
    return st == OK ? schedule_print_warnings(schedule, now_s, language, "") : st;
}

static enum status print_json(const char *spec, const struct schedule *schedule,
                              enum language language, int64_t now_s)
{
    const char *tz = zone_name(schedule_zone(schedule));
    json_t *root = json_object();
    struct strbuf text;
    int failed = json_object_set_new(root, "spec", json_text(spec));
    strbuf_init(&text);
    schedule_print(schedule, &text);
    failed |= json_object_set_new(root, "canonical", json_text(text.text));
    failed |= json_object_set_new(root, "tz", json_text(tz));
    strbuf_truncate(&text, 0);
    schedule_explain(schedule, language, &text);
    failed |= json_object_set_new(root, "text", json_text(text.text));
    failed |= json_object_set_new(root, "warnings", json_warnings(schedule, language, now_s));
    enum status st = failed ? E_NOMEM : strbuf_status(&text);
    if (st == OK)
        st = json_print(root);
    strbuf_release(&text);
    json_decref(root);
    return st;
}

static enum exit_code explain(const struct specs *specs, const struct schedule_reader *reader,
                              const struct request *request)
{
    enum language language = tr_language();
    const struct spec *spec = &specs->items[0];
    struct schedule *schedule;
    enum exit_code code = spec_parse(specs, spec, reader, &schedule);
    if (code != EXIT_OK)
        return code;
    int64_t now_s = time(NULL);
    enum status st = request->form == AS_JSON ? print_json(spec->text, schedule, language, now_s)
                                              : print_text(schedule, language, now_s);
    schedule_free(schedule);
    return cli_fail(st);
}

static enum exit_code run(void *place)
{
    struct request *request = place;
    const struct command *self = request->base.command;
    struct schedule_reader reader;
    struct specs specs;
    specs_init(&specs);
    enum exit_code code = schedule_reader_init(&reader, self, &request->schedule);
    if (code == EXIT_OK)
        code = cli_fail(specs_add_args(&specs, request->specs.count, request->specs.items));
    if (code == EXIT_OK)
        code = specs.count == 1   ? explain(&specs, &reader, request)
               : specs.count == 0 ? cli_usage(self, "which schedule?")
                                  : cli_usage(self, "one schedule at a time, in quotes");
    specs_release(&specs);
    schedule_reader_release(&reader);
    return code;
}

static const char *const forms[] = {"text", "json", NULL};

const struct command cmd_explain = {
    .name = "explain",
    .summary = "what a schedule means, in words",
    .examples = EXAMPLES({"peal explain '30 2 * * SUN' --tz America/New_York", NULL},
                         {"peal explain '0 0 L * *' --lang zh", NULL},
                         {"peal explain '0 10 * * ? *' --profile aws -o json", NULL}),
    .usage = "SPEC [options]",
    .notes = "SPEC is a schedule in quotes.",
    .arguments = ROWS(ARGUMENTS(request, specs, "SPEC")),
    .options =
        ROWS(OPTION_GROUP(request, schedule, schedule_options_rows),
             OPTION_CHOICE(request, form, 'o', "output", "F", forms, "text (default) or json")),
    .too_few = "which schedule?",
    .request_size = sizeof(struct request),
    .run = run,
};
