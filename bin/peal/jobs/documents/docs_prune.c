#include "jobs/documents/docs_prune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/when.h"
#include "jobs/documents/doc_needs.h"
#include "jobs/documents/doc_types.h"
#include "text/tr.h"

enum { PRUNED_TYPES = 1 << DOC_GROUP | 1 << DOC_CALENDAR | 1 << DOC_CHANNEL };

void docs_prune_release(struct docs_prune *prune)
{
    agent_docs_release(&prune->docs);
}

/* ---- what nobody needs ---- */

/* Takes out what `is_kept` wants to stay. */
static void keep(struct agent_docs *docs,
                 bool (*is_kept)(const void *context, const struct agent_doc *doc),
                 const void *context)
{
    for (size_t i = 0; i < docs->count;) {
        struct agent_doc *doc = &docs->items[i];
        if (!is_kept(context, doc)) {
            i++;
            continue;
        }
        free(doc->name);
        json_decref(doc->shown);
        docs->count--;
        memmove(doc, doc + 1, (docs->count - i) * sizeof(*doc));
    }
}

static bool is_in_files(const void *context, const struct agent_doc *doc)
{
    return file_docs_find(context, doc->type, doc->name) != NULL;
}

static bool is_needed(const void *context, const struct agent_doc *doc)
{
    return docs_are_needed(context, doc);
}

static bool is_needed_by(const void *context, const struct agent_doc *doc)
{
    return job_needs_doc(context, doc);
}

/* What can't be seen whole is left alone: a channel, of who is no admin. */
static bool is_hidden(const void *context, const struct agent_doc *doc)
{
    (void)context;
    return !doc->shown;
}

/* The jobs of the agent that stay as they are. */
struct others {
    struct docs_prune *prune;
    const struct reading *reading;
    const json_t *deleted;
};

static bool is_listed(const json_t *names, const char *name)
{
    const json_t *each;
    size_t i;
    json_array_foreach (names, i, each) {
        if (strcmp(json_string_value(each), name) == 0)
            return true;
    }
    return false;
}

static enum exit_code look_at(void *context, const json_t *items, bool is_last)
{
    const struct others *others = context;
    const json_t *item;
    size_t i;
    (void)is_last;
    json_array_foreach (items, i, item) {
        const char *name = answer_text(item, "name");
        struct job *job;
        if (definitions_find(others->reading, name) || is_listed(others->deleted, name))
            continue;
        enum status st = definition_decode(others->reading, item, &job);
        if (st == E_INVALID) /* what it needs is not known: all stays */
            agent_docs_release(&others->prune->docs);
        else if (st != OK)
            return cli_fail(st);
        if (st != OK)
            continue;
        keep(&others->prune->docs, is_needed_by, job);
        job_free(job);
    }
    return EXIT_OK;
}

enum exit_code docs_prune_find(struct docs_prune *prune, const struct reading *reading,
                               const struct job_list *jobs, const json_t *deleted)
{
    struct others others = {prune, reading, deleted};
    enum exit_code code =
        agent_docs_read(prune->client, PRUNED_TYPES, reading->zones, &prune->docs);
    keep(&prune->docs, is_hidden, NULL);
    keep(&prune->docs, is_in_files, &reading->docs);
    keep(&prune->docs, is_needed, jobs);
    if (code == EXIT_OK && prune->docs.count)
        code = client_pages(prune->client, "/jobs?", 0, look_at, &others);
    return code;
}

/* ---- deleting ---- */

static enum status send(const struct docs_prune *prune, const struct agent_doc *doc, bool dry_run,
                        struct reply *ret)
{
    struct strbuf path;
    char revision[24];
    strbuf_init(&path);
    strbuf_addf(&path, "%s/", doc_type_rows[doc->type].path);
    url_escape(&path, doc->name);
    if (dry_run)
        strbuf_adds(&path, "?dry_run=true");
    snprintf(revision, sizeof(revision), "%lld", (long long)doc->revision);
    const struct client_request request = {
        .method = "DELETE", .path = path.text, .if_match = revision};
    enum status st = strbuf_status(&path);
    if (st == OK)
        st = client_try(prune->client, &request, ret);
    strbuf_release(&path);
    return st;
}

static enum exit_code tell(const struct docs_prune *prune, const struct agent_doc *doc,
                           enum status st, const struct reply *reply)
{
    struct strbuf words;
    if (st != OK || reply->status < 300 || reply->status == 401)
        return client_report(prune->client, st, reply);
    strbuf_init(&words);
    doc_words(doc->type, doc->name, &words);
    cli_error("%s: %s", words.text, answer_text(reply->body, "detail"));
    strbuf_release(&words);
    return client_code_of(reply->status);
}

enum exit_code docs_prune_check(const struct docs_prune *prune)
{
    enum exit_code worst = EXIT_OK;
    for (size_t i = 0; i < prune->docs.count; i++) {
        struct reply reply = {0};
        enum status st = send(prune, &prune->docs.items[i], true, &reply);
        /* the jobs that name it now do so no more by then */
        bool is_in_use = st == OK && reply.status == 409 && json_object_get(reply.body, "jobs");
        enum exit_code code = is_in_use ? EXIT_OK : tell(prune, &prune->docs.items[i], st, &reply);
        worst = code == EXIT_OK ? worst : code;
        reply_release(&reply);
    }
    return worst;
}

enum exit_code docs_prune_delete(const struct docs_prune *prune, bool dry_run)
{
    for (size_t i = 0; i < prune->docs.count; i++) {
        const struct agent_doc *doc = &prune->docs.items[i];
        struct reply reply = {0};
        struct strbuf words;
        enum status st = dry_run ? OK : send(prune, doc, false, &reply);
        enum exit_code code = dry_run ? EXIT_OK : tell(prune, doc, st, &reply);
        reply_release(&reply);
        if (code != EXIT_OK)
            return code;
        strbuf_init(&words);
        doc_words(doc->type, doc->name, &words);
        printf("%s %s\n", tr(dry_run ? TR("would delete") : TR("deleted")), words.text);
        strbuf_release(&words);
    }
    return EXIT_OK;
}
