#include "health.h"

#include "encode.h"
#include "timestamp.h"

/* Takes *words over, which may be none. */
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

/* Of a store that was restored, that comes first: nobody starts anything until somebody goes on. */
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

/* What is wrong names machines and files: that is for those who may look at everything. */
static json_t *encode(const struct call *call,
                      enum status (*health)(const struct api *api, struct strbuf *why))
{
    struct strbuf why;
    strbuf_init(&why);
    bool ok = health(call->api, &why) == OK;
    const char *words = scope_is_whole(&call->principal.scope)
                            ? why.text
                            : message_in(call->language, "it is not well; an admin can see why");
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
