#include "live/health.h"

#include "runs/encode.h"
#include "text/message.h"
#include "text/parsed.h"
#include "timestamp.h"

enum { SPAWNER_MS = 5000 }; /* after the agent's start its spawner may not be there yet */

/* Appends *words, which are English and may be empty, and releases them. */
static enum status tell(enum status st, enum language language, struct strbuf *words,
                        struct strbuf *why)
{
    if (st != OK && why->length)
        strbuf_addc(why, ' ');
    if (st != OK && words->length)
        (void)message_translate(language, words->text, why);
    else if (st != OK)
        strbuf_adds(why, message_in(language, status_text(st)));
    strbuf_release(words);
    return st;
}

void health_explain_shut_out(const struct api *api, enum language language, struct strbuf *why)
{
    const struct peer *other = &engine_peers(api->ports.engine)->me->peer;
    struct strbuf started;
    strbuf_init(&started);
    timestamp_print_utc(other->started_ms / 1000, &started);
    if (*other->address)
        strbuf_addf(why,
                    message_in(language, "node id %s belongs to another agent at %s, started %s"),
                    other->name, other->address, started.text);
    else
        strbuf_addf(why, message_in(language, "node id %s belongs to another agent, started %s"),
                    other->name, started.text);
    strbuf_adds(why, message_in(language, ": this one starts nothing, lets its runs go on and "
                                          "records their ends. Stop one of the two, or give this "
                                          "one another --node-id and a new --data"));
    strbuf_release(&started);
}

/* A restored store is reported first: nothing starts until an operator lifts the halt. */
enum status health_of_store(const struct api *api, enum language language, struct strbuf *why)
{
    struct strbuf words;
    strbuf_init(&words);
    enum status st = store_health(api->ports.store, &words);
    if (st != E_ROLLED_BACK && engine_is_shut_out(api->ports.engine)) {
        strbuf_reset(&words);
        health_explain_shut_out(api, language, &words);
        st = E_CONFLICT;
    }
    return tell(st, language, &words, why);
}

enum status health_of_history(const struct api *api, enum language language, struct strbuf *why)
{
    struct strbuf words;
    strbuf_init(&words);
    enum status st = history_health(api->ports.history, &words);
    return tell(st, language, &words, why);
}

static void explain_doubt(const struct engine_clock *clock, enum language language,
                          struct strbuf *why)
{
    struct strbuf until;
    strbuf_init(&until);
    timestamp_print_utc(clock->until_ms / 1000, &until);
    strbuf_addf(why,
                message_in(language,
                           "the clock is not trusted (%s): nothing is started here until %s, "
                           "unless it is corrected, or most of the other nodes have the same time"),
                message_in(language, engine_doubt_text(clock->doubt)), until.text);
    strbuf_release(&until);
}

static void explain_clock(const struct engine *engine, enum language language, struct strbuf *why)
{
    struct engine_clock clock = engine_clock(engine);
    if (clock.doubt != DOUBT_NONE)
        explain_doubt(&clock, language, why);
    else if (clock.is_skewed)
        strbuf_addf(why,
                    message_in(language,
                               "the clock is %+lld ms from the other nodes': nothing is started "
                               "here until it agrees with them; let chrony or systemd-timesyncd "
                               "set it"),
                    (long long)clock.skew_ms);
    else if (clock.jobs_ahead)
        strbuf_addf(why,
                    message_in(language, "the clock was ahead before: %zu jobs have gone further "
                                         "than it shows, and go on from now in a moment"),
                    clock.jobs_ahead);
}

bool health_of_clock(const struct api *api, enum language language, struct strbuf *why)
{
    struct strbuf words;
    strbuf_init(&words);
    explain_clock(api->ports.engine, language, &words);
    bool ok = !words.length;
    if (!ok)
        strbuf_addf(why, "%s%s", why->length ? " " : "", words.text);
    strbuf_release(&words);
    return ok;
}

static const char *store_obstacle(enum status st)
{
    if (st == E_ROLLED_BACK)
        return "restored";
    if (st == E_CONFLICT)
        return "shut_out";
    return st == E_IO || st == E_BUSY ? "disk_full" : "store_away";
}

/* In its first seconds a node has not compared its clock with the others' yet: that is no trouble.
 */
static const char *own_obstacle(const struct api *api, int64_t now_ms, enum language language,
                                struct strbuf *why)
{
    const struct engine *engine = api->ports.engine;
    struct engine_clock clock = engine_clock(engine);
    enum peer_refusal refusal = engine_refusal(engine);
    if (engine_is_draining(engine)) {
        strbuf_adds(why, message_in(language, "the agent is about to stop: it starts nothing; peal "
                                              "start -d when it has stopped"));
        return "stopping";
    }
    if (clock.doubt != DOUBT_NONE || clock.is_skewed) {
        health_of_clock(api, language, why);
        return "clock_doubted";
    }
    if (engine_is_drained(engine)) {
        strbuf_addf(why,
                    message_in(language, "the node is drained: nothing is started here until: peal "
                                         "undrain %s"),
                    api->node);
        return "drained";
    }
    if (refusal == PEER_NO_SPAWNER && now_ms - api->started_ms > SPAWNER_MS) {
        strbuf_adds(why,
                    message_in(language, "the spawner (peal-spawn) can't be reached: nothing can "
                                         "be started here; the agent's log says why, and it tries "
                                         "again by itself"));
        return "spawner";
    }
    return NULL;
}

const char *health_of_starts(const struct api *api, int64_t now_ms, enum language language,
                             struct strbuf *why)
{
    const struct engine *engine = api->ports.engine;
    if (!(engine_peers(engine)->self->roles & PEER_WORKER) || !engine_is_loaded(engine))
        return NULL;
    enum status st = health_of_store(api, language, why);
    return st == OK ? own_obstacle(api, now_ms, language, why) : store_obstacle(st);
}

static const char *doubt_name(enum clock_doubt doubt)
{
    static const char *const names[] = {
        [DOUBT_NONE] = "",
        [DOUBT_AHEAD] = "ahead",
        [DOUBT_BACK] = "back",
        [DOUBT_START] = "start",
    };
    return names[doubt];
}

json_t *encode_clock_health(const struct call *call)
{
    struct engine_clock clock = engine_clock(call->api->ports.engine);
    struct strbuf why;
    strbuf_init(&why);
    bool ok = health_of_clock(call->api, call->language, &why);
    json_t *value = json_pack(
        "{s:b, s:o, s:o, s:o, s:I, s:o, s:I, s:I, s:o, s:I}", "ok", ok, "detail",
        ok ? json_null() : json_words(why.text), "doubt",
        json_words_or_null(doubt_name(clock.doubt)), "since", json_time(clock.since_ms), "left_s",
        (json_int_t)((clock.left_ms + 999) / 1000), "believed_at", json_time(clock.until_ms),
        "steps", (json_int_t)clock.steps, "step_ms", (json_int_t)clock.step_ms, "stepped_at",
        json_time(clock.stepped_ms), "jobs_ahead", (json_int_t)clock.jobs_ahead);
    strbuf_release(&why);
    return value;
}

/* Details name machines and files: only for callers who may view everything. */
static json_t *encode_detail(const struct call *call, bool ok, const struct strbuf *why)
{
    const char *words = scope_is_whole(&call->principal.scope)
                            ? why->text
                            : message_in(call->language, "it is not healthy; an admin can see why");
    return ok ? json_null() : json_words(words);
}

static json_t *encode(const struct call *call,
                      enum status (*health)(const struct api *api, enum language language,
                                            struct strbuf *why))
{
    struct strbuf why;
    strbuf_init(&why);
    bool ok = health(call->api, call->language, &why) == OK;
    json_t *value = json_pack("{s:b, s:o}", "ok", ok, "detail", encode_detail(call, ok, &why));
    strbuf_release(&why);
    return value;
}

json_t *encode_store_health(const struct call *call)
{
    return encode(call, health_of_store);
}

/* null: nothing ever waits on this node's disk. */
static json_t *encode_spool(const struct call *call)
{
    struct history_backlog backlog = history_backlog(call->api->ports.history);
    const struct history_trouble *trouble = call->api->ports.history_trouble;
    const char *state = backlog.disk == OK ? "ok" : backlog.disk == E_TOO_LARGE ? "full" : "failed";
    if (!backlog.max_bytes)
        return json_null();
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I}", "state", state, "since",
                     json_time(trouble ? trouble->full_ms : 0), "records",
                     (json_int_t)backlog.records, "bytes", (json_int_t)backlog.bytes, "max_bytes",
                     (json_int_t)backlog.max_bytes, "dropped_bytes",
                     (json_int_t)backlog.dropped_bytes);
}

json_t *encode_history_health(const struct call *call)
{
    const struct history_trouble *trouble = call->api->ports.history_trouble;
    json_t *of_spool = json_pack("{s:o, s:o}", "since", json_time(trouble ? trouble->unwell_ms : 0),
                                 "spool", encode_spool(call));
    return json_joined(encode(call, health_of_history), of_spool);
}

json_t *encode_starts(const struct call *call)
{
    struct strbuf why;
    strbuf_init(&why);
    const char *reason = health_of_starts(call->api, call->now_ms, call->language, &why);
    json_t *value = json_pack("{s:b, s:s?, s:o}", "ok", !reason, "reason", reason, "detail",
                              encode_detail(call, !reason, &why));
    strbuf_release(&why);
    return value;
}
