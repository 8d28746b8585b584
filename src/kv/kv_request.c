#include "kv_request.h"

#include <inttypes.h>

enum { TICK_MS = 20, PAUSE_FIRST_MS = 5, PAUSE_MAX_MS = 100 };

/* ---- memory ---- */

void kv_request_init(struct kv_requests *all, struct kv_request *request,
                     const struct kv_reply *reply)
{
    int64_t timeout_ms = reply->deadline_ms > 0 ? reply->deadline_ms : all->deadline_ms;
    *request = (struct kv_request){.base.client = all->client,
                                   .all = all,
                                   .done = reply->done,
                                   .context = reply->context,
                                   .timeout_ms = timeout_ms,
                                   .deadline_at_ms = kv_now_ms() + timeout_ms,
                                   .result.message = ""};
    arena_init(&request->arena);
    strbuf_init(&request->message);
}

void kv_request_release(struct kv_request *request)
{
    loop_timer_free(request->again);
    arena_release(&request->arena);
    strbuf_release(&request->message);
}

/* ---- the list of those that are not answered ---- */

static void set_timer(struct kv_requests *all)
{
    if (all->is_timed || !all->first)
        return;
    all->is_timed = true;
    loop_timer_set(all->timer, TICK_MS);
}

static void enlist(struct kv_request *request)
{
    struct kv_requests *all = request->all;
    request->next = all->first;
    request->link = &all->first;
    if (request->next)
        request->next->link = &request->next;
    all->first = request;
    set_timer(all);
}

static void delist(struct kv_request *request)
{
    *request->link = request->next;
    if (request->next)
        request->next->link = request->link;
}

void kv_request_cancel(struct kv_request *request)
{
    const struct kv_request_ops *ops = request->all->ops;
    delist(request);
    if (request->is_paused || ops->withdraw(request))
        ops->free(request);
}

/* ---- the end ---- */

void kv_request_fail(struct kv_request *request, enum status st, const char *message)
{
    kv_done *done = request->done;
    void *context = request->context;
    struct strbuf words;
    strbuf_init(&words);
    strbuf_adds(&words, message);
    kv_request_cancel(request); /* first, so that `done` finds a client in order */
    done(context, &(struct kv_result){.status = st, .code = KV_NO_CODE, .message = words.text});
    strbuf_release(&words);
}

void kv_request_succeed(struct kv_request *request)
{
    const struct kv_request_ops *ops = request->all->ops;
    delist(request);
    request->done(request->context, &request->result);
    ops->free(request);
}

static void fail_late(struct kv_request *request)
{
    struct strbuf words;
    strbuf_init(&words);
    bool is_away = request->all->ops->is_away(request, &words);
    bool is_sent = !request->is_paused && !is_away;
    if (!is_away)
        strbuf_addf(&words, "%s did not answer within %" PRId64 " ms", request->all->server,
                    request->timeout_ms);
    if (request->message.length)
        strbuf_addf(&words, "; the last attempt: %s", request->message.text);
    kv_request_fail(request, is_sent || request->may_be_done ? E_UNKNOWN : E_UNREACHABLE,
                    words.text);
    strbuf_release(&words);
}

static void on_timer(void *context)
{
    struct kv_requests *all = context;
    int64_t now_ms = kv_now_ms();
    struct kv_request *request = all->first;
    all->is_timed = false;
    while (request) {
        /* Who is let go is not in the list. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        if (now_ms < request->deadline_at_ms) {
            request = request->next;
            continue;
        }
        if (request->refusal == OK)
            fail_late(request);
        else
            kv_request_fail(request, request->refusal,
                            request->refusal == E_INVALID ? "key is not provided"
                                                          : "only the newest revision is kept");
        request = all->first; /* `done` may have changed the list */
    }
    set_timer(all);
}

void kv_requests_refuse(struct kv_requests *all, enum status st, const char *message)
{
    while (all->first) {
        /* As above. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        kv_request_fail(all->first, st, message);
    }
}

enum status kv_requests_init(struct kv_requests *all, struct kv_client *client,
                             const struct kv_request_ops *ops)
{
    *all = (struct kv_requests){.client = client, .ops = ops, .server = client->kind->name};
    return loop_timer_new(client->loop, on_timer, all, &all->timer);
}

void kv_requests_release(struct kv_requests *all)
{
    while (all->first) {
        /* As above. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        kv_request_cancel(all->first);
    }
    all->timer = loop_timer_free(all->timer);
}

/* ---- sending ---- */

static void submit(struct kv_request *request)
{
    request->is_paused = false;
    request->all->ops->submit(request);
}

static void on_again(void *context)
{
    submit(context);
}

void kv_request_pause(struct kv_request *request)
{
    int64_t pause_ms = PAUSE_FIRST_MS;
    for (int i = 0; i < request->pauses && pause_ms < PAUSE_MAX_MS; i++)
        pause_ms *= 2;
    request->pauses++;
    request->is_paused = true;
    if (!request->again &&
        loop_timer_new(request->base.client->loop, on_again, request, &request->again) != OK) {
        kv_request_fail(request, E_NOMEM, status_text(E_NOMEM));
        return;
    }
    loop_timer_set(request->again, pause_ms);
}

void kv_request_start(struct kv_request *request, struct kv_call **ret)
{
    enlist(request);
    if (ret)
        *ret = &request->base;
    if (request->refusal == OK) {
        submit(request);
        return;
    }
    request->is_paused = true; /* told like an answer */
    request->deadline_at_ms = kv_now_ms();
}
