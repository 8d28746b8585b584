#include "jobs/documents/docs_apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "cli/when.h"
#include "jobs/documents/channel_secrets.h"
#include "jobs/documents/doc_types.h"
#include "text/tr.h"

void docs_apply_init(struct docs_apply *apply, struct client *client, struct file_docs *docs,
                     const struct job_sources *sources)
{
    *apply = (struct docs_apply){.client = client, .docs = docs, .sources = sources};
}

void docs_apply_release(struct docs_apply *apply)
{
    agent_docs_release(&apply->agent);
    free(apply->steps);
    apply->steps = NULL;
}

/* ---- secrets that are not here ---- */

/* What the agent shows at the pointer of a secret; NULL: nothing. */
static const json_t *shown_at(const struct agent_doc *agent, const char *pointer)
{
    static const char headers[] = "/headers/";
    const json_t *shown = agent ? agent->shown : NULL;
    if (strncmp(pointer, headers, strlen(headers)) == 0)
        return json_object_get(json_object_get(shown, "headers"), pointer + strlen(headers));
    return json_object_get(shown, pointer + 1);
}

static bool is_kept(const struct file_doc *doc, const struct agent_doc *agent, const char *pointer)
{
    const json_t *there = shown_at(agent, pointer);
    return there &&
           (strcmp(pointer, "/url") != 0 || json_equal(there, json_object_get(doc->value, "url")));
}

static void tell_hole(const struct docs_apply *apply, const struct file_doc *doc,
                      const char *pointer, const json_t *hole)
{
    struct strbuf where;
    const char *type = answer_text(doc->value, "type");
    const char *option = channel_secret_option(doc->value, pointer);
    char message[400];
    strbuf_init(&where);
    channel_hole_words(hole, &where);
    if (where.length)
        snprintf(
            message, sizeof(message),
            tr("%s: there is no value for it, neither here (%s) nor on the agent. Set that, or "
               "first: peal channel set %s --type %s %s"),
            pointer + 1, where.text, doc->name, type, option);
    else
        snprintf(message, sizeof(message),
                 tr("%s: the asterisks stand for no value that the agent has. First: peal channel "
                    "set %s --type %s %s"),
                 pointer + 1, doc->name, type, option);
    file_doc_tell(doc, apply->sources, pointer, message);
    strbuf_release(&where);
}

static bool tell_holes(const struct docs_apply *apply, const struct file_doc *doc,
                       const struct agent_doc *agent)
{
    const char *pointer;
    json_t *hole;
    bool is_wrong = false;
    json_object_foreach (doc->holes, pointer, hole) {
        if (is_kept(doc, agent, pointer))
            continue;
        tell_hole(apply, doc, pointer, hole);
        is_wrong = true;
    }
    return is_wrong;
}

/* Has the file, or what it refers to, a secret? Whether the agent has another one can't be seen. */
static bool brings_secrets(const struct file_doc *doc)
{
    static const char *const names[] = {"secret", "token", "password"};
    const json_t *headers = json_object_get(doc->value, "headers");
    size_t held = 0;
    if (doc->type != DOC_CHANNEL)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        held += json_object_get(doc->value, names[i]) != NULL;
    held += json_object_size(headers);
    held += strstr(answer_text(doc->shown, "url"), CHANNEL_MASK) != NULL;
    return held > json_object_size(doc->holes);
}

/* ---- checking ---- */

/* "/channels/ops?dry_run=true"; maintenance is added to a list. */
static void print_path(const struct file_doc *doc, bool dry_run, struct strbuf *out)
{
    strbuf_reset(out);
    strbuf_adds(out, doc_type_rows[doc->type].path);
    if (doc->type != DOC_MAINTENANCE) {
        strbuf_addc(out, '/');
        url_escape(out, doc->name);
    }
    if (dry_run)
        strbuf_adds(out, "?dry_run=true");
}

/* The agent's answer to a document that it does not take. */
static enum exit_code tell_refusal(const struct docs_apply *apply, const struct file_doc *doc,
                                   const struct reply *reply)
{
    const json_t *first = json_array_get(json_object_get(reply->body, "errors"), 0);
    const char *pointer = answer_text(first, "pointer");
    struct strbuf message;
    strbuf_init(&message);
    doc_words(doc->type, doc->name, &message);
    strbuf_addf(&message, ": %s", answer_text(reply->body, "detail"));
    if (*pointer == '?')
        strbuf_adds(&message, tr("; this agent is of an older peal, and takes jobs alone"));
    if (strbuf_status(&message) == OK)
        file_doc_tell(doc, apply->sources, *pointer == '/' ? pointer : "", message.text);
    strbuf_release(&message);
    return client_code_of(reply->status);
}

static enum exit_code send(const struct docs_apply *apply, const struct doc_step *step,
                           bool dry_run, struct reply *ret)
{
    const struct file_doc *doc = step->doc;
    struct strbuf path;
    strbuf_init(&path);
    print_path(doc, dry_run, &path);
    const struct client_request request = {
        .method = doc->type == DOC_MAINTENANCE ? "POST" : "PUT",
        .path = path.text,
        .body = doc->value,
        .if_match = *step->revision ? step->revision : NULL,
        .if_none_match = !dry_run && step->is_new && doc->type != DOC_MAINTENANCE,
    };
    enum status st = strbuf_status(&path);
    if (st == OK)
        st = client_try(apply->client, &request, ret);
    strbuf_release(&path);
    if (st == OK && ret->status >= 300 && ret->status != 401)
        return tell_refusal(apply, doc, ret);
    return client_report(apply->client, st, ret);
}

/* Asks the agent what it would do. */
static enum exit_code ask(const struct docs_apply *apply, struct doc_step *step)
{
    struct reply reply = {0};
    enum exit_code code = send(apply, step, true, &reply);
    const char *result = answer_text(reply.body, "result");
    if (code == EXIT_OK) {
        step->is_written = strcmp(result, "unchanged") != 0;
        step->is_new = strcmp(result, "created") == 0;
        snprintf(step->revision, sizeof(step->revision), "%s", step->is_new ? "" : reply.revision);
    }
    reply_release(&reply);
    return code;
}

static enum exit_code check(const struct docs_apply *apply, struct doc_step *step, int64_t at_ms)
{
    const struct file_doc *doc = step->doc;
    const struct agent_doc *agent = agent_docs_find(&apply->agent, doc->type, doc->name);
    enum doc_state state = doc_state_of(doc, agent, at_ms);
    if (state == DOC_IS_OVER) {
        cli_note("maintenance %s is over, and left out", doc->name);
        return EXIT_OK;
    }
    bool is_there = doc->type == DOC_MAINTENANCE && state != DOC_IS_NEW;
    if (is_there || (state == DOC_IS_SAME && !brings_secrets(doc)))
        return EXIT_OK;
    if (state != DOC_IS_HIDDEN && tell_holes(apply, doc, agent))
        return EXIT_INVALID;
    return ask(apply, step);
}

enum exit_code docs_apply_check(struct docs_apply *apply)
{
    int64_t at_ms = now_ms();
    struct file_docs *docs = apply->docs;
    enum exit_code worst = EXIT_OK;
    apply->steps = calloc(docs->count + 1, sizeof(*apply->steps));
    if (!apply->steps)
        return cli_fail(E_NOMEM);
    if (docs->count)
        worst = agent_docs_read(apply->client, file_docs_types(docs), NULL, &apply->agent);
    if (worst == EXIT_OK)
        worst = cli_fail(file_docs_meet(docs, &apply->agent, at_ms));
    if (worst != EXIT_OK)
        return worst;
    for (size_t i = 0; i < docs->count && worst != EXIT_UNREACHABLE; i++) {
        apply->steps[i].doc = &docs->items[i];
        enum exit_code code = check(apply, &apply->steps[i], at_ms);
        worst = code == EXIT_OK ? worst : code;
        apply->unchanged += code == EXIT_OK && !apply->steps[i].is_written;
    }
    return worst;
}

bool docs_apply_writes(const struct docs_apply *apply)
{
    for (size_t i = 0; i < apply->docs->count; i++) {
        if (apply->steps[i].is_written)
            return true;
    }
    return false;
}

/* ---- writing ---- */

static void print_line(const struct doc_step *step, bool dry_run)
{
    static const char *const words[2][2] = {{TR("changed"), TR("created")},
                                            {TR("would change"), TR("would create")}};
    struct strbuf text;
    strbuf_init(&text);
    doc_words(step->doc->type, step->doc->name, &text);
    printf("%s %s\n", tr(words[dry_run][step->is_new]), text.text);
    strbuf_release(&text);
}

enum exit_code docs_apply_write(struct docs_apply *apply, bool dry_run)
{
    size_t written = 0;
    for (size_t i = 0; i < apply->docs->count; i++) {
        const struct doc_step *step = &apply->steps[i];
        struct reply reply = {0};
        if (!step->is_written)
            continue;
        enum exit_code code = dry_run ? EXIT_OK : send(apply, step, false, &reply);
        reply_release(&reply);
        if (code != EXIT_OK) {
            cli_note("%zu documents were written before it, and no job", written);
            return code;
        }
        written++;
        print_line(step, dry_run);
    }
    return EXIT_OK;
}
