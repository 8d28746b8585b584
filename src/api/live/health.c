#include "live/health.h"

#include "runs/encode.h"
#include "timestamp.h"

/* Appends *words, which may be empty, and releases them. */
static enum status tell(enum status st, struct strbuf *words, struct strbuf *why)
{
    if (st != OK)
        strbuf_addf(why, "%s%s", why->length ? " " : "",
                    words->length ? words->text : status_text(st));
    strbuf_release(words);
    return st;
}

void health_explain_shut_out(const struct api *api, struct strbuf *why)
{
    const struct peer *other = &engine_peers(api->ports.engine)->me->peer;
    strbuf_addf(why, "node id %s belongs to another agent", other->name);
    if (*other->address)
        strbuf_addf(why, " at %s", other->address);
    strbuf_adds(why, ", started ");
    timestamp_print_utc(other->started_ms / 1000, why);
    strbuf_adds(why, ": this one starts nothing, lets its runs go on and records their ends. Stop "
                     "one of the two, or give this one another --node-id and a new --data");
}

/* A restored store is reported first: nothing starts until an operator lifts the halt. */
enum status health_of_store(const struct api *api, struct strbuf *why)
{
    struct strbuf words;
    strbuf_init(&words);
    enum status st = store_health(api->ports.store, &words);
    if (st != E_ROLLED_BACK && engine_is_shut_out(api->ports.engine)) {
        strbuf_reset(&words);
        health_explain_shut_out(api, &words);
        st = E_CONFLICT;
    }
    return tell(st, &words, why);
}

enum status health_of_history(const struct api *api, struct strbuf *why)
{
    struct strbuf words;
    strbuf_init(&words);
    enum status st = history_health(api->ports.history, &words);
    return tell(st, &words, why);
}

static void explain_doubt(const struct engine_clock *clock, struct strbuf *why)
{
    strbuf_addf(why, "the clock is not trusted (%s): nothing is started here until ",
                engine_doubt_text(clock->doubt));
    timestamp_print_utc(clock->until_ms / 1000, why);
    strbuf_adds(why, ", unless it is corrected, or most of the other nodes have the same time");
}

static void explain_clock(const struct engine *engine, struct strbuf *why)
{
    struct engine_clock clock = engine_clock(engine);
    if (clock.doubt != DOUBT_NONE)
        explain_doubt(&clock, why);
    else if (clock.is_skewed)
        strbuf_addf(why,
                    "the clock is %+lld ms from the other nodes': nothing is started here until "
                    "it agrees with them; let chrony or systemd-timesyncd set it",
                    (long long)clock.skew_ms);
    else if (clock.jobs_ahead)
        strbuf_addf(why,
                    "the clock was ahead before: %zu jobs have gone further than it shows, and go "
                    "on from now in a moment",
                    clock.jobs_ahead);
}

bool health_of_clock(const struct api *api, struct strbuf *why)
{
    struct strbuf words;
    strbuf_init(&words);
    explain_clock(api->ports.engine, &words);
    bool ok = !words.length;
    if (!ok)
        strbuf_addf(why, "%s%s", why->length ? " " : "", words.text);
    strbuf_release(&words);
    return ok;
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
    bool ok = health_of_clock(call->api, &why);
    json_t *value = json_pack(
        "{s:b, s:o, s:o, s:o, s:I, s:I, s:o, s:I}", "ok", ok, "detail",
        ok ? json_null() : json_words(why.text), "doubt",
        json_words_or_null(doubt_name(clock.doubt)), "believed_at", json_time(clock.until_ms),
        "steps", (json_int_t)clock.steps, "step_ms", (json_int_t)clock.step_ms, "stepped_at",
        json_time(clock.stepped_ms), "jobs_ahead", (json_int_t)clock.jobs_ahead);
    strbuf_release(&why);
    return value;
}

/* Details name machines and files: only for callers who may view everything. */
static json_t *encode(const struct call *call,
                      enum status (*health)(const struct api *api, struct strbuf *why))
{
    struct strbuf why;
    strbuf_init(&why);
    bool ok = health(call->api, &why) == OK;
    const char *words = scope_is_whole(&call->principal.scope)
                            ? why.text
                            : message_in(call->language, "it is not healthy; an admin can see why");
    json_t *value =
        json_pack("{s:b, s:o}", "ok", ok, "detail", ok ? json_null() : json_words(words));
    strbuf_release(&why);
    return value;
}

json_t *encode_store_health(const struct call *call)
{
    return encode(call, health_of_store);
}

json_t *encode_history_health(const struct call *call)
{
    return encode(call, health_of_history);
}
