#include "jobs/documents/agent_docs.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cli/when.h"
#include "jobs/documents/doc_types.h"

/* ---- reading ---- */

void agent_docs_release(struct agent_docs *docs)
{
    for (size_t i = 0; i < docs->count; i++) {
        free(docs->items[i].name);
        json_decref(docs->items[i].shown);
    }
    free(docs->items);
    *docs = (struct agent_docs){NULL, 0};
}

/* Maintenance has no name but its id; here it is known as in files. */
static enum status name_it(struct agent_doc *doc, const json_t *item)
{
    struct strbuf name;
    strbuf_init(&name);
    if (doc->type == DOC_MAINTENANCE)
        maintenance_words(doc->shown, &name);
    else
        strbuf_adds(&name, answer_text(item, "name"));
    doc->name = strbuf_detach(&name);
    return doc->name ? OK : E_NOMEM;
}

static enum status add_item(struct agent_docs *docs, enum doc_type type, const json_t *item,
                            struct zone_db *zones)
{
    struct agent_doc doc = {.type = type, .revision = answer_int(item, "revision", 0)};
    bool is_over = strcmp(answer_text(item, "state"), "over") == 0;
    enum status st = is_over ? OK : doc_of_agent(type, item, zones, &doc.shown);
    if (is_over || (st == E_INVALID && type == DOC_MAINTENANCE))
        return OK;
    if (st == OK || st == E_INVALID)
        st = name_it(&doc, item);
    if (st == OK)
        st = array_grow(&docs->items, docs->count, sizeof(doc));
    if (st == OK) {
        docs->items[docs->count++] = doc;
    } else {
        free(doc.name);
        json_decref(doc.shown);
    }
    return st;
}

static int by_type(const void *a, const void *b)
{
    const struct agent_doc *one = a, *other = b;
    int order = (one->type > other->type) - (one->type < other->type);
    return order ? order : strcmp(one->name, other->name);
}

static enum exit_code read_type(struct client *client, enum doc_type type, struct zone_db *zones,
                                struct agent_docs *docs)
{
    struct reply reply = {0};
    const json_t *item;
    size_t i;
    enum status st =
        client_try(client, &(struct client_request){.path = doc_type_rows[type].path}, &reply);
    bool sends_none = st == OK && reply.status == 503 && type == DOC_CHANNEL;
    enum exit_code code = sends_none ? EXIT_OK : client_report(client, st, &reply);
    json_array_foreach (json_object_get(reply.body, "items"), i, item) {
        if (code == EXIT_OK)
            code = cli_fail(add_item(docs, type, item, zones));
    }
    reply_release(&reply);
    return code;
}

enum exit_code agent_docs_read(struct client *client, unsigned types, struct zone_db *zones,
                               struct agent_docs *ret)
{
    struct agent_docs docs = {NULL, 0};
    enum exit_code code = EXIT_OK;
    for (enum doc_type type = DOC_GROUP; type < DOC_TYPES && code == EXIT_OK; type++) {
        if (types & 1u << type)
            code = read_type(client, type, zones, &docs);
    }
    if (code != EXIT_OK) {
        agent_docs_release(&docs);
        return code;
    }
    if (docs.count)
        qsort(docs.items, docs.count, sizeof(*docs.items), by_type);
    *ret = docs;
    return EXIT_OK;
}

const struct agent_doc *agent_docs_find(const struct agent_docs *docs, enum doc_type type,
                                        const char *name)
{
    const struct agent_doc wanted = {.type = type, .name = (char *)name};
    return docs->count ? bsearch(&wanted, docs->items, docs->count, sizeof(wanted), by_type) : NULL;
}

unsigned file_docs_types(const struct file_docs *docs)
{
    unsigned types = 0;
    for (size_t i = 0; i < docs->count; i++)
        types |= 1u << docs->items[i].type;
    return types;
}

/* ---- comparing ---- */

static enum status settle_maintenance(struct file_doc *doc, int64_t now_ms)
{
    struct strbuf name;
    int64_t from_ms = answer_time(doc->shown, "from");
    if (from_ms == NO_TIME || from_ms > now_ms)
        return OK;
    json_object_del(doc->shown, "from");
    json_object_del(doc->value, "from");
    strbuf_init(&name);
    maintenance_words(doc->shown, &name);
    free(doc->name);
    doc->name = strbuf_detach(&name);
    return doc->name ? OK : E_NOMEM;
}

/* A channel whose URL is not in the file nor in the environment has that of the agent. */
static enum status settle_url(struct file_doc *doc, const struct agent_doc *agent)
{
    json_t *url = agent ? json_object_get(agent->shown, "url") : NULL;
    if (!url || !json_object_get(doc->holes, "/url") || json_object_get(doc->value, "url"))
        return OK;
    return json_object_set(doc->value, "url", url) == 0 &&
                   json_object_set(doc->shown, "url", url) == 0
               ? OK
               : E_NOMEM;
}

enum status file_docs_meet(struct file_docs *docs, const struct agent_docs *agent, int64_t now_ms)
{
    enum status st = OK;
    for (size_t i = 0; i < docs->count && st == OK; i++) {
        struct file_doc *doc = &docs->items[i];
        if (doc->type == DOC_MAINTENANCE)
            st = settle_maintenance(doc, now_ms);
        if (doc->type == DOC_CHANNEL)
            st = settle_url(doc, agent_docs_find(agent, doc->type, doc->name));
    }
    return st;
}

enum doc_state doc_state_of(const struct file_doc *doc, const struct agent_doc *agent,
                            int64_t now_ms)
{
    int64_t to_ms = answer_time(doc->shown, "to");
    if (doc->type == DOC_MAINTENANCE && to_ms != NO_TIME && to_ms <= now_ms)
        return DOC_IS_OVER;
    if (!agent)
        return DOC_IS_NEW;
    if (!agent->shown)
        return DOC_IS_HIDDEN;
    return json_equal(doc->shown, agent->shown) ? DOC_IS_SAME : DOC_DIFFERS;
}
