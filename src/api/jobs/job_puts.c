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

/* etcd writes a request in several transactions: jobs of the first ones are in the catalog before
 * the answer, and must not count twice. */
static void release_written(struct api *api)
{
    const struct catalog *catalog = engine_catalog(api->ports.engine);
    struct job_puts *puts;
    TAILQ_FOREACH (puts, &api->puts, link) {
        for (size_t i = 0; i < puts->held_count; i++) {
            const struct store_put_job *put = &puts->request.items.puts[i];
            struct quota_item *item = &puts->held[i];
            if (item->jobs <= 0 || put->expected_revision || !catalog_by_uid(catalog, &put->uid))
                continue;
            quota_sum_take_back(&api->held, item);
            item->jobs = item->bytes = 0;
        }
    }
}

static bool is_allowed(struct api *api, const struct quota_sum *planned,
                       const struct quota_item *item, struct quota_excess *ret)
{
    const struct catalog *catalog = engine_catalog(api->ports.engine);
    if (quota_allows(&api->quotas, catalog, &api->held, planned, item, ret))
        return true;
    release_written(api);
    return quota_allows(&api->quotas, catalog, &api->held, planned, item, ret);
}

bool job_put_is_allowed(const struct call *call, const struct store_put_job *put,
                        const struct quota_sum *planned, struct quota_item *ret_item,
                        struct quota_excess *ret)
{
    *ret_item = weigh(call, put, PUT_TO_DEFINE);
    return is_allowed(call->api, planned, ret_item, ret);
}

static void give_back(struct job_puts *puts)
{
    for (size_t i = 0; i < puts->held_count; i++)
        quota_sum_take_back(&puts->call->api->held, &puts->held[i]);
    free(puts->held);
    puts->held = NULL;
    puts->held_count = 0;
}

static void answered(struct store_request *request, enum status st)
{
    struct job_puts *puts = request->context;
    metrics_note_store(&puts->call->api->metrics,
                       (double)(clock_now().boot.ms - puts->asked_boot_ms) / 1000);
    TAILQ_REMOVE(&puts->call->api->puts, puts, link);
    give_back(puts);
    puts->done(puts, st);
}

enum status job_puts_begin(struct job_puts *puts, struct call *call, struct store_put_job *items,
                           size_t count, enum put_cause cause, struct quota_excess *ret)
{
    struct api *api = call->api;
    enum status st = OK;
    puts->call = call;
    puts->held = calloc(count + 1, sizeof(*puts->held));
    if (!puts->held)
        return E_NOMEM;
    for (size_t i = 0; i < count && st == OK; i++) {
        struct quota_item item = weigh(call, &items[i], cause);
        if (!is_allowed(api, NULL, &item, ret)) {
            st = E_TOO_LARGE;
            break;
        }
        st = quota_sum_add(&api->held, &item);
        puts->held[puts->held_count++] = item;
    }
    if (st != OK) {
        give_back(puts);
        return st;
    }
    puts->request = (struct store_request){.op = STORE_PUT_JOB,
                                           .count = count,
                                           .items.puts = items,
                                           .done = answered,
                                           .context = puts};
    puts->asked_boot_ms = clock_now().boot.ms;
    TAILQ_INSERT_TAIL(&api->puts, puts, link);
    store_submit(api->ports.store, &puts->request);
    return OK;
}

static void answer_call(struct job_puts *puts, enum status st)
{
    call_answer(puts->call, st);
}

enum status job_puts_submit(struct call *call, struct store_put_job *items, size_t count,
                            enum put_cause cause, call_then *then, struct quota_excess *ret)
{
    if (!call->puts)
        call->puts = calloc(1, sizeof(*call->puts));
    if (!call->puts)
        return E_NOMEM;
    call->puts->done = answer_call;
    call_wait(call, then);
    return job_puts_begin(call->puts, call, items, count, cause, ret);
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

void call_fail_unwritten(struct call *call, enum put_result result, bool is_wanted,
                         const char *name)
{
    switch (result) {
    case PUT_OK: /* it was written */
        break;
    case PUT_CONFLICT:
        if (is_wanted)
            call_fail(call, 412, "\"%s\" was changed meanwhile; read it again", call->argument);
        else
            call_fail(call, 409, "\"%s\" is being changed by others; try again", call->argument);
        break;
    case PUT_EXISTS:
        call_fail(call, 409, "there is another job \"%s\" now", name);
        break;
    case PUT_MISSING:
        call_fail(call, 404, "\"%s\" no longer exists", call->argument);
        break;
    }
}
