/* peal: finds the command that was asked for, runs it, and sees to it that its output arrived. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/suggest.h"

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

static void print_overview(FILE *out)
{
    fputs("peal - cron for one machine or a thousand\n"
          "\n"
          "Examples:\n"
          "  peal dev                                            try it, in a folder of its own\n"
          "  peal start -d                                       start the agent\n"
          "  peal add backup '30 2 * * *' -- /usr/local/bin/backup\n"
          "  peal list                                           what runs next, what ran last\n"
          "  peal run backup --follow                            run it now, and watch\n"
          "  peal why backup                                     why did it (not) run?\n"
          "\n"
          "Usage: peal COMMAND [ARGUMENTS] [OPTIONS]\n",
          out);
    for (const struct topic *topic = topics; topic->title; topic++) {
        fprintf(out, "\n%s:\n", topic->title);
        for (const struct command *const *command = topic->commands; *command; command++)
            fprintf(out, "  %-10s %s\n", (*command)->name, (*command)->summary);
    }
    fputs("  help       the help of a command: peal help COMMAND\n"
          "\n"
          "Exit status: 0 ok, 1 error, 2 wrong usage, 3 not found or not running, 4 conflict,\n"
          "5 unreachable, 6 invalid input, 7 timed out waiting, 10 the run failed.\n",
          out);
}

static enum exit_code print_help(const struct command *command)
{
    printf("peal %s - %s\n\n%s", command->name, command->summary, command->help);
    return EXIT_OK;
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
    fputs("See: peal --help\n", stderr);
    return EXIT_USAGE;
}

static enum exit_code run_help(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "help") == 0 || argv[1][0] == '-') {
        print_overview(stdout);
        return EXIT_OK;
    }
    const struct command *command = find_command(argv[1]);
    return command ? print_help(command) : unknown_command(argv[1]);
}

/* `--help` anywhere before a `--`, so that it also helps out of a half-typed command. */
static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

static enum exit_code dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return run_help(argc - 1, argv + 1);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const struct command *command = find_command(name);
    if (!command)
        return unknown_command(name);
    if (wants_help(argc - 1, argv + 1))
        return print_help(command);
    return command->run(command, argc - 1, argv + 1);
}

/* A closed standard stream would give its number to the next file that is opened, and output
 * would end there. Its place is taken by a descriptor on which reading or writing fails. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return;
    }
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    return (int)cli_finish(dispatch(argc, argv));
}
