/* The calls by id: what is known of them, their journal, their ends. An id is in the journal before
 * its request is sent, and never sent again; a call that was under way when peal-call was killed
 * has an unknown end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "clock.h"

#define PENDING_MAX 4096

static const struct table_type by_id_type = {.key_at = offsetof(struct call, info.id)};

void calls_init(struct caller *caller)
{
    table_init(&caller->calls, &by_id_type);
    TAILQ_INIT(&caller->all);
    TAILQ_INIT(&caller->growing);
    TAILQ_INIT(&caller->starting);
    TAILQ_INIT(&caller->packing);
    TAILQ_INIT(&caller->buried);
}

struct call *calls_new(struct caller *caller, const char *id)
{
    struct call *call = calloc(1, sizeof(*call));
    if (!call)
        return NULL;
    memcpy(call->info.id, id, strlen(id) + 1);
    call->caller = caller;
    call->timer_place = HEAP_NONE;
    strbuf_init(&call->pending);
    output_init(&call->output, 0, 0);
    if (table_insert(&caller->calls, call) != OK) {
        free(call);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&caller->all, call, all);
    caller->active++;
    return call;
}

/* ---- journal ---- */

static struct journal_record record_of(const struct call *call)
{
    return (struct journal_record){
        .type = call->state == CALL_ENDED ? JOURNAL_ENDED : JOURNAL_STARTING,
        .info = call->info,
        .timeout_at_boot_ms = call->timeout_at_boot_ms,
        .head_bytes = call->output.head_limit,
        .tail_bytes = call->output.tail_limit,
    };
}

static void log_lost_records(void)
{
    serve_log("event=journal_failed error=\"%s\"", strerror(errno));
}

static void note(struct caller *caller, const struct call *call, enum journal_type type)
{
    struct journal_record record = record_of(call);
    if (journal_append(&caller->journal, type, &record) != OK)
        log_lost_records();
}

void calls_write_journal(struct caller *caller)
{
    if (journal_write(&caller->journal) != OK)
        log_lost_records();
}

/* While the journal is read every call is STARTING; one with a reason has ended. */
static void seen(void *context, const struct journal_record *record, bool same_boot)
{
    struct caller *caller = context;
    struct call *call = table_find(&caller->calls, record->info.id);
    (void)same_boot;
    if (journal_type(record) == JOURNAL_FORGOTTEN) {
        if (call) {
            table_remove(&caller->calls, call);
            TAILQ_REMOVE(&caller->all, call, all);
            caller->active--;
            free(call);
        }
        return;
    }
    if (!call)
        call = calls_new(caller, record->info.id);
    if (!call)
        return;
    call->info = record->info;
    if (call->info.reason >= SPAWN_REASON_COUNT || call->info.step >= SPAWN_STEP_COUNT) {
        call->info.reason = SPAWN_UNKNOWN; /* a reason of a newer peal-call */
        call->info.step = 0;
    }
    output_init(&call->output, record->head_bytes, record->tail_bytes);
}

/* It was packed, but peal-call was killed before its end was in the journal. So that no output is
 * in two places, it goes to a file of its own, to which a line can be added. */
static bool unpack(void *context, const struct spawn_pack_entry *entry, const char *bytes)
{
    struct caller *caller = context;
    struct call *call = table_find(&caller->calls, entry->id);
    if (!call || call->info.reason != SPAWN_NOT_ENDED)
        return false;
    output_recover(&call->output, caller->output_fd, call->info.id);
    if (call->output.position == 0) /* else it was killed here before */
        output_append(&call->output, caller->output_fd, entry->id, SPAWN_STDOUT, bytes,
                      entry->length, entry->wall_ms);
    output_close(&call->output);
    return true;
}

static void restore(struct caller *caller, struct call *call)
{
    static const char line[] =
        CALL_LINE "peal-call was killed while this call was under way: its end is not known\n";
    output_recover(&call->output, caller->output_fd, call->info.id);
    if (call->info.reason == SPAWN_NOT_ENDED) {
        output_append(&call->output, caller->output_fd, call->info.id, SPAWN_STDERR, line,
                      sizeof(line) - 1, clock_now().wall.ms);
        output_close(&call->output);
        call->info.output_bytes = call->output.position;
        call->info.dropped_bytes = call->output.dropped;
        call->info.reason = SPAWN_UNKNOWN;
        call->info.error = SPAWN_UNSEEN_END;
        call->info.ended_boot_ms = clock_now().boot.ms;
        call->info.ended_wall_ms = clock_now().wall.ms;
    }
    call->state = CALL_ENDED;
    caller->active--;
}

void calls_compact(struct caller *caller)
{
    struct journal_record *records = calloc(caller->calls.count + 1, sizeof(*records));
    struct call *call;
    size_t count = 0;
    if (!records)
        return;
    TAILQ_FOREACH (call, &caller->all, all) {
        if (call->state != CALL_STARTING)
            records[count++] = record_of(call);
    }
    journal_rewrite(&caller->journal, records, count);
    free(records);
}

enum status calls_recover(struct caller *caller)
{
    struct call *call;
    enum status st = journal_open(&caller->journal, caller->folder_fd, seen, caller);
    if (st != OK)
        return st;
    packs_walk(&caller->packs, unpack, caller);
    TAILQ_FOREACH (call, &caller->all, all) {
        restore(caller, call);
    }
    calls_compact(caller);
    return OK;
}

/* ---- life ---- */

void calls_set_due(struct caller *caller, struct call *call, int64_t due_boot_ms)
{
    call->due_boot_ms = due_boot_ms;
    if (!due_boot_ms && call->timer_place != HEAP_NONE)
        heap_remove(&caller->timers, call->timer_place);
    else if (due_boot_ms && call->timer_place != HEAP_NONE)
        heap_update(&caller->timers, call->timer_place, due_boot_ms);
    else if (due_boot_ms && heap_push(&caller->timers, due_boot_ms, call) != OK)
        serve_log("event=timer_lost run=%s reason=\"out of memory\"", call->info.id);
}

void calls_due(struct caller *caller, struct call *call)
{
    char line[96];
    snprintf(line, sizeof(line), "no whole answer within %g s", (double)call->timeout_ms / 1000);
    calls_stop(caller, call, SPAWN_TIMED_OUT, line);
}

static void count_output(struct call *call)
{
    call->info.output_bytes = call->output.position;
    call->info.dropped_bytes = call->output.dropped;
    call->info.disk_full = call->output.disk_full;
}

static struct masking_target target_of(const struct caller *caller, struct call *call)
{
    return (struct masking_target){.output = &call->output,
                                   .folder_fd = caller->output_fd,
                                   .id = call->info.id,
                                   .wall_ms = clock_now().wall.ms};
}

static void append_record(const struct caller *caller, struct call *call, enum spawn_stream stream,
                          const char *bytes, size_t length)
{
    struct masking_target target = target_of(caller, call);
    if (call->masking) {
        masking_begin(call->masking, &target, stream);
        masking_append(call->masking, &target, bytes, length);
    } else {
        output_append(&call->output, caller->output_fd, call->info.id, stream, bytes, length,
                      target.wall_ms);
    }
}

/* Nothing more comes: what its masks have held back is decided. */
static void end_masking(const struct caller *caller, struct call *call, enum spawn_stream stream)
{
    struct masking_target target = target_of(caller, call);
    bool is_whole =
        call->info.reason == SPAWN_EXITED && call->info.wait_status != (int32_t)CALL_ERROR << 8;
    if (!call->masking)
        return;
    masking_end(call->masking, &target, stream, is_whole);
    count_output(call);
}

/* To the file, in records. */
static void append(struct caller *caller, struct call *call, enum spawn_stream stream,
                   const char *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        size_t piece = length - done < SPAWN_RECORD_MAX ? length - done : SPAWN_RECORD_MAX;
        append_record(caller, call, stream, bytes + done, piece);
        done += piece;
    }
    count_output(call);
}

void calls_flush(struct caller *caller, struct call *call)
{
    if (call->pending.length)
        append(caller, call, SPAWN_STDOUT, call->pending.text, call->pending.length);
    strbuf_reset(&call->pending);
}

void calls_write(struct caller *caller, struct call *call, const char *bytes, size_t length)
{
    if (call->pending.length + length > PENDING_MAX)
        calls_flush(caller, call);
    if (length <= PENDING_MAX)
        strbuf_add(&call->pending, bytes, length);
    if (length > PENDING_MAX || strbuf_status(&call->pending) != OK) /* out of memory */
        append(caller, call, SPAWN_STDOUT, bytes, length);
    if (call->is_growing)
        return;
    call->is_growing = true;
    TAILQ_INSERT_TAIL(&caller->growing, call, growing);
    if (!caller->grew_at_boot_ms)
        caller->grew_at_boot_ms = caller->now_boot_ms + SPAWN_GREW_MS;
}

static void write_line(struct caller *caller, struct call *call, const char *line)
{
    char text[320];
    int length = snprintf(text, sizeof(text), "%s" CALL_LINE "%.256s\n",
                          call->output.in_line ? "\n" : "", line);
    append(caller, call, SPAWN_STDERR, text, (size_t)length);
}

/* A short answer that came in one go, and with which nothing is wrong: its output goes to a pack,
 * with those of others. */
static bool pack(struct caller *caller, struct call *call)
{
    const struct strbuf *pending = &call->pending;
    if (call->masking || call->output.position || !pending->length ||
        pending->length > call->output.head_limit ||
        !packs_add(&caller->packs, call->info.id, pending->text, pending->length,
                   clock_now().wall.ms))
        return false;
    call->output.position = call->info.output_bytes = pending->length;
    TAILQ_INSERT_TAIL(&caller->packing, call, line);
    call->is_packing = true;
    return true;
}

static void tell_end(struct caller *caller, struct call *call)
{
    strbuf_release(&call->pending);
    note(caller, call, JOURNAL_ENDED);
    agent_report(caller, call, REPORT_ENDED);
}

void calls_write_packs(struct caller *caller)
{
    struct call *call;
    if (TAILQ_EMPTY(&caller->packing))
        return;
    enum status st = packs_write(&caller->packs);
    if (st != OK)
        serve_log("event=pack_failed error=\"%s\"", strerror(errno));
    while ((call = TAILQ_FIRST(&caller->packing))) {
        TAILQ_REMOVE(&caller->packing, call, line);
        call->is_packing = false;
        if (st != OK) {
            call->output.position = 0;
            calls_flush(caller, call);
            output_close(&call->output);
        }
        tell_end(caller, call);
    }
}

/* The last step of every call. */
static void end(struct caller *caller, struct call *call, enum spawn_reason reason,
                const char *line, bool may_pack)
{
    lookups_leave(&caller->lookups, call);
    transfer_drop(caller, call);
    calls_set_due(caller, call, 0);
    if (call->state == CALL_STARTING)
        TAILQ_REMOVE(&caller->starting, call, line);
    call->info.reason = reason;
    call->info.ended_boot_ms = clock_now().boot.ms;
    call->info.ended_wall_ms = clock_now().wall.ms;
    call->state = CALL_ENDED;
    caller->active--;
    if (may_pack && pack(caller, call))
        return;
    calls_flush(caller, call);
    end_masking(caller, call, SPAWN_STDOUT);
    if (line)
        write_line(caller, call, line);
    end_masking(caller, call, SPAWN_STDERR);
    call->masking = masking_free(call->masking);
    output_close(&call->output);
    tell_end(caller, call);
}

void calls_finish(struct caller *caller, struct call *call, enum call_end how, int error,
                  const char *line)
{
    call->info.wait_status = (int32_t)how << 8;
    call->info.error = error;
    end(caller, call, SPAWN_EXITED, line, how == CALL_OK && !line);
}

void calls_stop(struct caller *caller, struct call *call, enum spawn_reason reason,
                const char *line)
{
    if (call->state == CALL_ENDED)
        return;
    end(caller, call, reason, line, false);
}

void calls_forget(struct caller *caller, struct call *call)
{
    if (call->state != CALL_ENDED || call->is_packing)
        return;
    note(caller, call, JOURNAL_FORGOTTEN);
    table_remove(&caller->calls, call);
    TAILQ_REMOVE(&caller->all, call, all);
    agent_link_forget(&caller->link, &call->reported);
    if (call->is_growing)
        TAILQ_REMOVE(&caller->growing, call, growing);
    TAILQ_INSERT_TAIL(&caller->buried, call, all);
}

void calls_sweep(struct caller *caller)
{
    struct call *call;
    while ((call = TAILQ_FIRST(&caller->buried))) {
        TAILQ_REMOVE(&caller->buried, call, all);
        free(call);
    }
}
