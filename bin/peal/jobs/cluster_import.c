#include "jobs/cluster_import.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "data_folder.h"
#include "definition/job_codec.h"
#include "jobs/import_docs.h"
#include "node_store.h"
#include "print/state_words.h"
#include "store_look.h"
#include "text/tr.h"

enum { AT_ONCE = 100, SHOWN_RUNS = 20, NODES_MS = 8000 };

enum outcome { IMPORTED, ALREADY_THERE, NAME_TAKEN, CHANGED_THERE, NOT_WRITTEN, OUTCOMES };

struct item {
    struct id uid;
    char *name, *json;
    int64_t cursor_ms;
    bool is_deleted, is_paused;
    enum outcome outcome;
};

/* Jobs and documents of a store. */
struct items {
    struct item *list;
    size_t count, capacity;
    struct import_docs docs;
};

static void items_release(struct items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        free(items->list[i].name);
        free(items->list[i].json);
    }
    free(items->list);
    import_docs_release(&items->docs);
    *items = (struct items){0};
}

/* ---- reading ---- */

static bool is_paused(const char *json)
{
    struct job *job = NULL;
    struct job_error error;
    bool paused = job_decode_stored(json, NULL, &job, &error) == OK && job->paused;
    job_free(job);
    return paused;
}

/* Ticks that had started before the clock was set back must not start again in the other store. */
static int64_t cursor_of(const struct store_change *change)
{
    int64_t high_ms = change->rewinds.high_ms;
    return high_ms > change->cursor_ms ? high_ms : change->cursor_ms;
}

static enum status add_item(struct items *items, const struct store_change *change)
{
    if (items->count == items->capacity) {
        size_t capacity = items->capacity ? 2 * items->capacity : 256;
        struct item *grown = realloc(items->list, capacity * sizeof(*grown));
        if (!grown)
            return E_NOMEM;
        items->list = grown;
        items->capacity = capacity;
    }
    struct item *item = &items->list[items->count++];
    *item = (struct item){.uid = change->job_uid,
                          .name = strdup(change->job_name),
                          .json = strdup(change->job_json),
                          .cursor_ms = cursor_of(change),
                          .is_deleted = change->job_deleted,
                          .is_paused = is_paused(change->job_json)};
    return item->name && item->json ? OK : E_NOMEM;
}

/* Open runs can't be imported: their processes are here. */
static void tell_open_run(const struct run *run, size_t count)
{
    char id[ID_TEXT + 1];
    id_format(&run->id, id);
    if (count <= SHOWN_RUNS)
        cli_error("still open: %s of %s (%s)", id, run->job_name,
                  state_word(run_state_name(run->state)));
}

/* What is in the way of an import. */
struct in_the_way {
    size_t open;   /* runs, which are printed */
    char node[64]; /* one that is there; "": none */
};

static void take_peer(struct in_the_way *way, const struct peer *peer)
{
    if (peer->is_alive)
        snprintf(way->node, sizeof(way->node), "%s", peer->name);
    else if (strcmp(way->node, peer->name) == 0)
        *way->node = '\0';
}

static enum status take_change(const struct store_change *change, struct items *items,
                               struct in_the_way *way)
{
    if (change->kind == STORE_CHANGE_JOB)
        return add_item(items, change);
    if (change->kind == STORE_CHANGE_DOC)
        return import_docs_add(&items->docs, change->doc);
    if (way && change->kind == STORE_CHANGE_PEER)
        take_peer(way, change->peer);
    else if (way && change->kind == STORE_CHANGE_RUN && !run_state_is_end(change->run->state))
        tell_open_run(change->run, ++way->open);
    return OK;
}

/* Reads the feed up to LOADED. `way` may be NULL. */
static enum status read_store(struct loop *loop, struct store *store, struct items *items,
                              struct in_the_way *way, struct strbuf *why)
{
    struct store_change change;
    enum status st = OK;
    do {
        if (store_next_change(store, &change)) {
            st = take_change(&change, items, way);
            if (change.kind == STORE_CHANGE_LOADED)
                return st;
        } else if ((st = store_health(store, why)) == OK) {
            import_turn(loop);
            store_dispatch(store);
        }
    } while (st == OK);
    return st;
}

static void no_wake(void *context)
{
    (void)context;
}

static void tell_stop(const char *from)
{
    fprintf(stderr, tr("Stop it first: peal stop --data %s"), from);
    fputc('\n', stderr);
}

static void tell_open(const char *from, const char *start, size_t count)
{
    if (count == 1)
        cli_error("1 run of %s has not ended yet; nothing was imported", from);
    else
        cli_error("%zu runs of %s have not ended yet; nothing was imported", count, from);
    fprintf(stderr,
            tr("Start the agent there (%s), pause the jobs, "
               "let the runs end, stop it, and import again."),
            start);
    fputc('\n', stderr);
}

static enum exit_code read_folder(const char *from, struct items *items)
{
    struct store_look look;
    struct store *store = NULL;
    struct strbuf why, start;
    struct in_the_way way = {.open = 0};
    strbuf_init(&why);
    strbuf_init(&start);
    enum status st = store_sqlite_look(from, false, &look, &why);
    if (st == E_NOT_FOUND)
        strbuf_addf(&why, tr("there is no peal.db in %s; --from is a data folder"), from);
    if (st == OK)
        st = store_sqlite_open(from, (struct store_wake){no_wake, NULL}, &store, &why);
    if (st == OK)
        st = read_store(NULL, store, items, &way, &why);
    store_free(store);
    if (st != OK)
        cli_error("%s", why.length ? why.text : tr(status_text(st)));
    if (st == E_BUSY)
        tell_stop(from);
    strbuf_addf(&start, "peal start -d --data %s --store sqlite", from);
    if (st == OK && way.open)
        tell_open(from, start.text, way.open);
    strbuf_release(&start);
    strbuf_release(&why);
    return st == E_BUSY || way.open ? EXIT_CONFLICT
           : st == E_NOT_FOUND      ? EXIT_NOT_FOUND
           : st == OK               ? EXIT_OK
                                    : EXIT_ERROR;
}

/* A node that has just died has a lease for some seconds more. */
static enum status wait_for_nodes(struct loop *loop, struct store *store, struct in_the_way *way,
                                  struct strbuf *why)
{
    int64_t until_ms = clock_now().boot.ms + NODES_MS;
    struct store_change change;
    enum status st = OK;
    while (*way->node && st == OK && clock_now().boot.ms < until_ms) {
        import_turn(loop);
        store_dispatch(store);
        while (store_next_change(store, &change))
            if (change.kind == STORE_CHANGE_PEER)
                take_peer(way, change.peer);
        st = store_health(store, why);
    }
    return st;
}

static enum exit_code read_servers(const char *from, const struct store_url *url,
                                   const struct agent_config *config, struct items *items)
{
    struct store_access access = agent_config_store(config);
    struct loop *loop = NULL;
    struct store *store = NULL;
    struct strbuf why, start;
    struct in_the_way way = {.open = 0};
    access.url = url;
    strbuf_init(&why);
    strbuf_init(&start);
    enum status st = loop_new(&loop);
    if (st == OK)
        st = node_store_open(&access, loop, NULL, NULL, (struct store_wake){no_wake, NULL}, &store,
                             &why);
    if (st == OK)
        st = read_store(loop, store, items, &way, &why);
    if (st == OK)
        st = wait_for_nodes(loop, store, &way, &why);
    store_free(store);
    loop_free(loop);
    if (st != OK)
        cli_error("%s", why.length ? why.text : tr(status_text(st)));
    else if (*way.node)
        cli_error("node %s works on %s: stop all its nodes first; nothing was imported", way.node,
                  from);
    strbuf_addf(&start, "peal start -d --store %s", from);
    if (st == OK && !*way.node && way.open)
        tell_open(from, start.text, way.open);
    strbuf_release(&start);
    strbuf_release(&why);
    return st == E_UNREACHABLE     ? EXIT_UNREACHABLE
           : st != OK              ? EXIT_ERROR
           : way.open || *way.node ? EXIT_CONFLICT
                                   : EXIT_OK;
}

/* ---- writing ---- */

static int by_uid(const void *a, const void *b)
{
    return id_compare(&((const struct item *)a)->uid, &((const struct item *)b)->uid);
}

/* Drops items that exist in the target; *ret are the others. */
static size_t sort_out(struct items *source, struct items *target, struct item **ret)
{
    size_t count = 0;
    if (target->count)
        qsort(target->list, target->count, sizeof(*target->list), by_uid);
    for (size_t i = 0; i < source->count; i++) {
        struct item *item = &source->list[i];
        const struct item *known = target->count ? bsearch(item, target->list, target->count,
                                                           sizeof(*target->list), by_uid)
                                                 : NULL;
        item->outcome = NOT_WRITTEN;
        if (!known)
            ret[count++] = item;
        else
            item->outcome = strcmp(known->json, item->json) == 0 ? ALREADY_THERE : CHANGED_THERE;
    }
    return count;
}

struct batch {
    struct store_put_job puts[AT_ONCE];
    struct store_request request;
    bool is_done;
    enum status status;
};

static void batch_done(struct store_request *request, enum status st)
{
    struct batch *batch = request->context;
    batch->is_done = true;
    batch->status = st;
}

static enum status write_batch(struct loop *loop, struct store *store, struct item **items,
                               size_t count)
{
    struct batch batch = {.is_done = false};
    struct store_change change;
    for (size_t i = 0; i < count; i++) {
        batch.puts[i] = (struct store_put_job){.uid = items[i]->uid,
                                               .name = items[i]->name,
                                               .json = items[i]->json,
                                               .deleted = items[i]->is_deleted,
                                               .paused = items[i]->is_paused,
                                               .from_elsewhere = true,
                                               .cursor_ms = items[i]->cursor_ms};
    }
    batch.request = (struct store_request){.op = STORE_PUT_JOB,
                                           .count = count,
                                           .items.puts = batch.puts,
                                           .done = batch_done,
                                           .context = &batch};
    store_submit(store, &batch.request);
    while (!batch.is_done) {
        import_turn(loop);
        store_dispatch(store);
        while (store_next_change(store, &change)) {
        }
    }
    for (size_t i = 0; i < count && batch.status == OK; i++) {
        enum put_result result = batch.puts[i].result;
        items[i]->outcome = result == PUT_OK       ? IMPORTED
                            : result == PUT_EXISTS ? NAME_TAKEN
                                                   : CHANGED_THERE;
    }
    return batch.status;
}

static enum status write_store(struct loop *loop, struct store *store, struct items *source,
                               struct strbuf *why)
{
    struct items target = {0};
    struct item **todo = calloc(source->count + 1, sizeof(*todo));
    if (!todo)
        return E_NOMEM;
    enum status st = read_store(loop, store, &target, NULL, why);
    if (st == OK) /* before the jobs, which may name some of them */
        st = import_docs_write(&source->docs, loop, store);
    size_t count = st == OK ? sort_out(source, &target, todo) : 0;
    for (size_t i = 0; i < count && st == OK; i += AT_ONCE)
        st = write_batch(loop, store, todo + i, count - i < AT_ONCE ? count - i : AT_ONCE);
    items_release(&target);
    free(todo);
    return st;
}

static enum status open_target(const struct agent_config *config, const char *folder,
                               struct loop **ret_loop, struct store **ret, struct strbuf *why)
{
    const struct store_access access = agent_config_store(config);
    const struct store_wake wake = {no_wake, NULL};
    if (config->store.kind == STORE_OF_SQLITE) {
        enum status st = data_folder_make(folder);
        return st == OK ? store_sqlite_open(folder, wake, ret, why) : st;
    }
    enum status st = loop_new(ret_loop);
    return st == OK ? node_store_open(&access, *ret_loop, NULL, NULL, wake, ret, why) : st;
}

static enum status write_items(const struct agent_config *config, const char *folder,
                               struct items *source, struct strbuf *why)
{
    struct loop *loop = NULL;
    struct store *store = NULL;
    signal(SIGPIPE, SIG_IGN);
    enum status st = open_target(config, folder, &loop, &store, why);
    if (st == OK) {
        st = write_store(loop, store, source, why);
        if (st != OK && !why->length && store_health(store, why) == OK)
            strbuf_adds(why, tr(status_text(st)));
    } else if (!why->length) {
        strbuf_adds(why, tr(status_text(st)));
    }
    store_free(store);
    loop_free(loop);
    return st;
}

/* ---- telling ---- */

static void tell_jobs(const struct items *items, enum outcome outcome, const char *words)
{
    for (size_t i = 0; i < items->count; i++) {
        if (items->list[i].outcome == outcome)
            cli_error("%s: %s", items->list[i].name, tr(words));
    }
}

static void tell_counts(const size_t counts[OUTCOMES], size_t deleted, size_t refused)
{
    if (deleted)
        printf(tr("%zu imported (%zu of them deleted, kept for peal undelete), %zu already there, "
                  "%zu not imported"),
               counts[IMPORTED], deleted, counts[ALREADY_THERE], refused);
    else
        printf(tr("%zu imported, %zu already there, %zu not imported"), counts[IMPORTED],
               counts[ALREADY_THERE], refused);
    putchar('\n');
}

static enum exit_code sum_up(const char *folder, const struct agent_config *config,
                             const struct items *items)
{
    size_t counts[OUTCOMES] = {0}, deleted = 0;
    struct strbuf url;
    for (size_t i = 0; i < items->count; i++) {
        counts[items->list[i].outcome]++;
        deleted += items->list[i].outcome == IMPORTED && items->list[i].is_deleted;
    }
    tell_jobs(items, NAME_TAKEN, TR("the store has another job of this name; rename one of them"));
    tell_jobs(items, CHANGED_THERE,
              TR("is in the store already, and was changed there; left as it is"));
    strbuf_init(&url);
    store_url_print(&config->store, &url);
    size_t refused = counts[NAME_TAKEN] + counts[CHANGED_THERE];
    tell_counts(counts, deleted, refused);
    import_docs_tell(&items->docs);
    if (!refused) {
        fprintf(stderr, tr("Next: peal start -d --data %s --store %s"), folder, url.text);
        fputc('\n', stderr);
    }
    strbuf_release(&url);
    return refused ? EXIT_CONFLICT : EXIT_OK;
}

enum exit_code cluster_import(const struct cluster_import *import,
                              const struct agent_config *config)
{
    struct items items = {0};
    struct strbuf why;
    enum exit_code code = import->from_url
                              ? read_servers(import->from, import->from_url, config, &items)
                              : read_folder(import->from, &items);
    strbuf_init(&why);
    if (code == EXIT_OK) {
        enum status st = write_items(config, import->folder, &items, &why);
        if (st == OK)
            code = sum_up(import->folder, config, &items);
        else
            cli_error("%s\nWhat was imported until now stays; import again to go on.", why.text);
        if (st != OK)
            code = st == E_UNREACHABLE ? EXIT_UNREACHABLE
                   : st == E_BUSY      ? EXIT_CONFLICT
                                       : EXIT_ERROR;
    }
    strbuf_release(&why);
    items_release(&items);
    return code;
}
