/* peal diff: what `peal apply` would change, line by line; or what has changed of a job. */
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/when.h"
#include "client/batch/digests.h"
#include "jobs/definition.h"
#include "jobs/documents/agent_docs.h"
#include "jobs/documents/doc_types.h"
#include "print/diff_print.h"
#include "text/tr.h"
#include "text_diff.h"

struct request {
    struct request_base base;
    struct option_list files;
    bool prune;
    const char *revision, *to; /* instead of files, of one job */
    struct words jobs;
};

/* Either text may be empty: no such job. */
static enum exit_code show(const char *name, const char *there, const char *wanted, bool *differs)
{
    struct strbuf diff, old_name, new_name;
    strbuf_init(&diff);
    strbuf_init(&old_name);
    strbuf_init(&new_name);
    strbuf_addf(&old_name, "%s%s", *there ? "agent/" : "/dev/null", *there ? name : "");
    strbuf_addf(&new_name, "%s%s", *wanted ? "files/" : "/dev/null", *wanted ? name : "");
    enum status st = text_diff(old_name.text, there, new_name.text, wanted, &diff);
    if (st == OK && diff.length) {
        *differs = true;
        diff_print(diff.text);
    }
    strbuf_release(&diff);
    strbuf_release(&old_name);
    strbuf_release(&new_name);
    return cli_fail(st);
}

static enum exit_code diff_job(const struct reading *reading, const json_t *there,
                               const struct job *wanted, bool *differs)
{
    struct strbuf old, new;
    const json_t *job = json_object_get(there, wanted->name);
    strbuf_init(&old);
    strbuf_init(&new);
    enum status st = job ? definition_yaml(reading, job, &old) : OK;
    if (st == OK)
        st = job_encode_yaml(wanted, &new);
    enum exit_code code = cli_fail(st);
    if (code == EXIT_OK)
        code = show(wanted->name, old.text, new.text, differs);
    strbuf_release(&old);
    strbuf_release(&new);
    return code;
}

/* ---- groups, calendars, channels ---- */

/* Takes the document over. */
static enum status doc_text(json_t *document, struct strbuf *out)
{
    enum status st = document ? output_yaml(document, out) : E_NOMEM;
    json_decref(document);
    return st;
}

static enum exit_code diff_doc(const struct file_doc *doc, const struct agent_doc *agent,
                               bool *differs)
{
    struct strbuf old, new, name;
    enum doc_state state = doc_state_of(doc, agent, now_ms());
    if (state == DOC_IS_OVER || state == DOC_IS_SAME ||
        (agent && doc->type == DOC_MAINTENANCE)) /* which is as it was made */
        return EXIT_OK;
    strbuf_init(&old);
    strbuf_init(&new);
    strbuf_init(&name);
    doc_words(doc->type, doc->name, &name);
    if (state == DOC_IS_HIDDEN)
        cli_note("%s is not compared: only an admin sees all of it", name.text);
    bool is_there = agent && agent->shown;
    enum status st =
        is_there ? doc_text(doc_document(doc->type, doc->name, agent->shown), &old) : OK;
    if (st == OK)
        st = doc_text(is_there ? doc_document(doc->type, doc->name, doc->shown)
                               : file_doc_document(doc),
                      &new);
    enum exit_code code = cli_fail(st == OK ? strbuf_status(&name) : st);
    if (code == EXIT_OK && state != DOC_IS_HIDDEN)
        code = show(name.text, old.text, new.text, differs);
    strbuf_release(&old);
    strbuf_release(&new);
    strbuf_release(&name);
    return code;
}

static enum exit_code diff_docs(struct client *client, struct reading *reading, bool *differs)
{
    struct agent_docs agent = {NULL, 0};
    struct file_docs *docs = &reading->docs;
    if (docs->count == 0)
        return EXIT_OK;
    enum exit_code code = agent_docs_read(client, file_docs_types(docs), reading->zones, &agent);
    if (code == EXIT_OK)
        code = cli_fail(file_docs_meet(docs, &agent, now_ms()));
    for (size_t i = 0; i < docs->count && code == EXIT_OK; i++) {
        const struct file_doc *doc = &docs->items[i];
        code = diff_doc(doc, agent_docs_find(&agent, doc->type, doc->name), differs);
    }
    agent_docs_release(&agent);
    return code;
}

/* Jobs that were applied, and are in no file any more. */
static enum exit_code diff_pruned(const struct reading *reading, json_t *there, bool *differs)
{
    enum exit_code code = EXIT_OK;
    const char *name;
    json_t *job;
    json_object_foreach (there, name, job) {
        struct strbuf yaml;
        if (code != EXIT_OK || !definition_is_pruned(reading, job))
            continue;
        strbuf_init(&yaml);
        code = cli_fail(definition_yaml(reading, job, &yaml));
        if (code == EXIT_OK)
            code = show(name, yaml.text, "", differs);
        strbuf_release(&yaml);
    }
    return code;
}

/* The names of the jobs to be compared: by their digests the others are the same. */
static enum status add_names(const json_t *digests, const struct reading *reading, bool prune,
                             json_t *names)
{
    const char *name;
    json_t *job;
    json_object_foreach ((json_t *)digests, name, job) {
        const struct job *wanted = definitions_find(reading, name);
        bool is_same = !(prune && definition_is_pruned(reading, job));
        enum status st = wanted ? digests_have(digests, wanted, DIGEST_ANY, &is_same) : OK;
        if (st == OK && !is_same && json_array_append_new(names, json_string(name)) != 0)
            st = E_NOMEM;
        if (st != OK)
            return st;
    }
    return OK;
}

/* *ret: {"NAME": job} of what the agent has and may differ; *ret_digests: of all. */
static enum exit_code get_there(struct client *client, const struct reading *reading, bool prune,
                                json_t **ret, json_t **ret_digests)
{
    json_t *digests = NULL, *names = json_array();
    enum exit_code code = names ? digests_get(client, DIGESTS_SHOWN, &digests) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = cli_fail(add_names(digests, reading, prune, names));
    if (code == EXIT_OK)
        code = jobs_by_name(client, names, ret);
    json_decref(names);
    if (code == EXIT_OK)
        *ret_digests = digests;
    else
        json_decref(digests);
    return code;
}

static enum exit_code diff_all(const struct reading *reading, const json_t *there,
                               const json_t *digests, const struct job_list *wanted, bool *differs)
{
    enum exit_code code = EXIT_OK;
    for (size_t i = 0; i < wanted->count && code == EXIT_OK; i++) {
        const char *name = wanted->items[i]->name;
        if (json_object_get(there, name) || !json_object_get(digests, name))
            code = diff_job(reading, there, wanted->items[i], differs);
    }
    return code;
}

static enum exit_code diff(struct client *client, const struct request *request)
{
    struct reading reading;
    struct job_list wanted;
    struct job_sources sources;
    json_t *there = NULL, *digests = NULL;
    bool differs = false;
    job_list_init(&wanted);
    job_sources_init(&sources);
    enum exit_code code = reading_init(&reading, client);
    reading.hides_secrets = true;
    if (code == EXIT_OK)
        code = definitions_read(&reading, request->files.items, request->files.count, &wanted,
                                &sources);
    if (code == EXIT_OK)
        code = get_there(client, &reading, request->prune, &there, &digests);
    if (code == EXIT_OK)
        code = diff_docs(client, &reading, &differs);
    if (code == EXIT_OK)
        code = diff_all(&reading, there, digests, &wanted, &differs);
    if (code == EXIT_OK && request->prune)
        code = diff_pruned(&reading, there, &differs);
    json_decref(there);
    json_decref(digests);
    job_sources_release(&sources);
    job_list_release(&wanted);
    reading_release(&reading);
    return code == EXIT_OK && differs ? EXIT_ERROR : code;
}

static enum exit_code diff_revisions(struct client *client, const struct request *request)
{
    const char *job = request->jobs.items[0];
    bool differs = false;
    enum exit_code code =
        diff_print_revisions(client, job, request->revision, request->to, &differs);
    if (code == EXIT_NOT_FOUND) {
        fprintf(stderr, tr("See: peal versions %s"), job);
        fputc('\n', stderr);
    }
    return code == EXIT_OK && differs ? EXIT_ERROR : code;
}

/* A revision; it stays text, as the API wants it in a path. */
static bool take_revision(const struct option_use *use)
{
    int64_t number;
    const struct option_use checked = {
        .command = use->command, .row = use->row, .text = use->text, .place = &number};
    return take_number(&checked) && take_text(use);
}

/* Files, or a job and a revision of it. */
static enum exit_code check(const struct request *request)
{
    const struct command *self = request->base.command;
    bool of_job = request->revision != NULL;
    if (of_job && request->files.count)
        return cli_usage(self, "either -f or --revision");
    if (of_job && request->jobs.count != 1)
        return cli_usage(self, ONE_JOB);
    if (!of_job && request->to)
        return cli_usage(self, "--to needs --revision");
    if (!of_job && request->jobs.count)
        return cli_usage(self, "unexpected \"%s\"; files go with -f, a job with --revision",
                         request->jobs.items[0]);
    if (!of_job && request->files.count == 0)
        return cli_usage(self, "which file? Give it with -f");
    return EXIT_OK;
}

static enum exit_code diff_any(struct client *client, void *place)
{
    const struct request *request = place;
    enum exit_code code = check(request);
    if (code != EXIT_OK)
        return code;
    return request->revision ? diff_revisions(client, request) : diff(client, request);
}

const struct command cmd_diff = {
    .name = "diff",
    .summary = "what `peal apply` would change",
    .examples = EXAMPLES({"peal diff -f jobs.yaml", NULL},
                         {"peal diff -f jobs.d --prune && echo in sync", NULL},
                         {"peal diff backup --revision 17", "the changes since that revision"},
                         {"peal diff backup --revision 17 --to 19", NULL}),
    .usage = "-f FILE|DIR|- [-f ...] [options]\n"
             "JOB --revision N [--to N]",
    .notes =
        "A unified diff of each job's YAML, and of each group, calendar and channel that the files "
        "have, from the agent's definition to that in the files; or "
        "of one job, from one of its revisions (peal versions JOB) to another, or to the current "
        "one. Whether a secret of a channel is another one can't be seen. Exit status like diff: 0 "
        "no difference, 1 differences, 2 and more errors.",
    .arguments =
        ROWS(ARGUMENTS(request, jobs, "JOB", .is_optional = true, .complete = COMPLETE_JOBS)),
    .options = ROWS(
        OPTION_LIST(request, files, 'f', "file", "F",
                    "a file, a folder, or - for stdin; may repeat", .complete = COMPLETE_FILES),
        OPTION_FLAG(request, prune, 0, "prune",
                    "also show jobs that were applied and are in no file any more"),
        OPTION_ROW(take_revision, request, revision, const char *, 0, "revision", "N",
                   "from this revision of the job", .min = 1, .max = INT64_MAX),
        OPTION_ROW(take_revision, request, to, const char *, 0, "to", "N",
                   "to this revision (default: the current one)", .min = 1, .max = INT64_MAX),
        OPTION_GROUP(request, base, client_options)),
    .request_size = sizeof(struct request),
    .with_agent = diff_any,
};
