/* The output of a run as a file: its bytes and nothing else, whole or a range of them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "input.h"
#include "log.h"
#include "server.h"
#include "visible.h"

enum { PIECE = 1 << 20, WHOLE_MAX = 64 << 20 };

struct raw {
    struct id run_id;
    struct strbuf bytes;
    int64_t from, to; /* wanted bytes of what was kept; to -1: its end */
    bool is_range;
};

static void release_raw(void *state)
{
    struct raw *raw = state;
    strbuf_release(&raw->bytes);
}

static bool take(struct raw *raw, const struct output_chunk *chunks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strbuf_add(&raw->bytes, chunks[i].bytes, chunks[i].length);
    return strbuf_status(&raw->bytes) == OK;
}

/* ---- the answer ---- */

/* `total` -1: it still grows. */
static void reply_raw(struct call *call, int64_t total)
{
    struct raw *raw = call->state;
    char range[80], end[24] = "*";
    size_t length = raw->bytes.length;
    if (total >= 0)
        snprintf(end, sizeof(end), "%lld", (long long)total);
    call_header(call, "Accept-Ranges", "bytes");
    call_header(call, "Content-Disposition", "attachment; filename=\"output.log\"");
    if (raw->is_range && !length) {
        snprintf(range, sizeof(range), "bytes */%s", end);
        call_header(call, "Content-Range", range);
        call_fail(call, 416, "the output has no bytes from %lld on", (long long)raw->from);
        return;
    }
    if (raw->is_range) {
        snprintf(range, sizeof(range), "bytes %lld-%lld/%s", (long long)raw->from,
                 (long long)(raw->from + (int64_t)length - 1), end);
        call_header(call, "Content-Range", range);
    }
    char *text = length ? strbuf_detach(&raw->bytes) : strdup("");
    call_reply_text(call, raw->is_range ? 206 : 200, "application/octet-stream", text, length);
}

/* ---- reading ---- */

static size_t wanted(const struct raw *raw)
{
    int64_t left = raw->to < 0 ? WHOLE_MAX + 1 : raw->to + 1 - raw->from;
    left -= (int64_t)raw->bytes.length;
    return left > PIECE ? PIECE : left > 0 ? (size_t)left : 0;
}

/* Offsets of what still runs count what was dropped, too. */
static void read_live(struct call *call)
{
    struct raw *raw = call->state;
    const struct live_output *live = &call->api->ports.output;
    struct output_chunk *chunks;
    size_t count = 1;
    for (int64_t next = raw->from; count && wanted(raw) && live->read;) {
        if (live->read(live->context, &raw->run_id, next, wanted(raw), &chunks, &count) != OK)
            break;
        for (size_t i = 0; i < count; i++)
            next += chunks[i].gap_bytes + (int64_t)chunks[i].length;
        bool taken = take(raw, chunks, count);
        live->release(live->context, chunks, count);
        if (!taken) {
            call_fail(call, 500, "out of memory");
            return;
        }
    }
    reply_raw(call, -1);
}

static void read_open(struct call *call, const struct run *run)
{
    if (is_elsewhere(call, run))
        fail_elsewhere(call, run);
    else
        read_live(call);
}

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
        read_open(call, open);
        return;
    }
    if (!log->found) {
        fail_no_run(call);
        return;
    }
    size_t before = raw->bytes.length;
    if (!take(raw, log->chunks, log->count)) {
        call_fail(call, 500, "out of memory");
        return;
    }
    if (raw->bytes.length > WHOLE_MAX) {
        call_fail(call, 422, "the output is too large for one answer; ask for ranges of it");
        return;
    }
    if (raw->bytes.length == before || !wanted(raw)) {
        reply_raw(call, log->kept_bytes);
        return;
    }
    call->log.offset = raw->from + (int64_t)raw->bytes.length;
    call->log.limit = wanted(raw);
    call_read_log(call, piece_read);
}

/* "bytes=100-199", "bytes=100-"; anything else is as if it were not there, as HTTP allows. */
static void read_range(const struct call *call, struct raw *raw)
{
    const char *text = call_input(call, "Range");
    char *end;
    raw->to = -1;
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
    raw->to = to;
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
        read_open(call, open);
        return;
    }
    call->log.run_id = raw->run_id;
    call->log.offset = raw->from;
    call->log.limit = wanted(raw);
    call_read_log(call, piece_read);
}
