/* The output of a run as a file: its bytes, whole or a range. A large one is streamed in pieces, as
 * fast as the client reads; that of a running one to where it ends now. */
#include <ctype.h>
#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "handlers.h"
#include "input.h"
#include "runs/log.h"
#include "server.h"
#include "stream.h"

enum {
    PIECE = 1 << 20,
    WHOLE_MAX = 4 << 20,  /* larger output is streamed; limit of a range of a running one */
    UNSENT_MAX = 1 << 20, /* a slow reader gets nothing more until it has read this */
    LOOK_MS = 10,
};

static const char TYPE[] = "application/octet-stream";

struct raw {
    struct call *call;
    struct id run_id;
    struct strbuf bytes;
    int64_t from, to; /* requested range of the kept bytes; to -1: the end */
    bool was_open;    /* the run was open when the history was asked */
    int64_t tail;     /* the last bytes are requested, whose offset is not known yet; 0: it is */
    bool is_range;

    /* For streaming. */
    struct stream stream;
    struct loop_timer *timer;
    struct evbuffer *out;
    int64_t length, sent;
    bool is_open;   /* the client has its headers, and is there */
    bool is_asking; /* the history or another node will answer */

    /* Of a running one. */
    bool is_live;
    int64_t next;   /* offset of the next piece, of all printed bytes */
    size_t counted; /* to answer a HEAD */
};

static void release_raw(void *state)
{
    struct raw *raw = state;
    strbuf_release(&raw->bytes);
    loop_timer_free(raw->timer);
    if (raw->out)
        evbuffer_free(raw->out);
}

static bool take(struct raw *raw, const struct output_chunk *chunks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strbuf_add(&raw->bytes, chunks[i].bytes, chunks[i].length);
    return strbuf_status(&raw->bytes) == OK;
}

/* ---- the answer ---- */

/* `total` -1: still growing. */
static void add_headers(struct call *call, int64_t length, int64_t total)
{
    const struct raw *raw = call->state;
    char range[80], end[24] = "*";
    if (total >= 0)
        snprintf(end, sizeof(end), "%lld", (long long)total);
    call_header(call, "Accept-Ranges", "bytes");
    call_header(call, "Content-Disposition", "attachment; filename=\"output.log\"");
    if (!raw->is_range)
        return;
    if (length)
        snprintf(range, sizeof(range), "bytes %lld-%lld/%s", (long long)raw->from,
                 (long long)(raw->from + length - 1), end);
    else
        snprintf(range, sizeof(range), "bytes */%s", end);
    call_header(call, "Content-Range", range);
}

static void reply_raw(struct call *call, int64_t total)
{
    struct raw *raw = call->state;
    size_t length = raw->bytes.length;
    add_headers(call, (int64_t)length, total);
    if (raw->is_range && !length) {
        call_fail(call, 416, "the output has no bytes from %lld on", (long long)raw->from);
        return;
    }
    char *text = length ? strbuf_detach(&raw->bytes) : strdup("");
    call_reply_text(call, raw->is_range ? 206 : 200, TYPE, text, length);
}

/* ---- a long one ---- */

static void next_piece(void *context);
static void read_live(struct call *call);

static void client_left(void *context)
{
    struct raw *raw = context;
    raw->is_open = false;
    if (!raw->is_asking)
        call_free(raw->call);
}

static void send_piece(struct raw *raw)
{
    const struct history_log *log = &raw->call->log;
    for (size_t i = 0; i < log->count; i++) {
        if (evbuffer_add(raw->out, log->chunks[i].bytes, log->chunks[i].length) == 0)
            continue;
        stream_break(&raw->stream);
        return;
    }
    raw->sent += (int64_t)evbuffer_get_length(raw->out);
    stream_send(&raw->stream, raw->out);
    if (raw->sent >= raw->length) {
        stream_end(&raw->stream);
        call_free(raw->call);
    } else {
        loop_timer_set(raw->timer, 0);
    }
}

/* If announced bytes are missing, the connection is broken: the file must not look complete. */
static void piece_came(struct call *call)
{
    struct raw *raw = call->state;
    raw->is_asking = false;
    if (!raw->is_open)
        call_free(call);
    else if (call->answer != OK || !call->log.found || !call->log.count)
        stream_break(&raw->stream);
    else
        send_piece(raw);
}

static void next_piece(void *context)
{
    struct raw *raw = context;
    struct call *call = raw->call;
    if (stream_unsent(&raw->stream) > UNSENT_MAX) {
        loop_timer_set(raw->timer, LOOK_MS);
        return;
    }
    if (!accounts_still_admit(&call->api->accounts, &call->principal, clock_now().wall.ms)) {
        stream_break(&raw->stream);
        return;
    }
    if (raw->is_live) {
        read_live(call);
        return;
    }
    int64_t left = raw->length - raw->sent;
    raw->is_asking = true;
    call->log.offset = raw->from + raw->sent;
    call->log.limit = left > PIECE ? PIECE : (size_t)left;
    call_read_log(call, piece_came);
}

/* False: the call has failed. */
static bool prepare_long(struct call *call)
{
    struct raw *raw = call->state;
    raw->call = call;
    raw->out = evbuffer_new();
    if (raw->out &&
        loop_timer_new_patient(call->api->ports.loop, next_piece, raw, &raw->timer) == OK)
        return true;
    call_fail(call, 500, "out of memory");
    return false;
}

/* Starts streaming with the first piece. */
static void start_long(struct call *call, int64_t total)
{
    struct raw *raw = call->state;
    int status = raw->is_range ? 206 : 200;
    char length[24];
    if (!prepare_long(call))
        return;
    add_headers(call, raw->length, total);
    if (call->is_head) {
        call_reply_head(call, status, TYPE, (size_t)raw->length);
        return;
    }
    snprintf(length, sizeof(length), "%lld", (long long)raw->length);
    call_header(call, "Content-Length", length);
    if (!stream_start_file(call, status, TYPE, &raw->stream, client_left, raw))
        return;
    raw->is_open = true;
    call_detach(call);
    send_piece(raw);
}

/* ---- a running one ---- */

static size_t wanted(const struct raw *raw)
{
    int64_t left = raw->to < 0 ? WHOLE_MAX : raw->to + 1 - raw->from;
    left -= (int64_t)raw->bytes.length;
    return left > PIECE ? PIECE : left > 0 ? (size_t)left : 0;
}

/* What was collected is sent; `is_last`: and nothing after it. */
static void send_live(struct raw *raw, bool is_last)
{
    if (raw->bytes.length && evbuffer_add(raw->out, raw->bytes.text, raw->bytes.length) != 0) {
        stream_break(&raw->stream);
        return;
    }
    strbuf_reset(&raw->bytes);
    stream_send(&raw->stream, raw->out);
    if (is_last) {
        stream_end(&raw->stream);
        call_free(raw->call);
    } else {
        loop_timer_set(raw->timer, 0);
    }
}

/* Its length is not known: the client is told when it ends. */
static void start_live(struct call *call)
{
    struct raw *raw = call->state;
    if (!prepare_long(call))
        return;
    add_headers(call, 0, -1);
    if (!stream_start_file(call, 200, TYPE, &raw->stream, client_left, raw))
        return;
    raw->is_open = true;
    call_detach(call);
    send_live(raw, false);
}

static void reply_live(struct call *call)
{
    const struct raw *raw = call->state;
    if (!call->is_head || raw->is_range) {
        reply_raw(call, -1);
        return;
    }
    add_headers(call, 0, -1);
    call_reply_head(call, 200, TYPE, raw->counted);
}

/* A piece was collected. */
static void go_on_live(struct call *call, bool is_last)
{
    struct raw *raw = call->state;
    if (call->is_head && !raw->is_range) {
        raw->counted += raw->bytes.length;
        strbuf_reset(&raw->bytes);
    }
    if (raw->is_open)
        send_live(raw, is_last);
    else if (is_last || (raw->is_range && !wanted(raw)))
        reply_live(call);
    else if (raw->bytes.length >= WHOLE_MAX)
        start_live(call);
    else
        call_later(call, read_live);
}

static void live_piece(struct call *call)
{
    struct raw *raw = call->state;
    const struct live_read *output = &call->output;
    bool has_started = raw->out;
    size_t before = raw->bytes.length;
    raw->is_asking = false;
    if (has_started && !raw->is_open) {
        call_free(call);
        return;
    }
    if (call->answer == OK && !take(raw, output->chunks, output->count))
        call->answer = E_NOMEM;
    if (call->answer != OK) {
        if (has_started)
            stream_break(&raw->stream);
        else
            fail_output(call);
        return;
    }
    raw->next += printed_length(output->chunks, output->count);
    go_on_live(call, raw->bytes.length - before < output->limit);
}

/* The rest of a stream comes from the history, where the run is now. */
static void moved(struct call *call)
{
    struct raw *raw = call->state;
    raw->is_asking = false;
    if (!raw->is_open) {
        call_free(call);
        return;
    }
    if (call->answer != OK || !call->log.found) {
        stream_break(&raw->stream);
        return;
    }
    raw->is_live = false;
    raw->from = 0;
    raw->length = call->log.kept_bytes;
    raw->sent = kept_offset(call, raw->next);
    if (raw->sent < raw->length)
        loop_timer_set(raw->timer, 0);
    else
        send_live(raw, true);
}

static void read_from(struct call *call, int64_t offset);

static void read_live(struct call *call)
{
    struct raw *raw = call->state;
    const struct run *open = call_open_run(call, &raw->run_id);
    raw->is_asking = true;
    if (open) {
        call_read_output(call, open, raw->next, wanted(raw), live_piece);
    } else if (raw->is_open) {
        call->log.run_id = raw->run_id;
        call->log.offset = 0;
        call->log.limit = 1;
        call_read_log(call, moved);
    } else {
        strbuf_reset(&raw->bytes);
        read_from(call, raw->from);
    }
}

static void start_reading_live(struct call *call)
{
    struct raw *raw = call->state;
    raw->is_live = true;
    raw->next = raw->from;
    read_live(call);
}

/* ---- reading ---- */

static void piece_read(struct call *call)
{
    struct raw *raw = call->state;
    const struct history_log *log = &call->log;
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    const struct run *open = call_open_run(call, &raw->run_id);
    if (!log->found && open) {
        start_reading_live(call);
        return;
    }
    if (!log->found && raw->was_open) { /* recorded, and closed, after the history was read */
        read_from(call, raw->from);
        return;
    }
    if (!log->found) {
        fail_no_run(call);
        return;
    }
    if (raw->tail) {
        raw->from = log->kept_bytes > raw->tail ? log->kept_bytes - raw->tail : 0;
        raw->is_range = true;
        raw->tail = 0;
        read_from(call, raw->from);
        return;
    }
    size_t before = raw->bytes.length;
    int64_t end = raw->to < 0 || raw->to >= log->kept_bytes ? log->kept_bytes : raw->to + 1;
    raw->length = end - raw->from;
    if (raw->length > WHOLE_MAX) {
        start_long(call, log->kept_bytes);
        return;
    }
    if (!take(raw, log->chunks, log->count)) {
        call_fail(call, 500, "out of memory");
        return;
    }
    if (raw->bytes.length == before || !wanted(raw)) {
        reply_raw(call, log->kept_bytes);
        return;
    }
    read_from(call, raw->from + (int64_t)raw->bytes.length);
}

static void read_from(struct call *call, int64_t offset)
{
    struct raw *raw = call->state;
    raw->was_open = call_open_run(call, &raw->run_id);
    call->log.offset = offset;
    call->log.limit = raw->tail ? 1 : wanted(raw);
    call_read_log(call, piece_read);
}

/* "bytes=-500": the last bytes; not for an output that still grows. */
static void read_tail(const char *text, struct raw *raw)
{
    char *end;
    long long tail = strtoll(text, &end, 10);
    if (!*end && tail > 0)
        raw->tail = tail;
}

/* "bytes=100-199", "bytes=100-"; anything else is ignored, as HTTP allows. */
static void read_range(const struct call *call, struct raw *raw)
{
    const char *text = call_input(call, "Range");
    char *end;
    raw->to = -1;
    if (text && strncmp(text, "bytes=-", 7) == 0 && isdigit((unsigned char)text[7]))
        read_tail(text + 7, raw);
    if (!text || strncmp(text, "bytes=", 6) != 0 || !isdigit((unsigned char)text[6]))
        return;
    long long from = strtoll(text + 6, &end, 10), to = -1;
    if (*end != '-' || from > INT64_MAX / 2)
        return;
    if (isdigit((unsigned char)end[1]))
        to = strtoll(end + 1, &end, 10);
    else
        end++;
    if (*end || (to >= 0 && to < from))
        return;
    raw->from = from;
    raw->to = to > INT64_MAX / 2 ? -1 : to; /* no output is as long */
    raw->is_range = true;
}

void get_raw_log(struct call *call)
{
    struct raw *raw = call_state(call, sizeof(*raw), release_raw);
    if (!raw)
        return;
    strbuf_init(&raw->bytes);
    if (!path_run_id(call, &raw->run_id))
        return;
    read_range(call, raw);
    const struct run *open = call_open_run(call, &raw->run_id);
    if (open && !run_state_is_end(open->state)) {
        start_reading_live(call);
        return;
    }
    call->log.run_id = raw->run_id;
    read_from(call, raw->from);
}
