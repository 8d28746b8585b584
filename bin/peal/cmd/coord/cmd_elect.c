/* peal elect: one leader among many candidates, and who it is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "cli/when.h"
#include "client/client.h"
#include "coord/coord_show.h"
#include "coord/held_run.h"
#include "text/tr.h"

struct request {
    struct coord_request place;
    struct held_options held;
    const char *name, *id, *on_win, *on_loss;
    bool again, who, follow;
    enum output output;
};

static enum exit_code check(const struct request *request)
{
    const struct command *command = request->place.base.command;
    if (request->who && (request->on_win || request->on_loss || request->again))
        return cli_usage(command, "--who only looks on: no --on-win, --on-loss or --again");
    if (request->follow && !request->who)
        return cli_usage(command, "--follow is for --who");
    if (!request->who && !request->on_win)
        return cli_usage(command, "what does the leader run? --on-win COMMAND, or --who to look "
                                  "on");
    enum exit_code code = coord_check_name(command, request->name);
    return code == EXIT_OK ? held_check_options(command, &request->held) : code;
}

/* Its status is of no use: the lead is lost whatever it says. */
static void run_on_loss(const struct request *request, const struct held_start *start,
                        int64_t fence)
{
    char *words[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, strdup(request->on_loss), NULL};
    const struct held_child child = {.words = words,
                                     .variable = "PEAL_ELECTION",
                                     .name = request->name,
                                     .fence = fence,
                                     .dies_with_us = false};
    int code, status;
    pid_t pid = words[2] ? held_child_start(start, &child, &code) : -1;
    if (pid < 0)
        cli_error("--on-loss: %s", strerror(errno));
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    free(words[2]);
}

/* A candidate that stays one waits for a store that is away, since it was there before. */
static bool goes_on(const struct request *request, const struct held_run *run, bool has_reached,
                    enum exit_code code)
{
    const struct timespec pause = {.tv_sec = 1};
    if (!request->again || run->signal || code == EXIT_USAGE || code == EXIT_INVALID)
        return false;
    if (run->fence)
        return true;
    if (code != EXIT_UNREACHABLE || !has_reached)
        return false;
    cli_note("%s: trying again", request->name);
    nanosleep(&pause, NULL);
    return true;
}

static enum exit_code campaign(const struct request *request, const struct held_start *start,
                               struct coord_place *place)
{
    char id[COORD_ID_MAX];
    char *words[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, strdup(request->on_win), NULL};
    bool has_reached = false;
    struct held_run run;
    enum exit_code code = coord_make_id(request->place.base.command, request->id, true, id);
    if (!words[2])
        return cli_fail(E_NOMEM);
    if (code != EXIT_OK)
        goto out;
    do {
        run = (struct held_run){
            .start = start,
            .place = place,
            .kind = COORD_ELECTION,
            .name = request->name,
            .id = id,
            .wait_s = -1,
            .options = &request->held,
            .words = words,
        };
        code = held_run(&run);
        has_reached |= run.fence > 0;
        if (run.was_lost && request->on_loss)
            run_on_loss(request, start, run.fence);
    } while (goes_on(request, &run, has_reached, code));
out:
    free(words[2]);
    return code;
}

static enum exit_code elect(void *context)
{
    const struct request *request = context;
    struct coord_place place;
    struct held_start start;
    held_start_note(&start);
    enum exit_code code = check(request);
    if (code != EXIT_OK)
        return code;
    code = coord_place_open(&request->place, &place);
    if (code == EXIT_OK && request->who && request->follow)
        code = coord_show_changes(&place, COORD_ELECTION, request->name, request->output);
    else if (code == EXIT_OK && request->who)
        code = coord_show_one(&place, COORD_ELECTION, request->name, request->output);
    else if (code == EXIT_OK)
        code = campaign(request, &start, &place);
    coord_place_close(&place);
    return code;
}

static const struct request defaults = {
    .place.timeout_s = COORD_TIMEOUT_S,
    .held = {.ttl_s = HELD_TTL_S, .grace_s = HELD_GRACE_S},
};

const struct command cmd_elect = {
    .name = "elect",
    .summary = "elect one leader among many processes, or show who leads",
    .examples = EXAMPLES({"peal elect mailer --on-win ./mailer --again",
                          "always one, where one of the candidates is alive"},
                         {"peal elect mailer --who", "the leader's id"},
                         {"peal elect mailer --who --follow", "and each change"}),
    .usage = "NAME --on-win COMMAND [options]\nNAME --who [--follow] [options]",
    .notes =
        "Waits until it leads, runs COMMAND with /bin/sh, and resigns when COMMAND has ended. "
        "$PEAL_FENCE, signals and a loss are as for peal lock; SIGTERM, SIGINT and SIGQUIT also "
        "end --again.\n"
        "Exit status: that of COMMAND; 12 the lead was lost, 5 the store can't be reached. With "
        "--who: 3 nobody leads.",
    .arguments = ROWS(ARGUMENT(request, name, "NAME")),
    .options = ROWS(
        OPTION_TEXT(request, on_win, 0, "on-win", "COMMAND", "what the leader runs"),
        OPTION_TEXT(request, on_loss, 0, "on-loss", "COMMAND",
                    "what is run when the lead was lost, after the leader's command was "
                    "stopped"),
        OPTION_FLAG(request, again, 0, "again",
                    "be a candidate again when COMMAND has ended or the lead was lost"),
        OPTION_TEXT(request, id, 0, "id", "ID", "the candidate's name (default: host and process)"),
        OPTION_FLAG(request, who, 0, "who", "only show the leader"),
        OPTION_FLAG(request, follow, 0, "follow", "with --who: and each change; - is nobody"),
        OPTION_GROUP(request, held, held_options),
        OPTION_OUTPUT(request, output, OUTPUT_SHORT_TEXT),
        OPTION_GROUP(request, place, coord_place_options)),
    .too_few = "which election? peal elect NAME --on-win COMMAND",
    .request_size = sizeof(struct request),
    .defaults = &defaults,
    .run = elect,
};
