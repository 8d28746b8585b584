#include "note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "server.h"

enum { PATIENCE_MS = 2000 };

/* Outlives a call that has timed out waiting for it. */
struct note {
    struct call *call; /* NULL: the call has gone on */
    call_then *done;
    struct api *api;
    struct change_record *changes;
    size_t count;
    struct history_record *records; /* NULL: nothing was written yet */
    struct history_append append;
    struct loop_timer *patience;
};

static void note_free(struct note *note)
{
    for (size_t i = 0; i < note->count; i++)
        change_record_release(&note->changes[i]);
    free(note->changes);
    free(note->records);
    loop_timer_free(note->patience);
    free(note);
}

void note_release(struct call *call)
{
    if (call->note)
        note_free(call->note);
    if (call->writing)
        call->writing->call = NULL;
    call->note = call->writing = NULL;
}

void note_drop(struct call *call)
{
    if (call->note)
        note_free(call->note);
    call->note = NULL;
}

/* ---- lines ---- */

static enum change_via via_of(const struct call *call)
{
    const struct principal *principal = &call->principal;
    if (call->route && call->route->flags & ROUTE_HOOK)
        return VIA_WEBHOOK;
    switch (principal->kind) {
    case PRINCIPAL_SOCKET:
        return VIA_SOCKET;
    case PRINCIPAL_TOKEN:
        return VIA_TOKEN;
    case PRINCIPAL_USER:
    case PRINCIPAL_LINK:
    case PRINCIPAL_NONE: /* during a login */
        break;
    }
    return VIA_SESSION;
}

/* A text that may be cut; printf would take longer, for a hundred thousand of them. */
static void copy(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);
    length = length < size ? length : size - 1;
    memcpy(to, text, length);
    to[length] = '\0';
}

/* Room for one more line; NULL: out of memory. */
static struct change_record *reserve(struct call *call)
{
    if (!call->note) {
        call->note = calloc(1, sizeof(*call->note));
        if (!call->note)
            return NULL;
        call->note->call = call;
        call->note->api = call->api;
    }
    struct note *note = call->note;
    if (array_grow(&note->changes, note->count, sizeof(*note->changes)) != OK)
        return NULL;
    return &note->changes[note->count];
}

/* Principal, time and address. */
static void add_particulars(struct call *call, struct change_record *change)
{
    change->at_ms = clock_now().wall.ms;
    change->id = made_id_next(&call->api->last_change, &call->api->ports.entropy, change->at_ms);
    change->via = via_of(call);
    copy(change->actor, sizeof(change->actor), call->principal.name);
    copy(change->address, sizeof(change->address), call->address);
    copy(change->request_id, sizeof(change->request_id), call->request_id);
}

/* Takes over the definitions of *what. */
static void add(struct call *call, struct change_record *what)
{
    struct change_record *change = reserve(call);
    if (!change) {
        call->note_failed = true;
        change_record_release(what);
        return;
    }
    *change = *what;
    add_particulars(call, change);
    call->note->count++;
}

static void add_copy(struct call *call, const struct change_record *change)
{
    struct change_record copy;
    if (change_record_copy(change, true, &copy) == OK)
        add(call, &copy);
    else
        call->note_failed = true;
}

static struct change_record change_of(enum change_action action, const struct noted_job *job)
{
    struct change_record change = {.action = action,
                                   .target_kind = TARGET_JOB,
                                   .job_uid = *job->uid,
                                   .revision = job->revision,
                                   .before = (char *)job->before,
                                   .after = (char *)job->after};
    copy(change.target, sizeof(change.target), job->name);
    copy(change.job_name, sizeof(change.job_name), job->name);
    return change;
}

void note_job(struct call *call, enum change_action action, const struct noted_job *job)
{
    struct change_record change = change_of(action, job);
    add_copy(call, &change);
}

void note_job_over(struct call *call, enum change_action action, const struct noted_job *job)
{
    struct change_record change = change_of(action, job);
    add(call, &change);
}

void note_doc(struct call *call, enum change_action action, const struct noted_doc *doc)
{
    struct change_record change = {.action = action,
                                   .target_kind = doc->kind,
                                   .revision = doc->revision,
                                   .before = (char *)doc->before,
                                   .after = (char *)doc->after};
    snprintf(change.target, sizeof(change.target), "%s", doc->name);
    add_copy(call, &change);
}

void note_run(struct call *call, enum change_action action, const struct run *run)
{
    struct change_record change = {
        .action = action, .target_kind = TARGET_RUN, .job_uid = run->job_uid};
    id_format(&run->id, change.target);
    snprintf(change.job_name, sizeof(change.job_name), "%s", run->job_name);
    add(call, &change);
}

void note_other(struct call *call, enum change_action action, enum change_target kind,
                const char *target)
{
    struct change_record change = {.action = action, .target_kind = kind};
    snprintf(change.target, sizeof(change.target), "%s", target);
    add(call, &change);
}

void note_detail(struct call *call, const char *format, ...)
{
    va_list args;
    if (!call->note || !call->note->count)
        return;
    struct change_record *change = &call->note->changes[call->note->count - 1];
    va_start(args, format);
    vsnprintf(change->detail, sizeof(change->detail), format, args);
    va_end(args);
}

/* ---- writing ---- */

bool note_for_store(struct call *call, enum change_action action, const struct noted_job *job,
                    const char *detail, struct strbuf *out, struct id *ret_id)
{
    struct change_record change = change_of(action, job);
    size_t from = out->length;
    if (change_record_bytes(&change) > RECORD_MAX || !trail_has_room(&call->api->trail))
        return false;
    add_particulars(call, &change);
    copy(change.detail, sizeof(change.detail), detail ? detail : "");
    bool is_written = change_write_record(&change, call->api->node, out);
    size_t length = out->length - from;
    strbuf_add(out, "", 1);
    if (is_written && length <= RECORD_MAX && strbuf_status(out) == OK) {
        *ret_id = change.id;
        return true;
    }
    strbuf_truncate(out, from);
    return false;
}

/* The change is done, even if it could not be recorded. */
static void warn(struct call *call, const char *why)
{
    char text[320];
    snprintf(text, sizeof(text), "done, but not on record: %.250s", why);
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = ' '; /* for the header */
    }
    call_header(call, "X-Peal-Warning", text);
}

static void log_lost(struct note *note, const char *why)
{
    const struct event_log *log = &note->api->ports.log;
    struct strbuf particulars;
    if (!log->write)
        return;
    for (size_t i = 0; i < note->count; i++) {
        const struct change_record *change = &note->changes[i];
        strbuf_init(&particulars);
        strbuf_addf(&particulars, "action=%s target=\"%s\" by=\"%s\" request=%s error=\"%s\"",
                    change_action_name(change->action), change->target, change->actor,
                    change->request_id, why);
        log->write(log->context, "change_not_recorded", particulars.text);
        strbuf_release(&particulars);
    }
}

/* Detaches the note from its call, which goes on. */
static void let_go(struct note *note)
{
    struct call *call = note->call;
    note->call = NULL;
    call->writing = NULL;
    note->done(call);
}

static void out_of_patience(void *context)
{
    struct note *note = context;
    if (!note->call)
        return;
    note->call->note_is_late = true;
    warn(note->call, "the history does not answer; it will be recorded later");
    let_go(note);
}

static void written(struct history_append *append, enum status st)
{
    struct note *note = append->context;
    struct strbuf why;
    strbuf_init(&why);
    if (st != OK && history_health(note->api->ports.history, &why) == OK)
        strbuf_reset(&why);
    const char *words = why.length ? why.text : status_text(st);
    if (st != OK)
        log_lost(note, words);
    if (st != OK && note->call)
        warn(note->call, words);
    if (note->call)
        let_go(note);
    strbuf_release(&why);
    note_free(note);
}

void note_begin(struct call *call, call_then *done)
{
    struct note *note = call->note;
    if (note)
        note->records = calloc(note->count + 1, sizeof(*note->records));
    if (call->note_failed || (note && !note->records))
        warn(call, status_text(E_NOMEM));
    call->note = NULL;
    if (!note || !note->count || !note->records) {
        if (note)
            note_free(note);
        done(call);
        return;
    }
    call->writing = note;
    note->done = done;
    for (size_t i = 0; i < note->count; i++)
        note->records[i].change = &note->changes[i];
    note->append = (struct history_append){
        .records = note->records, .count = note->count, .done = written, .context = note};
    if (loop_timer_new(note->api->ports.loop, out_of_patience, note, &note->patience) == OK)
        loop_timer_set(note->patience, call->note_is_late ? 0 : PATIENCE_MS);
    history_append(note->api->ports.history, &note->append);
}

static void go_on(struct call *call)
{
    call->answer = OK;
    call_later(call, call->then);
}

void note_write(struct call *call, call_then *then)
{
    call_wait(call, then);
    note_begin(call, go_on);
}
