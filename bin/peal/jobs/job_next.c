#include "jobs/job_next.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/json_out.h"
#include "cli/text_table.h"
#include "cli/when.h"
#include "definition/job_fields.h"
#include "jobs/definition.h"
#include "print/state_words.h"
#include "timestamp.h"

bool looks_like_job(const char *word)
{
    return *word != '@' && !job_name_complaint(word);
}

static enum status print_table(const json_t *fires)
{
    static const char *const headers[] = {"AT (UTC)", "LOCAL", "IN", "STARTS (UTC)", "NOTE", NULL};
    struct text_table table;
    struct strbuf cell;
    const json_t *fire;
    size_t i;
    int64_t now = now_ms();
    text_table_init(&table, headers);
    strbuf_init(&cell);
    json_array_foreach (fires, i, fire) {
        int64_t at_ms = answer_time(fire, "at");
        strbuf_truncate(&cell, 0);
        timestamp_print_utc(at_ms / 1000, &cell); /* ticks fall on whole seconds */
        text_table_cell(&table, cell.text);
        text_table_cell(&table, answer_text(fire, "local"));
        strbuf_truncate(&cell, 0);
        when_print_left(at_ms, now, &cell);
        text_table_cell(&table, cell.text);
        text_table_cell(&table, answer_text(fire, "starts_at"));
        strbuf_truncate(&cell, 0);
        note_words(answer_text(fire, "note"), &cell);
        text_table_cell(&table, cell.text);
    }
    enum status st = text_table_print(&table, stdout);
    strbuf_release(&cell);
    text_table_release(&table);
    return st;
}

/* On stderr: excluded ticks, and why. */
static void tell_left_out(const json_t *rows)
{
    const json_t *row;
    size_t i;
    json_array_foreach (rows, i, row) {
        const char *window = answer_text(row, "window");
        if (*window)
            cli_note("left out from %s on: calendar %s, %s", answer_text(row, "local"),
                     answer_text(row, "calendar"), window);
        else
            cli_note("left out from %s on: calendar %s", answer_text(row, "local"),
                     answer_text(row, "calendar"));
    }
}

/* Says on stderr why a job has no coming ticks. */
static void tell_none(const json_t *job, const char *name)
{
    struct strbuf after;
    strbuf_init(&after);
    definition_after(job, &after);
    if (after.length)
        cli_note("%s has no ticks: it runs %s", name, after.text);
    else if (answer_int(json_object_get(job, "status"), "running", 0))
        cli_note("%s has no next tick while it runs", name);
    else
        cli_note("%s has no next tick", name);
    strbuf_release(&after);
}

static enum exit_code print_answer(json_t *answer, const json_t *job, const char *name,
                                   enum next_output output)
{
    const json_t *fires = json_object_get(answer, "fires");
    if (output == NEXT_JSON) {
        if (json_object_set_new(answer, "job", json_text(name)) != 0)
            return cli_fail(E_NOMEM);
        return cli_fail(json_print(answer));
    }
    tell_left_out(json_object_get(answer, "left_out"));
    if (json_array_size(fires) == 0) {
        tell_none(job, name);
        return EXIT_OK;
    }
    return cli_fail(print_table(fires));
}

enum exit_code job_next_print(const char *data, const char *name, int64_t count,
                              enum next_output output)
{
    struct client *client;
    struct reply job = {0};
    struct strbuf path;
    json_t *answer;
    enum exit_code code = client_open(data, &client);
    if (code != EXIT_OK)
        return code;
    strbuf_init(&path);
    code = client_job(client, name, &job); /* suggests a near name */
    if (code == EXIT_OK) {
        if (json_is_true(json_object_get(json_object_get(job.body, "status"), "paused")))
            cli_note("%s is paused: what is due is left out until peal resume %s", name, name);
        job_path(&path, name, "/next");
        strbuf_addf(&path, "?n=%" PRId64, count);
        code = client_get(client, path.text, &answer);
    }
    if (code == EXIT_OK) {
        code = print_answer(answer, job.body, name, output);
        json_decref(answer);
    }
    reply_release(&job);
    strbuf_release(&path);
    client_close(client);
    return code;
}
