#include "client/quiet/maintenance.h"

#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "text/tr.h"

bool pause_is_wide(const struct pause_request *request)
{
    return request->cluster || request->space;
}

enum exit_code pause_check(const struct pause_request *request)
{
    const struct command *command = request->jobs.base.command;
    if (request->cluster && request->space)
        return cli_usage(command, "--cluster, or --namespace; not both");
    if (pause_is_wide(request) &&
        (request->jobs.names.count || job_match_is_given(&request->jobs.match)))
        return cli_usage(command, "jobs, or the cluster or a namespace; not both");
    if (request->reason && !pause_is_wide(request))
        return cli_usage(command, "--reason is for --cluster and --namespace");
    return EXIT_OK;
}

/* "the cluster", "namespace shop" */
static void print_space(const json_t *item, struct strbuf *out)
{
    const char *space = answer_text(item, "namespace");
    if (*space)
        strbuf_addf(out, tr("namespace %s"), space);
    else
        strbuf_adds(out, tr("the cluster"));
}

static bool is_pause(const json_t *item)
{
    return strcmp(answer_text(item, "kind"), "pause") == 0;
}

/* "namespace shop: in maintenance until Sun 2026-03-08 03:00:00 (in 2h): the reason" */
static void print_item(const json_t *item, struct strbuf *out)
{
    int64_t from_ms = answer_time(item, "from"), to_ms = answer_time(item, "to");
    const char *reason = answer_text(item, "reason");
    bool is_coming = strcmp(answer_text(item, "state"), "coming") == 0;
    print_space(item, out);
    strbuf_adds(out, tr(is_pause(item) ? TR(": paused") : TR(": maintenance")));
    if (is_coming) {
        strbuf_adds(out, tr(" from "));
        when_print_full(from_ms, out);
    }
    if (to_ms != NO_TIME) {
        strbuf_adds(out, tr(" until "));
        when_print_full(to_ms, out);
    }
    if (*reason)
        strbuf_addf(out, "; %s", reason);
}

enum exit_code maintenance_post(struct client *client, json_t *body)
{
    struct strbuf text;
    json_t *item = NULL;
    enum exit_code code =
        body ? client_post(client, "/maintenance", body, &item) : cli_fail(E_NOMEM);
    if (code == EXIT_OK) {
        strbuf_init(&text);
        print_item(item, &text);
        fprintf(stderr, "%s\n", text.text);
        strbuf_release(&text);
    }
    json_decref(item);
    json_decref(body);
    return code;
}

static enum exit_code end_item(struct client *client, const json_t *item)
{
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    strbuf_addf(&path, "/maintenance/%s", answer_text(item, "id"));
    enum exit_code code = client_call(
        client, &(struct client_request){.method = "DELETE", .path = path.text}, &reply);
    reply_release(&reply);
    strbuf_reset(&path);
    print_space(item, &path);
    if (code == EXIT_OK)
        fprintf(stderr, tr("%s: %s"), path.text, tr("resumed"));
    if (code == EXIT_OK)
        fputc('\n', stderr);
    strbuf_release(&path);
    return code;
}

enum exit_code maintenance_resume(struct client *client, const char *space)
{
    json_t *answer;
    const json_t *item;
    size_t i, count = 0;
    enum exit_code code = client_get(client, "/maintenance", &answer);
    if (code != EXIT_OK)
        return code;
    json_array_foreach (json_object_get(answer, "items"), i, item) {
        if (!is_pause(item) || strcmp(answer_text(item, "state"), "over") == 0 ||
            strcmp(answer_text(item, "namespace"), space ? space : "") != 0)
            continue;
        count++;
        enum exit_code ended = end_item(client, item);
        code = ended == EXIT_OK ? code : ended;
    }
    json_decref(answer);
    if (count)
        return code;
    cli_error(space ? "namespace %s is not paused" : "the cluster is not paused", space);
    return EXIT_NOT_FOUND;
}

void maintenance_print_active(int width, const json_t *list)
{
    const json_t *item;
    size_t i;
    struct strbuf text;
    strbuf_init(&text);
    json_array_foreach (list, i, item) {
        strbuf_reset(&text);
        print_item(item, &text);
        cli_line(width, i ? "" : "paused", "%s", text.text);
    }
    strbuf_release(&text);
}
