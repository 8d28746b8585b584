/* peal why: why did it run, or not? */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/when.h"
#include "client/client.h"
#include "print/state_words.h"
#include "print/steps_print.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *job;
    struct when_text tick;
    enum output output;
};

static void print_time(const char *label, int64_t at_ms)
{
    struct strbuf text;
    if (at_ms == NO_TIME)
        return;
    strbuf_init(&text);
    when_print_full(at_ms, &text);
    cli_line(9, label, "%s", text.text);
    strbuf_release(&text);
}

static void print_field(const char *label, const char *text)
{
    if (*text)
        cli_line(9, label, "%s", text);
}

static void print_next(const json_t *next)
{
    if (!json_is_object(next))
        return;
    putchar('\n');
    print_time("next", answer_time(next, "tick"));
    if (*answer_text(next, "text"))
        printf("%s\n", answer_text(next, "text"));
}

/* The steps of one that wait; by its id, `peal workflow graph` shows all of it. */
static void print_instance(const json_t *instance)
{
    const json_t *steps = json_object_get(instance, "steps"), *step;
    int64_t more = answer_int(instance, "more", 0);
    struct strbuf counts;
    size_t i;
    strbuf_init(&counts);
    state_counts_print(json_object_get(instance, "counts"), &counts);
    putchar('\n');
    printf(tr("instance %s: %s"), answer_text(instance, "run_id"),
           counts.length ? counts.text : "");
    putchar('\n');
    strbuf_release(&counts);
    json_array_foreach (steps, i, step) {
        printf("  %s: %s\n", answer_text(step, "name"), answer_text(step, "text"));
    }
    if (more) {
        printf(tr("  and %" PRId64 " more that wait"), more);
        putchar('\n');
    }
}

static void print_answer(const json_t *answer)
{
    const json_t *run = json_object_get(answer, "run");
    const json_t *entry = json_object_get(answer, "entry"), *instance;
    size_t i;
    if (*answer_text(answer, "text"))
        printf("%s\n\n", answer_text(answer, "text"));
    print_time("tick", answer_time(answer, "tick"));
    print_field("state", why_word(answer_text(answer, "state")));
    print_field("reason", reason_text(answer_text(answer, "reason")));
    print_field("run", answer_text(run, "run_id"));
    print_field("node", answer_text(run, "node"));
    print_time("started", answer_time(run, "started_at"));
    print_time("finished", answer_time(run, "finished_at"));
    print_field("by", answer_text(run, "by"));
    print_field("detail", answer_text(json_is_object(run) ? run : entry, "detail"));
    json_array_foreach (json_object_get(answer, "instances"), i, instance) {
        print_instance(instance);
    }
    print_next(json_object_get(answer, "next"));
}

/* GET /jobs/NAME/why; a missing job is reported with the nearest name. */
static enum exit_code ask(struct client *client, const char *name, const char *tick, json_t **ret)
{
    struct reply job;
    struct strbuf path;
    enum exit_code code = client_job(client, name, &job);
    if (code != EXIT_OK)
        return code;
    reply_release(&job);
    strbuf_init(&path);
    job_path(&path, name, "/why");
    if (*tick) {
        strbuf_adds(&path, "?tick=");
        url_escape(&path, tick);
    }
    code = client_get(client, path.text, ret);
    strbuf_release(&path);
    return code;
}

static enum exit_code why(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *answer;
    enum exit_code code = ask(client, request->job, request->tick.text, &answer);
    if (code != EXIT_OK)
        return code;
    if (request->output == OUTPUT_JSON || request->output == OUTPUT_YAML)
        code = output_print(answer, request->output);
    else
        print_answer(answer);
    json_decref(answer);
    return code;
}

const struct command cmd_why = {
    .name = "why",
    .summary = "why a job did, or did not, run",
    .examples = EXAMPLES({"peal why backup", "the last tick and the next"},
                         {"peal why backup '2027-01-01 02:30'", NULL},
                         {"peal why backup 2027-01-01T02:30:00Z -o json", NULL}),
    .notes = "TICK is the scheduled time: RFC 3339, or local like '2027-01-01 02:30'.",
    .arguments = ROWS(ARGUMENT(request, job, "JOB", .complete = COMPLETE_JOBS),
                      {.name = "TICK",
                       .take = take_when,
                       .place = OPTION_PLACE(request, tick, struct when_text),
                       .is_optional = true}),
    .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_SHORT_TEXT),
                    OPTION_GROUP(request, base, client_options)),
    .too_few = "which job, and which tick?",
    .request_size = sizeof(struct request),
    .with_agent = why,
};
