/* POST /hooks/{id}: a request that the secret of a webhook has signed becomes a run of its job.
 *
 * The signature is checked before anything else. An unknown path, a job without a webhook and a
 * wrong signature get the same answer, after the same work. */
#include <stdlib.h>
#include <string.h>

#include "confirm.h"
#include "handlers.h"
#include "hooks/hooks.h"
#include "http.h"
#include "jobs/jobs.h"
#include "note.h"
#include "params/run_body.h"
#include "params/run_input.h"
#include "runs/encode.h"
#include "runs/trace_headers.h"
#include "server.h"

enum {
    SWEEP_MAX = 200,
    SWEEP_EVERY_MS = 60 * 1000,
};

/* Wrong signatures of one address; the right ones of the same address are not held up: many senders
 * share the addresses of GitHub. */
static const struct patience patience = {.free = 20, .pause_max_s = 60};

struct receipt {
    struct store_add_run add;
    char *input;
    char delivery[DELIVERY_NAME_SIZE];
    char delivery_json[128];
};

static void release_receipt(void *state)
{
    free(((struct receipt *)state)->input);
}

/* ---- who sends ---- */

static const char *read_header(const void *context, const char *name, bool *ret_is_twice)
{
    const struct call *call = context;
    const char *first = call->request ? http_field(call->request, name) : NULL;
    *ret_is_twice = first && http_last_field(call->request, name) != first;
    return first;
}

/* The webhook at this path, whose job is not deleted; NULL: none. */
static struct webhook *find_hook(const struct call *call, const struct catalog_job **ret_job)
{
    struct id uid;
    struct webhook *hook = webhooks_find(&call->api->webhooks, call->argument);
    if (!hook || id_parse(hook->uid, &uid) != OK)
        return NULL;
    *ret_job = catalog_by_uid(engine_catalog(call->api->ports.engine), &uid);
    return *ret_job && !(*ret_job)->deleted ? hook : NULL;
}

static void fail_signature(struct call *call)
{
    struct limits *limits = &call->api->limits;
    int64_t boot_ms = clock_now().boot.ms;
    char key[LIMIT_KEY_SIZE], address[ADDRESS_SIZE];
    call_address(call, address);
    snprintf(key, sizeof(key), "hook %s", address);
    int64_t wait_ms = limits_pause(limits, key, boot_ms);
    limits_wrong(limits, key, patience, boot_ms);
    if (wait_ms)
        call_fail_later(call, wait_ms, "too many requests with a wrong signature");
    else
        call_fail(call, 401,
                  "there is no webhook here, or the signature is not by its secret; see "
                  "docs/JOBS.md, Webhooks");
}

/* ---- how many ---- */

static bool has_room(struct call *call, struct webhook *hook)
{
    int64_t wait_ms = webhook_ask(hook, clock_now().boot.ms);
    if (wait_ms) {
        call_fail_later(call, wait_ms, "too many requests of this webhook");
        return false;
    }
    return run_input_has_room(call, call->large_length);
}

/* ---- the run ---- */

static void reply_run(struct call *call)
{
    const struct receipt *receipt = call->state;
    const struct run *run = &receipt->add.run;
    call_reply(call, 202,
               json_pack("{s:o, s:s, s:b}", "run_id", json_id(&run->id), "state",
                         run_state_name(run->state), "repeated", false));
}

/* The delivery is in the feed before the store's answer. */
static void reply_repeat(struct call *call, const char *name)
{
    const struct delivery *known = webhooks_delivery(&call->api->webhooks, name);
    if (!known) {
        call_fail(call, 409, "this delivery has come before; its run is not known any more");
        return;
    }
    call_reply(call, 200,
               json_pack("{s:o, s:b}", "run_id", json_id(&known->run_id), "repeated", true));
}

static void run_added(struct call *call)
{
    struct receipt *receipt = call->state;
    const struct store_add_run *add = &receipt->add;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
    } else if (add->is_delivered) {
        reply_repeat(call, receipt->delivery);
    } else if (add->added) {
        note_run(call, CHANGE_RUN, &add->run);
        note_detail(call, "%s", add->run.by);
        note_write(call, reply_run);
    } else {
        call_fail_not_added(call, add);
    }
}

static void fill_body(const struct call *call, const struct webhook *hook,
                      const struct hook_request *request, struct run_body *ret)
{
    const char *type = call_input(call, "Content-Type");
    const char *event = hook_event(hook->kind, request);
    *ret = (struct run_body){.bytes = (char *)request->body, .length = request->length};
    run_body_clean(type ? type : "", ret->type, sizeof(ret->type));
    run_body_clean(webhook_kind_names[hook->kind], ret->source, sizeof(ret->source));
    run_body_clean(event ? event : "", ret->event, sizeof(ret->event));
    run_body_clean(hook_delivery(hook->kind, request), ret->delivery, sizeof(ret->delivery));
}

/* The parameters have their defaults. NULL: the call has failed. */
static char *make_input(struct call *call, const struct job *definition,
                        const struct run_body *body)
{
    struct run_input input = {.timeout_s = -1};
    struct input_error why = {0};
    char *text = NULL;
    enum status st = input_check_body(definition, &why);
    if (st == OK)
        st = input_choose_params(definition, NULL, &input.params, &why);
    if (st == OK) {
        input.tracestate = call_tracestate(call);
        input.body = run_body_encode(body);
        st = input.body ? input_encode(&input, &text) : E_NOMEM;
    }
    input_release(&input);
    call_fail_input(call, st, &why);
    return text;
}

static void start_run(struct call *call, const struct webhook *hook, const struct catalog_job *job,
                      const struct hook_request *request)
{
    struct run_body body;
    struct receipt *receipt = call_state(call, sizeof(*receipt), release_receipt);
    struct job *definition = receipt ? stored_job(call, job) : NULL;
    if (!definition)
        return;
    struct store_add_run *add = &receipt->add;
    fill_body(call, hook, request, &body);
    char *input = make_input(call, definition, &body);
    if (input) {
        receipt->input = input;
        fill_run(call, job, CAUSE_WEBHOOK, run_tick_of_now(call->now_ms), &add->run);
        snprintf(add->run.by, sizeof(add->run.by), "%.10s %.52s", body.source, body.delivery);
        add->run.input = add->run.id;
        call_take_trace(call, &add->run);
        add->is_for_now = true;
        add->overlap = definition->overlap;
        add->queue_limit = definition->queue_limit;
        add->at_once = definition->overlap_at_once;
        add->input = input;
        delivery_name(hook->uid, hook_delivery(hook->kind, request), receipt->delivery);
        delivery_print(&add->run.id, call->now_ms, receipt->delivery_json,
                       sizeof(receipt->delivery_json));
        add->delivery = receipt->delivery;
        add->delivery_json = receipt->delivery_json;
        call_submit(call, STORE_ADD_RUN, add, 1, run_added);
    }
    job_free(definition);
}

/* ---- a delivery that has come before ---- */

struct repeat {
    char delivery[DELIVERY_NAME_SIZE];
};

/* The sender comes again. */
static void repeat_confirmed(struct call *call)
{
    const struct repeat *repeat = call->state;
    if (call->answer != OK)
        call_fail_unconfirmed(call);
    else if (webhooks_delivery(&call->api->webhooks, repeat->delivery))
        reply_repeat(call, repeat->delivery);
    else
        call_fail(call, 503, "the store has no such delivery any more; send it again");
}

/* The store may have been restored since, and know neither of the delivery nor of its run. */
static void confirm_repeat(struct call *call, const char *name)
{
    struct repeat *repeat = call_state(call, sizeof(*repeat), NULL);
    if (!repeat)
        return;
    memcpy(repeat->delivery, name, sizeof(repeat->delivery));
    call_confirm(call, repeat_confirmed);
}

/* ---- requests ---- */

static void take(struct call *call, struct webhook *hook, const struct catalog_job *job,
                 const struct hook_request *request)
{
    const char *id = hook_delivery(hook->kind, request);
    char name[DELIVERY_NAME_SIZE];
    hook->last_ms = call->now_ms;
    snprintf(call->principal.name, sizeof(call->principal.name), "webhook");
    if (!id) {
        call_fail(call, 400, "the request has no id of its delivery: one header %s",
                  hook_delivery_header(hook->kind));
        return;
    }
    if (!has_room(call, hook))
        return;
    delivery_name(hook->uid, id, name);
    if (webhooks_delivery(&call->api->webhooks, name))
        confirm_repeat(call, name);
    else if (webhooks_count(&call->api->webhooks, hook->uid) >= DELIVERIES_MAX)
        call_fail_later(call, INT64_C(3600) * 1000, "too many requests of this webhook in a day");
    else
        start_run(call, hook, job, request);
}

void receive_hook(struct call *call)
{
    static const char nobody[] = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    const struct catalog_job *job = NULL;
    struct webhook *hook = find_hook(call, &job);
    struct hook_request request = {
        .header = read_header,
        .context = call,
        .body = call->large_body ? call->large_body : "",
        .length = call->large_length,
        .now_s = call->now_ms / 1000,
    };
    bool is_good = signature_is_good(hook ? hook->kind : WEBHOOK_GENERIC,
                                     hook ? hook->secret : nobody, &request);
    if (hook && is_good)
        take(call, hook, job, &request);
    else
        fail_signature(call);
}

/* ---- old deliveries ---- */

struct hook_sweep {
    struct store_request request;
    struct store_put_doc puts[SWEEP_MAX];
};

/* What was not done is done in a minute. */
static void swept(struct store_request *request, enum status st)
{
    (void)st;
    free(request->context);
}

static void forget_old(struct api *api)
{
    const char *names[SWEEP_MAX];
    int64_t before_ms = clock_now().wall.ms - DELIVERY_KEPT_MS;
    size_t count = store_leads(api->ports.store)
                       ? webhooks_old(&api->webhooks, before_ms, names, SWEEP_MAX)
                       : 0;
    struct hook_sweep *sweep = count ? calloc(1, sizeof(*sweep)) : NULL;
    if (!sweep)
        return;
    for (size_t i = 0; i < count; i++) {
        sweep->puts[i] = (struct store_put_doc){.expected_revision = -1};
        doc_name(&sweep->puts[i], DELIVERY_DOC, names[i]);
    }
    sweep->request = (struct store_request){.op = STORE_PUT_DOC,
                                            .count = count,
                                            .items.docs = sweep->puts,
                                            .done = swept,
                                            .context = sweep};
    store_submit(api->ports.store, &sweep->request);
}

static void set_timer(struct api *api)
{
    api->is_hooks_timer_set = api->webhooks.deliveries.count > 0;
    if (api->is_hooks_timer_set)
        loop_timer_set(api->hooks_timer, SWEEP_EVERY_MS);
}

void hooks_sweep(void *context)
{
    struct api *api = context;
    forget_old(api);
    set_timer(api);
}

void hooks_take(struct api *api, const struct store_change *change)
{
    webhooks_take(&api->webhooks, change);
    if (!api->is_hooks_timer_set)
        set_timer(api);
}
