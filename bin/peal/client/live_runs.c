#include "client/live_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal.h"
#include "cli/when.h"
#include "print/log_print.h"
#include "print/state_words.h"
#include "text/tr.h"

enum { ASKED = 50, REMEMBERED = 500 };

struct live_run {
    char id[40];
    char prefix[96];
    struct log_printer printer;
    bool started, over;
};

void live_runs_init(struct live_runs *live)
{
    *live = (struct live_runs){0};
}

void live_runs_release(struct live_runs *live)
{
    free(live->items);
    live_runs_init(live);
}

static struct live_run *find(struct live_runs *live, const char *id)
{
    for (size_t i = 0; i < live->count; i++) {
        if (strcmp(live->items[i].id, id) == 0)
            return &live->items[i];
    }
    return NULL;
}

/* "clock   | ", in a colour that goes with the name. */
static void make_prefix(const char *job, char *prefix, size_t size)
{
    static const int colours[] = {36, 33, 35, 32, 34};
    unsigned sum = 0;
    for (const char *c = job; *c; c++)
        sum = sum * 31 + (unsigned char)*c;
    if (terminal_of(stdout).colour)
        snprintf(prefix, size, "\033[%dm%-8.40s |\033[0m ", colours[sum % 5], job);
    else
        snprintf(prefix, size, "%-8.40s | ", job);
}

/* The oldest are dropped: they are no longer in the list that is polled. */
static struct live_run *remember(struct live_runs *live, const char *id, const char *job)
{
    if (live->count == REMEMBERED) {
        size_t kept = REMEMBERED / 2;
        memmove(live->items, live->items + live->count - kept, kept * sizeof(*live->items));
        live->count = kept;
    }
    if (!live->items && !(live->items = calloc(REMEMBERED, sizeof(*live->items))))
        return NULL;
    struct live_run *run = &live->items[live->count++];
    *run = (struct live_run){.printer = {.merged = true}};
    snprintf(run->id, sizeof(run->id), "%s", id);
    make_prefix(job, run->prefix, sizeof(run->prefix));
    return run;
}

static void print_event(const struct live_run *run, const char *mark, int colour, const char *text)
{
    if (terminal_of(stdout).colour)
        printf("%s\033[%dm%s %s\033[0m\n", run->prefix, colour, mark, text);
    else
        printf("%s%s %s\n", run->prefix, mark, text);
}

static void print_end(const struct live_run *run, const json_t *value)
{
    struct strbuf text;
    bool ok = run_is_ok(value);
    bool skipped = strcmp(answer_text(value, "state"), "skipped") == 0;
    strbuf_init(&text);
    run_end(value, &text);
    print_event(run, ok ? "✓" : skipped ? "-" : "✗", ok ? 32 : skipped ? 33 : 31, text.text);
    strbuf_release(&text);
}

static void print_start(const struct live_run *run, const json_t *value)
{
    char text[64];
    snprintf(text, sizeof(text), tr("started (%s)"), cause_word(answer_text(value, "cause")));
    print_event(run, "▶", 2, text);
}

static enum exit_code show_entry(struct live_runs *live, const json_t *value)
{
    const char *id = answer_text(value, "entry_id");
    if (find(live, id))
        return EXIT_OK;
    struct live_run *run = remember(live, id, answer_text(value, "job"));
    if (!run)
        return cli_fail(E_NOMEM);
    run->over = true;
    print_end(run, value);
    return EXIT_OK;
}

static enum exit_code show_run(struct live_runs *live, struct client *client, const json_t *value)
{
    const char *id = answer_text(value, "run_id");
    struct live_run *run = find(live, id);
    if (!run && !(run = remember(live, id, answer_text(value, "job"))))
        return cli_fail(E_NOMEM);
    if (run->over)
        return EXIT_OK;
    run->printer.prefix = run->prefix; /* the array may have moved */
    bool has_started = answer_time(value, "started_at") != NO_TIME;
    if (has_started && !run->started) {
        run->started = true;
        print_start(run, value);
    }
    enum exit_code code = has_started ? log_print_more(client, id, &run->printer, NULL) : EXIT_OK;
    if (code == EXIT_OK && run_is_over(value) && (run->printer.complete || !has_started)) {
        run->over = true;
        print_end(run, value);
    }
    return code;
}

enum exit_code live_runs_show(struct live_runs *live, struct client *client)
{
    json_t *runs;
    enum exit_code code = client_list(client, "/runs?ledger=true&", ASKED, &runs);
    if (code != EXIT_OK)
        return code;
    for (size_t i = json_array_size(runs); i-- > 0 && code == EXIT_OK;) { /* oldest first */
        const json_t *value = json_array_get(runs, i);
        code = *answer_text(value, "entry_id") ? show_entry(live, value)
                                               : show_run(live, client, value);
    }
    fflush(stdout);
    json_decref(runs);
    return code;
}
