/* peal select: of all that ask, one is chosen for a while, and the others learn who. */
#include <signal.h>
#include <stdio.h>

#include "cli/json_out.h"
#include "cli/output.h"
#include "cli/when.h"
#include "client/client.h"
#include "coord/coord_place.h"

enum { HOLD_MAX_S = 365 * 86400 };

struct request {
    struct coord_request place;
    const char *service, *id;
    int64_t hold_s;
    enum output output;
};

struct choice {
    const struct request *request;
    struct coord_place *place;
    enum exit_code code;
};

static enum exit_code print_json(const struct request *request, const struct coord_holder *chosen,
                                 bool is_self)
{
    json_t *tree = json_pack("{s:s, s:o, s:o, s:I, s:b}", "service", request->service, "id",
                             json_text(chosen->id), "host", json_text(chosen->host), "pid",
                             (json_int_t)chosen->pid, "is_self", is_self);
    enum exit_code code = tree ? output_print(tree, request->output) : cli_fail(E_NOMEM);
    json_decref(tree);
    return code;
}

static void on_chosen(void *context, enum status st, const struct coord_holder *chosen,
                      bool is_self, const char *message)
{
    struct choice *choice = context;
    const struct request *request = choice->request;
    bool is_data = request->output == OUTPUT_JSON || request->output == OUTPUT_YAML;
    if (st != OK)
        choice->code = coord_place_fail(choice->place, request->service, st, message);
    else if (is_data)
        choice->code = print_json(request, chosen, is_self);
    else
        printf("%s\n", chosen->id);
    if (choice->code == EXIT_OK && !is_self)
        choice->code = EXIT_NOT_GOT;
    loop_stop(choice->place->loop);
}

static enum exit_code ask(const struct request *request, struct coord_place *place)
{
    char id[COORD_ID_MAX];
    struct choice choice = {.request = request, .place = place};
    enum exit_code code = coord_make_id(request->place.base.command, request->id, false, id);
    if (code != EXIT_OK)
        return code;
    signal(SIGPIPE, SIG_IGN);
    enum status st = coord_select(place->coord, request->service, id, request->hold_s * 1000,
                                  on_chosen, &choice);
    if (st != OK)
        return cli_fail(st);
    loop_run(place->loop);
    return choice.code;
}

static enum exit_code choose(void *context)
{
    const struct request *request = context;
    const struct command *command = request->place.base.command;
    struct coord_place place;
    enum exit_code code = coord_check_name(command, request->service);
    if (code == EXIT_OK && (request->hold_s < 1 || request->hold_s > HOLD_MAX_S))
        code = cli_usage(command, "for how long is one chosen? --hold D, of 1s or more");
    if (code != EXIT_OK)
        return code;
    code = coord_place_open(&request->place, &place);
    if (code == EXIT_OK)
        code = ask(request, &place);
    coord_place_close(&place);
    return code;
}

static const struct request defaults = {.place.timeout_s = COORD_TIMEOUT_S};

const struct command cmd_select = {
    .name = "select",
    .summary = "choose one of all that ask, for a while",
    .examples = EXAMPLES(
        {"peal select report --hold 1m && ./report", "on every machine: one of them does it"},
        {"peal select report --hold 1m --id web-1", NULL}),
    .usage = "SERVICE --hold D [options]",
    .notes =
        "The first that asks is chosen for the hold time; whoever asks meanwhile learns its id. "
        "The hold ends by itself, also when the chosen one has died: then the next that asks is "
        "chosen. The same id is told again that it is chosen, which does not prolong the hold. In "
        "etcd a hold lasts 2 seconds at least, and somewhat longer when etcd elects a leader.\n"
        "Exit status: 0 this id is chosen, 11 another one is, 5 the store can't be reached.",
    .arguments = ROWS(ARGUMENT(request, service, "SERVICE")),
    .options = ROWS(OPTION_DURATION(request, hold_s, "hold", "for how long one is chosen"),
                    OPTION_TEXT(request, id, 0, "id", "ID", "who asks (default: the host's name)"),
                    OPTION_OUTPUT(request, output, OUTPUT_SHORT_TEXT),
                    OPTION_GROUP(request, place, coord_place_options)),
    .too_few = "which service? peal select SERVICE --hold D",
    .request_size = sizeof(struct request),
    .defaults = &defaults,
    .run = choose,
};
