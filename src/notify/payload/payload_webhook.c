/* A webhook: all facts as JSON, signed. */
#include <inttypes.h>
#include <stdio.h>

#include "payload_internal.h"

/* "sha256=" and the HMAC of "TIMESTAMP.BODY". */
static enum status add_signature(const struct channel *channel, int64_t now_ms,
                                 struct payload *payload)
{
    uint8_t digest[DIGEST];
    char timestamp[24];
    struct strbuf text, signature;
    strbuf_init(&text);
    strbuf_init(&signature);
    snprintf(timestamp, sizeof(timestamp), "%" PRId64, now_ms / 1000);
    strbuf_addf(&text, "%s.", timestamp);
    strbuf_add(&text, payload->body.text, payload->body.length);
    payload_sign(channel->secret, &text, digest);
    strbuf_adds(&signature, "sha256=");
    for (size_t i = 0; i < DIGEST; i++)
        strbuf_addf(&signature, "%02x", digest[i]);
    enum status st = strbuf_status(&text) == OK ? strbuf_status(&signature) : E_NOMEM;
    if (st == OK)
        st = job_pairs_add(&payload->headers, "Peal-Timestamp", timestamp);
    if (st == OK)
        st = job_pairs_add(&payload->headers, "Peal-Signature", signature.text);
    strbuf_release(&text);
    strbuf_release(&signature);
    return st;
}

enum status webhook_add_headers(const struct channel *channel, const struct notice *notice,
                                int64_t now_ms, struct payload *payload)
{
    enum status st =
        job_pairs_add(&payload->headers, "Peal-Event", notify_event_name(notice->event));
    for (size_t i = 0; i < channel->headers.count && st == OK; i++)
        st = job_pairs_add(&payload->headers, channel->headers.items[i].name,
                           channel->headers.items[i].value);
    return st == OK && channel->secret ? add_signature(channel, now_ms, payload) : st;
}

static json_t *number_if(bool is_given, int64_t value)
{
    return is_given ? json_integer(value) : json_null();
}

static json_t *id_or_null(bool is_given, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    return is_given ? json_string(text) : json_null();
}

json_t *webhook_body(const struct channel *channel, const struct notice *n,
                     const struct notice_world *world, int64_t now_ms)
{
    char key[NOTICE_KEY_MAX + 1];
    struct strbuf title, text, link;
    strbuf_init(&title);
    strbuf_init(&text);
    strbuf_init(&link);
    (void)now_ms;
    notice_key(n, key);
    payload_title(channel, n, world, &title);
    payload_add_text(channel, n, world, true, &text);
    notice_link(n, world, &link);
    bool has_ended = n->started_ms && n->finished_ms >= n->started_ms;
    json_t *body = json_pack(
        "{s:s, s:s, s:b, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o,"
        " s:o, s:o, s:b, s:I, s:s, s:s, s:o, s:I, s:o}",
        "id", key, "event", notify_event_name(n->event), "test", n->is_sample, "job", n->job,
        "job_uid", id_or_null(!n->is_sample, &n->job_uid), "run",
        id_or_null(!n->is_entry && !n->is_sample, &n->id), "state", run_state_name(n->state),
        "reason", payload_text_or_null(run_reason_name(n->reason)), "detail",
        payload_text_or_null(n->detail), "tick", payload_time(n->tick_ms), "last_tick",
        payload_time(n->last_tick_ms), "ticks", (json_int_t)n->count, "attempt",
        number_if(!n->is_entry, n->attempt), "node", payload_text_or_null(n->node), "started_at",
        payload_time(n->started_ms), "finished_at", payload_time(n->finished_ms), "duration_ms",
        number_if(has_ended, n->finished_ms - n->started_ms), "exit_code",
        number_if(n->exit_code >= 0, n->exit_code), "signal",
        number_if(n->term_signal > 0, n->term_signal), "output", payload_text_or_null(n->output),
        "output_cut", n->output_is_cut, "held_back", (json_int_t)n->held, "title", title.text,
        "text", text.text, "link", payload_text_or_null(link.text), "grouped",
        (json_int_t)notice_group_count(n), "jobs", payload_text_or_null(n->group.jobs));
    bool failed =
        strbuf_status(&title) != OK || strbuf_status(&text) != OK || strbuf_status(&link) != OK;
    strbuf_release(&title);
    strbuf_release(&text);
    strbuf_release(&link);
    return payload_unless(failed, body);
}
