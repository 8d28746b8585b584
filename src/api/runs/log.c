/* The output of a run. Offsets count all printed bytes, dropped ones included: they are the same
 * while it runs, when the spawner has the output, and later, when the history has it. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/job_codec.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "runs/log.h"
#include "server.h"

enum { BYTES = 64 << 10, BYTES_MAX = 4 << 20 };

struct log_state {
    struct id run_id;
    int64_t offset, limit;
    bool moved;    /* the history was asked again, for an offset after the gap */
    bool was_open; /* the run was open when the history was asked */
};

/* ---- chunks ---- */

json_t *encode_chunk(const struct output_chunk *chunk)
{
    json_t *value =
        json_pack("{s:s, s:o}", "stream", chunk->stream == OUTPUT_STDERR ? "stderr" : "stdout",
                  "at", json_time(chunk->at_ms));
    json_t *text = json_stringn(chunk->length ? chunk->bytes : "", chunk->length);
    int failed = !value;
    if (chunk->gap_bytes)
        failed |= json_object_set_new(value, "gap", json_integer(chunk->gap_bytes));
    if (text) {
        failed |= json_object_set_new(value, "text", text);
    } else { /* not UTF-8 */
        char *encoded = base64_encode(chunk->bytes, chunk->length);
        failed |= json_object_set_new(value, "base64", encoded ? json_string(encoded) : NULL);
        free(encoded);
    }
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

static size_t length_of(const struct output_chunk *chunks, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += chunks[i].length;
    return length;
}

struct piece {
    const struct run *run;
    const struct history_log *record; /* NULL: it is open */
    const struct output_chunk *chunks;
    size_t count;
    bool is_last; /* the end of the current output */
    const struct live_read
        *absent; /* what its node, which is gone, had; NULL: nothing is missing */
};

static void reply_log(struct call *call, const struct piece *piece)
{
    const struct log_state *state = call->state;
    json_t *chunks = json_array();
    int64_t next = state->offset + printed_length(piece->chunks, piece->count);
    for (size_t i = 0; i < piece->count && chunks; i++) {
        if (json_array_append_new(chunks, encode_chunk(&piece->chunks[i])) != 0) {
            json_decref(chunks);
            chunks = NULL;
        }
    }
    bool complete = piece->is_last && run_state_is_end(piece->run->state);
    json_t *answer = json_pack(
        "{s:o, s:o, s:I, s:b}", "run",
        piece->record ? encode_recorded(piece->record) : encode_open_run(call, piece->run),
        "chunks", chunks, "next_offset", (json_int_t)next, "complete", complete);
    if (answer && piece->absent &&
        json_object_set_new(answer, "incomplete",
                            json_pack("[{s:s, s:s}]", "node", piece->absent->node, "why",
                                      piece->absent->why)) != 0) {
        json_decref(answer);
        answer = NULL;
    }
    call_reply(call, 200, answer);
}

/* ---- while it runs, and until the history has it ---- */

static void log_read(struct call *call);

static void ask_history(struct call *call)
{
    struct log_state *state = call->state;
    state->was_open = call_open_run(call, &state->run_id);
    call->log.run_id = state->run_id;
    call->log.offset = state->offset;
    call->log.limit = (size_t)state->limit;
    call_read_log(call, log_read);
}

static void output_read(struct call *call)
{
    struct log_state *state = call->state;
    const struct live_read *output = &call->output;
    const struct run *open = call_open_run(call, &state->run_id);
    bool is_gone = output_is_gone(call, open);
    if (call->answer != OK && !is_gone) {
        fail_output(call);
        return;
    }
    if (!open) { /* it has moved to the history meanwhile */
        ask_history(call);
        return;
    }
    struct piece piece = {.run = open, .chunks = output->chunks, .count = output->count};
    /* Less output than it has printed: it is just moving to the history, this is not the end. */
    piece.is_last =
        is_gone || (output->found && state->offset + printed_length(piece.chunks, piece.count) >=
                                         open->output_bytes);
    piece.absent = is_gone ? output : NULL;
    reply_log(call, &piece);
}

static void read_live(struct call *call, const struct run *run)
{
    const struct log_state *state = call->state;
    call_read_output(call, run, state->offset, (size_t)state->limit, output_read);
}

/* ---- from the history ---- */

/* Length of the kept beginning of a truncated output. */
static int64_t kept_head(const struct call *call)
{
    const struct run *run = &call->log.run;
    int64_t head = call->log.kept_bytes / 2;
    struct job *definition = NULL;
    struct job_error error;
    const struct catalog_job *job =
        catalog_by_uid(engine_catalog(call->api->ports.engine), &run->job_uid);
    if (job && job_decode_stored(job->json, call->api->ports.zones, &definition, &error) == OK &&
        definition->output_limit < call->log.kept_bytes)
        head = definition->output_limit;
    job_free(definition);
    return head;
}

int64_t kept_offset(const struct call *call, int64_t offset)
{
    int64_t gap = call->log.run.output_bytes - call->log.kept_bytes;
    if (gap <= 0 || offset <= kept_head(call))
        return offset;
    int64_t kept = offset - gap;
    return kept > kept_head(call) ? kept : kept_head(call);
}

static void log_read(struct call *call)
{
    struct log_state *state = call->state;
    const struct history_log *log = &call->log;
    const struct run *open = call_open_run(call, &state->run_id);
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    if (!log->found && open) {
        read_live(call, open);
        return;
    }
    if (!log->found && state->was_open) { /* recorded, and closed, after the history was read */
        ask_history(call);
        return;
    }
    if (!log->found) {
        fail_no_run(call);
        return;
    }
    int64_t offset = kept_offset(call, state->offset);
    if (offset != call->log.offset && !state->moved) {
        state->moved = true;
        call->log.offset = offset;
        call_read_log(call, log_read);
        return;
    }
    struct piece piece = {
        .run = &log->run, .record = log, .chunks = log->chunks, .count = log->count};
    int64_t end = log->offset + (int64_t)length_of(log->chunks, log->count);
    piece.is_last = end >= log->kept_bytes;
    reply_log(call, &piece);
}

void get_log(struct call *call)
{
    bool raw = false;
    if (!param_bool(call, "raw", &raw))
        return;
    if (raw) {
        get_raw_log(call);
        return;
    }
    struct log_state *state = call_state(call, sizeof(*state), NULL);
    if (!state || !path_run_id(call, &state->run_id))
        return;
    state->limit = BYTES;
    if (!param_number(call, "offset", 0, INT64_MAX / 2, &state->offset) ||
        !param_number(call, "limit", 1, BYTES_MAX, &state->limit))
        return;
    const struct run *open = call_open_run(call, &state->run_id);
    if (open && !run_state_is_end(open->state))
        read_live(call, open);
    else
        ask_history(call);
}
