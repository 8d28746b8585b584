/* The output of a run as server-sent events: existing output, new output, then the end. The id of
 * an event is the offset after it, so that a client can resume there. The output of another node's
 * run is read from there piece by piece: no piece is asked for while the client does not read. */
#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "runs/log.h"
#include "server.h"
#include "stream.h"

enum {
    PIECE = 64 << 10,
    LOOK_MS = 200,    /* polling interval of a running one, and ... */
    ABSENT_MS = 1000, /* ... while its node does not answer */
    HEARTBEAT_MS = 15000,
    UNSENT_MAX = 512 << 10, /* a slow reader gets nothing more until it has read this */
};

struct log_stream {
    struct call *call;
    struct stream stream;
    struct loop_timer *timer;
    struct evbuffer *out;
    struct id run_id;
    int64_t offset;
    int64_t sent_ms;
    bool is_open;   /* the client has its headers, and is there */
    bool is_asking; /* the history or another node will answer */
    bool is_absent; /* the client was told that the run's node does not answer */
    bool was_open;  /* the run was open when the history was asked */
    bool moved;     /* the history was asked again, for an offset after the gap */
};

static void look(void *context);

static void release_stream(void *state)
{
    struct log_stream *log = state;
    loop_timer_free(log->timer);
    if (log->out)
        evbuffer_free(log->out);
}

static void client_left(void *context)
{
    struct log_stream *log = context;
    log->is_open = false;
    if (!log->is_asking)
        call_free(log->call);
}

/* ---- sending ---- */

static void flush(struct log_stream *log)
{
    log->sent_ms = clock_now().boot.ms;
    stream_send(&log->stream, log->out);
}

static void send_chunks(struct log_stream *log, const struct output_chunk *chunks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_t *value = encode_chunk(&chunks[i]);
        char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
        json_decref(value);
        log->offset += chunks[i].gap_bytes + (int64_t)chunks[i].length;
        if (text)
            evbuffer_add_printf(log->out, "id: %lld\nevent: chunk\ndata: %s\n\n",
                                (long long)log->offset, text);
        free(text);
    }
    if (count)
        flush(log);
}

static void end_stream(struct log_stream *log, const struct run *run)
{
    json_t *value = encode_open_run(log->call, run);
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    evbuffer_add_printf(log->out, "id: %lld\nevent: end\ndata: %s\n\n", (long long)log->offset,
                        text ? text : "{}");
    free(text);
    flush(log);
    stream_end(&log->stream);
    call_free(log->call);
}

/* Headers; false: the call is gone. */
static bool open_stream(struct log_stream *log)
{
    if (log->is_open)
        return true;
    if (!stream_start(log->call, &log->stream, client_left, log))
        return false;
    log->is_open = true;
    call_detach(log->call);
    evbuffer_add_printf(log->out, "retry: 2000\n\n");
    flush(log);
    return true;
}

/* ---- reading ---- */

static void look_again(struct log_stream *log, int64_t after_ms)
{
    if (log->is_open && clock_now().boot.ms - log->sent_ms >= HEARTBEAT_MS) {
        evbuffer_add_printf(log->out, ":\n\n");
        flush(log);
    }
    loop_timer_set(log->timer, after_ms);
}

/* Once, until its node answers again. */
static void tell_absent(struct log_stream *log)
{
    const struct live_read *output = &log->call->output;
    json_t *value = json_pack("{s:s, s:s}", "node", output->node, "why", output->why);
    char *text = value && !log->is_absent ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    if (text) {
        evbuffer_add_printf(log->out, "event: absent\ndata: %s\n\n", text);
        flush(log);
    }
    free(text);
    log->is_absent = true;
}

static void output_answered(struct call *call)
{
    struct log_stream *log = call->state;
    const struct live_read *output = &call->output;
    const struct run *open = call_open_run(call, &log->run_id);
    log->is_asking = false;
    if (!log->is_open && !call->request) {
        call_free(call);
    } else if (output_is_gone(call, open)) {
        if (open_stream(log)) {
            tell_absent(log);
            end_stream(log, open);
        }
    } else if (call->answer != OK && !log->is_open) {
        fail_output(call);
    } else if (call->answer != OK) {
        tell_absent(log);
        look_again(log, ABSENT_MS);
    } else if (open_stream(log)) {
        log->is_absent = false;
        send_chunks(log, output->chunks, output->count);
        look_again(log, output->count ? 0 : LOOK_MS);
    }
}

static void read_live(struct log_stream *log, const struct run *run)
{
    log->is_asking = true;
    call_read_output(log->call, run, log->offset, PIECE, output_answered);
}

static void history_answered(struct call *call)
{
    struct log_stream *log = call->state;
    const struct run *open = call_open_run(call, &log->run_id);
    bool was_open = log->is_open, has_client = was_open || call->request;
    bool is_missing = call->answer == OK && !call->log.found;
    log->is_asking = false;
    if (!has_client) {
        call_free(call);
    } else if (call->answer != OK && !was_open) {
        call_fail_history(call, call->answer);
    } else if (is_missing && !open && !was_open && !log->was_open) {
        fail_no_run(call);
    } else if (is_missing && open) { /* just moving to the history */
        read_live(log, open);
    } else if (is_missing || call->answer != OK) {
        look_again(log, LOOK_MS);
    } else {
        int64_t offset = kept_offset(call, log->offset);
        if (offset != call->log.offset && !log->moved) {
            log->moved = true;
            log->is_asking = true;
            call->log.offset = offset;
            call_read_log(call, history_answered);
            return;
        }
        log->moved = false;
        if (!open_stream(log))
            return;
        send_chunks(log, call->log.chunks, call->log.count);
        if (call->log.count)
            look_again(log, 0);
        else
            end_stream(log, &call->log.run);
    }
}

static void look(void *context)
{
    struct log_stream *log = context;
    struct call *call = log->call;
    if (log->is_open && stream_unsent(&log->stream) > UNSENT_MAX) {
        loop_timer_set(log->timer, LOOK_MS);
        return;
    }
    if (log->is_open &&
        !accounts_still_admit(&call->api->accounts, &call->principal, clock_now().wall.ms)) {
        stream_end(&log->stream);
        call_free(call);
        return;
    }
    const struct run *open = call_open_run(call, &log->run_id);
    if (open && !run_state_is_end(open->state)) {
        read_live(log, open);
        return;
    }
    log->is_asking = true;
    log->was_open = open;
    call->log.run_id = log->run_id;
    call->log.offset = log->offset;
    call->log.limit = PIECE;
    call_read_log(call, history_answered);
}

void stream_log(struct call *call)
{
    struct log_stream *log = call_state(call, sizeof(*log), release_stream);
    const char *last_id = call_input(call, "Last-Event-ID");
    if (!log || !path_run_id(call, &log->run_id) ||
        !param_number(call, "offset", 0, INT64_MAX / 2, &log->offset))
        return;
    if (last_id && *last_id >= '0' && *last_id <= '9')
        log->offset = strtoll(last_id, NULL, 10);
    log->call = call;
    log->out = evbuffer_new();
    if (!log->out || loop_timer_new_patient(call->api->ports.loop, look, log, &log->timer) != OK) {
        call_fail(call, 500, "out of memory");
        return;
    }
    look(log);
}
