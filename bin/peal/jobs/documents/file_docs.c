#include "jobs/documents/file_docs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/job_decode.h"
#include "definition/job_fields.h"
#include "jobs/documents/channel_secrets.h"
#include "jobs/documents/doc_types.h"
#include "text/tr.h"

void file_docs_init(struct file_docs *docs)
{
    *docs = (struct file_docs){NULL, 0};
}

static void release(struct file_doc *doc)
{
    free(doc->name);
    json_decref(doc->value);
    json_decref(doc->shown);
    json_decref(doc->holes);
    for (size_t i = 0; i < doc->place_count; i++)
        free(doc->places[i].pointer);
    free(doc->places);
    free(doc->file);
}

void file_docs_release(struct file_docs *docs)
{
    for (size_t i = 0; i < docs->count; i++)
        release(&docs->items[i]);
    free(docs->items);
    file_docs_init(docs);
}

/* ---- places ---- */

static enum status add_place(struct file_doc *doc, const char *pointer, const struct node *node)
{
    enum status st = array_grow(&doc->places, doc->place_count, sizeof(*doc->places));
    char *copy = st == OK ? strdup(pointer) : NULL;
    if (!copy)
        return E_NOMEM;
    doc->places[doc->place_count++] = (struct doc_place){copy, node->line, node->column};
    return OK;
}

/* Trees have a limited depth. NOLINTNEXTLINE(misc-no-recursion) */
static enum status add_places(struct file_doc *doc, const struct node *node, struct strbuf *pointer)
{
    size_t length = pointer->length, index = 0;
    enum status st = strbuf_status(pointer);
    if (st == OK)
        st = add_place(doc, pointer->text, node);
    for (const struct entry *entry = node->entries; entry && st == OK; entry = entry->next) {
        if (entry->key)
            strbuf_addf(pointer, "/%s", entry->key->text);
        else
            strbuf_addf(pointer, "/%zu", index++);
        st = add_places(doc, entry->value, pointer);
        strbuf_truncate(pointer, length);
    }
    return st;
}

static enum status note_places(struct file_doc *doc, const struct node *node)
{
    struct strbuf pointer;
    strbuf_init(&pointer);
    enum status st = add_places(doc, node, &pointer);
    strbuf_release(&pointer);
    return st;
}

/* The place of the pointer, or of what is around it. */
static const struct doc_place *place_of(const struct file_doc *doc, const char *pointer)
{
    size_t length = strlen(pointer);
    for (;;) {
        for (size_t i = 0; i < doc->place_count; i++) {
            const char *known = doc->places[i].pointer;
            if (strncmp(known, pointer, length) == 0 && !known[length])
                return &doc->places[i];
        }
        if (!length)
            return NULL;
        while (length && pointer[length - 1] != '/')
            length--;
        length -= length > 0;
    }
}

struct source_place file_doc_place(const struct file_doc *doc, const char *pointer)
{
    const struct doc_place *place = doc ? place_of(doc, pointer) : NULL;
    return place ? (struct source_place){doc->file, place->line, place->column}
                 : (struct source_place){0};
}

void file_doc_tell(const struct file_doc *doc, const struct job_sources *sources,
                   const char *pointer, const char *message)
{
    const struct doc_place *place = place_of(doc, pointer);
    struct job_error error = {.line = place ? place->line : 0, .column = place ? place->column : 0};
    snprintf(error.message, sizeof(error.message), "%s", message);
    job_sources_show(sources, doc->file, &error);
}

/* ---- reading ---- */

static enum status add_error(struct job_errors *errors, const struct node *node,
                             const char *message)
{
    struct job_error error = {.line = node->line, .column = node->column};
    snprintf(error.message, sizeof(error.message), "%s", message);
    return job_errors_take(errors, &error);
}

static enum status tell_unknown(const struct node *kind, struct job_errors *errors)
{
    const char *names[DOC_TYPES + 3] = {"job", "workflow"}, *nearest;
    char message[240];
    for (int i = 0; i < DOC_TYPES; i++)
        names[i + 2] = doc_type_rows[i].kind;
    nearest = word_nearest(names, kind->text);
    if (nearest)
        snprintf(message, sizeof(message),
                 tr("kind: there is no kind \"%.60s\"; did you mean \"%s\"?"), kind->text, nearest);
    else
        snprintf(message, sizeof(message),
                 tr("kind: this peal does not know \"%.60s\"; known: %s. If a newer one wrote the "
                    "file, use that one"),
                 kind->text, doc_type_words);
    return add_error(errors, kind, message);
}

/* The name of the document; *ret_complaint: what is wrong with it, or NULL. */
static char *name_of(const struct doc_type_row *row, const struct node *node,
                     const char **ret_complaint)
{
    const struct node *name = node_get(node, "name");
    *ret_complaint = NULL;
    if (!row->complain)
        return NULL;
    if (!name || name->kind != NODE_SCALAR)
        *ret_complaint = TR("needs a name, a text");
    else
        *ret_complaint = row->complain(name->text);
    return *ret_complaint ? NULL : strdup(name->text);
}

static enum status tell_name(const struct doc_type_row *row, const struct node *node,
                             const char *complaint, struct job_errors *errors)
{
    const struct node *name = node_get(node, "name");
    bool has_text = name && name->kind == NODE_SCALAR;
    char message[240];
    if (has_text)
        snprintf(message, sizeof(message), tr("name: \"%.63s\" %s"), name->text, tr(complaint));
    else
        snprintf(message, sizeof(message), tr("a %s %s"), tr(row->kind), tr(complaint));
    return add_error(errors, name ? name : node, message);
}

/* The error has a pointer; here it gets its line and column. */
static enum status take_error(const struct file_doc *doc, struct job_error *error,
                              struct job_errors *errors)
{
    const struct doc_place *place = place_of(doc, error->path);
    error->line = place ? place->line : 0;
    error->column = place ? place->column : 0;
    return job_errors_take(errors, error);
}

/* The folder of a file, from which it names others; "." for one that is not in a folder. */
static enum status folder_of(const char *file, struct strbuf *out)
{
    const char *slash = strrchr(file, '/');
    strbuf_add(out, slash ? file : ".", slash ? (size_t)(slash - file) + (slash == file) : 1);
    return strbuf_status(out);
}

static enum status take_secrets(const struct doc_reading *reading, struct file_doc *doc,
                                struct job_error *error)
{
    struct strbuf folder;
    strbuf_init(&folder);
    enum status st = folder_of(reading->file, &folder);
    if (st == OK)
        st = channel_secrets_take(doc->value, reading->has_secrets ? folder.text : NULL,
                                  &doc->holes, error);
    strbuf_release(&folder);
    return st;
}

/* E_INVALID: *error. */
static enum status read_value(const struct doc_reading *reading, const struct node *node,
                              struct file_doc *doc, struct job_error *error)
{
    doc->value = node_to_json(node);
    if (!doc->value)
        return E_NOMEM;
    json_object_del(doc->value, "kind");
    json_object_del(doc->value, "name");
    enum status st = doc->type == DOC_CHANNEL ? take_secrets(reading, doc, error) : OK;
    return st == OK ? doc_type_rows[doc->type].read(doc, reading->zones, error) : st;
}

static enum status add_doc(struct doc_reading *reading, const struct node *node,
                           struct file_doc *doc, struct job_errors *errors)
{
    struct job_error error = {0};
    enum status st = note_places(doc, node);
    if (st == OK)
        st = read_value(reading, node, doc, &error);
    if (st == E_INVALID)
        return take_error(doc, &error, errors);
    if (st == OK)
        st = array_grow(&reading->docs->items, reading->docs->count, sizeof(*doc));
    if (st == OK) {
        reading->docs->items[reading->docs->count++] = *doc;
        *doc = (struct file_doc){.name = NULL};
    }
    return st;
}

static enum status read_doc(void *context, const struct node *node, struct job_errors *errors)
{
    struct doc_reading *reading = context;
    const struct node *kind = node_get(node, "kind");
    struct file_doc doc = {.type = doc_type_of(kind->text)};
    const char *complaint;
    if (doc.type == DOC_TYPES)
        return tell_unknown(kind, errors);
    doc.name = name_of(&doc_type_rows[doc.type], node, &complaint);
    if (complaint)
        return tell_name(&doc_type_rows[doc.type], node, complaint, errors);
    doc.file = strdup(reading->file);
    enum status st = doc.file && (doc.name || !doc_type_rows[doc.type].complain) ? OK : E_NOMEM;
    if (st == OK)
        st = add_doc(reading, node, &doc, errors);
    release(&doc);
    return st;
}

static void forget(void *context)
{
    struct doc_reading *reading = context;
    while (reading->docs->count > reading->from)
        release(&reading->docs->items[--reading->docs->count]);
}

struct document_reader doc_reader_of(struct doc_reading *reading)
{
    return (struct document_reader){read_doc, forget, reading};
}

/* ---- all of them ---- */

static int by_type(const void *a, const void *b)
{
    const struct file_doc *one = a, *other = b;
    int order = (one->type > other->type) - (one->type < other->type);
    return order ? order : strcmp(one->name, other->name);
}

static void tell_twin(const struct file_doc *doc, const struct file_doc *other,
                      const struct job_sources *sources)
{
    const struct doc_place *place = place_of(other, "");
    char message[600];
    snprintf(message, sizeof(message), tr("%s \"%s\" is defined twice: in %s:%d, too"),
             tr(doc_type_rows[doc->type].kind), doc->name, other->file, place ? place->line : 0);
    file_doc_tell(doc, sources, "/name", message);
}

enum status file_docs_settle(struct file_docs *docs, const struct job_sources *sources)
{
    enum status st = OK;
    if (docs->count)
        qsort(docs->items, docs->count, sizeof(*docs->items), by_type);
    for (size_t i = 1; i < docs->count; i++) {
        if (by_type(&docs->items[i - 1], &docs->items[i]) != 0)
            continue;
        tell_twin(&docs->items[i], &docs->items[i - 1], sources);
        st = E_INVALID;
    }
    return st;
}

const struct file_doc *file_docs_find(const struct file_docs *docs, enum doc_type type,
                                      const char *name)
{
    const struct file_doc wanted = {.type = type, .name = (char *)name};
    return docs->count ? bsearch(&wanted, docs->items, docs->count, sizeof(wanted), by_type) : NULL;
}

json_t *file_docs_assumed(const struct file_docs *docs)
{
    json_t *assumed = json_object();
    int failed = !assumed;
    for (size_t i = 0; i < docs->count && !failed; i++) {
        const char *list = doc_type_rows[docs->items[i].type].list;
        if (list && !json_object_get(assumed, list))
            failed = json_object_set_new(assumed, list, json_array());
        if (list && !failed)
            failed = json_array_append_new(json_object_get(assumed, list),
                                           json_string(docs->items[i].name));
    }
    if (!failed)
        return assumed;
    json_decref(assumed);
    return NULL;
}
