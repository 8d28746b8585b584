/* peal completion: shell completion of commands, options and names of jobs. The scripts are
 * generated from the option rows, so that they are always complete. The manual pages are made here,
 * too, when peal is built. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "options/man.h"

enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH, SHELL_MAN };

struct request {
    struct request_base base;
    enum shell shell;
    const char *folder;
};

/* The commands whose `-o name` lists what is offered. */
static const char *const sources[] = {
    [COMPLETE_JOBS] = "list",         [COMPLETE_DELETED_JOBS] = "list --deleted",
    [COMPLETE_NODES] = "nodes",       [COMPLETE_CALENDARS] = "calendar list",
    [COMPLETE_GROUPS] = "group list", [COMPLETE_CHANNELS] = "channel list",
    [COMPLETE_USERS] = "user list",   [COMPLETE_SETTINGS] = "config show",
};

/* Every command, and those below it right after it. */
static void each_command(void (*print)(const struct command *command))
{
    for (const struct topic *topic = topics; topic->title; topic++) {
        for (const struct command *const *command = topic->commands; *command; command++) {
            print(*command);
            for (const struct command *below = (*command)->subcommands; below && below->name;
                 below++)
                print(below);
        }
    }
}

static bool is_below(const struct command *command)
{
    return strchr(command->name, ' ') != NULL;
}

static void print_name(const struct command *command)
{
    if (!is_below(command))
        printf(" %s", command->name);
}

static void print_choices(const char *const *choices)
{
    for (; *choices; choices++)
        printf("%s%s", *choices, choices[1] ? " " : "");
}

static void print_words_below(const struct command *command)
{
    for (const struct command *below = command->subcommands; below && below->name; below++)
        printf("%s%s", below == command->subcommands ? "" : " ", command_word(below));
}

/* Text in single quotes; `special` are put behind a backslash. */
static void print_quoted(const char *text, const char *special, const char *quote)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs(quote, stdout);
        else if (strchr(special, *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

/* ---- bash ---- */

/* What completes a value: =WORDS, files, a command of peal, or nothing. */
static void print_source(const struct option_row *row)
{
    if (row->choices) {
        putchar('=');
        print_choices(row->choices);
    } else if (row->complete == COMPLETE_FILES) {
        fputs("files", stdout);
    } else if (row->complete != COMPLETE_NOTHING) {
        fputs(sources[row->complete], stdout);
    }
}

static void print_bash_options(const struct command *command, bool with_value_only)
{
    const struct option_row *row;
    struct option_walk walk = option_walk_of(command);
    while ((row = option_next(&walk))) {
        if (with_value_only && !row->value)
            continue;
        printf(" --%s", row->name);
        if (row->letter)
            printf(" -%c", row->letter);
    }
}

static void print_bash_rows(const struct command *command)
{
    printf("    '%s') below='", command->name);
    print_words_below(command);
    fputs("' options='--help", stdout);
    print_bash_options(command, false);
    fputs("' valued='", stdout);
    print_bash_options(command, true);
    fputs(" ' arguments=(", stdout);
    bool is_many = false;
    for (const struct option_row *row = command->arguments; row && row->name; row++) {
        if (row->is_after_dashes)
            continue;
        fputs(" '", stdout);
        print_source(row);
        putchar('\'');
        is_many = row->is_many;
    }
    printf(") many=%s ;;\n", is_many ? "1" : "''");
}

static void print_bash_values(const struct command *command)
{
    const struct option_row *row;
    struct option_walk walk = option_walk_of(command);
    while ((row = option_next(&walk))) {
        if (!row->choices && row->complete == COMPLETE_NOTHING)
            continue;
        printf("    '%s --%s'", command->name, row->name);
        if (row->letter)
            printf(" | '%s -%c'", command->name, row->letter);
        fputs(") source='", stdout);
        print_source(row);
        fputs("' ;;\n", stdout);
    }
}

static void print_bash(void)
{
    fputs("# bash completion of peal: source <(peal completion bash)\n"
          "# What a command has: the commands below it, options, those with a value, and what\n"
          "# completes its arguments.\n"
          "_peal_rows() {\n"
          "    case $1 in\n",
          stdout);
    each_command(print_bash_rows);
    fputs("    *) return 1 ;;\n"
          "    esac\n"
          "}\n"
          "# What completes the value of an option.\n"
          "_peal_value() {\n"
          "    case $1 in\n",
          stdout);
    each_command(print_bash_values);
    fputs("    *) source='' ;;\n"
          "    esac\n"
          "}\n"
          "_peal() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local command='' below='",
          stdout);
    each_command(print_name);
    fputs(" help' options='--help --version' many='' source='' data=() arguments=() n=0 i w\n"
          "    local valued=' --data --url --token-file --ca --lang --output -o '\n"
          "    COMPREPLY=()\n"
          "    [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    [ \"$word\" = = ] && word=''\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        w=${COMP_WORDS[i]}\n"
          "        if [ \"$w\" = -- ]; then\n"
          "            compopt -o default\n"
          "            return\n"
          "        elif [[ $valued == *\" $w \"* ]]; then\n"
          "            [ \"${COMP_WORDS[i + 1]}\" = = ] && ((i++))\n"
          "            ((i++))\n"
          "            [ \"$w\" = --data ] && data=(--data \"${COMP_WORDS[i]}\")\n"
          "        elif [[ $w == -* ]]; then\n"
          "            continue\n"
          "        elif [ -n \"$below\" ]; then\n"
          "            command=\"${command:+$command }$w\"\n"
          "            [ \"$command\" = help ] && below=${below% help} && continue\n"
          "            _peal_rows \"${command#help }\" || return\n"
          "            [[ $command == help* ]] && options='' arguments=('')\n"
          "        else\n"
          "            ((n++))\n"
          "        fi\n"
          "    done\n"
          "    if [ \"$i\" -gt \"$COMP_CWORD\" ] || [[ $valued == *\" $before \"* ]]; then\n"
          "        _peal_value \"$command $before\"\n"
          "    elif [[ $word == -* ]]; then\n"
          "        source=\"=$options\"\n"
          "    elif [ -n \"$below\" ]; then\n"
          "        source=\"=$below\"\n"
          "    else\n"
          "        [ -n \"$many\" ] && ((n >= ${#arguments[@]})) && n=$((${#arguments[@]} - 1))\n"
          "        source=${arguments[n]}\n"
          "    fi\n"
          "    case $source in\n"
          "    =*) COMPREPLY=($(compgen -W \"${source#=}\" -- \"$word\")) ;;\n"
          "    '' | files) compopt -o default 2>/dev/null ;;\n"
          "    *) COMPREPLY=($(compgen -W \"$(peal $source -o name \"${data[@]}\" "
          "2>/dev/null)\" -- \"$word\")) ;;\n"
          "    esac\n"
          "}\n"
          "complete -F _peal peal\n",
          stdout);
}

/* ---- zsh ---- */

static void print_zsh_text(const char *text)
{
    print_quoted(text, "[]:\\", "'\\''");
}

/* ":VALUE:" and what completes it. */
static void print_zsh_action(const char *value, const struct option_row *row)
{
    putchar(':');
    print_zsh_text(value);
    putchar(':');
    if (row->choices) {
        putchar('(');
        print_choices(row->choices);
        putchar(')');
    } else if (row->complete == COMPLETE_FILES) {
        fputs("_files", stdout);
    } else if (row->complete != COMPLETE_NOTHING) {
        printf(" _peal_names %s", sources[row->complete]);
    }
}

static void print_zsh_option(const struct option_row *row, const char *dash, const char *assign)
{
    bool may_repeat = row->take == take_list || row->take == take_pairs;
    printf(" \\\n            '%s%s%s[", may_repeat ? "*" : "", dash, row->value ? assign : "");
    print_zsh_text(row->help);
    putchar(']');
    if (row->value)
        print_zsh_action(row->value, row);
    putchar('\'');
}

static void print_zsh_case(const struct command *command)
{
    const struct option_row *row;
    struct option_walk walk = option_walk_of(command);
    int position = 1;
    if (command->subcommands) {
        printf("    '%s')\n        _arguments -C '1:command:(", command->name);
        print_words_below(command);
        fputs(")' '*::argument:->argument'\n"
              "        [[ $state == argument ]] && _peal_command \"$1 $words[1]\"\n"
              "        ;;\n",
              stdout);
        return;
    }
    printf("    '%s')\n        _arguments -s '--help[show examples and options]'", command->name);
    while ((row = option_next(&walk))) {
        char letter[] = {'-', row->letter, '\0'}, name[64];
        snprintf(name, sizeof(name), "--%s", row->name);
        if (row->letter)
            print_zsh_option(row, letter, "+");
        print_zsh_option(row, name, "=");
    }
    for (row = command->arguments; row && row->name; row++) {
        if (row->is_after_dashes)
            continue;
        if (row->is_many)
            fputs(" \\\n            '*", stdout);
        else
            printf(" \\\n            '%d%s", position++, row->is_optional ? ":" : "");
        print_zsh_action(row->name, row);
        putchar('\'');
    }
    fputs(" ;;\n", stdout);
}

static void print_zsh_name(const struct command *command)
{
    if (is_below(command))
        return;
    printf("        '%s:", command->name);
    print_quoted(command->summary, "", "'\\''");
    fputs("'\n", stdout);
}

static void print_zsh(void)
{
    fputs("#compdef peal\n"
          "# zsh completion of peal: source <(peal completion zsh), or a file _peal in $fpath\n"
          "_peal_names() {\n"
          "    local -a names\n"
          "    names=(${(f)\"$(peal $@ -o name 2>/dev/null)\"})\n"
          "    compadd -a names\n"
          "}\n"
          "_peal_command() {\n"
          "    local curcontext=$curcontext state line\n"
          "    typeset -A opt_args\n"
          "    case $1 in\n",
          stdout);
    each_command(print_zsh_case);
    fputs("    help) _describe -t commands command commands ;;\n"
          "    esac\n"
          "}\n"
          "_peal() {\n"
          "    local curcontext=$curcontext state line\n"
          "    typeset -A opt_args\n"
          "    local -a commands\n"
          "    commands=(\n",
          stdout);
    each_command(print_zsh_name);
    fputs("        'help:the help of a command'\n"
          "    )\n"
          "    _arguments -C '1:command:->command' '*::argument:->argument'\n"
          "    case $state in\n"
          "    command) _describe -t commands command commands ;;\n"
          "    argument) _peal_command \"$words[1]\" ;;\n"
          "    esac\n"
          "}\n"
          "if [ \"${funcstack[1]}\" = _peal ]; then _peal; else compdef _peal peal; fi\n",
          stdout);
}

/* ---- fish ---- */

/* "complete -c peal -n CONDITION": the line is of this command. */
static void print_fish_start(const struct command *command)
{
    int length = (int)strcspn(command->name, " ");
    printf("complete -c peal -n '__fish_seen_subcommand_from %.*s", length, command->name);
    if (is_below(command))
        printf("; and __fish_seen_subcommand_from %s", command_word(command));
    putchar('\'');
}

static void print_fish_source(const struct option_row *row)
{
    if (row->choices) {
        fputs(" -x -a '", stdout);
        print_choices(row->choices);
        putchar('\'');
    } else if (row->complete == COMPLETE_FILES) {
        fputs(" -r -F", stdout);
    } else if (row->complete != COMPLETE_NOTHING) {
        printf(" -x -a '(peal %s -o name 2>/dev/null)'", sources[row->complete]);
    } else {
        fputs(" -x", stdout);
    }
}

static void print_fish_command(const struct command *command)
{
    const struct option_row *row;
    struct option_walk walk = option_walk_of(command);
    if (!is_below(command)) {
        printf("complete -c peal -n __fish_use_subcommand -f -a %s -d '", command->name);
        print_quoted(command->summary, "\\", "\\'");
        fputs("'\n", stdout);
    }
    if (command->subcommands) {
        print_fish_start(command);
        fputs(" -f -a '", stdout);
        print_words_below(command);
        fputs("'\n", stdout);
        return;
    }
    while ((row = option_next(&walk))) {
        print_fish_start(command);
        if (row->letter)
            printf(" -s %c", row->letter);
        printf(" -l %s", row->name);
        if (row->value)
            print_fish_source(row);
        fputs(" -d '", stdout);
        print_quoted(row->help, "\\", "\\'");
        fputs("'\n", stdout);
    }
    for (row = command->arguments; row && row->name; row++) {
        if (!row->choices && row->complete == COMPLETE_NOTHING)
            continue;
        print_fish_start(command);
        print_fish_source(row);
        putchar('\n');
    }
}

static void print_fish(void)
{
    fputs("# fish completion of peal: peal completion fish | source\n", stdout);
    each_command(print_fish_command);
}

/* ---- manual pages ---- */

/* Of the sources, where a build says so: it gives the same bytes again. */
static void print_date(char date[16])
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t at = epoch && *epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm day;
    if (!gmtime_r(&at, &day) || !strftime(date, 16, "%Y-%m-%d", &day))
        date[0] = '\0';
}

static enum exit_code write_page(const char *folder, const struct command *command)
{
    char date[16];
    struct strbuf path, page;
    strbuf_init(&path);
    strbuf_init(&page);
    strbuf_addf(&path, "%s/peal%s%s.1", folder, command ? "-" : "", command ? command->name : "");
    print_date(date);
    man_print(command, topics, date, &page);
    enum exit_code code = cli_fail(page.failed ? E_NOMEM : strbuf_status(&path));
    FILE *file = code == EXIT_OK ? fopen(path.text, "we") : NULL;
    bool is_written = file && fputs(page.text, file) >= 0;
    if (file)
        is_written = fclose(file) == 0 && is_written;
    if (code == EXIT_OK && !is_written) {
        cli_error("can't write %s: %s", path.text, strerror(errno));
        code = EXIT_ERROR;
    }
    strbuf_release(&path);
    strbuf_release(&page);
    return code;
}

static enum exit_code write_pages(const struct request *request)
{
    if (!request->folder)
        return cli_usage(request->base.command, "where to? peal completion man DIR");
    enum exit_code code = write_page(request->folder, NULL);
    for (const struct topic *topic = topics; topic->title; topic++) {
        for (const struct command *const *each = topic->commands; *each && code == EXIT_OK; each++)
            code = write_page(request->folder, *each);
    }
    return code;
}

static enum exit_code run(void *place)
{
    const struct request *request = place;
    if (request->shell == SHELL_MAN)
        return write_pages(request);
    if (request->folder)
        return cli_usage(request->base.command, "unexpected \"%s\"", request->folder);
    (void (*const[])(void)){print_bash, print_zsh, print_fish}[request->shell]();
    return EXIT_OK;
}

static const char *const shells[] = {"bash", "zsh", "fish", "man", NULL};

const struct command cmd_completion = {
    .name = "completion",
    .summary = "print a completion script for the shell, or write the man pages",
    .examples = EXAMPLES({"source <(peal completion bash)", "in ~/.bashrc"},
                         {"source <(peal completion zsh)", "in ~/.zshrc, after compinit"},
                         {"peal completion fish | source", "in config.fish"}),
    .usage = "bash|zsh|fish\n"
             "man DIR",
    .notes = "Completes commands, options, and the names of the agent's jobs. man writes the "
             "manual pages into a folder, as `make install` does.",
    .arguments =
        ROWS({.name = "SHELL",
              .value = "the shell",
              .take = take_choice,
              .place = OPTION_PLACE(request, shell, unsigned),
              .choices = shells},
             ARGUMENT(request, folder, "DIR", .is_optional = true, .complete = COMPLETE_FILES)),
    .wrong_count = "for which shell? bash, zsh or fish",
    .request_size = sizeof(struct request),
    .run = run,
};
