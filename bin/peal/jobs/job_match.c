#include "jobs/job_match.h"

#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/when.h"
#include "jobs/check/dependents.h"
#include "text/tr.h"

enum { NAMES = 3 }; /* names in a preview */

const struct option_row match_arguments[] = {
    ARGUMENTS(match_request, names, "NAME", .is_optional = true, .complete = COMPLETE_JOBS),
    {0},
};

static const char *const states[] = {"ok",     "failed", "never",   "running",
                                     "paused", "broken", "warning", NULL};

const struct option_row match_options[] = {
    OPTION_TEXT(match_request, match.query, 'q', "query", "TEXT",
                "jobs with TEXT in name, command or notes, instead of names", .field = "q"),
    OPTION_TEXT(match_request, match.label, 0, "label", "K=V",
                "jobs with this label; several filters select the jobs that match all of them",
                .field = "label"),
    OPTION_TEXT(match_request, match.owner, 0, "owner", "WHO", "jobs with this owner",
                .field = "owner"),
    OPTION_TEXT(match_request, match.node, 0, "node", "NAME",
                "jobs that run on this node, or ran there last", .field = "node",
                .complete = COMPLETE_NODES),
    OPTION_TEXT(match_request, match.status, 0, "status", "S",
                "jobs with this status: ok, failed, never, running, paused, broken or warning",
                .field = "status", .choices = states),
    OPTION_FLAG(match_request, match.all, 0, "all", "every job"),
    OPTION_FLAG(match_request, match.dry_run, 0, "dry-run",
                "only print which jobs would change, and which not and why"),
    OPTION_FLAG(
        match_request, match.yes, 'y', "yes",
        "no confirmation (asked for on a terminal; elsewhere a deletion needs this option)"),
    OPTION_GROUP(match_request, base, client_options),
    {0},
};

bool job_match_is_given(const struct job_match *match)
{
    return match->query || match->label || match->owner || match->node || match->status ||
           match->all;
}

enum exit_code job_match_check(const struct match_request *request)
{
    const struct command *command = request->base.command;
    bool is_given = job_match_is_given(&request->match);
    if (is_given && request->names.count)
        return cli_usage(command, "names, or a filter; not both");
    if (request->match.dry_run && !is_given)
        return cli_usage(command, "--dry-run is for a filter; names say which they are");
    if (!is_given && !request->names.count)
        return cli_usage(command, "%s", tr(command->too_few));
    return EXIT_OK;
}

/* One call; `cursor` NULL: from the start. *ret is the caller's. */
static enum exit_code ask(struct client *client, const struct match_request *request,
                          const char *action, bool dry_run, const char *cursor, json_t **ret)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_adds(&path, "/jobs:act?");
    url_options(&path, match_options, request);
    json_t *body = json_pack("{s:s, s:b, s:b, s:s*}", "action", action, "dry_run", dry_run, "all",
                             request->match.all, "cursor", cursor);
    enum exit_code code = cli_fail(body ? strbuf_status(&path) : E_NOMEM);
    if (code == EXIT_OK)
        code = client_post(client, path.text, body, ret);
    json_decref(body);
    strbuf_release(&path);
    return code;
}

static void print_left(const json_t *answer)
{
    size_t i;
    const json_t *left;
    json_array_foreach (json_object_get(answer, "left"), i, left) {
        json_int_t count = json_integer_value(json_object_get(left, "count"));
        fprintf(stderr, tr("left alone: %lld, %s"), (long long)count, answer_text(left, "message"));
        fputc('\n', stderr);
    }
}

static json_int_t number(const json_t *answer, const char *name)
{
    return json_integer_value(json_object_get(answer, name));
}

/* `action`: TR("pause"), TR("resume"), TR("kill") or TR("delete"). */
static void print_look(const json_t *found, const char *action)
{
    const json_t *names = json_object_get(found, "names");
    json_int_t touched = number(found, "touched");
    struct strbuf list;
    strbuf_init(&list);
    for (size_t i = 0; i < json_array_size(names) && i < NAMES; i++)
        strbuf_addf(&list, "%s%s", i ? tr(", ") : "", json_string_value(json_array_get(names, i)));
    fprintf(stderr, tr("%s %lld of %lld that match"), tr(action), (long long)touched,
            (long long)number(found, "matched"));
    if (list.length)
        fprintf(stderr, tr(touched > NAMES ? TR(": %s, ...") : TR(": %s")), list.text);
    fputc('\n', stderr);
    strbuf_release(&list);
    print_left(found);
}

static json_int_t print_failed(const json_t *page)
{
    size_t i;
    const json_t *item;
    const json_t *failed = json_object_get(page, "failed");
    json_array_foreach (failed, i, item) {
        cli_error("%s: %s", answer_text(item, "name"), answer_text(item, "error"));
    }
    return (json_int_t)json_array_size(failed);
}

/* Page by page. Jobs that are left out now were in the preview, or have changed since. */
static enum exit_code act(struct client *client, const struct match_request *request,
                          const char *action, const char *done)
{
    json_int_t touched = 0, failed = 0;
    json_t *page = NULL;
    enum exit_code code;
    do {
        json_t *next = NULL;
        const char *cursor = page ? answer_text(page, "next") : NULL;
        code = ask(client, request, action, false, cursor, &next);
        json_decref(page);
        page = next;
        if (code != EXIT_OK)
            break;
        touched += number(page, "touched");
        failed += print_failed(page);
    } while (json_is_string(json_object_get(page, "next")));
    json_decref(page);
    fprintf(stderr, tr("%lld job%s: %s"), (long long)touched, touched == 1 ? "" : "s", tr(done));
    fputc('\n', stderr);
    return code == EXIT_OK && failed ? EXIT_CONFLICT : code;
}

/* Jobs that wait for those that match. */
static enum exit_code warn_of_dependents(struct client *client, const struct match_request *request)
{
    struct strbuf path;
    json_t *matched = NULL, *there = NULL, *deleted = json_object();
    const json_t *job;
    size_t i;
    strbuf_init(&path);
    strbuf_adds(&path, "/jobs?fields=name&");
    url_options(&path, match_options, request);
    enum exit_code code = cli_fail(deleted ? strbuf_status(&path) : E_NOMEM);
    if (code == EXIT_OK)
        code = client_list(client, path.text, 0, &matched);
    json_array_foreach (matched, i, job) {
        if (json_object_set_new(deleted, answer_text(job, "name"), json_true()) != 0)
            code = cli_fail(E_NOMEM);
    }
    if (code == EXIT_OK)
        code = client_list(client, "/jobs?fields=" DEPENDENTS_FIELDS "&", 0, &there);
    if (code == EXIT_OK)
        dependents_warn(there, deleted);
    json_decref(matched);
    json_decref(there);
    json_decref(deleted);
    strbuf_release(&path);
    return code;
}

enum exit_code job_match_run(struct client *client, const struct match_request *request,
                             const char *action, const char *done)
{
    json_t *found = NULL;
    enum exit_code code = ask(client, request, action, true, NULL, &found);
    if (code != EXIT_OK)
        return code;
    json_int_t matched = number(found, "matched"), touched = number(found, "touched");
    if (matched)
        print_look(found, action);
    else
        cli_error("no job matches");
    json_decref(found);
    if (!matched)
        return EXIT_NOT_FOUND;
    if (request->match.dry_run || !touched)
        return EXIT_OK;
    if (strcmp(action, "delete") == 0) {
        code = warn_of_dependents(client, request);
        if (code == EXIT_OK)
            code = confirm_deletion(request->match.yes, "Go on?");
        return code == EXIT_OK ? act(client, request, action, done) : code;
    }
    if (!confirmed(request->match.yes, "Go on?")) {
        fprintf(stderr, "%s\n", tr("nothing was done"));
        return EXIT_ERROR;
    }
    return act(client, request, action, done);
}
