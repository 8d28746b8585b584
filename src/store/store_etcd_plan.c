#include "store_etcd_plan.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "store_etcd_tables.h"

struct plan_compare {
    struct part key;
    int64_t mod_revision; /* 0: there is no such key */
};

struct plan_before {
    struct mirror_run *run;
    struct run_row row;
};

/* etcd takes 128 of each per level. */
enum { LEVEL_MAX = 100, COMPARES_MAX = 120 };

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

struct part plan_key(struct plan *plan, const char *kind, const char *rest)
{
    struct part key = {.at = plan->bytes.length};
    strbuf_addf(&plan->bytes, "%s/%s/%s", plan->mirror->prefix, kind, rest);
    key.length = plan->bytes.length - key.at;
    return key;
}

struct part plan_id_key(struct plan *plan, const char *kind, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    return plan_key(plan, kind, text);
}

static struct etcd_bytes bytes_of(const struct plan *plan, struct part part)
{
    return (struct etcd_bytes){plan->bytes.text + part.at, part.length};
}

static bool same_key(const struct plan *plan, struct part a, struct part b)
{
    return a.length == b.length &&
           memcmp(plan->bytes.text + a.at, plan->bytes.text + b.at, a.length) == 0;
}

/* ---- notes ---- */

enum status plan_compare_key(struct plan *plan, struct part key, int64_t mod_revision)
{
    for (size_t i = 0; i < plan->compare_count; i++)
        if (same_key(plan, plan->compares[i].key, key))
            return OK;
    if (plan->compare_count == COMPARES_MAX)
        return E_TOO_LARGE;
    enum status st = grow((void **)&plan->compares, plan->compare_count, &plan->compare_room,
                          sizeof(*plan->compares));
    if (st == OK)
        plan->compares[plan->compare_count++] = (struct plan_compare){key, mod_revision};
    return st;
}

enum status plan_compare_run(struct plan *plan, const struct id *id, const struct mirror_run *run)
{
    return plan_compare_key(plan, plan_id_key(plan, "runs", id), run ? run->mod_revision : 0);
}

enum status plan_compare_guard(struct plan *plan, const struct id *uid)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    return plan_compare_key(plan, plan_id_key(plan, "cursors", uid),
                            job ? job->cursor_revision : 0);
}

enum status plan_write(struct plan *plan, struct plan_write write)
{
    enum status st =
        grow((void **)&plan->writes, plan->write_count, &plan->write_room, sizeof(*plan->writes));
    if (st == OK)
        plan->writes[plan->write_count++] = write;
    return st;
}

/* The value is what was appended to the bytes since the key. */
struct part plan_value_after(const struct plan *plan, struct part key)
{
    size_t at = key.at + key.length;
    return (struct part){at, plan->bytes.length - at};
}

enum status plan_put(struct plan *plan, struct part key)
{
    return plan_write(plan, (struct plan_write){.key = key, .value = plan_value_after(plan, key)});
}

enum status plan_delete(struct plan *plan, struct part key)
{
    return plan_write(plan, (struct plan_write){.key = key, .is_delete = true});
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
    struct part key = plan_id_key(plan, "cursors", &row->uid);
    value_write_cursor(&plan->bytes, row, tell);
    st = plan_put(plan, key);
    if (st == OK)
        plan->cursor_write = plan->write_count;
    return st;
}

enum status plan_touch_guard(struct plan *plan, const struct id *uid)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    if (plan->cursor_write || !job || !job->mod_revision)
        return OK;
    return plan_write_cursor(plan, &job->row, TELL_NOTHING);
}

enum status plan_overlay_run(struct plan *plan, struct mirror_run *run, const struct run_row *row)
{
    enum status st = grow((void **)&plan->befores, plan->before_count, &plan->before_room,
                          sizeof(*plan->befores));
    if (st != OK)
        return st;
    plan->befores[plan->before_count++] = (struct plan_before){run, run->row};
    run->row = *row;
    return OK;
}

/* ---- plans ---- */

void etcd_plan_init(struct plan *plan, const struct mirror *mirror)
{
    *plan = (struct plan){.tables.ops = &plan_tables_ops, .mirror = mirror};
    strbuf_init(&plan->bytes);
}

void etcd_plan_release(struct plan *plan)
{
    strbuf_release(&plan->bytes);
    free(plan->compares);
    free(plan->writes);
    free(plan->befores);
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
    };
    char *items = (char *)request->items.claims;
    return (struct store_request){
        .op = request->op, .count = 1, .items.claims = (void *)(items + i * sizes[request->op])};
}

enum status plan_make(struct plan *plan, const struct store_request *request, size_t i, int place)
{
    struct store_request item = single(request, i);
    strbuf_reset(&plan->bytes);
    plan->compare_count = plan->write_count = plan->before_count = plan->cursor_write = 0;
    plan->place = place;
    enum status st = rules_apply(&plan->tables, &plan->unused, &item);
    while (plan->before_count > 0) {
        const struct plan_before *before = &plan->befores[--plan->before_count];
        before->run->row = before->row;
    }
    feed_release(&plan->unused);
    return st == OK ? strbuf_status(&plan->bytes) : st;
}

static void emit_write(const struct plan *plan, const struct plan_write *write,
                       struct etcd_txn *txn)
{
    struct etcd_bytes key = bytes_of(plan, write->key);
    if (write->is_delete)
        etcd_txn_delete(txn, &(struct etcd_delete){.key = key});
    else
        etcd_txn_put(txn, &(struct etcd_put){.key = key, .value = bytes_of(plan, write->value)});
}

/* Many writes are wrapped by the hundred, to keep within what etcd takes per level. */
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
        etcd_txn_if_mod_revision(txn, bytes_of(plan, plan->compares[i].key), ETCD_EQUAL,
                                 plan->compares[i].mod_revision);
    emit_writes(plan, txn);
    etcd_txn_end(txn);
}

bool plan_writes(const struct plan *plan)
{
    return plan->write_count > 0;
}

static uint64_t key_hash(const struct plan *plan, struct part key)
{
    return hash_bytes(0, plan->bytes.text + key.at, key.length);
}

bool plan_each_key(const struct plan *plan, bool written,
                   bool (*take)(void *context, uint64_t key_hash), void *context)
{
    bool go_on = true;
    for (size_t i = 0; written && go_on && i < plan->write_count; i++)
        go_on = plan->writes[i].is_dropped || take(context, key_hash(plan, plan->writes[i].key));
    for (size_t i = 0; !written && go_on && i < plan->compare_count; i++)
        go_on = take(context, key_hash(plan, plan->compares[i].key));
    return go_on;
}
