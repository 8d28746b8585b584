#include "kv/store_kv_plan.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash.h"
#include "kv/store_kv_tables.h"

/* A job's guard: its cursor's key, compared. */
struct plan_guard {
    struct id uid;
    struct plan_key key;
    size_t write;        /* 1 + its index in `writes`; 0: not written */
    size_t write_before; /* the same, before the current item */
};

struct plan_before {
    struct mirror_run *run; /* NULL: a job */
    bool is_new;            /* the run is new: remove it */
    struct mirror_job *job;
    union {
        struct run_row run;
        struct job_row job;
    } row;
};

enum {
    COMPARES_MAX =
        STORE_NEXT_JOBS_MAX + 8, /* of a finish with all nexts: the run, its job, and steps */
    STEPS_MAX = 1900,            /* of one item, in one transaction */
    STEPS_BYTES_MAX = 400 * 1024,
};

/* ---- keys ---- */

struct plan_key plan_key(struct store_plan *plan, const char *kind, const char *rest)
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

struct plan_key plan_id_key(struct store_plan *plan, const char *kind, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    return plan_key(plan, kind, text);
}

struct plan_key plan_run_key(struct store_plan *plan, const struct id *id)
{
    if (plan->run.length == 0 || id_compare(&plan->run_id, id) != 0) {
        plan->run = plan_id_key(plan, "runs", id);
        plan->run_id = *id;
    }
    return plan->run;
}

static bool same_key(const struct store_plan *plan, const struct plan_key *a,
                     const struct plan_key *b)
{
    return a->hash == b->hash && a->length == b->length &&
           memcmp(plan->bytes.text + a->at, plan->bytes.text + b->at, a->length) == 0;
}

/* ---- what the decision rests on ---- */

static struct plan_guard *find_guard(const struct store_plan *plan, const struct id *uid)
{
    for (size_t i = 0; i < plan->guard_count; i++)
        if (id_compare(&plan->guards[i].uid, uid) == 0)
            return &plan->guards[i];
    return NULL;
}

static enum status add_compare(struct store_plan *plan, struct plan_compare compare)
{
    for (size_t i = 0; i < plan->compare_count; i++)
        if (same_key(plan, &plan->compares[i].key, &compare.key))
            return OK;
    if (plan->compare_count == COMPARES_MAX)
        return E_TOO_LARGE;
    enum status st = array_reserve(&plan->compares, plan->compare_count, &plan->compare_room,
                                   sizeof(*plan->compares));
    if (st == OK)
        plan->compares[plan->compare_count++] = compare;
    return st;
}

enum status plan_compare_key(struct store_plan *plan, struct plan_key key, int64_t mod_revision)
{
    return add_compare(plan, (struct plan_compare){.key = key, .mod_revision = mod_revision});
}

enum status plan_compare_definition(struct store_plan *plan, const struct id *uid,
                                    int64_t mod_revision)
{
    if (find_guard(plan, uid))
        return OK;
    return add_compare(plan, (struct plan_compare){plan_id_key(plan, "jobs", uid), mod_revision,
                                                   .definition = *uid});
}

enum status plan_compare_run(struct store_plan *plan, const struct id *id,
                             const struct mirror_run *run)
{
    return plan_compare_key(plan, plan_run_key(plan, id), run ? run->mod_revision : 0);
}

/* With the guard the item need not compare the definition. Compares of earlier items stay, since
 * this item may be rolled back. */
static void drop_definition(struct store_plan *plan, const struct id *uid)
{
    for (size_t i = plan->item.compares; i < plan->compare_count; i++) {
        if (id_compare(&plan->compares[i].definition, uid) == 0) {
            plan->compares[i] = plan->compares[--plan->compare_count];
            return;
        }
    }
}

/* A job whose cursor is set aside gets no new runs; its open runs may end, each by itself. */
static bool is_unguarded(const struct store_plan *plan, const struct id *uid)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    return job && job->is_cursor_aside;
}

enum status plan_compare_guard(struct store_plan *plan, const struct id *uid)
{
    if (find_guard(plan, uid) || is_unguarded(plan, uid))
        return OK;
    enum status st =
        array_reserve(&plan->guards, plan->guard_count, &plan->guard_room, sizeof(*plan->guards));
    if (st != OK)
        return st;
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    struct plan_key key = plan_id_key(plan, "cursors", uid);
    drop_definition(plan, uid);
    st = plan_compare_key(plan, key, job ? job->cursor_revision : 0);
    if (st == OK)
        plan->guards[plan->guard_count++] = (struct plan_guard){.uid = *uid, .key = key};
    return st;
}

/* ---- what it does ---- */

struct plan_write *plan_find_write(const struct store_plan *plan, const struct plan_key *key)
{
    for (size_t i = 0; i < plan->write_count; i++)
        if (!plan->writes[i].is_dropped && same_key(plan, &plan->writes[i].key, key))
            return &plan->writes[i];
    return NULL;
}

void plan_drop_write(const struct store_plan *plan, struct plan_write *write)
{
    write->is_dropped = true;
    write->dropped = 1 + plan->item_count;
}

static enum status add_write(struct store_plan *plan, struct plan_write write)
{
    if (write.is_step && (plan->write_count >= STEPS_MAX || plan->bytes.length >= STEPS_BYTES_MAX))
        return E_TOO_LARGE;
    enum status st =
        array_reserve(&plan->writes, plan->write_count, &plan->write_room, sizeof(*plan->writes));
    if (st == OK)
        plan->writes[plan->write_count++] = write;
    return st;
}

enum status plan_put(struct store_plan *plan, struct plan_write write, size_t value_at)
{
    write.value_at = value_at;
    write.value_length = plan->bytes.length - value_at;
    return add_write(plan, write);
}

enum status plan_delete(struct store_plan *plan, struct plan_key key)
{
    return add_write(plan, (struct plan_write){.key = key, .is_delete = true});
}

static void drop_cursor_write(struct store_plan *plan, struct plan_guard *guard)
{
    if (guard->write)
        plan->writes[guard->write - 1].is_dropped = true;
    guard->write = 0;
}

static enum status keep_before(struct store_plan *plan, struct plan_before before)
{
    enum status st = array_reserve(&plan->befores, plan->before_count, &plan->before_room,
                                   sizeof(*plan->befores));
    if (st == OK)
        plan->befores[plan->before_count++] = before;
    return st;
}

/* The rules see the row from now on, if more items follow. */
static enum status overlay_job(struct store_plan *plan, const struct job_row *row)
{
    struct mirror_job *job = plan->more_follow ? mirror_find_job(plan->mirror, &row->uid) : NULL;
    if (!job)
        return OK;
    enum status st = keep_before(plan, (struct plan_before){.job = job, .row.job = job->row});
    if (st == OK)
        job->row = *row;
    return st;
}

enum status plan_write_cursor(struct store_plan *plan, const struct job_row *row, enum tell tell)
{
    if (is_unguarded(plan, &row->uid))
        return E_SET_ASIDE;
    enum status st = plan_compare_guard(plan, &row->uid);
    if (st != OK)
        return st;
    struct plan_guard *guard = find_guard(plan, &row->uid);
    drop_cursor_write(plan, guard);
    size_t value_at = plan->bytes.length;
    value_write_cursor(&plan->bytes, row, tell);
    st = plan_put(plan, (struct plan_write){.key = guard->key}, value_at);
    if (st != OK)
        return st;
    guard->write = plan->write_count;
    return overlay_job(plan, row);
}

enum status plan_delete_cursor(struct store_plan *plan, const struct id *uid)
{
    if (is_unguarded(plan, uid))
        return E_SET_ASIDE;
    enum status st = plan_compare_guard(plan, uid);
    if (st != OK)
        return st;
    struct plan_guard *guard = find_guard(plan, uid);
    drop_cursor_write(plan, guard);
    return plan_delete(plan, guard->key);
}

enum status plan_touch_guard(struct store_plan *plan, const struct id *uid)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    const struct plan_guard *guard = find_guard(plan, uid);
    if ((guard && guard->write) || !job || !mirror_job_is_whole(job))
        return OK;
    return plan_write_cursor(plan, &job->row, TELL_NOTHING);
}

/* ---- what the rules see of it ---- */

enum status plan_overlay_run(struct store_plan *plan, struct mirror_run *run,
                             const struct run_row *row)
{
    enum status st = keep_before(plan, (struct plan_before){.run = run, .row.run = run->row});
    if (st == OK)
        mirror_set_run(plan->mirror, run, row);
    return st;
}

static const int64_t first_new_seq = INT64_MAX - BATCH_PLACES; /* after all others */

int plan_place_of(const struct store_plan *plan, const struct mirror_run *run)
{
    bool is_new = run->row.seq >= first_new_seq;
    return is_new ? (int)(run->row.seq - first_new_seq) : plan->place;
}

enum status plan_overlay_new_run(struct store_plan *plan, const struct run_row *row)
{
    if (!plan->more_follow)
        return OK;
    struct run_row last = *row;
    last.seq = first_new_seq + plan->place;
    struct mirror_run *run = mirror_add_run(plan->mirror, &last);
    enum status st =
        run ? keep_before(plan, (struct plan_before){.run = run, .is_new = true}) : E_NOMEM;
    if (run && st != OK)
        mirror_remove_run(plan->mirror, run);
    return st;
}

static void put_back(struct store_plan *plan, size_t count)
{
    while (plan->before_count > count) {
        const struct plan_before *before = &plan->befores[--plan->before_count];
        if (!before->run)
            before->job->row = before->row.job;
        else if (before->is_new)
            mirror_remove_run(plan->mirror, before->run);
        else
            mirror_set_run(plan->mirror, before->run, &before->row.run);
    }
}

/* ---- plans ---- */

void store_plan_init(struct store_plan *plan, struct mirror *mirror)
{
    *plan = (struct store_plan){
        .tables.ops = &plan_tables_ops, .mirror = mirror, .unused.is_deaf = true};
    strbuf_init(&plan->bytes);
}

void store_plan_release(struct store_plan *plan)
{
    strbuf_release(&plan->bytes);
    free(plan->compares);
    free(plan->writes);
    free(plan->guards);
    free(plan->befores);
}

void plan_begin(struct store_plan *plan)
{
    strbuf_reset(&plan->bytes);
    plan->compare_count = plan->write_count = plan->guard_count = plan->item_count = 0;
    plan->run.length = 0;
    plan->is_partial = false;
}

void plan_end(struct store_plan *plan)
{
    put_back(plan, 0);
}

static void rewind_item(struct store_plan *plan)
{
    const struct plan_size *mark = &plan->item;
    put_back(plan, mark->befores);
    plan->compare_count = mark->compares;
    plan->write_count = mark->writes;
    for (size_t i = 0; i < plan->write_count; i++) {
        struct plan_write *write = &plan->writes[i];
        if (write->dropped == 1 + plan->item_count) {
            write->is_dropped = false;
            write->dropped = 0;
        }
    }
    plan->guard_count = mark->guards;
    for (size_t i = 0; i < plan->guard_count; i++) {
        plan->guards[i].write = plan->guards[i].write_before;
        if (plan->guards[i].write)
            plan->writes[plan->guards[i].write - 1].is_dropped = false;
    }
    strbuf_truncate(&plan->bytes, mark->bytes);
    plan->run.length = 0;
}

/* Drops all writes that are not correct without the rest. */
static enum status keep_steps(struct store_plan *plan)
{
    size_t steps = 0;
    enum status st = OK;
    put_back(plan, 0);
    for (size_t i = 0; i < plan->write_count; i++) {
        plan->writes[i].is_dropped |= !plan->writes[i].is_step;
        steps += !plan->writes[i].is_dropped;
    }
    if (steps == 0)
        return E_TOO_LARGE;
    plan->is_partial = true;
    for (size_t i = 0; i < plan->guard_count; i++)
        plan->guards[i].write = 0;
    for (size_t i = 0; st == OK && i < plan->guard_count; i++)
        st = plan_touch_guard(plan, &plan->guards[i].uid);
    return st;
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
        [STORE_REWIND] = sizeof(struct store_rewind),
        [STORE_CONFIRM] = 0,
    };
    char *items = (char *)request->items.claims;
    size_t at = i * sizes[request->op];
    return (struct store_request){
        .op = request->op, .count = 1, .items.claims = (void *)(at ? items + at : items)};
}

enum status plan_add(struct store_plan *plan, const struct store_request *request, size_t i,
                     int place, bool more_follow)
{
    struct store_request item = single(request, i);
    plan->item = (struct plan_size){.compares = plan->compare_count,
                                    .writes = plan->write_count,
                                    .guards = plan->guard_count,
                                    .befores = plan->before_count,
                                    .bytes = plan->bytes.length};
    for (size_t g = 0; g < plan->guard_count; g++)
        plan->guards[g].write_before = plan->guards[g].write;
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

static const struct mirror_job *job_of(const struct store_plan *plan,
                                       const struct store_request *request, size_t i)
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

static bool has_next(const struct store_finish *finish, const struct id *job_uid)
{
    for (size_t i = 0; i < finish->next_count; i++)
        if (id_compare(&finish->nexts[i].job_uid, job_uid) == 0)
            return true;
    return false;
}

/* Does the same job wait for both? The first one of either is looked for, by which ends are sorted:
 * see send_losses of the sweeper. */
static bool have_same_next(const struct store_finish *one, const struct store_finish *other)
{
    return (one->next_count && has_next(other, &one->nexts[0].job_uid)) ||
           (other->next_count && has_next(one, &other->nexts[0].job_uid));
}

/* The slots that the item asks for; NULL: none. */
static const struct store_slots *slots_of(const struct store_request *request, size_t i)
{
    if (request->op == STORE_TAKE)
        return &request->items.takes[i].slots;
    return request->op == STORE_CLAIM ? &request->items.claims[i].slots : NULL;
}

/* Do both need a slot of the same group? Each would wait for the other's transaction. */
static bool have_same_group(const struct store_request *request, size_t i)
{
    const struct store_slots *one = slots_of(request, i);
    const struct store_slots *other = one ? slots_of(request, i + 1) : NULL;
    for (size_t a = 0; other && a < one->count; a++)
        for (size_t b = 0; b < other->count; b++)
            if (strcmp(one->items[a].group, other->items[b].group) == 0)
                return true;
    return false;
}

bool plan_is_same_job(const struct store_plan *plan, const struct store_request *request, size_t i)
{
    const struct mirror_job *job = job_of(plan, request, i);
    return job && job == job_of(plan, request, i + 1);
}

/* Whether a delivery is known is read from the mirror, which does not have what the item before
 * would write. */
static bool is_delivery(const struct store_request *request, size_t i)
{
    return request->op == STORE_ADD_RUN && request->items.adds[i].delivery;
}

bool plan_may_chain(const struct store_plan *plan, const struct store_request *request, size_t i)
{
    if (i + 1 >= request->count || is_delivery(request, i) || is_delivery(request, i + 1))
        return false;
    return plan_is_same_job(plan, request, i) || have_same_group(request, i) ||
           (request->op == STORE_FINISH && job_of(plan, request, i) &&
            have_same_next(&request->items.finishes[i], &request->items.finishes[i + 1]));
}
