/* peal skip-next: leave out the next ticks of a job. */
#include <stdio.h>

#include "cli/when.h"
#include "client/client.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *name;
    int64_t count;
};

static void print_skipped(const json_t *ticks)
{
    struct strbuf text;
    const json_t *tick;
    size_t i;
    strbuf_init(&text);
    json_array_foreach (ticks, i, tick) {
        int64_t at_ms;
        strbuf_reset(&text);
        if (when_parse(json_is_string(tick) ? json_string_value(tick) : "", &at_ms))
            when_print_local(at_ms, &text);
        printf("%s\n", text.text);
    }
    strbuf_release(&text);
}

static enum exit_code skip(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *answer = NULL;
    json_t *body = json_pack("{sI}", "count", (json_int_t)request->count);
    enum exit_code code = body
                              ? client_job_action(client, request->name, "skip-next", body, &answer)
                              : cli_fail(E_NOMEM);
    if (code == EXIT_OK) {
        const json_t *ticks = json_object_get(answer, "skipped");
        if (request->count)
            fprintf(stderr, tr("%s: skips %zu"), request->name, json_array_size(ticks));
        else
            fprintf(stderr, tr("%s: skips nothing any more"), request->name);
        fputc('\n', stderr);
        print_skipped(ticks);
    }
    json_decref(answer);
    json_decref(body);
    return code;
}

const struct command cmd_skip_next = {
    .name = "skip-next",
    .summary = "skip the next ticks of a job",
    .examples = EXAMPLES({"peal skip-next backup", NULL}, {"peal skip-next backup -n 3", NULL},
                         {"peal skip-next backup -n 0", "cancel the skips"}),
    .notes = "Prints the ticks, which are recorded as skipped when they are due.",
    .arguments = ROWS(ARGUMENT(request, name, "NAME", .complete = COMPLETE_JOBS)),
    .options = ROWS(OPTION_NUMBER(request, count, 'n', "count", 0, 1000,
                                  "how many ticks (1); 0 cancels the skips that are not due yet"),
                    OPTION_GROUP(request, base, client_options)),
    .wrong_count = ONE_JOB,
    .request_size = sizeof(struct request),
    .defaults = &(const struct request){.count = 1},
    .with_agent = skip,
};
