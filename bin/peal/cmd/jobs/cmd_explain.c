/* peal explain: a schedule in words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "jobs/schedule_args.h"
#include "words/explain.h"

enum { AS_TEXT, AS_JSON };
enum { OPTION_LANG = OPTION_OWN };

static const struct option options[] = {
    SCHEDULE_READER_OPTIONS,
    {"lang", required_argument, NULL, OPTION_LANG},
    {"output", required_argument, NULL, 'o'},
    {0},
};

/* The user's language, as far as peal speaks it. */
static enum language locale_language(void)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strncmp(value, "zh", 2) == 0 ? LANGUAGE_ZH : LANGUAGE_EN;
    }
    return LANGUAGE_EN;
}

static bool take_option(const struct command *self, int opt, int *language, int *output,
                        struct schedule_reader *reader)
{
    static const char *const outputs[] = {"text", "json", NULL};
    static const char *const languages[] = {"en", "zh", NULL}; /* as enum language */
    switch (opt) {
    case 'o':
        return cli_choice(self, "-o", optarg, outputs, output);
    case OPTION_LANG:
        return cli_choice(self, "--lang", optarg, languages, language);
    default:
        return schedule_reader_option(reader, self, opt, optarg);
    }
}

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
                              enum language language, int output)
{
    const struct spec *spec = &specs->items[0];
    struct schedule *schedule;
    enum exit_code code = spec_parse(specs, spec, reader, &schedule);
    if (code != EXIT_OK)
        return code;
    int64_t now_s = time(NULL);
    enum status st = output == AS_JSON ? print_json(spec->text, schedule, language, now_s)
                                       : print_text(schedule, language, now_s);
    schedule_free(schedule);
    return cli_fail(st);
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct schedule_reader reader;
    struct specs specs;
    enum exit_code code = EXIT_USAGE;
    int language = (int)locale_language();
    int output = AS_TEXT;
    int opt;

    specs_init(&specs);
    enum status st = schedule_reader_init(&reader);
    if (st != OK)
        goto failed;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &language, &output, &reader))
            goto out;
    }
    st = specs_add_args(&specs, argc - optind, argv + optind);
    if (st != OK)
        goto failed;
    if (specs.count == 1)
        code = explain(&specs, &reader, (enum language)language, output);
    else if (specs.count == 0)
        cli_usage(self, "which schedule?");
    else
        cli_usage(self, "one schedule at a time, in quotes");
failed:
    if (st != OK)
        code = cli_fail(st);
out:
    specs_release(&specs);
    schedule_reader_release(&reader);
    return code;
}

const struct command cmd_explain = {
    .name = "explain",
    .summary = "what a schedule means, in words",
    .help = "Examples:\n"
            "  peal explain '30 2 * * SUN' --tz America/New_York\n"
            "  peal explain '0 0 L * *' --lang zh\n"
            "  peal explain '0 10 * * ? *' --profile aws -o json\n"
            "\n"
            "Usage: peal explain SPEC [options]\n"
            "\n"
            "SPEC is a schedule in quotes.\n"
            "\n"
            "Options:\n" SCHEDULE_READER_HELP
            "  --lang L        en or zh (from LC_ALL, LC_MESSAGES or LANG)\n"
            "  -o, --output F  text (default) or json\n",
    .getopt_rows = options,
    .old_run = run,
};
