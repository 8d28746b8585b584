#include "jobs/documents/files_import.h"

#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "client/batch/batch.h"
#include "jobs/definition.h"
#include "jobs/documents/doc_types.h"
#include "jobs/documents/docs_apply.h"
#include "text/tr.h"

/* What was read. */
struct input {
    struct reading reading;
    struct job_list jobs;
    struct job_sources sources;
};

/* ---- to see it ---- */

static enum status print_doc(const struct file_doc *doc)
{
    json_t *document = file_doc_document(doc);
    struct strbuf text;
    strbuf_init(&text);
    enum status st = document ? output_yaml(document, &text) : E_NOMEM;
    if (st == OK)
        fputs(text.text, stdout);
    strbuf_release(&text);
    json_decref(document);
    return st;
}

static enum exit_code show(const struct input *input)
{
    const struct file_docs *docs = &input->reading.docs;
    struct strbuf yaml;
    enum status st = OK;
    for (size_t i = 0; i < docs->count && st == OK; i++) {
        fputs(i ? "---\n" : "", stdout);
        st = print_doc(&docs->items[i]);
    }
    strbuf_init(&yaml);
    for (size_t i = 0; i < input->jobs.count && st == OK; i++) {
        strbuf_truncate(&yaml, 0);
        st = job_encode_yaml(input->jobs.items[i], &yaml);
        if (st == OK)
            printf("%s%s", docs->count + i ? "---\n" : "", yaml.text);
    }
    strbuf_release(&yaml);
    fprintf(stderr, tr("%zu job%s, and %zu more; nothing was changed, --apply adds them"),
            input->jobs.count, input->jobs.count == 1 ? "" : "s", docs->count);
    fputc('\n', stderr);
    return cli_fail(st);
}

/* ---- to add it ---- */

static void refuse_job(void *context, const char *name, const char *result, const json_t *error)
{
    enum exit_code *code = context;
    (void)error;
    if (strcmp(result, "changed") != 0)
        return;
    cli_error("there is another job named %s", name);
    *code = EXIT_CONFLICT;
}

/* An import must not overwrite what only has the same name. */
static enum exit_code refuse_changes(const struct docs_apply *docs, const struct batch *batch,
                                     const json_t *answers)
{
    enum exit_code code = EXIT_OK;
    for (size_t i = 0; i < docs->docs->count; i++) {
        const struct doc_step *step = &docs->steps[i];
        struct strbuf words;
        if (!step->is_written || step->is_new)
            continue;
        strbuf_init(&words);
        doc_words(step->doc->type, step->doc->name, &words);
        cli_error("%s: there is another one of this name", words.text);
        strbuf_release(&words);
        code = EXIT_CONFLICT;
    }
    batch_each(batch, answers, refuse_job, &code);
    if (code == EXIT_CONFLICT)
        fprintf(stderr, "%s\n", tr("nothing was changed; --replace changes them"));
    return code;
}

static enum exit_code check(const struct files_import *import, struct docs_apply *docs,
                            struct batch *batch)
{
    json_t *answers = NULL;
    enum exit_code code = docs_apply_check(docs), checked = EXIT_OK;
    if (code == EXIT_UNREACHABLE)
        return code;
    batch->same += docs->unchanged;
    batch->assumed = file_docs_assumed(docs->docs);
    if (!batch->assumed)
        return cli_fail(E_NOMEM);
    if (batch->put_count)
        checked = batch_send(import->client, batch, true, &answers);
    if (code != EXIT_OK && checked != EXIT_INVALID)
        fprintf(stderr, "%s\n", tr("nothing was changed"));
    code = code == EXIT_OK ? checked : code;
    if (code == EXIT_OK && !import->replace)
        code = refuse_changes(docs, batch, answers);
    json_decref(answers);
    json_decref(batch->assumed);
    batch->assumed = NULL;
    return code;
}

static enum exit_code add(const struct files_import *import, struct input *input)
{
    struct docs_apply docs;
    struct batch batch;
    docs_apply_init(&docs, import->client, &input->reading.docs, &input->sources);
    enum exit_code code = batch_init(&batch, &input->jobs);
    batch.sources = &input->sources;
    if (code == EXIT_OK)
        code = check(import, &docs, &batch);
    if (code == EXIT_OK)
        code = docs_apply_write(&docs, false);
    if (code == EXIT_OK)
        code = batch_apply(import->client, &batch, false, NULL);
    batch_release(&batch);
    docs_apply_release(&docs);
    return code;
}

enum exit_code files_import(const struct files_import *import)
{
    struct input input;
    job_list_init(&input.jobs);
    job_sources_init(&input.sources);
    enum exit_code code = reading_init(&input.reading, import->client);
    input.reading.hides_secrets = !import->client;
    if (code == EXIT_OK)
        code = definitions_read(&input.reading, &import->path, 1, &input.jobs, &input.sources);
    if (code == EXIT_OK)
        code = import->client ? add(import, &input) : show(&input);
    job_sources_release(&input.sources);
    job_list_release(&input.jobs);
    reading_release(&input.reading);
    return code;
}
