/* The only way of definitions to the store: quotas are checked, and requests under way count
 * against them until the store has answered; then the job is in the catalog, or was not written. */
#include <stdlib.h>
#include <string.h>

#include "jobs/jobs.h"
#include "runs/encode.h"
#include "server.h"

/* Marks of peal's own in a definition (paused, since when) do not count. */
static struct quota_item weigh(const struct call *call, const struct store_put_job *put,
                               enum put_cause cause)
{
    struct quota_item item = quota_item_of(engine_catalog(call->api->ports.engine), put);
    if (cause == PUT_TO_NOTE)
        item.bytes = 0;
    return item;
}

bool job_put_is_allowed(const struct call *call, const struct store_put_job *put,
                        const struct quota_sum *planned, struct quota_item *ret_item,
                        struct quota_excess *ret)
{
    const struct api *api = call->api;
    *ret_item = weigh(call, put, PUT_TO_DEFINE);
    return quota_allows(&api->quotas, engine_catalog(api->ports.engine), &api->held, planned,
                        ret_item, ret);
}

/* Releases the reservation as soon as the store has answered. */
static void give_back(struct call *call)
{
    for (size_t i = 0; i < call->held_count; i++)
        quota_sum_take_back(&call->api->held, &call->held[i]);
    free(call->held);
    call->held = NULL;
    call->held_count = 0;
}

enum status job_puts_submit(struct call *call, struct store_put_job *puts, size_t count,
                            enum put_cause cause, call_then *then, struct quota_excess *ret)
{
    struct api *api = call->api;
    const struct catalog *catalog = engine_catalog(api->ports.engine);
    enum status st = OK;
    call->held = calloc(count + 1, sizeof(*call->held));
    if (!call->held)
        return E_NOMEM;
    for (size_t i = 0; i < count && st == OK; i++) {
        struct quota_item item = weigh(call, &puts[i], cause);
        if (!quota_allows(&api->quotas, catalog, &api->held, NULL, &item, ret)) {
            st = E_TOO_LARGE;
            break;
        }
        st = quota_sum_add(&api->held, &item);
        call->held[call->held_count++] = item;
    }
    if (st != OK) {
        give_back(call);
        return st;
    }
    call->answered = give_back;
    call_submit(call, STORE_PUT_JOB, puts, count, then);
    return OK;
}

/* ---- refused ---- */

/* A caller with rights in one namespace must not learn the usage elsewhere. */
static bool may_count(const struct call *call, const struct quota_excess *excess)
{
    char job[NAMESPACE_SIZE + 2];
    if (scope_is_whole(&call->principal.scope))
        return true;
    snprintf(job, sizeof(job), "%s/x", excess->namespace);
    return excess->kind == QUOTA_NAMESPACE && scope_may(&call->principal.scope, RIGHT_VIEW, job);
}

static void print_excess(const struct call *call, const struct quota_excess *excess,
                         struct strbuf *out)
{
    if (may_count(call, excess))
        quota_print(call->language, excess, out);
    else
        strbuf_addf(out,
                    message_in(call->language,
                               "a quota is reached (quotas.%s in the configuration file): an admin "
                               "can raise it, or delete jobs"),
                    quota_key(excess));
}

char *quota_text(const struct call *call, const struct quota_excess *excess)
{
    struct strbuf text;
    strbuf_init(&text);
    print_excess(call, excess, &text);
    return strbuf_detach(&text);
}

void call_fail_quota(struct call *call, const char *pointer, const struct quota_excess *excess)
{
    bool may = may_count(call, excess);
    struct strbuf text;
    strbuf_init(&text);
    print_excess(call, excess, &text);
    json_t *quota = json_pack("{s:s, s:o, s:o, s:o}", "key", quota_key(excess), "namespace",
                              may ? json_words_or_null(excess->namespace) : json_null(), "limit",
                              may ? json_integer(excess->limit) : json_null(), "used",
                              may ? json_integer(excess->used) : json_null());
    json_t *more = json_pack("{s:[o], s:o}", "errors",
                             error_item(call, pointer, 0, 0, text.text, NULL), "quota", quota);
    call_fail_with(call, 409, more, "%s", text.text);
    strbuf_release(&text);
}

void call_fail_put(struct call *call, enum status st, const struct quota_excess *excess)
{
    if (st == E_TOO_LARGE)
        call_fail_quota(call, "", excess);
    else
        call_fail(call, 500, "out of memory");
}
