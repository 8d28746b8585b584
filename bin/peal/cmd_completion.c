/* peal completion: lets a shell complete commands, options and the names of jobs. The scripts are
 * made from the tables of the commands, so that they can't know less than the program. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static const struct option options[] = {{0}};

/* What the arguments of a command are. */
enum argument { ARGUMENT_OTHER, ARGUMENT_JOB, ARGUMENT_FILE };

static enum argument argument_of(const struct command *command)
{
    static const char *const of_jobs[] = {
        "get",  "describe", "edit", "pause", "resume",   "skip-next", "delete",   "run",   "runs",
        "logs", "why",      "kill", "next",  "backfill", "versions",  "rollback", "stats", "diff",
    };
    static const char *const of_files[] = {"validate", "import"};
    for (size_t i = 0; i < sizeof(of_jobs) / sizeof(of_jobs[0]); i++) {
        if (strcmp(of_jobs[i], command->name) == 0)
            return ARGUMENT_JOB;
    }
    for (size_t i = 0; i < sizeof(of_files) / sizeof(of_files[0]); i++) {
        if (strcmp(of_files[i], command->name) == 0)
            return ARGUMENT_FILE;
    }
    return ARGUMENT_OTHER;
}

static void each_command(void (*print)(const struct command *command))
{
    for (const struct topic *topic = topics; topic->title; topic++) {
        for (const struct command *const *command = topic->commands; *command; command++)
            print(*command);
    }
}

static void print_name(const struct command *command)
{
    printf(" %s", command->name);
}

/* ---- bash ---- */

static void print_bash_case(const struct command *command)
{
    printf("    %s) options=\"--help", command->name);
    for (const struct option *o = command->getopt_rows; o && o->name; o++)
        printf(" --%s", o->name);
    printf("\" jobs=%d ;;\n", argument_of(command) == ARGUMENT_JOB);
}

static void print_bash(void)
{
    fputs("# bash completion of peal: source <(peal completion bash)\n"
          "_peal() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local command=${COMP_WORDS[1]} options='' jobs=0 data=() i\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          stdout);
    each_command(print_name);
    fputs(" help' -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
          "        [ \"${COMP_WORDS[i]}\" = -- ] && { compopt -o default; return; }\n"
          "        [ \"${COMP_WORDS[i]}\" = --data ] && data=(--data \"${COMP_WORDS[i + 1]}\")\n"
          "    done\n"
          "    case $before in\n"
          "    -o | --output) COMPREPLY=($(compgen -W 'table wide json yaml name' -- \"$word\"))\n"
          "        return ;;\n"
          "    --after) COMPREPLY=($(compgen -W \"$(peal list -o name \"${data[@]}\" "
          "2>/dev/null)\" -- \"$word\"))\n"
          "        return ;;\n"
          "    --overlap) COMPREPLY=($(compgen -W 'skip allow queue replace' -- \"$word\"))\n"
          "        return ;;\n"
          "    --catch-up) COMPREPLY=($(compgen -W 'last skip all' -- \"$word\"))\n"
          "        return ;;\n"
          "    --role) [[ $command == user || $command == token ]] &&\n"
          "            COMPREPLY=($(compgen -W 'viewer operator editor admin' -- \"$word\")) ||\n"
          "            COMPREPLY=($(compgen -W 'api worker api,worker' -- \"$word\"))\n"
          "        return ;;\n"
          "    --calendar) COMPREPLY=($(compgen -W \"$(peal calendar list -o name \"${data[@]}\" "
          "2>/dev/null)\" -- \"$word\"))\n"
          "        return ;;\n"
          "    --weekday) COMPREPLY=($(compgen -W 'mon tue wed thu fri sat sun' -- \"$word\"))\n"
          "        return ;;\n"
          "    -f | --file | --data | --from | --config | --log | --cwd | --password-file | \\\n"
          "    --token-file | --ca) compopt -o default; "
          "return ;;\n"
          "    esac\n"
          "    case $command in\n",
          stdout);
    each_command(print_bash_case);
    fputs("    help) COMPREPLY=($(compgen -W '", stdout);
    each_command(print_name);
    fputs(
        "' -- \"$word\")); return ;;\n"
        "    esac\n"
        "    case $command in\n"
        "    undelete) COMPREPLY=($(compgen -W \"$(peal list --deleted -o name \"${data[@]}\" "
        "2>/dev/null)\" -- \"$word\")) ;;\n"
        "    drain | undrain) COMPREPLY=($(compgen -W \"$(peal nodes -o name \"${data[@]}\" "
        "2>/dev/null)\" -- \"$word\")) ;;\n"
        "    cluster) [ \"$COMP_CWORD\" -eq 2 ] && COMPREPLY=($(compgen -W 'status advance-cursors "
        "import' -- \"$word\")) ;;\n"
        "    user) if [ \"$COMP_CWORD\" -eq 2 ]; then COMPREPLY=($(compgen -W 'add list set "
        "delete' "
        "-- \"$word\"))\n"
        "        elif [[ ${COMP_WORDS[2]} != add ]]; then COMPREPLY=($(compgen -W \"$(peal user "
        "list "
        "-o name \"${data[@]}\" 2>/dev/null)\" -- \"$word\")); fi ;;\n"
        "    channel) if [ \"$COMP_CWORD\" -eq 2 ]; then COMPREPLY=($(compgen -W 'list show set "
        "test "
        "delete' -- \"$word\"))\n"
        "        else COMPREPLY=($(compgen -W \"$(peal channel list -o name \"${data[@]}\" "
        "2>/dev/null)\" -- \"$word\")); fi ;;\n"
        "    token) [ \"$COMP_CWORD\" -eq 2 ] && COMPREPLY=($(compgen -W 'create list revoke' -- "
        "\"$word\")) ;;\n"
        "    calendar) if [ \"$COMP_CWORD\" -eq 2 ]; then COMPREPLY=($(compgen -W 'list show set "
        "delete' -- \"$word\"))\n"
        "        elif [ \"$COMP_CWORD\" -eq 3 ]; then COMPREPLY=($(compgen -W \"$(peal calendar "
        "list -o name \"${data[@]}\" 2>/dev/null)\" -- \"$word\")); fi ;;\n"
        "    completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$word\")) ;;\n"
        "    export) COMPREPLY=($(compgen -W 'crontab yaml json' -- \"$word\")) ;;\n"
        "    import) [ \"$COMP_CWORD\" -eq 2 ] && COMPREPLY=(crontab) ;;\n"
        "    esac\n"
        "    if [[ $word == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "    elif [ \"$jobs\" = 1 ]; then\n"
        "        COMPREPLY=($(compgen -W \"$(peal list -o name \"${data[@]}\" 2>/dev/null)\" "
        "-- \"$word\"))\n"
        "    elif [ ${#COMPREPLY[@]} -eq 0 ]; then\n"
        "        compopt -o default 2>/dev/null\n"
        "    fi\n"
        "}\n"
        "complete -F _peal peal\n",
        stdout);
}

/* ---- zsh ---- */

static void print_zsh_command(const struct command *command)
{
    printf("        '%s:", command->name);
    for (const char *c = command->summary; *c; c++) {
        if (*c == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*c);
    }
    fputs("'\n", stdout);
}

static void print_zsh_case(const struct command *command)
{
    printf("    %s) options=(--help", command->name);
    for (const struct option *o = command->getopt_rows; o && o->name; o++)
        printf(" --%s", o->name);
    printf(") jobs=%d ;;\n", argument_of(command) == ARGUMENT_JOB);
}

static void print_zsh(void)
{
    fputs("#compdef peal\n"
          "# zsh completion of peal: source <(peal completion zsh), or a file _peal in $fpath\n"
          "_peal() {\n"
          "    local -a commands options names\n"
          "    local jobs=0\n"
          "    commands=(\n",
          stdout);
    each_command(print_zsh_command);
    fputs(
        "        'help:the help of a command'\n"
        "    )\n"
        "    if (( CURRENT == 2 )); then\n"
        "        _describe -t commands command commands\n"
        "        return\n"
        "    fi\n"
        "    case ${words[CURRENT - 1]} in\n"
        "    -o|--output) compadd table wide json yaml name; return ;;\n"
        "    --role) [[ ${words[2]} == (user|token) ]] && compadd viewer operator editor admin ||\n"
        "        compadd api worker api,worker\n"
        "        return ;;\n"
        "    --after) compadd ${(f)\"$(peal list -o name 2>/dev/null)\"}; return ;;\n"
        "    "
        "-f|--file|--data|--from|--config|--log|--cwd|--password-file|--secret-file|--hook-file|--"
        "token-file|--ca) "
        "_files; return ;;\n"
        "    esac\n"
        "    case ${words[2]} in\n",
        stdout);
    each_command(print_zsh_case);
    fputs("    esac\n"
          "    case ${words[2]} in\n"
          "    completion) compadd bash zsh fish ;;\n"
          "    drain|undrain) compadd ${(f)\"$(peal nodes -o name 2>/dev/null)\"} ;;\n"
          "    cluster) (( CURRENT == 3 )) && compadd status advance-cursors import ;;\n"
          "    user) (( CURRENT == 3 )) && compadd add list set delete ;;\n"
          "    channel) (( CURRENT == 3 )) && compadd list show set test delete ||\n"
          "        compadd ${(f)\"$(peal channel list -o name 2>/dev/null)\"} ;;\n"
          "    token) (( CURRENT == 3 )) && compadd create list revoke ;;\n"
          "    calendar) (( CURRENT == 3 )) && compadd list show set delete ||\n"
          "        compadd ${(f)\"$(peal calendar list -o name 2>/dev/null)\"} ;;\n"
          "    export) compadd crontab yaml json ;;\n"
          "    import) (( CURRENT == 3 )) && compadd crontab || _files ;;\n"
          "    help) _describe -t commands command commands ;;\n"
          "    validate) _files ;;\n"
          "    esac\n"
          "    if [[ ${words[CURRENT]} == -* ]]; then\n"
          "        compadd -- $options\n"
          "    elif (( jobs )); then\n"
          "        names=(${(f)\"$(peal list -o name 2>/dev/null)\"})\n"
          "        compadd -a names\n"
          "    fi\n"
          "}\n"
          "if [ \"${funcstack[1]}\" = _peal ]; then _peal; else compdef _peal peal; fi\n",
          stdout);
}

/* ---- fish ---- */

static void print_fish_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
}

static void print_fish_command(const struct command *command)
{
    printf("complete -c peal -n __fish_use_subcommand -f -a %s -d '", command->name);
    print_fish_text(command->summary);
    fputs("'\n", stdout);
    for (const struct option *o = command->getopt_rows; o && o->name; o++) {
        printf("complete -c peal -n '__fish_seen_subcommand_from %s' -l %s%s\n", command->name,
               o->name, o->has_arg ? " -r" : "");
    }
    if (argument_of(command) == ARGUMENT_JOB)
        printf("complete -c peal -n '__fish_seen_subcommand_from %s' -f "
               "-a '(peal list -o name 2>/dev/null)'\n",
               command->name);
}

static void print_fish(void)
{
    fputs("# fish completion of peal: peal completion fish | source\n", stdout);
    each_command(print_fish_command);
    fputs(
        "complete -c peal -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n"
        "complete -c peal -n '__fish_seen_subcommand_from drain undrain' -f "
        "-a '(peal nodes -o name 2>/dev/null)'\n"
        "complete -c peal -n '__fish_seen_subcommand_from cluster' -f "
        "-a 'status advance-cursors import'\n"
        "complete -c peal -n '__fish_seen_subcommand_from user' -f -a 'add list set delete'\n"
        "complete -c peal -n '__fish_seen_subcommand_from channel' -f "
        "-a 'list show set test delete (peal channel list -o name 2>/dev/null)'\n"
        "complete -c peal -n '__fish_seen_subcommand_from token' -f -a 'create list revoke'\n"
        "complete -c peal -n '__fish_seen_subcommand_from calendar' -f -a 'list show set delete'\n"
        "complete -c peal -n '__fish_seen_subcommand_from export' -f -a 'crontab yaml json'\n"
        "complete -c peal -n '__fish_seen_subcommand_from import' -a crontab\n"
        "complete -c peal -n '__fish_seen_subcommand_from add' -l after -x "
        "-a '(peal list -o name 2>/dev/null)'\n",
        stdout);
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    int shell;
    if (cli_option(self, argc, argv) != -1)
        return EXIT_USAGE;
    if (argc - optind != 1)
        return cli_usage(self, "for which shell? bash, zsh or fish");
    if (!cli_choice(self, "the shell", argv[optind], shells, &shell))
        return EXIT_USAGE;
    (void (*const[])(void)){print_bash, print_zsh, print_fish}[shell]();
    return EXIT_OK;
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "a script that lets your shell complete",
    .help = "Examples:\n"
            "  source <(peal completion bash)          in ~/.bashrc\n"
            "  source <(peal completion zsh)           in ~/.zshrc, after compinit\n"
            "  peal completion fish | source           in config.fish\n"
            "\n"
            "Usage: peal completion bash|zsh|fish\n"
            "\n"
            "Completes commands, options, and the names of the agent's jobs.\n",
    .getopt_rows = options,
    .old_run = run,
};
