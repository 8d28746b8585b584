/* peal: finds and runs the command, and checks that its output was written. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/suggest.h"
#include "client/client.h"
#include "options/help.h"
#include "text/texts.h"
#include "text/tr.h"

static const struct command *find_command(const char *name)
{
    for (const struct topic *topic = topics; topic->title; topic++) {
        for (const struct command *const *command = topic->commands; *command; command++) {
            if (strcmp((*command)->name, name) == 0)
                return *command;
        }
    }
    return NULL;
}

static const struct example first_steps[] = {
    {"peal dev", TR("try peal in a temporary folder")},
    {"peal start -d", TR("start the agent")},
    {"peal add backup '30 2 * * *' -- /usr/local/bin/backup", NULL},
    {"peal list", TR("next and last run of each job")},
    {"peal run backup --follow", TR("run a job, follow its output")},
    {"peal why backup", TR("why a job did or did not run")},
    {0},
};

static void print_overview(FILE *out)
{
    fprintf(out, "peal - %s\n\n%s\n", tr("cron for one machine or a thousand"), tr("Examples:"));
    for (const struct example *step = first_steps; step->line; step++) {
        if (step->remark)
            fprintf(out, "  %-51s %s\n", step->line, tr(step->remark));
        else
            fprintf(out, "  %s\n", step->line);
    }
    fprintf(out, "\n%speal COMMAND [ARGUMENTS] [OPTIONS]\n", tr("Usage: "));
    for (const struct topic *topic = topics; topic->title; topic++) {
        fprintf(out, tr("\n%s:\n"), tr(topic->title));
        for (const struct command *const *command = topic->commands; *command; command++)
            fprintf(out, "  %-10s %s\n", (*command)->name, tr((*command)->summary));
    }
    fprintf(out, "  %-10s %s\n\n%s%s\n", "help", tr("the help of a command: peal help COMMAND"),
            tr("Exit status: "), tr(EXIT_STATUS_TEXT));
}

static enum exit_code print_help(const struct command *command, const struct command *parent)
{
    struct strbuf text;
    strbuf_init(&text);
    help_print(command, parent, &text);
    enum status st = strbuf_status(&text);
    if (st == OK)
        fputs(text.text, stdout);
    strbuf_release(&text);
    return cli_fail(st);
}

static enum exit_code unknown_command(const char *name)
{
    struct suggestion best = suggest_start(name, strlen(name));
    for (const struct topic *topic = topics; topic->title; topic++) {
        for (const struct command *const *command = topic->commands; *command; command++)
            suggest_offer(&best, (*command)->name);
    }
    suggest_offer(&best, "help");
    if (best.name)
        cli_error("unknown command \"%s\"; did you mean %s?", name, best.name);
    else
        cli_error("unknown command \"%s\"", name);
    fprintf(stderr, "%s\n", tr("See: peal --help"));
    return EXIT_USAGE;
}

/* Finds a subcommand by its last word. */
static const struct command *find_below(const struct command *parent, const char *word)
{
    for (const struct command *each = parent->subcommands; each && each->name; each++) {
        if (strcmp(command_word(each), word) == 0)
            return each;
    }
    return NULL;
}

static enum exit_code run_help(int argc, char **argv)
{
    if (argc < 1 || strcmp(argv[0], "help") == 0 || argv[0][0] == '-') {
        print_overview(stdout);
        return EXIT_OK;
    }
    const struct command *command = find_command(argv[0]);
    const struct command *below = command && argc > 1 ? find_below(command, argv[1]) : NULL;
    return below     ? print_help(below, command)
           : command ? print_help(command, NULL)
                     : unknown_command(argv[0]);
}

/* `--help` anywhere before a `--`, so that it also helps out of a half-typed command. */
static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

static enum exit_code run_with_agent(const struct command *command, struct request_base *request)
{
    struct client *client;
    enum exit_code code = client_open(request->data, &client);
    if (code != EXIT_OK)
        return code;
    code = command->with_agent(client, request);
    client_close(client);
    return code;
}

/* Like diff with its ends exchanged, and terraform: so that a program which tells 0 from 2 never
 * takes a mistyped option for a change. */
static enum exit_code exit_of_comparison(enum exit_code code)
{
    if (code == EXIT_DIFFERS)
        return (enum exit_code)2;
    return code == EXIT_OK ? EXIT_OK : EXIT_ERROR;
}

static enum exit_code run_command(const struct command *command, const struct command *parent,
                                  int argc, char **argv)
{
    if (wants_help(argc, argv))
        return print_help(command, parent);
    size_t size = parent ? parent->request_size : command->request_size;
    struct request_base *request = calloc(1, size);
    enum exit_code code = EXIT_USAGE;
    if (!request)
        return cli_fail(E_NOMEM);
    if (command->defaults)
        memcpy(request, command->defaults, size);
    request->command = command;
    if (options_parse(command, parent, argc, argv, request))
        code = command->with_agent ? run_with_agent(command, request) : command->run(request);
    free(request);
    return command->compares ? exit_of_comparison(code) : code;
}

/* Removes the word at `at` from argv: the words before it move up. */
static void pull_word(int at, char ***argv)
{
    memmove(*argv + 1, *argv, (size_t)at * sizeof(**argv));
    ++*argv;
}

static enum exit_code not_below(const struct command *parent, const char *word)
{
    const char *words[16] = {0};
    char label[32];
    unsigned choice;
    if (!word || !parent->subcommands[1].name)
        return cli_usage(parent, "%s", tr(parent->too_few));
    for (int i = 0; parent->subcommands[i].name; i++)
        words[i] = command_word(&parent->subcommands[i]);
    snprintf(label, sizeof(label), "peal %s", parent->name);
    cli_choice(parent, label, word, words, &choice);
    return EXIT_USAGE;
}

static enum exit_code run_below(const struct command *parent, int argc, char **argv)
{
    int at = options_find_word(parent->subcommands, argc, argv);
    const char *word = at < argc ? argv[at] : NULL;
    const struct command *command = word ? find_below(parent, word) : NULL;
    if (!command && wants_help(argc, argv))
        return print_help(parent, NULL);
    if (!command)
        return not_below(parent, word);
    pull_word(at, &argv);
    return run_command(command, parent, argc - 1, argv);
}

/* Finds the command: common options may come before it. */
static int find_command_word(int argc, char **argv)
{
    static const struct option_row common[] = {
        {.group = client_options}, {.name = "output", .letter = 'o', .value = "F"}, {0}};
    static const struct command any[] = {{.name = "any", .options = common}, {0}};
    return options_find_word(any, argc, argv);
}

static enum exit_code dispatch(int argc, char **argv)
{
    int at = find_command_word(argc, argv);
    const char *name = argc ? argv[0] : "";
    if (argc == 0) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (at == argc && wants_help(argc, argv)) {
        print_overview(stdout);
        return EXIT_OK;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version", at = 0;
    else if (at < argc)
        name = argv[at];
    pull_word(at < argc ? at : 0, &argv);
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return run_help(argc - 1, argv);
    const struct command *command = find_command(name);
    if (!command)
        return unknown_command(name);
    return command->subcommands ? run_below(command, argc - 1, argv)
                                : run_command(command, NULL, argc - 1, argv);
}

/* The descriptor of a closed standard stream would be reused by the next opened file, and output
 * would go there. It is replaced by one on which reads or writes fail. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return;
    }
}

/* Takes --lang out of argv, so that it counts for every message and in every place. What is wrong
 * is left there, for the parser to tell. Returns the words that are left. */
static int choose_language(int argc, char **argv)
{
    enum language language = language_of_environment();
    int kept = 0, at = 0;
    while (at < argc && strcmp(argv[at], "--") != 0) {
        bool is_split = strcmp(argv[at], "--lang") == 0 && at + 1 < argc;
        const char *name = is_split                               ? argv[at + 1]
                           : strncmp(argv[at], "--lang=", 7) == 0 ? argv[at] + 7
                                                                  : "";
        if (language_by_name(name, &language))
            at += is_split ? 2 : 1;
        else
            argv[kept++] = argv[at++];
    }
    while (at < argc)
        argv[kept++] = argv[at++];
    tr_begin(language, texts);
    return kept;
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    int words = choose_language(argc - 1, argv + 1);
    return (int)cli_finish(dispatch(words, argv + 1));
}
