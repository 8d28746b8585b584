#include "store_etcd_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "store_etcd_tables.h"

struct plan_compare {
    struct plan_key key;
    int64_t mod_revision; /* 0: there is no such key */
    bool is_definition;   /* needless when the guard is compared */
};

struct plan_before {
    struct mirror_run *run; /* NULL: a job */
    bool is_new;            /* the run was not there */
    struct mirror_job *job;
    union {
        struct run_row run;
        struct job_row job;
    } row;
};

enum {
    LEVEL_MAX = 60, /* operations of one level, see plan_width */
    COMPARES_MAX = 60,
    STEPS_MAX = 3000, /* of one item, in one transaction */
    STEPS_BYTES_MAX = 400 * 1024,
};

/* Room for one more. */
static enum status grow(void **items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return OK;
    size_t more = *room ? 2 * *room : 8;
    void *grown = realloc(*items, more * size);
    if (!grown)
        return E_NOMEM;
    *items = grown;
    *room = more;
    return OK;
}

/* ---- keys ---- */

struct plan_key plan_key(struct plan *plan, const char *kind, const char *rest)
{
    struct plan_key key = {.at = plan->bytes.length};
    strbuf_adds(&plan->bytes, plan->mirror->prefix);
    strbuf_addc(&plan->bytes, '/');
    strbuf_adds(&plan->bytes, kind);
    strbuf_addc(&plan->bytes, '/');
    strbuf_adds(&plan->bytes, rest);
    key.length = plan->bytes.length - key.at;
    key.hash = hash_bytes(0, plan->bytes.text + key.at, key.length);
    return key;
}

struct plan_key plan_id_key(struct plan *plan, const char *kind, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    return plan_key(plan, kind, text);
}

struct plan_key plan_run_key(struct plan *plan, const struct id *id)
{
    if (plan->run.length == 0 || id_compare(&plan->run_id, id) != 0) {
        plan->run = plan_id_key(plan, "runs", id);
        plan->run_id = *id;
    }
    return plan->run;
}

struct plan_key plan_guard_key(struct plan *plan, const struct id *uid)
{
    assert(plan->guard.length == 0 || id_compare(&plan->guard_uid, uid) == 0);
    if (plan->guard.length == 0) {
        plan->guard = plan_id_key(plan, "cursors", uid);
        plan->guard_uid = *uid;
    }
    return plan->guard;
}

static struct etcd_bytes key_bytes(const struct plan *plan, const struct plan_key *key)
{
    return (struct etcd_bytes){plan->bytes.text + key->at, key->length};
}

static bool same_key(const struct plan *plan, const struct plan_key *a, const struct plan_key *b)
{
    return a->hash == b->hash && a->length == b->length &&
           memcmp(plan->bytes.text + a->at, plan->bytes.text + b->at, a->length) == 0;
}

/* ---- what the decision rests on ---- */

static enum status add_compare(struct plan *plan, struct plan_compare compare)
{
    for (size_t i = 0; i < plan->compare_count; i++)
        if (same_key(plan, &plan->compares[i].key, &compare.key))
            return OK;
    if (plan->compare_count == COMPARES_MAX)
        return E_TOO_LARGE;
    enum status st = grow((void **)&plan->compares, plan->compare_count, &plan->compare_room,
                          sizeof(*plan->compares));
    if (st == OK)
        plan->compares[plan->compare_count++] = compare;
    return st;
}

enum status plan_compare_key(struct plan *plan, struct plan_key key, int64_t mod_revision)
{
    return add_compare(plan, (struct plan_compare){key, mod_revision, false});
}

enum status plan_compare_definition(struct plan *plan, const struct id *uid, int64_t mod_revision)
{
    if (plan->has_guard)
        return OK;
    return add_compare(plan,
                       (struct plan_compare){plan_id_key(plan, "jobs", uid), mod_revision, true});
}

enum status plan_compare_run(struct plan *plan, const struct id *id, const struct mirror_run *run)
{
    return plan_compare_key(plan, plan_run_key(plan, id), run ? run->mod_revision : 0);
}

enum status plan_compare_guard(struct plan *plan, const struct id *uid)
{
    if (plan->has_guard)
        return OK;
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    enum status st =
        plan_compare_key(plan, plan_guard_key(plan, uid), job ? job->cursor_revision : 0);
    plan->has_guard = st == OK;
    return st;
}

static bool is_needless(const struct plan *plan, const struct plan_compare *compare)
{
    return compare->is_definition && plan->has_guard;
}

/* ---- what it does ---- */

bool plan_has_written(const struct plan *plan, const struct plan_key *key)
{
    for (size_t i = 0; i < plan->item.writes; i++)
        if (same_key(plan, &plan->writes[i].key, key))
            return true;
    return false;
}

static enum status add_write(struct plan *plan, struct plan_write write)
{
    if (write.is_step && (plan->write_count >= STEPS_MAX || plan->bytes.length >= STEPS_BYTES_MAX))
        return E_TOO_LARGE;
    enum status st =
        grow((void **)&plan->writes, plan->write_count, &plan->write_room, sizeof(*plan->writes));
    if (st == OK)
        plan->writes[plan->write_count++] = write;
    return st;
}

enum status plan_put(struct plan *plan, struct plan_write write, size_t value_at)
{
    write.value_at = value_at;
    write.value_length = plan->bytes.length - value_at;
    return add_write(plan, write);
}

enum status plan_delete(struct plan *plan, struct plan_key key)
{
    return add_write(plan, (struct plan_write){.key = key, .is_delete = true});
}

void plan_drop_cursor_write(struct plan *plan)
{
    if (plan->cursor_write)
        plan->writes[plan->cursor_write - 1].is_dropped = true;
    plan->cursor_write = 0;
}

enum status plan_write_cursor(struct plan *plan, const struct job_row *row, enum tell tell)
{
    enum status st = plan_compare_guard(plan, &row->uid);
    if (st != OK)
        return st;
    plan_drop_cursor_write(plan);
    struct plan_key key = plan_guard_key(plan, &row->uid);
    size_t value_at = plan->bytes.length;
    value_write_cursor(&plan->bytes, row, tell);
    st = plan_put(plan, (struct plan_write){.key = key}, value_at);
    if (st == OK)
        plan->cursor_write = plan->write_count;
    return st == OK ? plan_overlay_job(plan, row) : st;
}

enum status plan_touch_guard(struct plan *plan, const struct id *uid)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    if (plan->cursor_write || !job || !job->mod_revision)
        return OK;
    return plan_write_cursor(plan, &job->row, TELL_NOTHING);
}

/* ---- what the rules see of it ---- */

static enum status keep_before(struct plan *plan, struct plan_before before)
{
    enum status st = grow((void **)&plan->befores, plan->before_count, &plan->before_room,
                          sizeof(*plan->befores));
    if (st == OK)
        plan->befores[plan->before_count++] = before;
    return st;
}

enum status plan_overlay_run(struct plan *plan, struct mirror_run *run, const struct run_row *row)
{
    enum status st = keep_before(plan, (struct plan_before){.run = run, .row.run = run->row});
    if (st == OK)
        run->row = *row;
    return st;
}

enum status plan_overlay_new_run(struct plan *plan, const struct run_row *row)
{
    if (!plan->more_follow)
        return OK;
    struct run_row last = *row;
    last.seq = INT64_MAX - BATCH_PLACES + plan->place; /* behind all others */
    struct mirror_run *run = mirror_add_run(plan->mirror, &last);
    enum status st =
        run ? keep_before(plan, (struct plan_before){.run = run, .is_new = true}) : E_NOMEM;
    if (run && st != OK)
        mirror_remove_run(plan->mirror, run);
    return st;
}

enum status plan_overlay_job(struct plan *plan, const struct job_row *row)
{
    struct mirror_job *job = plan->more_follow ? mirror_find_job(plan->mirror, &row->uid) : NULL;
    if (!job)
        return OK;
    enum status st = keep_before(plan, (struct plan_before){.job = job, .row.job = job->row});
    if (st == OK)
        job->row = *row;
    return st;
}

static void put_back(struct plan *plan, size_t count)
{
    while (plan->before_count > count) {
        const struct plan_before *before = &plan->befores[--plan->before_count];
        if (!before->run)
            before->job->row = before->row.job;
        else if (before->is_new)
            mirror_remove_run(plan->mirror, before->run);
        else
            before->run->row = before->row.run;
    }
}

/* ---- plans ---- */

void etcd_plan_init(struct plan *plan, struct mirror *mirror)
{
    *plan = (struct plan){.tables.ops = &plan_tables_ops, .mirror = mirror, .unused.is_deaf = true};
    strbuf_init(&plan->bytes);
}

void etcd_plan_release(struct plan *plan)
{
    strbuf_release(&plan->bytes);
    free(plan->compares);
    free(plan->writes);
    free(plan->befores);
}

void plan_begin(struct plan *plan)
{
    strbuf_reset(&plan->bytes);
    plan->compare_count = plan->write_count = plan->cursor_write = plan->item_count = 0;
    plan->guard.length = plan->run.length = 0;
    plan->is_partial = plan->has_guard = false;
}

void plan_end(struct plan *plan)
{
    put_back(plan, 0);
}

static void rewind_item(struct plan *plan)
{
    const struct plan_mark *mark = &plan->item;
    put_back(plan, mark->befores);
    plan->compare_count = mark->compares;
    plan->write_count = mark->writes;
    plan->cursor_write = mark->cursor_write;
    if (plan->cursor_write)
        plan->writes[plan->cursor_write - 1].is_dropped = false;
    plan->has_guard = mark->has_guard;
    strbuf_truncate(&plan->bytes, mark->bytes);
    plan->run.length = 0;
    if (plan->guard.at >= mark->bytes)
        plan->guard.length = 0;
}

/* Leaves out all that is not right without the rest. */
static enum status keep_steps(struct plan *plan)
{
    size_t steps = 0;
    put_back(plan, 0);
    for (size_t i = 0; i < plan->write_count; i++) {
        plan->writes[i].is_dropped |= !plan->writes[i].is_step;
        steps += !plan->writes[i].is_dropped;
    }
    if (steps == 0)
        return E_TOO_LARGE;
    plan->cursor_write = 0;
    plan->is_partial = true;
    return plan->has_guard ? plan_touch_guard(plan, &plan->guard_uid) : OK;
}

/* A request of its item alone. */
static struct store_request single(const struct store_request *request, size_t i)
{
    static const size_t sizes[] = {
        [STORE_CLAIM] = sizeof(struct store_claim),
        [STORE_TAKE] = sizeof(struct store_take),
        [STORE_BEGIN] = sizeof(struct store_begin),
        [STORE_FINISH] = sizeof(struct store_finish),
        [STORE_FORGET] = sizeof(struct store_forget),
        [STORE_PUT_JOB] = sizeof(struct store_put_job),
        [STORE_ADD_RUN] = sizeof(struct store_add_run),
        [STORE_ORDER] = sizeof(struct store_order),
        [STORE_SET_META] = sizeof(struct store_set_meta),
        [STORE_DRAIN] = sizeof(struct store_drain),
        [STORE_PUT_DOC] = sizeof(struct store_put_doc),
    };
    char *items = (char *)request->items.claims;
    return (struct store_request){
        .op = request->op, .count = 1, .items.claims = (void *)(items + i * sizes[request->op])};
}

enum status plan_add(struct plan *plan, const struct store_request *request, size_t i, int place,
                     bool more_follow)
{
    struct store_request item = single(request, i);
    plan->item = (struct plan_mark){.compares = plan->compare_count,
                                    .writes = plan->write_count,
                                    .befores = plan->before_count,
                                    .bytes = plan->bytes.length,
                                    .cursor_write = plan->cursor_write,
                                    .has_guard = plan->has_guard};
    plan->place = place;
    plan->more_follow = more_follow;
    enum status st = rules_apply(&plan->tables, &plan->unused, &item);
    if (st == E_TOO_LARGE && plan->item_count == 0)
        st = keep_steps(plan);
    if (st == OK)
        st = strbuf_status(&plan->bytes);
    if (st == OK)
        plan->item_count++;
    else
        rewind_item(plan);
    return st;
}

static const struct mirror_job *job_of(const struct plan *plan, const struct store_request *request,
                                       size_t i)
{
    const struct mirror_run *run = NULL;
    if (request->op == STORE_ADD_RUN)
        return mirror_find_job(plan->mirror, &request->items.adds[i].run.job_uid);
    if (request->op == STORE_FINISH)
        run = mirror_find_run(plan->mirror, &request->items.finishes[i].run.id);
    else if (request->op == STORE_TAKE)
        run = mirror_find_run(plan->mirror, &request->items.takes[i].run_id);
    else if (request->op == STORE_ORDER)
        run = mirror_find_run(plan->mirror, &request->items.orders[i].run_id);
    return run ? run->job : NULL;
}

bool plan_may_chain(const struct plan *plan, const struct store_request *request, size_t i)
{
    if (i + 1 >= request->count)
        return false;
    const struct mirror_job *job = job_of(plan, request, i);
    return job && job == job_of(plan, request, i + 1);
}

/* ---- as a transaction ---- */

static void emit_write(const struct plan *plan, const struct plan_write *write,
                       struct etcd_txn *txn)
{
    struct etcd_bytes key = key_bytes(plan, &write->key);
    struct etcd_bytes value = {plan->bytes.text + write->value_at, write->value_length};
    if (write->is_delete)
        etcd_txn_delete(txn, &(struct etcd_delete){.key = key});
    else
        etcd_txn_put(txn, &(struct etcd_put){.key = key, .value = value});
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t plan_width(const struct plan *plan)
{
    size_t wraps = (plan->write_count + LEVEL_MAX - 1) / LEVEL_MAX;
    return wraps <= 1 ? larger(plan->compare_count, plan->write_count)
                      : larger(plan->compare_count, wraps) + LEVEL_MAX;
}

/* Many writes are wrapped, to keep within what etcd takes per level. */
static void emit_writes(const struct plan *plan, struct etcd_txn *txn)
{
    bool wrapped = plan->write_count > LEVEL_MAX;
    size_t emitted = 0;
    for (int last = 0; last < 2; last++) {
        for (size_t i = 0; i < plan->write_count; i++) {
            const struct plan_write *write = &plan->writes[i];
            if (write->is_dropped || write->is_last != last)
                continue;
            if (wrapped && emitted % LEVEL_MAX == 0) {
                if (emitted)
                    etcd_txn_end(txn);
                etcd_txn_begin(txn);
            }
            emit_write(plan, write, txn);
            emitted++;
        }
    }
    if (wrapped && emitted)
        etcd_txn_end(txn);
}

void plan_emit(const struct plan *plan, struct etcd_txn *txn)
{
    etcd_txn_begin(txn);
    for (size_t i = 0; i < plan->compare_count; i++)
        if (!is_needless(plan, &plan->compares[i]))
            etcd_txn_if_mod_revision(txn, key_bytes(plan, &plan->compares[i].key), ETCD_EQUAL,
                                     plan->compares[i].mod_revision);
    emit_writes(plan, txn);
    etcd_txn_end(txn);
}

bool plan_writes(const struct plan *plan)
{
    return plan->write_count > 0;
}

bool plan_puts(const struct plan *plan)
{
    for (size_t i = 0; i < plan->write_count; i++)
        if (!plan->writes[i].is_delete && !plan->writes[i].is_dropped)
            return true;
    return false;
}

bool plan_each_key(const struct plan *plan, bool written,
                   bool (*take)(void *context, uint64_t key_hash), void *context)
{
    bool go_on = true;
    for (size_t i = 0; written && go_on && i < plan->write_count; i++)
        go_on = plan->writes[i].is_dropped || take(context, plan->writes[i].key.hash);
    for (size_t i = 0; !written && go_on && i < plan->compare_count; i++)
        go_on = is_needless(plan, &plan->compares[i]) || take(context, plan->compares[i].key.hash);
    return go_on;
}
