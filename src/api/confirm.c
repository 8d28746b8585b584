#include "confirm.h"

#include "live/health.h"
#include "server.h"

void confirms_init(struct confirms *confirms)
{
    *confirms = (struct confirms){.request.op = STORE_CONFIRM};
    TAILQ_INIT(&confirms->asked);
    TAILQ_INIT(&confirms->waiting);
}

static void ask(struct api *api);

static void answered(struct store_request *request, enum status st)
{
    struct api *api = request->context;
    struct confirms *confirms = &api->confirms;
    for (struct call *call; (call = TAILQ_FIRST(&confirms->asked));) {
        TAILQ_REMOVE(&confirms->asked, call, in_confirm);
        metrics_note_store(&api->metrics,
                           (double)(clock_now().boot.ms - call->asked_boot_ms) / 1000);
        call_answer(call, st);
    }
    if (!TAILQ_EMPTY(&confirms->waiting))
        ask(api);
}

static void ask(struct api *api)
{
    struct confirms *confirms = &api->confirms;
    TAILQ_CONCAT(&confirms->asked, &confirms->waiting, in_confirm);
    confirms->request =
        (struct store_request){.op = STORE_CONFIRM, .count = 1, .done = answered, .context = api};
    store_submit(api->ports.store, &confirms->request);
}

void call_confirm(struct call *call, call_then *then)
{
    struct confirms *confirms = &call->api->confirms;
    call_wait(call, then);
    call->asked_boot_ms = clock_now().boot.ms;
    TAILQ_INSERT_TAIL(&confirms->waiting, call, in_confirm);
    if (TAILQ_EMPTY(&confirms->asked))
        ask(call->api);
}

void call_fail_unconfirmed(struct call *call)
{
    struct strbuf why;
    strbuf_init(&why);
    (void)health_of_store(call->api, call->language, &why);
    if (call->answer == E_NOMEM)
        call_fail(call, 500, "out of memory");
    else if (why.length)
        call_fail(call, 503,
                  "the store does not confirm what this node shows, and may have something else by "
                  "now: %s",
                  why.text);
    else
        call_fail(call, 503,
                  "the store did not confirm what this node shows, and may have something else by "
                  "now; try again");
    strbuf_release(&why);
}
