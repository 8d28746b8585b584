#include "health.h"

#include "encode.h"

/* Takes *words over, which may be none. */
static enum status tell(enum status st, struct strbuf *words, struct strbuf *why)
{
    if (st != OK)
        strbuf_addf(why, "%s%s", why->length ? " " : "",
                    words->length ? words->text : status_text(st));
    strbuf_release(words);
    return st;
}

enum status health_of_store(const struct api *api, struct strbuf *why)
{
    struct strbuf words;
    strbuf_init(&words);
    enum status st = store_health(api->ports.store, &words);
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
