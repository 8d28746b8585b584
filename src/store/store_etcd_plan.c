#include "store_etcd_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

/* Bytes of plan->bytes, which moves while it grows. */
struct part {
    size_t at, length;
};

struct plan_compare {
    struct part key;
    int64_t mod_revision; /* 0: there is no such key */
};

struct plan_write {
    struct part key, value;
    bool is_delete;
    bool is_dropped; /* written anew, further on */
    bool is_last;    /* a definition: told after what happens to its runs */
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

static struct part add_key(struct plan *plan, const char *kind, const char *rest)
{
    struct part key = {.at = plan->bytes.length};
    strbuf_addf(&plan->bytes, "%s/%s/%s", plan->mirror->prefix, kind, rest);
    key.length = plan->bytes.length - key.at;
    return key;
}

static struct part id_key(struct plan *plan, const char *kind, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    return add_key(plan, kind, text);
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

static enum status compare(struct plan *plan, struct part key, int64_t mod_revision)
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

static enum status compare_run(struct plan *plan, const struct id *id, const struct mirror_run *run)
{
    return compare(plan, id_key(plan, "runs", id), run ? run->mod_revision : 0);
}

/* The job's runs are as they are: none more, none less, and the same ones wait. */
static enum status compare_guard(struct plan *plan, const struct id *uid)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    return compare(plan, id_key(plan, "cursors", uid), job ? job->cursor_revision : 0);
}

static enum status note_write(struct plan *plan, struct plan_write write)
{
    enum status st =
        grow((void **)&plan->writes, plan->write_count, &plan->write_room, sizeof(*plan->writes));
    if (st == OK)
        plan->writes[plan->write_count++] = write;
    return st;
}

/* The value is what was appended to the bytes since the key. */
static struct part value_after(const struct plan *plan, struct part key)
{
    size_t at = key.at + key.length;
    return (struct part){at, plan->bytes.length - at};
}

static enum status note_put(struct plan *plan, struct part key)
{
    return note_write(plan, (struct plan_write){.key = key, .value = value_after(plan, key)});
}

static enum status note_delete(struct plan *plan, struct part key)
{
    return note_write(plan, (struct plan_write){.key = key, .is_delete = true});
}

static void drop_cursor_write(struct plan *plan)
{
    if (plan->cursor_write)
        plan->writes[plan->cursor_write - 1].is_dropped = true;
    plan->cursor_write = 0;
}

static enum status write_cursor(struct plan *plan, const struct job_row *row, enum tell tell)
{
    enum status st = compare_guard(plan, &row->uid);
    if (st != OK)
        return st;
    drop_cursor_write(plan);
    struct part key = id_key(plan, "cursors", &row->uid);
    value_write_cursor(&plan->bytes, row, tell);
    st = note_put(plan, key);
    if (st == OK)
        plan->cursor_write = plan->write_count;
    return st;
}

/* The runs of the job are no longer as they were. A purged job makes none. */
static enum status touch_guard(struct plan *plan, const struct id *uid)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    if (plan->cursor_write || !job || !job->mod_revision)
        return OK;
    return write_cursor(plan, &job->row, TELL_NOTHING);
}

/* ---- jobs ---- */

static const struct mirror_job *defined_job(const struct plan *plan, const struct id *uid)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    return job && job->mod_revision ? job : NULL;
}

/* Its cursor is compared by whoever writes it: it only grows, so nobody is misled by an old one. */
static enum status get_job(struct tables *tables, const struct id *uid, struct job_row *ret)
{
    struct plan *plan = (struct plan *)tables;
    const struct mirror_job *job = defined_job(plan, uid);
    enum status st = compare(plan, id_key(plan, "jobs", uid), job ? job->mod_revision : 0);
    if (st != OK)
        return st;
    if (!job)
        return E_NOT_FOUND;
    *ret = job->row;
    return OK;
}

static enum status find_name(struct tables *tables, const char *text, struct id *ret)
{
    struct plan *plan = (struct plan *)tables;
    const struct mirror_name *name = mirror_find_name(plan->mirror, text);
    enum status st = compare(plan, add_key(plan, "names", text), name ? name->mod_revision : 0);
    if (st != OK)
        return st;
    if (!name)
        return E_NOT_FOUND;
    *ret = name->uid;
    return OK;
}

/* Frees the name that the job has, if it has one and is to have another one, or none (NULL). */
static enum status change_name(struct plan *plan, const struct mirror_job *job,
                               const struct id *uid, const char *name)
{
    const char *old = job && !job->row.deleted ? job->name : NULL;
    enum status st = OK;
    if (old && name && strcmp(old, name) == 0)
        return OK;
    if (old)
        st = note_delete(plan, add_key(plan, "names", old));
    if (!name || st != OK)
        return st;
    struct part key = add_key(plan, "names", name);
    value_write_name(&plan->bytes, uid);
    return note_put(plan, key);
}

static enum status put_job(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json)
{
    struct plan *plan = (struct plan *)tables;
    const struct mirror_job *job = defined_job(plan, &row->uid);
    enum status st = OK;
    if (!job || job->row.cursor_ms != row->cursor_ms)
        st = write_cursor(plan, row, TELL_NOTHING); /* told with the job */
    if (st == OK)
        st = change_name(plan, job, &row->uid, row->deleted ? NULL : name);
    if (st != OK)
        return st;
    struct part key = id_key(plan, "jobs", &row->uid);
    value_write_job(&plan->bytes, row, name, json);
    return note_write(
        plan, (struct plan_write){.key = key, .value = value_after(plan, key), .is_last = true});
}

static enum status move_job(struct tables *tables, const struct job_row *row)
{
    return write_cursor((struct plan *)tables, row, TELL_CHANGE);
}

static enum status remove_job(struct tables *tables, const struct id *uid)
{
    struct plan *plan = (struct plan *)tables;
    enum status st = compare_guard(plan, uid);
    drop_cursor_write(plan);
    if (st == OK)
        st = note_delete(plan, id_key(plan, "cursors", uid));
    if (st == OK)
        st = change_name(plan, defined_job(plan, uid), uid, NULL);
    if (st != OK)
        return st;
    struct part key = id_key(plan, "jobs", uid);
    return note_write(plan, (struct plan_write){.key = key, .is_delete = true, .is_last = true});
}

/* ---- runs ---- */

static enum status get_run(struct tables *tables, const struct id *id, struct run_row *ret)
{
    struct plan *plan = (struct plan *)tables;
    const struct mirror_run *run = mirror_find_run(plan->mirror, id);
    enum status st = compare_run(plan, id, run);
    if (st != OK)
        return st;
    if (!run)
        return E_NOT_FOUND;
    *ret = run->row;
    return OK;
}

/* The first run of the job, as far as it was guarded; NULL: there is none. */
static enum status first_run(struct plan *plan, const struct id *uid, const struct mirror_run **ret)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    enum status st = compare_guard(plan, uid);
    if (st == OK)
        *ret = job ? TAILQ_FIRST(&job->runs) : NULL;
    return st;
}

static enum status find_run(struct tables *tables, const struct id *job_uid, int64_t tick_ms,
                            int attempt, struct id *ret)
{
    struct plan *plan = (struct plan *)tables;
    const struct mirror_run *run;
    enum status st = first_run(plan, job_uid, &run);
    if (st != OK)
        return st;
    for (; run; run = TAILQ_NEXT(run, of_job)) {
        if (run->row.run.tick_ms == tick_ms && run->row.run.attempt == attempt) {
            *ret = run->row.run.id;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

static enum status count_open(struct tables *tables, const struct id *job_uid, int64_t *ret_open,
                              int64_t *ret_queued)
{
    const struct mirror_run *run;
    enum status st = first_run((struct plan *)tables, job_uid, &run);
    if (st != OK)
        return st;
    *ret_open = *ret_queued = 0;
    for (; run; run = TAILQ_NEXT(run, of_job)) {
        *ret_open += state_is_open(run->row.run.state);
        *ret_queued += run->row.run.state == RUN_QUEUED;
    }
    return OK;
}

static enum status next_open(struct tables *tables, const struct id *job_uid, int64_t after_seq,
                             struct run_row *ret)
{
    const struct mirror_run *run;
    enum status st = first_run((struct plan *)tables, job_uid, &run);
    if (st != OK)
        return st;
    for (; run; run = TAILQ_NEXT(run, of_job)) {
        if (run->row.seq > after_seq && state_is_open(run->row.run.state)) {
            *ret = run->row;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

static enum status oldest_queued(struct tables *tables, const struct id *job_uid,
                                 struct run_row *ret)
{
    const struct mirror_run *run;
    enum status st = first_run((struct plan *)tables, job_uid, &run);
    if (st != OK)
        return st;
    while (run && run->row.run.state != RUN_QUEUED)
        run = TAILQ_NEXT(run, of_job);
    if (!run)
        return E_NOT_FOUND;
    *ret = run->row;
    return OK;
}

static enum status add_run(struct tables *tables, const struct run *run)
{
    struct plan *plan = (struct plan *)tables;
    struct run_row row = {.run = *run};
    if (mirror_find_run(plan->mirror, &run->id))
        return E_INVALID;
    enum status st = compare_run(plan, &run->id, NULL);
    if (st != OK)
        return st;
    struct part key = id_key(plan, "runs", &run->id);
    value_write_run(&plan->bytes, &row, TELL_CHANGE, plan->place);
    st = note_put(plan, key);
    return st == OK ? touch_guard(plan, &run->job_uid) : st;
}

static bool is_waiting(enum run_state state)
{
    return state == RUN_QUEUED || state == RUN_DUE;
}

/* Seen by the rules from now on, until the plan is made. */
static enum status overlay(struct plan *plan, struct mirror_run *run, const struct run_row *row)
{
    enum status st = grow((void **)&plan->befores, plan->before_count, &plan->before_room,
                          sizeof(*plan->befores));
    if (st != OK)
        return st;
    plan->befores[plan->before_count++] = (struct plan_before){run, run->row};
    run->row = *row;
    return OK;
}

static enum status set_run(struct tables *tables, const struct run_row *row)
{
    struct plan *plan = (struct plan *)tables;
    struct mirror_run *run = mirror_find_run(plan->mirror, &row->run.id);
    enum run_state before = run->row.run.state;
    bool is_guarded = is_waiting(before) && run->job->mod_revision;
    enum status st =
        is_guarded ? compare_guard(plan, &row->run.job_uid) : compare_run(plan, &row->run.id, run);
    if (st != OK)
        return st;
    struct part key = id_key(plan, "runs", &row->run.id);
    bool is_kill = row->run.state == before; /* all else changes the state */
    value_write_run(&plan->bytes, row, is_kill ? TELL_KILL : TELL_CHANGE, plan->place);
    st = note_put(plan, key);
    if (st == OK)
        st = overlay(plan, run, row);
    if (st == OK &&
        (is_waiting(before) || (state_is_open(before) && !state_is_open(row->run.state))))
        st = touch_guard(plan, &row->run.job_uid);
    return st;
}

static enum status remove_ended_run(struct tables *tables, const struct id *id)
{
    struct plan *plan = (struct plan *)tables;
    const struct mirror_run *run = mirror_find_run(plan->mirror, id);
    enum status st = compare_run(plan, id, run);
    if (st != OK)
        return st;
    if (!run || state_is_open(run->row.run.state))
        return E_NOT_FOUND;
    return note_delete(plan, id_key(plan, "runs", id));
}

/* ---- the rest ---- */

static enum status add_entry(struct tables *tables, const struct ledger_entry *entry)
{
    struct plan *plan = (struct plan *)tables;
    if (mirror_find_entry(plan->mirror, &entry->id))
        return OK;
    struct part key = id_key(plan, "entries", &entry->id);
    value_write_entry(&plan->bytes, entry);
    return note_put(plan, key);
}

static enum status remove_entry(struct tables *tables, const struct id *id)
{
    struct plan *plan = (struct plan *)tables;
    if (!mirror_find_entry(plan->mirror, id))
        return E_NOT_FOUND;
    return note_delete(plan, id_key(plan, "entries", id));
}

/* The transaction's own revision and place make it: see value_write_run. */
static enum status next_fence(struct tables *tables, int64_t *ret)
{
    (void)tables;
    *ret = 0;
    return OK;
}

static enum status set_meta(struct tables *tables, const struct store_set_meta *meta)
{
    struct plan *plan = (struct plan *)tables;
    struct part key = {.at = plan->bytes.length};
    strbuf_addf(&plan->bytes, "%s/metas/%s/%s", plan->mirror->prefix, plan->mirror->node,
                meta->key);
    key.length = plan->bytes.length - key.at;
    strbuf_adds(&plan->bytes, meta->value);
    return note_put(plan, key);
}

static const struct tables_ops plan_ops = {
    .get_job = get_job,
    .find_name = find_name,
    .put_job = put_job,
    .move_job = move_job,
    .remove_job = remove_job,
    .get_run = get_run,
    .find_run = find_run,
    .count_open = count_open,
    .next_open = next_open,
    .oldest_queued = oldest_queued,
    .add_run = add_run,
    .set_run = set_run,
    .remove_ended_run = remove_ended_run,
    .add_entry = add_entry,
    .remove_entry = remove_entry,
    .next_fence = next_fence,
    .set_meta = set_meta,
};

/* ---- plans ---- */

void plan_init(struct plan *plan, const struct mirror *mirror)
{
    *plan = (struct plan){.tables.ops = &plan_ops, .mirror = mirror};
    strbuf_init(&plan->bytes);
}

void plan_release(struct plan *plan)
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
