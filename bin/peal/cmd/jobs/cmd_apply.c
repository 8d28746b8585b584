/* peal apply: creates and changes jobs, and what they name, to match files. */
#include <stdio.h>

#include "cli/output.h"
#include "cli/when.h"
#include "client/batch/batch_ahead.h"
#include "client/starts.h"
#include "function/run_limits.h"
#include "jobs/check/dependents.h"
#include "jobs/definition.h"
#include "jobs/documents/doc_types.h"
#include "jobs/documents/docs_apply.h"
#include "jobs/documents/docs_prune.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    struct option_list files;
    bool dry_run, prune, prune_documents, yes;
};

/* Every job that was applied before, and that no file has. */
static enum exit_code add_pruned(struct client *client, const struct reading *reading,
                                 struct batch *batch)
{
    json_t *there = NULL, *deleted = json_object();
    const json_t *job;
    size_t i;
    enum exit_code code = cli_fail(deleted ? OK : E_NOMEM);
    if (code == EXIT_OK)
        code = client_list(client, "/jobs?fields=" DEPENDENTS_FIELDS ",applied_at&", 0, &there);
    json_array_foreach (there, i, job) {
        json_t *name = json_object_get(job, "name");
        if (code == EXIT_OK && definition_is_pruned(reading, job) &&
            (json_array_append(batch->delete, name) != 0 ||
             json_object_set(deleted, json_string_value(name), name) != 0))
            code = cli_fail(E_NOMEM);
    }
    if (code == EXIT_OK)
        dependents_warn(there, deleted);
    json_decref(there);
    json_decref(deleted);
    return code;
}

/* Documents, too, are deleted only after they were listed. */
static enum exit_code confirm_prune(const struct request *request, const struct batch *batch,
                                    const struct docs_prune *prune)
{
    size_t jobs = json_array_size(batch->delete), count = jobs + prune->docs.count;
    if (count == 0 || request->dry_run)
        return EXIT_OK;
    fprintf(stderr, "%s\n", tr("not in the files any more, and to be deleted:"));
    for (size_t i = 0; i < jobs; i++)
        fprintf(stderr, "  %s\n", json_string_value(json_array_get(batch->delete, i)));
    for (size_t i = 0; i < prune->docs.count; i++) {
        struct strbuf words;
        strbuf_init(&words);
        doc_words(prune->docs.items[i].type, prune->docs.items[i].name, &words);
        fprintf(stderr, "  %s\n", words.text);
        strbuf_release(&words);
    }
    enum exit_code code =
        prune->docs.count
            ? confirm_deletion(request->yes, "Delete these %zu?", count)
            : confirm_deletion(request->yes, "Delete %zu job%s?", count, count == 1 ? "" : "s");
    if (code != EXIT_OK)
        fprintf(stderr, "%s\n", tr("nothing was changed"));
    return code;
}

/* What was read. */
struct input {
    struct reading reading;
    struct job_list jobs;
    struct job_sources sources;
};

/* All but the texts of the files, which mistakes are shown in. */
static void release_jobs(void *context)
{
    struct input *input = context;
    job_sources_forget_jobs(&input->sources);
    reading_release(&input->reading);
    job_list_release(&input->jobs);
}

static unsigned needs_of(const struct job_list *jobs)
{
    unsigned needs = 0;
    for (size_t i = 0; i < jobs->count; i++)
        needs |= job_needs(jobs->items[i]);
    return needs;
}

/* Everything is checked before anything is written: the documents by themselves, and the jobs as if
 * those were there. */
static enum exit_code check_docs(struct docs_apply *docs, struct batch *batch)
{
    enum exit_code code = docs_apply_check(docs), checked = EXIT_OK;
    if (docs->docs->count == 0 || code == EXIT_UNREACHABLE)
        return code;
    batch->same += docs->unchanged;
    batch->assumed = file_docs_assumed(docs->docs);
    if (!batch->assumed)
        return cli_fail(E_NOMEM);
    if (batch->put_count && (code != EXIT_OK || docs_apply_writes(docs))) {
        json_t *answers = NULL;
        checked = batch_send(docs->client, batch, true, &answers);
        json_decref(answers);
    }
    if (code != EXIT_OK && checked != EXIT_INVALID) /* else it was said */
        fprintf(stderr, "%s\n", tr("nothing was changed"));
    return code == EXIT_OK ? checked : code;
}

/* What jobs name comes first. */
static enum exit_code write_docs(struct docs_apply *docs, struct batch *batch, bool dry_run)
{
    enum exit_code code = docs_apply_write(docs, dry_run);
    if (!dry_run) {
        json_decref(batch->assumed);
        batch->assumed = NULL;
    }
    return code;
}

/* What is deleted, of which nothing is yet. */
static enum exit_code find_pruned(struct client *client, const struct request *request,
                                  const struct input *input, struct batch *batch,
                                  struct docs_prune *prune)
{
    enum exit_code code = EXIT_OK;
    if (request->prune)
        code = add_pruned(client, &input->reading, batch);
    if (code == EXIT_OK && request->prune_documents)
        code = docs_prune_find(prune, &input->reading, &input->jobs, batch->delete);
    if (code == EXIT_OK && prune->docs.count) {
        code = docs_prune_check(prune);
        if (code != EXIT_OK)
            fprintf(stderr, "%s\n", tr("nothing was changed"));
    }
    return code;
}

/* Jobs name documents: these are made before the jobs, and deleted after them. */
static enum exit_code write_all(struct client *client, const struct request *request,
                                struct input *input, struct batch *batch, struct docs_apply *docs,
                                const struct docs_prune *prune)
{
    unsigned needs = needs_of(&input->jobs); /* they are freed before the answer comes */
    const struct batch_idle idle = {release_jobs, input};
    enum exit_code code = write_docs(docs, batch, request->dry_run);
    docs_apply_release(docs);
    if (code == EXIT_OK)
        code = cli_fail(batch_give_up_jobs(batch));
    if (code == EXIT_OK)
        code = batch_apply(client, batch, request->dry_run, &idle);
    if (code == EXIT_OK)
        code = docs_prune_delete(prune, request->dry_run);
    if (code == EXIT_OK)
        starts_warn_of_limits(client, needs);
    return code;
}

static enum exit_code apply(struct client *client, const struct request *request,
                            struct input *input, struct batch *batch)
{
    struct docs_apply docs;
    struct docs_prune prune = {.client = client};
    docs_apply_init(&docs, client, &input->reading.docs, &input->sources);
    enum exit_code code = batch_complete_applied(batch, client, &input->jobs);
    if (code == EXIT_OK)
        code = find_pruned(client, request, input, batch, &prune);
    if (code == EXIT_OK)
        code = check_docs(&docs, batch);
    if (code == EXIT_OK)
        code = confirm_prune(request, batch, &prune);
    if (code == EXIT_OK)
        code = write_all(client, request, input, batch, &docs, &prune);
    docs_apply_release(&docs);
    docs_prune_release(&prune);
    return code;
}

static enum exit_code apply_files(struct client *client, void *place)
{
    const struct request *request = place;
    struct input input;
    struct batch batch;
    if (request->files.count == 0)
        return cli_usage(request->base.command, "which file? Give it with -f");
    job_list_init(&input.jobs);
    job_sources_init(&input.sources);
    batch_init_empty(&batch, true);
    batch.sources = &input.sources;
    enum exit_code code = reading_init(&input.reading, client);
    if (code == EXIT_OK && !request->dry_run)
        input.reading.observer = batch_ahead_begin(&batch, client);
    if (code == EXIT_OK)
        code = definitions_read(&input.reading, request->files.items, request->files.count,
                                &input.jobs, &input.sources);
    if (code == EXIT_OK)
        code = apply(client, request, &input, &batch);
    batch_release(&batch);
    job_sources_release(&input.sources);
    job_list_release(&input.jobs);
    reading_release(&input.reading);
    return code;
}

const struct command cmd_apply = {
    .name = "apply",
    .summary = "create and change jobs from files, and what they name",
    .examples = EXAMPLES({"peal apply -f jobs.yaml", NULL},
                         {"peal apply -f jobs.d --prune", "jobs that left the folder are deleted"},
                         {"peal apply -f jobs.yaml --dry-run", NULL},
                         {"generate-jobs | peal apply -f -", NULL}),
    .usage = "-f FILE|DIR|- [-f ...] [options]",
    .notes = "In a folder, *.yaml, *.yml and *.json are read. Beside jobs they may have groups, "
             "calendars, channels and maintenance, each with its `kind` (docs/JOBS.md). All of it "
             "is checked before anything is changed, and what jobs name is written before them. "
             "Prints one line for each. Jobs that were applied are marked (applied_at); "
             "--prune deletes those of them that are in no file, never jobs that were made by peal "
             "add, the console or the API. A job that exists is adopted by the first file that "
             "defines it. --prune never deletes anything but jobs; --prune-documents does, whoever "
             "has made it.",
    .options = ROWS(
        OPTION_LIST(request, files, 'f', "file", "F",
                    "a file, a folder, or - for stdin; may repeat", .complete = COMPLETE_FILES),
        OPTION_FLAG(request, dry_run, 0, "dry-run", "only print what would change"),
        OPTION_FLAG(request, prune, 0, "prune",
                    "list and delete the jobs that were applied and are not in the files any more"),
        OPTION_FLAG(request, prune_documents, 0, "prune-documents",
                    "list and delete groups, calendars and channels that no file has and no job "
                    "needs"),
        OPTION_FLAG(request, yes, 'y', "yes", DELETE_YES_TEXT),
        OPTION_GROUP(request, base, client_options)),
    .too_many = "unexpected \"%s\"; files go with -f",
    .request_size = sizeof(struct request),
    .with_agent = apply_files,
};
