/* A listing of gocron's tasks: which are there, what they run after, and what they are called. */
#include "foreign/gocron.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "foreign/rows.h"

struct listing {
    struct foreign_build build;
    struct gocron_task *tasks; /* by id */
    size_t count;
    bool has_calls; /* some task is an HTTP call */
};

/* ---- the document ---- */

static enum status fail_at(const struct node *node, struct parse_error *reterr, const char *why)
{
    parse_error_set(reterr, node->column ? node->column : 1, "%s", why);
    if (reterr)
        reterr->line = node->line ? node->line : 1;
    return E_INVALID;
}

static enum status fail_listing(const struct node *node, struct parse_error *reterr)
{
    enum status st = parse_fail(reterr, node->column,
                                "expected gocron's listing of tasks, the answer of GET /api/task, "
                                "found %s",
                                node_describe(node));
    if (reterr)
        reterr->line = node->line;
    return st;
}

/* {"code":401,"message":"..."} is an answer, too. */
static enum status check_code(const struct node *root, struct parse_error *reterr)
{
    const struct node *code = node_get(root, "code"), *message = node_get(root, "message");
    if (!code || code->kind != NODE_SCALAR || strcmp(code->text, "0") == 0)
        return OK;
    bool has_text = message && message->kind == NODE_SCALAR;
    enum status st = parse_fail(reterr, code->column,
                                "this is gocron's answer to a call that failed: code %.20s, "
                                "\"%.100s\"",
                                code->text, has_text ? message->text : "");
    if (reterr)
        reterr->line = code->line;
    return st;
}

/* A list, {"data":[...]} or {"data":{"total":N,"data":[...]}}. *ret_total: NULL if unknown. */
static enum status find_tasks(const struct node *documents, const struct node **ret,
                              const struct node **ret_total, struct parse_error *reterr)
{
    *ret_total = NULL;
    if (documents->count != 1)
        return documents->count ? fail_at(documents->entries->next->value, reterr,
                                          "there is a second document here; one is expected")
                                : fail_at(documents, reterr, "the file is empty");
    const struct node *node = documents->entries->value;
    enum status st = node->kind == NODE_MAP ? check_code(node, reterr) : OK;
    for (int depth = 0; st == OK && depth < 2 && node->kind == NODE_MAP; depth++) {
        const struct node *data = node_get(node, "data");
        if (!data)
            break;
        *ret_total = node_get(node, "total");
        node = data;
    }
    if (st == OK && node->kind != NODE_LIST)
        return fail_listing(node, reterr);
    *ret = node;
    return st;
}

/* ---- the tasks ---- */

static bool is_task(const struct node *node)
{
    return node->kind == NODE_MAP && node_get(node, "id") && node_get(node, "command");
}

/* The time at which a row was deleted, where the table keeps those. */
static bool is_deleted(const struct node *node)
{
    const char *at = row_text(node, "deleted");
    return *at && strncmp(at, "0000", 4) != 0 && strncmp(at, "0001", 4) != 0;
}

static enum status read_task(struct listing *listing, const struct node *node)
{
    struct gocron_task task = {.who = {.node = node}};
    int64_t level = 1;
    task.who.name = gocron_text(&task, "name");
    snprintf(task.who.id, sizeof(task.who.id), "%.20s", gocron_text(&task, "id"));
    enum status st = gocron_number(&listing->build, &task, "id", 0, INT32_MAX, &task.id);
    if (st == OK && !task.is_lost)
        snprintf(task.who.id, sizeof(task.who.id), "%" PRId64, task.id);
    if (st == OK)
        st = gocron_number(&listing->build, &task, "level", 0, 2, &level);
    task.is_child = level == 2;
    if (st == OK && !task.is_lost)
        st = array_grow(&listing->tasks, listing->count, sizeof(task));
    if (st == OK && !task.is_lost)
        listing->tasks[listing->count++] = task;
    return st;
}

static int compare_ids(const void *a, const void *b)
{
    const struct gocron_task *x = a, *y = b;
    const struct node *left = x->who.node, *right = y->who.node;
    if (x->id != y->id)
        return (x->id > y->id) - (x->id < y->id);
    return left->line != right->line
               ? (left->line > right->line) - (left->line < right->line)
               : (left->column > right->column) - (left->column < right->column);
}

static struct gocron_task *find_task(const struct listing *listing, int64_t id)
{
    const struct gocron_task key = {.id = id};
    size_t low = 0, high = listing->count;
    while (low < high) { /* the first of that id */
        size_t middle = low + (high - low) / 2;
        if (listing->tasks[middle].id < key.id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < listing->count && listing->tasks[low].id == id ? &listing->tasks[low] : NULL;
}

/* Pages that were put together may have a task twice. */
static enum status note_twins(struct listing *listing)
{
    enum status st = OK;
    for (size_t i = 1; i < listing->count && st == OK; i++) {
        struct gocron_task *task = &listing->tasks[i];
        if (task->id != task[-1].id)
            continue;
        task->is_lost = true;
        st = foreign_note(&listing->build, &task->who, NULL, FOREIGN_ERROR,
                          "is in the listing twice; this one is left out");
    }
    return st;
}

static enum status read_tasks(struct listing *listing, const struct node *list,
                              struct parse_error *reterr)
{
    enum status st = OK;
    for (const struct entry *entry = list->entries; entry && st == OK; entry = entry->next) {
        if (!is_task(entry->value))
            return fail_at(entry->value, reterr,
                           "expected a task of gocron: a map with id, name and command");
        if (!is_deleted(entry->value))
            st = read_task(listing, entry->value);
    }
    if (listing->count)
        qsort(listing->tasks, listing->count, sizeof(*listing->tasks), compare_ids);
    return st == OK ? note_twins(listing) : st;
}

/* gocron gives 20 tasks at a time unless it is asked for more, and 1000 at most. */
static enum status note_rest(struct listing *listing, const struct node *list,
                             const struct node *total)
{
    long long count = total && total->kind == NODE_SCALAR ? strtoll(total->text, NULL, 10) : 0;
    if (count <= (long long)list->count || count > INT32_MAX)
        return OK;
    listing->build.out->lost += (size_t)count - list->count - 1;
    return foreign_note(&listing->build, NULL, total, FOREIGN_ERROR,
                        "the listing has %zu of %lld tasks; ask gocron for the others as well, "
                        "with /api/task?page_size=1000",
                        list->count, count);
}

/* ---- parents and children ---- */

static enum status add_parent(struct gocron_task *child, const struct gocron_task *parent,
                              enum after_on on)
{
    for (size_t i = 0; i < child->parent_count; i++) {
        if (child->parents[i].task == parent)
            return OK;
    }
    enum status st = array_grow(&child->parents, child->parent_count, sizeof(*child->parents));
    if (st == OK)
        child->parents[child->parent_count++] = (struct gocron_parent){parent, on};
    return st;
}

static enum status link_child(struct listing *listing, const struct gocron_task *task,
                              const char *word, enum after_on on)
{
    const struct node *at = node_get(task->who.node, "dependency_task_id");
    char *end;
    long long id = strtoll(word, &end, 10);
    struct gocron_task *child = find_task(listing, id);
    if (end == word || *(end + strspn(end, " ")) || !child)
        return foreign_note(&listing->build, &task->who, at, FOREIGN_WARNING,
                            "its child task \"%.20s\" is not in this listing", word);
    if (!child->is_child)
        return foreign_note(&listing->build, &task->who, at, FOREIGN_WARNING,
                            "task %lld is no child task: gocron does not run it after this one, "
                            "and neither does peal",
                            id);
    return add_parent(child, task, on);
}

/* Only a task of level 1 has children. */
static enum status link_children(struct listing *listing, struct gocron_task *task)
{
    enum { STRONG = 1, WEAK = 2 };
    int64_t how = STRONG;
    char *ids = NULL, *rest;
    if (task->is_child || task->is_lost)
        return OK;
    enum status st = gocron_number(&listing->build, task, "dependency_status", 0, WEAK, &how);
    if (st != OK || task->is_lost)
        return st;
    ids = strdup(gocron_text(task, "dependency_task_id"));
    if (!ids)
        return E_NOMEM;
    rest = ids;
    for (char *word; st == OK && (word = strsep(&rest, ","));) {
        word += strspn(word, " ");
        if (*word)
            st = link_child(listing, task, word, how == WEAK ? AFTER_ALWAYS : AFTER_SUCCESS);
    }
    free(ids);
    return st;
}

/* ---- the jobs ---- */

/* By id, so that a task of a later listing does not take the name of one that is older. */
static enum status choose_names(struct listing *listing)
{
    const char *prefix = listing->build.options->prefix;
    enum status st = OK;
    for (size_t i = 0; i < listing->count && st == OK; i++) {
        struct gocron_task *task = &listing->tasks[i];
        if (task->is_lost)
            continue;
        st = foreign_name(&listing->build, task->who.name, task->who.id, &task->name);
        if (st == OK && strcmp(task->name + (prefix ? strlen(prefix) : 0), task->who.name) != 0)
            st = foreign_note(&listing->build, &task->who, node_get(task->who.node, "name"),
                              FOREIGN_INFO, "the job is named \"%.128s\"", task->name);
    }
    return st;
}

/* `time` is the field that says when, or after what. Takes it over. */
static enum status add_job(struct listing *listing, struct gocron_task *task, const char *name,
                           const json_t *definition, const char *field, json_t *time)
{
    json_t *whole = json_object(); /* in the order in which people write it */
    bool is_done = false, is_scheduled = strcmp(field, "schedule") == 0;
    enum status st = OK;
    if (!whole || json_object_set_new(whole, "name", json_string(name)) != 0 ||
        json_object_set(whole, field, time) != 0 ||
        (is_scheduled && json_object_set_new(whole, "catch_up", json_string("skip")) != 0) ||
        json_object_update(whole, (json_t *)definition) != 0)
        st = E_NOMEM;
    if (st == OK)
        st = foreign_add(&listing->build, &task->who, whole, &gocron_origin, &is_done);
    task->is_lost = task->is_lost || !is_done;
    listing->has_calls = listing->has_calls || (is_done && json_object_get(whole, "http"));
    json_decref(whole);
    json_decref(time);
    return st;
}

static enum status add_scheduled(struct listing *listing, struct gocron_task *task)
{
    json_t *definition = NULL;
    struct strbuf schedule;
    enum status st = gocron_definition(&listing->build, task, &definition);
    if (st != OK || !definition)
        return st;
    strbuf_init(&schedule);
    gocron_schedule(gocron_text(task, "spec"), &schedule);
    st = strbuf_status(&schedule);
    if (st == OK)
        st = add_job(listing, task, task->name, definition, "schedule", json_string(schedule.text));
    strbuf_release(&schedule);
    json_decref(definition);
    return st;
}

/* Each parent of a child starts it: with all of them in one `after` it would wait for all. */
static enum status add_after(struct listing *listing, struct gocron_task *task,
                             const struct gocron_parent *parent, bool is_first,
                             const json_t *definition)
{
    const char *name = task->name;
    struct strbuf wish;
    strbuf_init(&wish);
    strbuf_addf(&wish, "%s-after-%s", task->who.name, parent->task->who.id);
    enum status st = strbuf_status(&wish);
    if (st == OK && !is_first)
        st = foreign_name(&listing->build, wish.text, task->who.id, &name);
    strbuf_release(&wish);
    if (st == OK)
        st = add_job(
            listing, task, name, definition, "after",
            json_pack("[{s:s, s:s}]", "job", parent->task->name, "on", after_on_names[parent->on]));
    return st;
}

static enum status add_child(struct listing *listing, struct gocron_task *task)
{
    json_t *definition = NULL;
    size_t added = 0;
    struct foreign_build *build = &listing->build;
    enum status st = gocron_definition(build, task, &definition);
    if (st != OK || !definition)
        return st;
    for (size_t i = 0; i < task->parent_count && st == OK && !task->is_lost; i++) {
        const struct gocron_parent *parent = &task->parents[i];
        if (parent->task->is_lost)
            st = foreign_note(build, &task->who, NULL, FOREIGN_WARNING,
                              "its parent, task %s, could not be imported", parent->task->who.id);
        else
            st = add_after(listing, task, parent, added++ == 0, definition);
    }
    if (st == OK && added > 1 && !task->is_lost)
        st = foreign_note(build, &task->who, NULL, FOREIGN_INFO,
                          "runs after each of %zu tasks: there is a job for each of them", added);
    if (st == OK && added == 0) {
        st = foreign_note(build, &task->who, NULL, FOREIGN_WARNING,
                          "a child task that no task of this listing starts: its job runs on "
                          "request alone (@manual)");
        if (st == OK)
            st = add_job(listing, task, task->name, definition, "schedule", json_string("@manual"));
    }
    json_decref(definition);
    return st;
}

static enum status add_jobs(struct listing *listing)
{
    enum status st = choose_names(listing);
    for (size_t i = 0; i < listing->count && st == OK; i++)
        st = link_children(listing, &listing->tasks[i]);
    for (int children = 0; children < 2; children++) {
        for (size_t i = 0; i < listing->count && st == OK; i++) {
            struct gocron_task *task = &listing->tasks[i];
            if (task->is_lost || task->is_child != children)
                continue;
            st = task->is_child ? add_child(listing, task) : add_scheduled(listing, task);
        }
    }
    if (st == OK && listing->has_calls)
        st = foreign_note(&listing->build, NULL, NULL, FOREIGN_INFO,
                          "HTTP calls reach public addresses alone, and those that http_allow of "
                          "a node's configuration lists");
    return st;
}

/* ---- tables ---- */

enum { TABLE_TASKS, TABLE_TASK_HOSTS, TABLE_HOSTS, TABLES };

static const struct node *find_id(const struct node *rows, const char *id)
{
    for (const struct entry *entry = rows->entries; entry; entry = entry->next) {
        if (strcmp(row_text(entry->value, "id"), id) == 0)
            return entry->value;
    }
    return NULL;
}

/* The hosts of a task stand in two other tables; in a listing they are a field of it. */
static enum status add_hosts(struct tree *tree, const struct node *const *lists, struct node *task,
                             struct parse_error *reterr)
{
    struct node *hosts = tree_node(tree, NODE_LIST), *key = tree_scalar(tree, "hosts", 5, true);
    if (!hosts || !key)
        return E_NOMEM;
    struct entry **tail = &hosts->entries, **end = &task->entries;
    enum status st = OK;
    hosts->line = task->line;
    hosts->column = task->column;
    for (const struct entry *entry = lists[TABLE_TASK_HOSTS]->entries; entry && st == OK;
         entry = entry->next) {
        const struct node *host = find_id(lists[TABLE_HOSTS], row_text(entry->value, "host_id"));
        if (!host || strcmp(row_text(entry->value, "task_id"), row_text(task, "id")) != 0)
            continue;
        struct entry *added = tree_entry(tree, NULL, host);
        st = added ? node_append(hosts, &tail, added, reterr) : E_NOMEM;
    }
    while (*end)
        end = &(*end)->next;
    struct entry *field = st == OK ? tree_entry(tree, key, hosts) : NULL;
    if (st == OK)
        st = field ? node_append(task, &end, field, reterr) : E_NOMEM;
    return st;
}

/* Rows of the tables task, task_host and host, as a listing has them. */
static enum status read_tables(struct tree *tree, const char *text, size_t length,
                               const struct node **ret, struct parse_error *reterr)
{
    static const char *const tables[] = {"task", "task_host", "host", NULL};
    const struct node *lists[TABLES] = {NULL};
    enum status st = rows_read(tree, text, length, tables, lists, reterr);
    if (st == OK && !lists[TABLE_TASKS]->count)
        return fail_at(lists[TABLE_TASKS], reterr, "no row of gocron's table task is in the file");
    bool has_hosts = st == OK && lists[TABLE_HOSTS]->count;
    for (const struct entry *entry = st == OK ? lists[TABLE_TASKS]->entries : NULL;
         entry && st == OK && has_hosts; entry = entry->next)
        st = add_hosts(tree, lists, (struct node *)entry->value, reterr);
    if (st == OK)
        *ret = lists[TABLE_TASKS];
    return st;
}

static enum status read_listing(struct tree *tree, const char *text, size_t length,
                                const struct node **ret, const struct node **ret_total,
                                struct parse_error *reterr)
{
    static const char *const columns[] = {"id", "name", "spec", "command", NULL};
    const struct node *documents = NULL;
    *ret_total = NULL;
    if (rows_are_sql(text, length) || rows_are_csv(text, length, columns))
        return read_tables(tree, text, length, ret, reterr);
    enum status st = tree_from_yaml(tree, text, length, &documents, reterr);
    return st == OK ? find_tasks(documents, ret, ret_total, reterr) : st;
}

enum status gocron_import(const char *text, size_t length, const struct foreign_options *options,
                          struct zone_db *zones, struct foreign *ret, struct parse_error *reterr)
{
    struct listing listing = {.tasks = NULL};
    struct tree tree;
    const struct node *list = NULL, *total = NULL;
    foreign_build_init(&listing.build, options, zones, ret);
    tree_init(&tree);
    enum status st = read_listing(&tree, text, length, &list, &total, reterr);
    if (st == OK)
        st = read_tasks(&listing, list, reterr);
    if (st == OK)
        st = note_rest(&listing, list, total);
    if (st == OK)
        st = add_jobs(&listing);
    foreign_sort_notes(ret);
    for (size_t i = 0; i < listing.count; i++)
        free(listing.tasks[i].parents);
    free(listing.tasks);
    tree_release(&tree);
    foreign_build_release(&listing.build);
    return st;
}
