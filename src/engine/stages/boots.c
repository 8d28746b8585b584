#include "stages/boots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A mark as it is to be stored; empty: to be removed. */
struct mark_text {
    char json[BOOT_JSON_SIZE];
};

void boots_init(struct boots *boots, const struct engine_ports *ports, struct outbox *outbox,
                const struct peer *self, const char *boot_id, struct catalog *catalog,
                const struct plan_rules *rules, struct placement *placement,
                struct boot_marks *marks)
{
    *boots = (struct boots){.ports = ports,
                            .self = self,
                            .boot_id = boot_id,
                            .catalog = catalog,
                            .rules = rules,
                            .placement = placement,
                            .marks = marks};
    outbox_sender_init(&boots->sender, outbox, boots);
}

/* ---- what the store tells ---- */

/* The boot id is the first word. Older versions stored a tick as the second one. */
void boots_take_meta(struct boots *boots, const struct store_set_meta *meta)
{
    char boot_id[BOOT_ID_SIZE];
    if (strcmp(meta->key, "boot") == 0 && sscanf(meta->value, "%39s", boot_id) == 1)
        boots->is_noticed = boots->is_stored = strcmp(boot_id, boots->boot_id) == 0;
}

static bool is_of_this_boot(const struct boots *boots, const struct boot_mark *mark)
{
    return strcmp(mark->boot_id, boots->boot_id) == 0;
}

void boots_take_doc(struct boots *boots, const struct store_doc *doc)
{
    struct id uid;
    struct boot_mark mark = {.is_due = false};
    if (!boot_mark_is_of(doc->name, boots->self->name, &uid))
        return;
    if (doc->json && boot_mark_decode(doc->json, &mark) != OK) /* the next boot writes over it */
        ports_log(boots->ports, "boot_unreadable", "mark=%s", doc->name);
    struct marked_job *marked;
    enum status st =
        boot_marks_put(boots->marks, &uid, &mark, doc->json ? doc->revision : 0, &marked);
    if (st != OK) {
        ports_log(boots->ports, "boot_dropped", "mark=%s error=\"%s\"", doc->name, status_text(st));
        return;
    }
    bool is_gone = !catalog_by_uid(boots->catalog, &uid);
    boots->has_gone |= is_gone;
    if (is_of_this_boot(boots, &mark))
        marked->was_due = true;
    else if (marked->was_due && !is_gone) /* a restored store; or another agent has this name */
        boots->is_stored = false;
}

/* ---- this boot is noticed ---- */

static bool is_for_us(const struct boots *boots, const struct catalog_job *job)
{
    struct placement_ask ask = placement_ask_of(job);
    return catalog_job_has_reboot(job) && placement_rank(boots->placement, &ask) != NOT_ELIGIBLE;
}

static void ask_again(struct boots *boots, struct now now)
{
    boots->sender.retry_at.ms = now.boot.ms + BOOT_RETRY_MS;
}

static void marks_answered(void *stage, struct outbox_batch *batch, enum status st, struct now now)
{
    bool is_done = st == OK;
    for (size_t i = 0; is_done && i < outbox_count(batch); i++)
        is_done = batch->request.items.docs[i].result == PUT_OK;
    if (!is_done) /* by then the feed has delivered the current marks */
        ask_again(stage, now);
}

static const struct outbox_kind marks_kind = {.op = STORE_PUT_DOC,
                                              .item_size = sizeof(struct store_put_doc),
                                              .note_size = sizeof(struct mark_text),
                                              .answered = marks_answered};

/* `mark` NULL: removes it. False: the batch is full, or out of memory. */
static bool add_mark(struct boots *boots, struct now now, struct outbox_batch **batch,
                     const struct id *job_uid, const struct boot_mark *mark)
{
    struct store_put_doc *put = outbox_add(batch, &boots->sender, &marks_kind);
    if (!put) {
        ask_again(boots, now);
        return false;
    }
    size_t count = outbox_count(*batch);
    const struct marked_job *marked = boot_marks_find(boots->marks, job_uid);
    *put = (struct store_put_doc){.kind = BOOT_DOC,
                                  .expected_revision = marked ? marked->revision : 0};
    boot_mark_name(boots->self->name, job_uid, put->name);
    if (mark)
        boot_mark_encode(mark, ((struct mark_text *)(*batch)->notes)[count - 1].json);
    return count < OUTBOX_MAX;
}

static void send_marks(struct outbox_batch *batch, struct now now)
{
    struct mark_text *texts = batch->notes;
    for (size_t i = 0; i < outbox_count(batch); i++)
        batch->request.items.docs[i].json = texts[i].json[0] ? texts[i].json : NULL;
    outbox_send(&batch, now);
}

/* The jobs that this boot is not marked for yet. */
static struct outbox_batch *gather_due(struct boots *boots, struct now now)
{
    struct outbox_batch *batch = NULL;
    struct boot_mark mark = {.tick_ms = boots->tick_ms, .is_due = true};
    snprintf(mark.boot_id, sizeof(mark.boot_id), "%s", boots->boot_id);
    size_t at = 0;
    for (const struct catalog_job *job; (job = table_next(&boots->catalog->by_uid, &at));) {
        const struct marked_job *marked = boot_marks_find(boots->marks, &job->uid);
        bool was_due = marked && marked->was_due;
        if (!was_due && !job->deleted && !job->broken && is_for_us(boots, job) &&
            !add_mark(boots, now, &batch, &job->uid, &mark))
            break;
    }
    return batch;
}

static struct outbox_batch *gather_gone(struct boots *boots, struct now now)
{
    struct outbox_batch *batch = NULL;
    size_t at = 0;
    for (const struct marked_job *marked; (marked = table_next(&boots->marks->by_job, &at));) {
        bool is_gone = marked->revision && !catalog_by_uid(boots->catalog, &marked->uid);
        if (is_gone && !marked->is_claiming && !add_mark(boots, now, &batch, &marked->uid, NULL))
            break;
    }
    return batch;
}

static void notice_answered(void *stage, struct outbox_batch *batch, enum status st, struct now now)
{
    struct boots *boots = stage;
    (void)batch;
    if (st == OK) {
        boots->is_stored = true;
        ports_log(boots->ports, "boot_noticed", "boot=%s", boots->boot_id);
    } else {
        ask_again(boots, now);
        ports_log(boots->ports, "boot_not_saved", "error=\"%s\"", status_text(st));
    }
}

static const struct outbox_kind notice_kind = {
    .op = STORE_SET_META, .item_size = sizeof(struct store_set_meta), .answered = notice_answered};

/* The second word is 0, where an older version looks for the boot's tick: a real tick would be
 * ahead of every cursor to it, and it would run everything again. */
static void send_notice(struct boots *boots, struct now now)
{
    struct outbox_batch *batch = NULL;
    struct store_set_meta *meta = outbox_add(&batch, &boots->sender, &notice_kind);
    if (meta) {
        snprintf(meta->key, sizeof(meta->key), "boot");
        snprintf(meta->value, sizeof(meta->value), "%s 0", boots->boot_id);
    } else {
        ask_again(boots, now);
    }
    outbox_send(&batch, now);
}

/* Is a mark of an earlier boot not decided yet? */
static bool has_left(const struct boots *boots)
{
    size_t at = 0;
    for (const struct marked_job *marked; (marked = boot_marks_next_due(boots->marks, &at));)
        if (!is_of_this_boot(boots, &marked->mark))
            return true;
    return false;
}

/* Marks jobs that are not marked yet; when none is left, stores that. */
static void notice(struct boots *boots, struct now now)
{
    if (!boots->tick_ms)
        boots->tick_ms = run_tick_of_now(now.wall.ms);
    struct outbox_batch *batch = boots->is_noticed ? NULL : gather_due(boots, now);
    if (batch) {
        send_marks(batch, now);
    } else if (boots->sender.retry_at.ms <= now.boot.ms) { /* else out of memory */
        boots->is_noticed = true;
        send_notice(boots, now);
    }
}

void boots_notice(struct boots *boots, struct now now)
{
    if (boots->sender.in_flight || boots->sender.retry_at.ms > now.boot.ms)
        return;
    struct outbox_batch *gone = boots->has_gone ? gather_gone(boots, now) : NULL;
    boots->has_gone = gone != NULL;
    if (gone)
        send_marks(gone, now);
    else if (!boots->is_stored && !has_left(boots))
        notice(boots, now);
}

/* ---- what becomes of it ---- */

static enum status pass(const struct marked_job *marked, struct catalog_job *job,
                        enum run_state state, enum run_reason reason, struct plan *ret)
{
    struct plan plan = {.job = job, .tick_ms = marked->mark.tick_ms};
    plan.passed = calloc(1, sizeof(*plan.passed));
    if (!plan.passed)
        return E_NOMEM;
    plan.passed_count = 1;
    plan.passed[0] = (struct ledger_entry){.from_ms = plan.tick_ms,
                                           .to_ms = plan.tick_ms,
                                           .count = 1,
                                           .state = state,
                                           .reason = reason};
    *ret = plan;
    return OK;
}

/* E_NOT_FOUND: it can't be decided now. */
static enum status decide(struct boots *boots, struct now now, const struct marked_job *marked,
                          bool may_run, struct plan *ret)
{
    struct catalog_job *job = catalog_by_uid(boots->catalog, &marked->uid);
    if (!job)
        return E_NOT_FOUND;
    if (job->deleted)
        return pass(marked, job, RUN_SKIPPED, REASON_DELETED, ret);
    if (!is_of_this_boot(boots, &marked->mark))
        return pass(marked, job, RUN_MISSED, REASON_CATCH_UP, ret);
    if (job->broken)
        return E_NOT_FOUND;
    if (!is_for_us(boots, job))
        return pass(marked, job, RUN_SKIPPED, REASON_EDITED, ret);
    return plan_boot(boots->rules, now, job, marked->mark.tick_ms, may_run, ret);
}

static void name_boot(const struct boots *boots, const struct marked_job *marked, struct plan *plan)
{
    plan->boot = (struct store_boot){.revision = marked->revision, .mark = marked->mark};
    plan->boot.mark.is_due = false;
    boot_mark_name(boots->self->name, &marked->uid, plan->boot.name);
}

enum status boots_next_due(struct boots *boots, struct now now, bool may_run, struct plan *ret)
{
    size_t at = 0;
    for (struct marked_job *marked; (marked = boot_marks_next_due(boots->marks, &at));) {
        if (marked->is_claiming || marked->retry_at.ms > now.boot.ms)
            continue;
        enum status st = decide(boots, now, marked, may_run, ret);
        if (st == E_NOT_FOUND)
            continue;
        if (st != OK) {
            marked->retry_at.ms = now.boot.ms + BOOT_RETRY_MS;
            return st;
        }
        name_boot(boots, marked, ret);
        marked->is_claiming = true;
        return OK;
    }
    return E_NOT_FOUND;
}

static void sooner(int64_t *first_ms, int64_t at_ms, int64_t now_ms)
{
    if (at_ms > now_ms && at_ms < *first_ms)
        *first_ms = at_ms;
}

/* Marks that can be decided now have been; the rest wait for their start time, or until they are
 * late. */
int64_t boots_wake_at(const struct boots *boots, struct now now)
{
    int64_t first_ms = NEVER_MS, now_ms = now.wall.ms;
    size_t at = 0;
    if (!boots->sender.in_flight)
        sooner(&first_ms, wall_at(now, boots->sender.retry_at), now_ms);
    for (const struct marked_job *marked; (marked = boot_marks_next_due(boots->marks, &at));) {
        const struct catalog_job *job = catalog_by_uid(boots->catalog, &marked->uid);
        if (marked->is_claiming || !job)
            continue;
        int64_t start_ms = marked->mark.tick_ms + catalog_job_jitter_ms(job);
        sooner(&first_ms, start_ms - boots->rules->lead_ms, now_ms);
        sooner(&first_ms, start_ms + boots->rules->on_time_ms + 1, now_ms);
        sooner(&first_ms, wall_at(now, marked->retry_at), now_ms);
    }
    return first_ms;
}
