/* A file of jobs: documents, lists of jobs, and the check that each name occurs once. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/job_decode.h"
#include "table.h"

void job_list_init(struct job_list *list)
{
    *list = (struct job_list){NULL, 0};
}

void job_list_release(struct job_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        job_free(list->items[i]);
    free(list->items);
    job_list_init(list);
}

/* Where the name of a job is. */
struct name_place {
    int line, column;
};

/* The jobs read so far. */
struct collector {
    const char *default_tz;
    struct zone_db *zones;
    struct job_list jobs;
    struct name_place *places; /* of their names */
    struct job_error *err;
    struct job_errors *all;               /* NULL: stop at the first error */
    bool is_wrong;                        /* there are some */
    enum status st;                       /* not OK: the end */
    const struct job_observer *observer;  /* NULL: none */
    const struct document_reader *reader; /* NULL: a file has jobs alone */
};

bool job_file_is_document(const struct node *node)
{
    const struct node *kind = node->kind == NODE_MAP ? node_get(node, "kind") : NULL;
    return kind && kind->kind == NODE_SCALAR && strcmp(kind->text, "job") != 0 &&
           strcmp(kind->text, "workflow") != 0;
}

static enum status collect_other(struct collector *c, const struct node *node)
{
    size_t before = c->all->count + c->all->more;
    enum status st = c->reader->read(c->reader->context, node, c->all);
    c->is_wrong |= c->all->count + c->all->more > before;
    return st;
}

static enum status collect_job(struct collector *c, const struct node *node)
{
    struct job *job;
    size_t count = c->jobs.count;
    enum status st = array_grow(&c->jobs.items, count, sizeof(struct job *));
    if (st == OK)
        st = array_grow(&c->places, count, sizeof(*c->places));
    if (st == OK && c->all)
        st = job_decode_node_all(node, c->default_tz, c->zones, &job, c->all);
    else if (st == OK)
        st = job_decode_node(node, false, c->default_tz, c->zones, &job, c->err);
    if (c->all && st != OK && st != E_NOMEM) {
        c->is_wrong = true;
        return OK;
    }
    if (st != OK)
        return st;
    const struct node *name = node_get(node, "name");
    c->places[c->jobs.count] = (struct name_place){name->line, name->column};
    c->jobs.items[c->jobs.count++] = job;
    if (c->observer && c->observer->added)
        c->observer->added(c->observer->context, job);
    return OK;
}

static enum status collect_value(struct collector *c, const struct node *node)
{
    return c->reader && job_file_is_document(node) ? collect_other(c, node) : collect_job(c, node);
}

/* A document is a job or another definition, a list of them, or nothing. */
static enum status collect_document(struct collector *c, const struct node *document)
{
    if (document->kind == NODE_NULL)
        return OK;
    if (document->kind != NODE_LIST)
        return collect_value(c, document);
    for (const struct entry *entry = document->entries; entry; entry = entry->next) {
        enum status st = collect_value(c, entry->value);
        if (st != OK)
            return st;
    }
    return OK;
}

static int compare_names(const void *a, const void *b, void *arg)
{
    const struct collector *c = arg;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = strcmp(c->jobs.items[x]->name, c->jobs.items[y]->name);
    return order ? order : (x > y) - (x < y);
}

static enum status fail_twin(struct collector *c, size_t second, size_t first)
{
    const struct name_place *place = &c->places[second];
    const struct node job = {.kind = NODE_MAP};
    const struct node name = {.kind = NODE_SCALAR, .line = place->line, .column = place->column};
    struct spot root = {.node = &job};
    struct spot spot = {&root, "name", 0, &name};
    enum status st = spot_fail(c->err, &spot, "\"%s\" is already the name of the job in line %d",
                               c->jobs.items[second]->name, c->places[first].line);
    if (!c->all)
        return st;
    c->is_wrong = true;
    return job_errors_take(c->all, c->err);
}

static const struct table_type names_type = {.key_at = offsetof(struct job, name),
                                             .is_pointer = true};

/* *ret: are there jobs of the same name? */
static enum status find_twins(const struct collector *c, bool *ret)
{
    struct table names;
    enum status st = OK;
    *ret = false;
    table_init(&names, &names_type);
    for (size_t i = 0; i < c->jobs.count && st == OK && !*ret; i++) {
        *ret = table_find(&names, c->jobs.items[i]->name) != NULL;
        if (!*ret)
            st = table_insert(&names, c->jobs.items[i]);
    }
    table_release(&names);
    return st;
}

/* In the order of the file. */
static enum status check_names(struct collector *c)
{
    size_t count = c->jobs.count;
    bool has_twins;
    enum status st = find_twins(c, &has_twins);
    if (st != OK || !has_twins)
        return st;
    size_t *order = calloc(2 * count + 1, sizeof(*order));
    if (!order)
        return E_NOMEM;
    size_t *twins = order + count;
    for (size_t i = 0; i < count; i++)
        twins[i] = order[i] = i;
    qsort_r(order, count, sizeof(*order), compare_names, c);
    for (size_t i = 1; i < count; i++) {
        const char *before = c->jobs.items[order[i - 1]]->name;
        if (strcmp(before, c->jobs.items[order[i]]->name) == 0)
            twins[order[i]] = order[i - 1];
    }
    for (size_t i = 0; i < count && st == OK; i++) {
        if (twins[i] != i)
            st = fail_twin(c, i, twins[i]);
    }
    free(order);
    return st;
}

static enum status read_documents(struct tree *tree, const char *text, size_t length,
                                  const struct node **ret, struct job_error *reterr)
{
    struct parse_error err = {0};
    enum status st = tree_from_yaml(tree, text, length, ret, &err);
    if (st != OK && st != E_NOMEM)
        spot_set_tree(reterr, &err);
    return st;
}

static bool visit(void *context, const struct node *document)
{
    struct collector *c = context;
    if (c->st == OK) /* else only a mistake in the YAML itself is looked for, which comes first */
        c->st = collect_document(c, document);
    return c->st != E_NOMEM;
}

static void restart(void *context)
{
    struct collector *c = context;
    if (c->observer && c->observer->added && c->jobs.count)
        c->observer->forgotten(c->observer->context);
    if (c->reader)
        c->reader->forgotten(c->reader->context);
    job_list_release(&c->jobs);
    free(c->places);
    c->places = NULL;
    *c->err = (struct job_error){0};
    if (c->all)
        job_errors_release(c->all);
    c->is_wrong = false;
    c->st = OK;
}

/* OK: c->jobs is complete, or c->all has errors. */
static enum status collect(struct collector *c, const char *text, size_t length)
{
    struct parse_error err = {0};
    const struct yaml_visitor visitor = {visit, restart, c};
    enum status st = yaml_each(text, length, &visitor, &err);
    if (st != OK && st != E_NOMEM)
        spot_set_tree(c->err, &err);
    if (st == OK)
        st = c->st;
    if (st == OK)
        st = check_names(c);
    free(c->places);
    return st;
}

enum status jobs_decode_text(const char *text, size_t length, const char *default_tz,
                             struct zone_db *zones, struct job_list *ret, struct job_error *reterr)
{
    struct collector c = {.default_tz = default_tz, .zones = zones, .err = reterr};
    enum status st = collect(&c, text, length);
    if (st == OK)
        *ret = c.jobs;
    else
        job_list_release(&c.jobs);
    return st;
}

static int compare_places(const void *a, const void *b)
{
    const struct job_error *x = a, *y = b;
    int lines = (x->line > y->line) - (x->line < y->line);
    return lines ? lines : (x->column > y->column) - (x->column < y->column);
}

enum status jobs_decode_file(const char *text, size_t length, const char *default_tz,
                             struct zone_db *zones, const struct job_observer *observer,
                             const struct document_reader *reader, struct job_list *ret,
                             struct job_errors *errors)
{
    struct job_error error = {0};
    struct collector c = {.default_tz = default_tz,
                          .zones = zones,
                          .err = &error,
                          .all = errors,
                          .observer = observer,
                          .reader = reader};
    enum status st = collect(&c, text, length);
    if (st != OK && st != E_NOMEM && job_errors_take(errors, &error) != OK)
        st = E_NOMEM;
    if (errors->count)
        qsort(errors->items, errors->count, sizeof(*errors->items), compare_places);
    if (st == E_NOMEM)
        job_list_release(&c.jobs);
    else
        *ret = c.jobs;
    return st == OK && c.is_wrong ? E_INVALID : st;
}

enum { JOB_NODES_MAX = 100000 }; /* in a job for an editor, be it a workflow of 2000 steps */

/* The only document that is not empty, which must be a map. */
static enum status only_job(const struct node *documents, const struct node **ret,
                            struct job_error *err)
{
    const struct node *found = NULL;
    for (const struct entry *entry = documents->entries; entry; entry = entry->next) {
        struct spot spot = {.node = entry->value};
        if (entry->value->kind == NODE_NULL)
            continue;
        if (found)
            return spot_fail(err, &spot, "there is a second job here; only one is expected");
        if (entry->value->kind != NODE_MAP)
            return spot_fail(err, &spot, "expected a job: a map of its fields, not %s",
                             node_describe(entry->value));
        if (entry->value->weight_nodes > JOB_NODES_MAX)
            return spot_fail(err, &spot, "more than %d values in one job", JOB_NODES_MAX);
        found = entry->value;
    }
    struct spot root = {.node = documents};
    if (!found)
        return spot_fail(err, &root, "expected a job: a map of its fields");
    *ret = found;
    return OK;
}

enum status job_read_text(const char *text, size_t length, const char *default_tz,
                          struct zone_db *zones, json_t **ret, struct job_error *reterr)
{
    struct tree tree;
    const struct node *documents = NULL, *node = NULL;
    struct job_error wrong = {0};
    struct job *job = NULL;
    tree_init(&tree);
    enum status st = read_documents(&tree, text, length, &documents, reterr);
    if (st == OK)
        st = only_job(documents, &node, reterr);
    json_t *value = st == OK ? node_to_json(node) : NULL;
    if (st == OK && !value)
        st = E_NOMEM;
    if (st == OK && job_decode_node(node, false, default_tz, zones, &job, &wrong) == E_NOMEM)
        st = E_NOMEM;
    if (st == OK) {
        *reterr = wrong;
        *ret = json_incref(value);
    }
    job_free(job);
    json_decref(value);
    tree_release(&tree);
    return st;
}
