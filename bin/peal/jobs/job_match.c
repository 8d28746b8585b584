#include "jobs/job_match.h"

#include <stdio.h>

#include "cli/when.h"

enum { NAMES = 3 }; /* that a look tells */

/* True: it is one of these options, and taken. */
static bool take_option(int opt, struct job_match *match)
{
    switch (opt) {
    case 'q':
        match->query = optarg;
        return true;
    case OPTION_MATCH_LABEL:
        match->label = optarg;
        return true;
    case OPTION_MATCH_OWNER:
        match->owner = optarg;
        return true;
    case OPTION_MATCH_STATUS:
        match->status = optarg;
        return true;
    case OPTION_MATCH_ALL:
        return match->all = true;
    case OPTION_MATCH_DRY_RUN:
        return match->dry_run = true;
    case 'y':
        return match->yes = true;
    default:
        return false;
    }
}

enum exit_code job_match_open(const struct command *self, int argc, char **argv,
                              const char *missing, struct job_match *ret,
                              struct client **ret_client)
{
    struct job_match match = {0};
    const char *data = NULL;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        if (!take_option(opt, &match))
            data = optarg;
    }
    match.is_given = match.query || match.label || match.owner || match.status || match.all;
    if (match.is_given && optind < argc)
        return cli_usage(self, "names, or a filter; not both");
    if (match.dry_run && !match.is_given)
        return cli_usage(self, "--dry-run is for a filter; names say which they are");
    if (!match.is_given && optind == argc)
        return cli_usage(self, "%s", missing);
    *ret = match;
    return client_open(data, ret_client);
}

/* One call; `cursor` NULL: from the start. *ret is the caller's. */
static enum exit_code ask(struct client *client, const struct job_match *match, const char *action,
                          bool dry_run, const char *cursor, json_t **ret)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_adds(&path, "/jobs:act?");
    const char *const filter[][2] = {{"q", match->query},
                                     {"label", match->label},
                                     {"owner", match->owner},
                                     {"status", match->status}};
    for (size_t i = 0; i < sizeof(filter) / sizeof(filter[0]); i++) {
        if (filter[i][1])
            url_param(&path, filter[i][0], filter[i][1]);
    }
    json_t *body = json_pack("{s:s, s:b, s:b, s:s*}", "action", action, "dry_run", dry_run, "all",
                             match->all, "cursor", cursor);
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
        fprintf(stderr, "left alone: %lld, %s\n", (long long)count, answer_text(left, "message"));
    }
}

static json_int_t number(const json_t *answer, const char *name)
{
    return json_integer_value(json_object_get(answer, name));
}

static void print_look(const json_t *found, const char *action)
{
    const json_t *names = json_object_get(found, "names");
    json_int_t touched = number(found, "touched");
    fprintf(stderr, "%s %lld of %lld that match", action, (long long)touched,
            (long long)number(found, "matched"));
    for (size_t i = 0; i < json_array_size(names) && i < NAMES; i++)
        fprintf(stderr, "%s%s", i ? ", " : ": ", json_string_value(json_array_get(names, i)));
    fputs(touched > NAMES ? ", ...\n" : "\n", stderr);
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

/* Page by page. What is left alone meanwhile was told by the look, or ended by itself. */
static enum exit_code act(struct client *client, const struct job_match *match, const char *action,
                          const char *done)
{
    json_int_t touched = 0, failed = 0;
    json_t *page = NULL;
    enum exit_code code;
    do {
        json_t *next = NULL;
        const char *cursor = page ? answer_text(page, "next") : NULL;
        code = ask(client, match, action, false, cursor, &next);
        json_decref(page);
        page = next;
        if (code != EXIT_OK)
            break;
        touched += number(page, "touched");
        failed += print_failed(page);
    } while (json_is_string(json_object_get(page, "next")));
    json_decref(page);
    fprintf(stderr, "%lld job%s: %s\n", (long long)touched, touched == 1 ? "" : "s", done);
    return code == EXIT_OK && failed ? EXIT_CONFLICT : code;
}

enum exit_code job_match_run(struct client *client, const struct job_match *match,
                             const char *action, const char *done)
{
    json_t *found = NULL;
    enum exit_code code = ask(client, match, action, true, NULL, &found);
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
    if (match->dry_run || !touched)
        return EXIT_OK;
    if (!confirmed(match->yes, "Go on?")) {
        fputs("nothing was done\n", stderr);
        return EXIT_ERROR;
    }
    return act(client, match, action, done);
}
