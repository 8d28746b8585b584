/* Who holds, told once or at each change; and the chosen one of a service. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "coord_kv_internal.h"
#include "kv_txn.h"
#include "kv_watch.h"

struct coord_kv_task {
    struct coord_kv *kv;
    struct coord_kv_task *next;
    struct kv_call *call;
    void *context;
    char key[400];

    coord_seen *seen; /* of a look */

    /* of a select */
    coord_chosen *chosen;
    struct coord_holder self, found;
    enum status status; /* once it is decided, while the lease that was not needed is revoked */
    int64_t ttl_s, lease;
    struct kv_txn *txn;
};

static void free_task(struct coord_kv_task *task)
{
    struct coord_kv_task **link = &task->kv->tasks;
    while (*link != task)
        link = &(*link)->next;
    *link = task->next;
    kv_call_cancel(task->call);
    kv_txn_free(task->txn);
    free(task);
}

void coord_kv_tasks_cancel(struct coord_kv *kv)
{
    while (kv->tasks)
        free_task(kv->tasks);
}

static struct coord_kv_task *new_task(struct coord_kv *kv, void *context)
{
    struct coord_kv_task *task = calloc(1, sizeof(*task));
    if (!task)
        return NULL;
    *task = (struct coord_kv_task){.kv = kv, .next = kv->tasks, .context = context};
    kv->tasks = task;
    return task;
}

/* ---- looks ---- */

struct seen_states {
    struct coord_state *items;
    size_t count;
};

static struct coord_state *find_state(struct seen_states *states, const char *name)
{
    for (size_t i = 0; i < states->count; i++) {
        if (strcmp(states->items[i].name, name) == 0)
            return &states->items[i];
    }
    return NULL;
}

/* `text` is a key behind the folder: NAME/queue/LEASE or NAME/fence. Keys come in the order in
 * which they were created, so the first of a name holds. */
static enum status add_key(struct seen_states *states, const struct kv_pair *kv, const char *text,
                           size_t length)
{
    struct coord_state state = {.waiting = 0};
    const char *slash = memchr(text, '/', length);
    if (!slash || length - (size_t)(slash - text) < 7 || memcmp(slash, "/queue/", 7) != 0)
        return OK;
    coord_name_decode(text, (size_t)(slash - text), state.name);
    struct coord_state *known = find_state(states, state.name);
    if (known) {
        known->waiting++;
        return OK;
    }
    if (coord_holder_parse(kv->value.data, kv->value.length, &state.holder) != OK)
        state.holder = (struct coord_holder){.id = "?"};
    enum status st = array_grow(&states->items, states->count, sizeof(*states->items));
    if (st == OK)
        states->items[states->count++] = state;
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct coord_state *)a)->name, ((const struct coord_state *)b)->name);
}

static void on_seen(void *context, const struct kv_result *result)
{
    struct coord_kv_task *task = context;
    struct seen_states states = {0};
    enum status st = result->status;
    const char *folder = strchr(task->key + strlen(task->kv->prefix) + 1, '/') + 1;
    size_t skip = (size_t)(folder - task->key);
    for (size_t i = 0; st == OK && i < result->op.kv_count; i++) {
        const struct kv_pair *kv = &result->op.kvs[i];
        st = add_key(&states, kv, (const char *)kv->key.data + skip, kv->key.length - skip);
    }
    if (states.count > 1)
        qsort(states.items, states.count, sizeof(*states.items), by_name);
    coord_seen *seen = task->seen;
    void *to = task->context;
    task->call = NULL;
    free_task(task);
    seen(to, st == E_UNKNOWN ? E_UNREACHABLE : st, states.items, st == OK ? states.count : 0,
         result->message);
    free(states.items);
}

static void print_range(const struct coord_kv *kv, enum coord_kind kind, const char *name,
                        char *key, size_t size)
{
    char encoded[COORD_NAME_SIZE] = "";
    if (name)
        coord_name_encode(name, encoded);
    snprintf(key, size, "%s/%s/%s%s", kv->prefix, coord_folder(kind), encoded, name ? "/" : "");
}

enum status coord_kv_look(struct coord *coord, enum coord_kind kind, const char *name,
                          coord_seen *seen, void *context)
{
    struct coord_kv *kv = (struct coord_kv *)coord;
    struct coord_kv_task *task = new_task(kv, context);
    if (!task)
        return E_NOMEM;
    const struct kv_reply reply = {.done = on_seen, .context = task};
    task->seen = seen;
    print_range(kv, kind, name, task->key, sizeof(task->key));
    const struct kv_range range = {
        .key = kv_text(task->key), .prefix = true, .sort = KV_SORT_CREATED_ASCENDING};
    enum status st = kv_range(kv->client, &range, &reply, &task->call);
    if (st != OK)
        free_task(task);
    return st;
}

/* ---- watches ---- */

struct key_watch {
    struct coord_watch base;
    struct coord_kv *kv;
    struct kv_watch *watch;
    coord_changed *changed;
    void *context;
    char key[400];
    struct loop_timer *timer; /* makes the watch anew, after it has failed */
};

static void on_watch(void *context, const struct kv_watch_notice *notice)
{
    struct key_watch *watch = context;
    if (notice->kind == KV_WATCH_COMPACTED || notice->kind == KV_WATCH_FAILED) {
        watch->watch = kv_watch_free(watch->watch);
        loop_timer_set(watch->timer, notice->kind == KV_WATCH_FAILED ? 1000 : 0);
    } else if (notice->kind == KV_WATCH_LIVE || notice->kind == KV_WATCH_EVENTS) {
        watch->changed(watch->context);
    }
}

static void begin_watch(void *context)
{
    struct key_watch *watch = context;
    const struct kv_watch_config config = {.key = kv_text(watch->key), .prefix = true};
    if (!watch->watch &&
        kv_watch_new(watch->kv->client, &config, on_watch, watch, &watch->watch) != OK)
        loop_timer_set(watch->timer, 1000);
}

enum status coord_kv_watch(struct coord *coord, enum coord_kind kind, const char *name,
                           coord_changed *changed, void *context, struct coord_watch **ret)
{
    struct key_watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return E_NOMEM;
    *watch = (struct key_watch){
        .base = {coord}, .kv = (struct coord_kv *)coord, .changed = changed, .context = context};
    print_range(watch->kv, kind, name, watch->key, sizeof(watch->key));
    enum status st = loop_timer_new(watch->kv->loop, begin_watch, watch, &watch->timer);
    if (st != OK) {
        free(watch);
        return st;
    }
    loop_timer_set(watch->timer, 0);
    *ret = &watch->base;
    return OK;
}

void coord_kv_watch_free(struct coord_watch *base)
{
    struct key_watch *watch = (struct key_watch *)base;
    kv_watch_free(watch->watch);
    loop_timer_free(watch->timer);
    free(watch);
}

/* ---- choosing: look, and if nobody is chosen, a lease and a key with it ---- */

static void tell_chosen(struct coord_kv_task *task, enum status st, const char *message)
{
    coord_chosen *chosen = task->chosen;
    void *to = task->context;
    struct coord_holder found = task->found;
    bool is_self = st == OK && strcmp(found.id, task->self.id) == 0;
    task->call = NULL;
    free_task(task);
    chosen(to, st == E_UNKNOWN ? E_UNREACHABLE : st, &found, is_self, message);
}

static enum status read_found(struct coord_kv_task *task, const struct kv_pair *kv)
{
    return coord_holder_parse(kv->value.data, kv->value.length, &task->found);
}

/* The lease that was not needed ends by itself if this fails. */
static void on_revoked(void *context, const struct kv_result *result)
{
    struct coord_kv_task *task = context;
    (void)result;
    tell_chosen(task, task->status, status_text(task->status));
}

/* The value is unlike any other (pid and time), so a copy that was done before is known. */
static void on_put(void *context, const struct kv_result *result)
{
    struct coord_kv_task *task = context;
    const struct kv_reply reply = {.done = on_revoked, .context = task};
    const struct kv_txn_result *txn = &result->op.txn;
    task->call = NULL;
    if (result->status != OK || txn->op_count != 1) {
        tell_chosen(task, result->status == OK ? E_CORRUPT : result->status, result->message);
        return;
    }
    task->found = task->self;
    if (txn->succeeded) {
        tell_chosen(task, OK, "");
        return;
    }
    task->status = txn->ops[0].kv_count ? read_found(task, &txn->ops[0].kvs[0]) : E_CONFLICT;
    bool is_needed = txn->ops[0].kv_count && txn->ops[0].kvs[0].lease == task->lease;
    if (is_needed || kv_lease_revoke(task->kv->client, task->lease, &reply, &task->call) != OK)
        tell_chosen(task, task->status, status_text(task->status));
}

static void on_granted(void *context, const struct kv_result *result)
{
    struct coord_kv_task *task = context;
    const struct kv_reply reply = {.done = on_put, .context = task};
    struct strbuf value;
    task->call = NULL;
    if (result->status != OK) {
        tell_chosen(task, result->status, result->message);
        return;
    }
    task->lease = result->lease.id;
    strbuf_init(&value);
    coord_holder_print(&task->self, &value);
    kv_txn_if_version(task->txn, kv_text(task->key), KV_EQUAL, 0);
    kv_txn_put(task->txn, &(struct kv_put){.key = kv_text(task->key),
                                           .value = coord_kv_bytes(&value),
                                           .lease = task->lease});
    kv_txn_else(task->txn);
    kv_txn_range(task->txn, &(struct kv_range){.key = kv_text(task->key)});
    enum status st = strbuf_status(&value);
    if (st == OK)
        st = kv_txn_send(task->kv->client, task->txn, &reply, &task->call);
    strbuf_release(&value);
    if (st != OK)
        tell_chosen(task, st, status_text(st));
    else
        kv_call_may_repeat(task->call);
}

static enum status begin_choice(struct coord_kv_task *task);

/* Nobody may have been there to see that the one who was chosen is so no longer. */
static void on_settled(void *context, const struct kv_result *result)
{
    struct coord_kv_task *task = context;
    task->call = NULL;
    if (result->status != OK || result->lease.ttl_s > 0) {
        tell_chosen(task, result->status, result->message);
        return;
    }
    enum status st = begin_choice(task);
    if (st != OK)
        tell_chosen(task, st, status_text(st));
}

static void on_looked(void *context, const struct kv_result *result)
{
    struct coord_kv_task *task = context;
    const struct kv_reply reply = {.done = on_granted, .context = task};
    const struct kv_reply settled = {.done = on_settled, .context = task};
    task->call = NULL;
    if (result->status != OK) {
        tell_chosen(task, result->status, result->message);
        return;
    }
    if (result->op.kv_count) {
        enum status st = read_found(task, &result->op.kvs[0]);
        bool must_settle = st == OK && kv_must_settle(task->kv->client);
        if (must_settle)
            st = kv_lease_settle(task->kv->client, result->op.kvs[0].lease, &settled, &task->call);
        if (st != OK || !must_settle)
            tell_chosen(task, st, status_text(st));
        return;
    }
    enum status st = kv_lease_grant(task->kv->client, task->ttl_s, &reply, &task->call);
    if (st != OK)
        tell_chosen(task, st, status_text(st));
    else
        kv_call_may_repeat(task->call);
}

static enum status begin_choice(struct coord_kv_task *task)
{
    const struct kv_reply reply = {.done = on_looked, .context = task};
    const struct kv_range range = {.key = kv_text(task->key)};
    return kv_range(task->kv->client, &range, &reply, &task->call);
}

enum status coord_kv_select(struct coord *coord, const char *service, const char *id,
                            int64_t hold_ms, coord_chosen *chosen, void *context)
{
    struct coord_kv *kv = (struct coord_kv *)coord;
    struct coord_kv_task *task = new_task(kv, context);
    char name[COORD_NAME_SIZE];
    if (!task)
        return E_NOMEM;
    task->chosen = chosen;
    task->ttl_s = (hold_ms + 999) / 1000 > 2 ? (hold_ms + 999) / 1000 : 2;
    coord_holder_self(id, &task->self);
    coord_name_encode(service, name);
    snprintf(task->key, sizeof(task->key), "%s/select/%s", kv->prefix, name);
    enum status st = kv_txn_new(&task->txn);
    if (st == OK)
        st = begin_choice(task);
    if (st != OK)
        free_task(task);
    return st;
}
