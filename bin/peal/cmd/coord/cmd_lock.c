/* peal lock: runs a command while no other process, on this machine or on many, holds the lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/when.h"
#include "client/client.h"
#include "coord/coord_show.h"
#include "coord/held_run.h"
#include "text/tr.h"

struct request {
    struct coord_request place;
    struct held_options held;
    struct words command;
    const char *name, *id;
    int64_t wait_s;
    bool no_wait, list;
    enum output output;
};

static enum exit_code check(const struct request *request)
{
    const struct command *command = request->place.base.command;
    if (request->list && (request->name || request->command.count))
        return cli_usage(command, "--list shows all locks; it takes no name and no command");
    if (request->list)
        return EXIT_OK;
    if (!request->name)
        return cli_usage(command, "which lock? peal lock NAME -- COMMAND");
    if (!request->command.count)
        return cli_usage(command, "which command? peal lock %s -- COMMAND", request->name);
    if (request->no_wait && request->wait_s >= 0)
        return cli_usage(command, "--wait and --no-wait exclude each other");
    enum exit_code code = coord_check_name(command, request->name);
    return code == EXIT_OK ? held_check_options(command, &request->held) : code;
}

static enum exit_code hold(const struct request *request, const struct held_start *start,
                           struct coord_place *place)
{
    char id[COORD_ID_MAX];
    char **words = calloc((size_t)request->command.count + 1, sizeof(*words));
    if (!words)
        return cli_fail(E_NOMEM);
    memcpy(words, request->command.items, (size_t)request->command.count * sizeof(*words));
    struct held_run run = {
        .start = start,
        .place = place,
        .kind = COORD_LOCK,
        .name = request->name,
        .id = id,
        .wait_s = request->no_wait ? 0 : request->wait_s,
        .options = &request->held,
        .words = words,
    };
    enum exit_code code = coord_make_id(request->place.base.command, request->id, true, id);
    if (code == EXIT_OK)
        code = held_run(&run);
    free(words);
    return code;
}

static enum exit_code lock(void *context)
{
    const struct request *request = context;
    struct coord_place place;
    struct held_start start;
    held_start_note(&start);
    enum exit_code code = check(request);
    if (code != EXIT_OK)
        return code;
    code = coord_place_open(&request->place, &place);
    if (code == EXIT_OK && request->list)
        code = coord_show_all(&place, COORD_LOCK, request->output);
    else if (code == EXIT_OK)
        code = hold(request, &start, &place);
    coord_place_close(&place);
    return code;
}

static const struct request defaults = {
    .place.timeout_s = COORD_TIMEOUT_S,
    .held = {.ttl_s = HELD_TTL_S, .grace_s = HELD_GRACE_S},
    .wait_s = -1,
};

const struct command cmd_lock = {
    .name = "lock",
    .summary = "run a command while holding a lock, on one machine or on many",
    .examples = EXAMPLES({"peal lock backup -- /usr/local/bin/backup", NULL},
                         {"peal lock backup --no-wait -- ./backup", "status 11: another holds it"},
                         {"peal lock deploy --store etcd://etcd-1,etcd-2 -- ./deploy",
                          "one at a time on all machines"},
                         {"peal lock --list", "who holds what, and how many wait"}),
    .usage = "NAME [options] -- COMMAND [ARGUMENT...]\n--list [options]",
    .notes =
        "Waits for its turn, in order of arrival, runs COMMAND, and releases the lock when COMMAND "
        "has ended. $PEAL_FENCE is a number that is larger than that of every holder before: what "
        "COMMAND writes to should refuse a smaller one than it has seen. SIGINT, SIGTERM, SIGHUP "
        "and SIGQUIT go to COMMAND.\n"
        "When the lock is lost, COMMAND and all that it has started get SIGTERM, and SIGKILL after "
        "the grace.\n"
        "Exit status: that of COMMAND; 11 the lock was not got, 12 it was lost, 5 the store can't "
        "be reached, 126 or 127 COMMAND can't be started, 128+N COMMAND was ended by signal N. "
        "docs/COORDINATION.md says what a lock promises, and what not.",
    .arguments = ROWS(ARGUMENTS(request, command, "COMMAND", .is_after_dashes = true),
                      ARGUMENT(request, name, "NAME", .is_optional = true)),
    .options =
        ROWS(OPTION_DURATION(request, wait_s, "wait",
                             "wait so long for the lock (default: as long as it takes)"),
             OPTION_FLAG(request, no_wait, 0, "no-wait", "do not wait: status 11 if it is held"),
             OPTION_TEXT(request, id, 0, "id", "ID",
                         "what others see as the holder (default: host and process)"),
             OPTION_GROUP(request, held, held_options),
             OPTION_FLAG(request, list, 0, "list", "show the locks that are held"),
             OPTION_OUTPUT(request, output, OUTPUT_TEXT),
             OPTION_GROUP(request, place, coord_place_options)),
    .too_many = "unexpected \"%s\"; the command stands after --",
    .request_size = sizeof(struct request),
    .defaults = &defaults,
    .run = lock,
};
