#include "plan/plan_docs.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cli/when.h"
#include "definition/definition_changes.h"
#include "jobs/documents/doc_types.h"

void plan_docs_release(struct plan_docs *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        json_decref(plan->items[i].changes);
        free(plan->items[i].fields);
    }
    free(plan->items);
    *plan = (struct plan_docs){.items = NULL};
}

static enum status take_fields(struct plan_doc *item)
{
    const json_t *change;
    size_t i;
    item->fields = calloc(json_array_size(item->changes) + 1, sizeof(*item->fields));
    if (!item->fields)
        return E_NOMEM;
    json_array_foreach (item->changes, i, change) {
        const char *pointer = answer_text(change, "pointer");
        item->fields[item->field_count++] = (struct plan_field){
            .pointer = pointer,
            .before = json_object_get(change, "before"),
            .after = json_object_get(change, "after"),
            .place = file_doc_place(item->doc, pointer),
        };
    }
    return OK;
}

static enum status add(struct plan_docs *plan, struct plan_doc item, const json_t *before)
{
    enum status st = OK;
    if (item.action == PLAN_CHANGE) {
        item.changes = definition_changes(before, item.doc->shown);
        st = item.changes ? take_fields(&item) : E_NOMEM;
    }
    if (item.doc)
        item.place = file_doc_place(item.doc, "/name");
    if (st == OK)
        st = array_grow(&plan->items, plan->count, sizeof(*plan->items));
    if (st != OK) {
        json_decref(item.changes);
        free(item.fields);
        return st;
    }
    plan->items[plan->count++] = item;
    plan->counts[item.action]++;
    return OK;
}

static enum status compare(struct plan_docs *plan, const struct file_doc *doc,
                           const struct agent_doc *before, int64_t now_ms)
{
    enum doc_state state = doc_state_of(doc, before, now_ms);
    struct plan_doc item = {.type = doc->type, .name = doc->name, .doc = doc};
    bool is_kept = doc->type == DOC_MAINTENANCE && before; /* as it was made */
    if (state == DOC_IS_OVER)
        return OK;
    if (is_kept || state == DOC_IS_SAME || state == DOC_IS_HIDDEN) {
        plan->same++;
        return OK;
    }
    item.action = before ? PLAN_CHANGE : PLAN_CREATE;
    return add(plan, item, before ? before->shown : NULL);
}

enum status plan_docs_compare(struct plan_docs *plan, const struct file_docs *after,
                              const struct agent_docs *before, bool removes, int64_t now_ms)
{
    enum status st = OK;
    for (size_t i = 0; i < after->count && st == OK; i++) {
        const struct file_doc *doc = &after->items[i];
        st = compare(plan, doc, agent_docs_find(before, doc->type, doc->name), now_ms);
    }
    for (size_t i = 0; removes && i < before->count && st == OK; i++) {
        if (!file_docs_find(after, before->items[i].type, before->items[i].name))
            st = plan_docs_delete(plan, &before->items[i]);
    }
    return st;
}

enum status plan_docs_delete(struct plan_docs *plan, const struct agent_doc *doc)
{
    return add(plan, (struct plan_doc){.type = doc->type, .name = doc->name, .action = PLAN_DELETE},
               NULL);
}

bool plan_docs_change(const struct plan_docs *plan, enum doc_type type, const char *name)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->items[i].type == type && strcmp(plan->items[i].name, name) == 0)
            return true;
    }
    return false;
}

enum status agent_docs_of_files(const struct file_docs *docs, struct agent_docs *ret)
{
    struct agent_docs made = {calloc(docs->count + 1, sizeof(*made.items)), 0};
    enum status st = made.items ? OK : E_NOMEM;
    for (size_t i = 0; i < docs->count && st == OK; i++) {
        const struct file_doc *from = &docs->items[i];
        struct agent_doc *doc = &made.items[made.count];
        *doc = (struct agent_doc){.type = from->type, .name = strdup(from->name)};
        st = doc->name ? OK : E_NOMEM;
        doc->shown = st == OK ? json_incref(from->shown) : NULL;
        made.count += st == OK;
    }
    if (st == OK)
        *ret = made;
    else
        agent_docs_release(&made);
    return st;
}
