#include "jobs/schedule_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/tr.h"
#include "text/tr_parsed.h"

#define BLANK " \t\r\n\v\f"

/* In the order of enum cron_profile. */
static const char *const profiles[] = {"peal", "quartz",      "aws", "jenkins",
                                       "k8s",  "ocps-strict", NULL};

const struct option_row schedule_options_rows[] = {
    OPTION_TEXT(schedule_args, tz, 0, "tz", "ZONE",
                "the time zone (default: this machine's, unless the schedule names one)"),
    OPTION_CHOICE(schedule_args, profile, 0, "profile", "P", profiles,
                  "the dialect: peal, quartz, aws, jenkins, k8s or ocps-strict"),
    OPTION_TEXT(schedule_args, job, 0, "job", "NAME",
                "the job's name, from which the values of `H` and `~` are derived"),
    {0},
};

enum exit_code schedule_reader_init(struct schedule_reader *reader, const struct command *command,
                                    const struct schedule_args *args)
{
    const char *dir = getenv("TZDIR");
    const struct zone *zone;
    struct parse_error err;
    *reader = (struct schedule_reader){.options = schedule_options_default()};
    reader->options.tz = args->tz;
    reader->options.profile = args->profile;
    reader->options.job_name = args->job;
    reader->options.job_uid = args->job;
    strbuf_init(&reader->local_tz);
    enum status st = zone_db_new(dir && *dir ? dir : NULL, &reader->zones);
    if (st != OK)
        return cli_fail(st);
    if (args->tz && zone_db_get(reader->zones, args->tz, &zone, &err) != OK) {
        tr_parsed(err.message, sizeof(err.message));
        return cli_usage(command, "--tz: %s", err.message);
    }
    zone_db_local_name(reader->zones, &reader->local_tz);
    reader->options.default_tz = reader->local_tz.text;
    return cli_fail(strbuf_status(&reader->local_tz));
}

void schedule_reader_release(struct schedule_reader *reader)
{
    zone_db_free(reader->zones);
    strbuf_release(&reader->local_tz);
    *reader = (struct schedule_reader){0};
}

void specs_init(struct specs *specs)
{
    *specs = (struct specs){0};
}

void specs_release(struct specs *specs)
{
    for (size_t i = 0; i < specs->count; i++)
        free(specs->items[i].text);
    free(specs->items);
    specs_init(specs);
}

static enum status add(struct specs *specs, const char *text, size_t length, int line)
{
    if (specs->count == specs->capacity) {
        size_t capacity = specs->capacity ? specs->capacity * 2 : 16;
        struct spec *items = reallocarray(specs->items, capacity, sizeof(*items));
        if (!items)
            return E_NOMEM;
        specs->items = items;
        specs->capacity = capacity;
    }
    char *copy = strndup(text, length);
    if (!copy)
        return E_NOMEM;
    specs->items[specs->count++] = (struct spec){.text = copy, .line = line};
    return OK;
}

enum status specs_add_text(struct specs *specs, const char *text)
{
    int line = 1;
    for (const char *start = text; *start; line++) {
        size_t length = strcspn(start, "\n");
        const char *next = start[length] ? start + length + 1 : start + length;
        const char *word = start + strspn(start, " \t\r\v\f");
        if (length > 0 && start[length - 1] == '\r')
            length--;
        if (word < start + length && *word != '#') {
            enum status st = add(specs, start, length, line);
            if (st != OK)
                return st;
        }
        start = next;
    }
    return OK;
}

/* No argument has white space of its own, and they can't be one whole schedule each. */
static bool look_unquoted(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strpbrk(argv[i], BLANK) || (i > 0 && argv[i][0] == '@'))
            return false;
    }
    return argc > 1;
}

static enum status add_joined(struct specs *specs, int argc, char **argv)
{
    struct strbuf text;
    strbuf_init(&text);
    for (int i = 0; i < argc; i++)
        strbuf_addf(&text, "%s%s", i > 0 ? " " : "", argv[i]);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = add(specs, text.text, text.length, 0);
    strbuf_release(&text);
    return st;
}

enum status specs_add_args(struct specs *specs, int argc, char **argv)
{
    specs->unquoted = look_unquoted(argc, argv);
    if (specs->unquoted && argc >= 5)
        return add_joined(specs, argc, argv);
    enum status st = OK;
    for (int i = 0; i < argc && st == OK; i++) {
        if (strchr(argv[i], '\n'))
            st = specs_add_text(specs, argv[i]);
        else
            st = add(specs, argv[i], strlen(argv[i]), 0);
    }
    return st;
}

enum exit_code spec_parse(const struct specs *specs, const struct spec *spec,
                          const struct schedule_reader *reader, struct schedule **ret)
{
    struct parse_error err = {0};
    enum status st = schedule_parse(spec->text, &reader->options, reader->zones, ret, &err);
    if (st == OK)
        return EXIT_OK;
    tr_parsed(err.message, sizeof(err.message));
    if (st != E_INVALID && *err.message) { /* the zone's file can't be read */
        cli_error("%s", err.message);
        return EXIT_ERROR;
    }
    if (st != E_INVALID)
        return cli_fail(st);
    char what[64];
    if (spec->line)
        snprintf(what, sizeof(what), tr("invalid schedule in line %d"), spec->line);
    else
        snprintf(what, sizeof(what), "%s", tr("invalid schedule"));
    cli_parse_error(what, spec->text, &err);
    if (specs->unquoted)
        cli_note("put the schedule in quotes, or the shell takes it apart");
    return EXIT_INVALID;
}

enum status schedule_print_warnings(const struct schedule *schedule, int64_t now_s,
                                    enum language language, const char *place)
{
    const char *word = language == LANGUAGE_ZH ? "警告：" : "warning: ";
    unsigned warnings = schedule_warnings(schedule, now_s);
    struct strbuf text;
    strbuf_init(&text);
    for (enum warning w = 0; w < WARNINGS; w++) {
        if (!(warnings & 1U << w))
            continue;
        strbuf_truncate(&text, 0);
        schedule_warning_explain(schedule, w, now_s, language, &text);
        if (!text.failed)
            fprintf(stderr, "%s%s%s\n", place, word, text.text);
    }
    enum status st = strbuf_status(&text);
    strbuf_release(&text);
    return st;
}
