/* Requests. A transaction has a random tag, which is written with what it changes. So one whose
 * connection was lost is sent again as it is, with the word that it may have been done: then the
 * script finds it by its tag, and gives the answer of the first copy. The lost connection was ended
 * before, so no copy is done later. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "redis_internal.h"

enum { DEADLINE_MS = 2000, LEASE_MIN_S = 2, SEEN_AT = 3 };

static const struct redis_job_type call_type;

static struct redis_call *call_of(struct redis_job *job)
{
    return (struct redis_call *)((char *)job - offsetof(struct redis_call, job));
}

static struct redis_client *client_of(const struct kv_request *request)
{
    return (struct redis_client *)request->base.client;
}

/* ---- as a request ---- */

static void free_call(struct kv_request *request)
{
    struct redis_call *call = (struct redis_call *)request;
    redis_job_drop_reply(&call->job);
    kv_request_release(request);
    free(call);
}

static void submit(struct kv_request *request)
{
    struct redis_call *call = (struct redis_call *)request;
    redis_job_drop_reply(&call->job);
    if (call->kind <= REDIS_KIND_TXN) {
        snprintf(call->seen_text, sizeof(call->seen_text), "%" PRId64,
                 request->may_be_done && request->is_write ? call->seen : -1);
        call->job.command.argc = SEEN_AT;
        redis_adds(&call->job.command, call->seen_text);
    }
    redis_link_submit(&client_of(request)->calls, &call->job);
}

static bool withdraw(struct kv_request *request)
{
    struct redis_call *call = (struct redis_call *)request;
    if (redis_link_withdraw(&client_of(request)->calls, &call->job))
        return true;
    call->job.is_dropped = true;
    return false;
}

static bool is_away(const struct kv_request *request, struct strbuf *why)
{
    const struct redis_link *link = &client_of(request)->calls;
    if (link->wire)
        return false;
    strbuf_adds(why, link->why.length ? link->why.text : "no connection yet");
    return true;
}

static const struct kv_request_ops request_ops = {
    .submit = submit, .withdraw = withdraw, .is_away = is_away, .free = free_call};

enum status redis_calls_init(struct redis_client *client, int64_t deadline_ms)
{
    enum status st = kv_requests_init(&client->requests, &client->base, &request_ops);
    client->requests.server = client->place.name;
    client->requests.deadline_ms = deadline_ms > 0 ? deadline_ms : DEADLINE_MS;
    return st;
}

/* ---- answers ---- */

static void take_error(struct redis_call *call, const char *error)
{
    struct kv_request *request = &call->request;
    struct redis_client *client = client_of(request);
    enum status st;
    struct strbuf words;
    enum redis_verdict verdict = redis_judge(error, &st);
    strbuf_reset(&request->message);
    strbuf_adds(&request->message, error);
    if (verdict == REDIS_LOST)
        redis_link_lose(&client->calls, error);
    if (verdict != REDIS_REFUSED) {
        kv_request_pause(request);
        return;
    }
    strbuf_init(&words);
    redis_explain(&client->place, error, &words);
    request->is_paused = true; /* off the link */
    kv_request_fail(request, st, words.text);
    strbuf_release(&words);
}

/* Whoever finds that it is over ends it; the next one to ask sees it gone. */
static int64_t settle(const struct redis_call *call, const struct kv_observed *seen)
{
    int64_t age_ms = redis_lease_age_ms(call->job.reply, call->lease);
    int is_over = kv_observer_settle(seen, age_ms, kv_now_ms());
    if (is_over > 0)
        redis_lease_end(client_of(&call->request), seen);
    return is_over < 0 ? seen->ttl_ms / 1000 : 0;
}

static enum status take_look(struct redis_call *call)
{
    struct redis_client *client = client_of(&call->request);
    struct kv_lease_result *lease = &call->request.result.lease;
    if (!redis_leases_saw(client, call->job.reply))
        return E_CORRUPT;
    const struct kv_observed *seen = kv_observer_find(&client->observer, call->lease);
    int64_t left_ms = seen ? kv_observer_left_ms(seen, kv_now_ms()) : -1;
    lease->id = call->lease;
    lease->ttl_s = !seen ? -1 : left_ms < 0 ? 0 : left_ms / 1000;
    if (seen && call->kind == REDIS_KIND_SETTLE)
        lease->ttl_s = settle(call, seen);
    lease->granted_s = seen ? seen->ttl_ms / 1000 : 0;
    return OK;
}

static enum status take_lease(struct redis_call *call)
{
    struct kv_request *request = &call->request;
    const struct redisReply *reply = call->job.reply;
    struct redis_head head;
    int64_t is_done;
    if (!redis_read_head(redis_at(reply, 0), &head))
        return E_CORRUPT;
    redis_learn(client_of(request), &head);
    request->result.revision = head.rev;
    request->result.cluster_id = redis_cluster_id(head.incarnation);
    if (call->kind >= REDIS_KIND_LOOK)
        return take_look(call);
    if (!redis_read_number(redis_at(reply, 1), &is_done))
        return E_CORRUPT;
    request->result.lease = (struct kv_lease_result){call->lease, call->ttl_ms / 1000, 0};
    if (!is_done && !request->may_be_done) {
        strbuf_adds(&request->message, "there is no such lease");
        return E_NOT_FOUND;
    }
    return OK;
}

static void call_over(struct redis_job *job, bool is_lost)
{
    struct redis_call *call = call_of(job);
    struct kv_request *request = &call->request;
    if (is_lost) {
        request->may_be_done = true;
        submit(request);
        return;
    }
    if (job->reply->type == REDIS_REPLY_ERROR) {
        take_error(call, job->reply->str);
        return;
    }
    enum status st = call->kind <= REDIS_KIND_TXN ? redis_decode_txn(call) : take_lease(call);
    if (st == OK) {
        kv_request_succeed(request);
        return;
    }
    request->is_paused = true; /* off the link */
    kv_request_fail(request, request->is_write && st != E_NOT_FOUND ? E_UNKNOWN : st,
                    request->message.length ? request->message.text : status_text(st));
}

static void call_free(struct redis_job *job)
{
    free_call(&call_of(job)->request);
}

static const struct redis_job_type call_type = {.over = call_over, .free = call_free};

/* ---- requests ---- */

static enum status new_call(struct kv_client *base, enum redis_kind kind,
                            const struct kv_reply *reply, struct redis_call **ret)
{
    struct redis_client *client = (struct redis_client *)base;
    struct redis_call *call = calloc(1, sizeof(*call));
    if (!call)
        return E_NOMEM;
    kv_request_init(&client->requests, &call->request, reply);
    call->job.type = &call_type;
    call->kind = kind;
    call->tag = kv_random();
    call->seen = client->newest;
    snprintf(call->tag_text, sizeof(call->tag_text), "%" PRId64, call->tag);
    *ret = call;
    return OK;
}

static enum status start_txn(struct kv_client *client, enum redis_kind kind,
                             const struct kv_branches *txn, const struct kv_reply *reply,
                             struct kv_call **ret)
{
    struct redis_call *call;
    enum status st = new_call(client, kind, reply, &call);
    if (st != OK)
        return st;
    st = redis_encode_txn(call, txn);
    if (st != OK) {
        free_call(&call->request);
        return st;
    }
    kv_request_start(&call->request, ret);
    return OK;
}

static enum status start_op(struct kv_client *client, enum redis_kind kind, struct kv_op *op,
                            const struct kv_reply *reply, struct kv_call **ret)
{
    const struct kv_branches txn = {.success = {op, 1, 1}};
    return start_txn(client, kind, &txn, reply, ret);
}

enum status redis_range(struct kv_client *client, const struct kv_range *request,
                        const struct kv_reply *reply, struct kv_call **ret)
{
    struct kv_op op = {.kind = KV_OP_RANGE, .range = *request};
    return start_op(client, REDIS_KIND_RANGE, &op, reply, ret);
}

enum status redis_put(struct kv_client *client, const struct kv_put *request,
                      const struct kv_reply *reply, struct kv_call **ret)
{
    struct kv_op op = {.kind = KV_OP_PUT, .put = *request};
    return start_op(client, REDIS_KIND_PUT, &op, reply, ret);
}

enum status redis_delete(struct kv_client *client, const struct kv_delete *request,
                         const struct kv_reply *reply, struct kv_call **ret)
{
    struct kv_op op = {.kind = KV_OP_DELETE, .remove = *request};
    return start_op(client, REDIS_KIND_DELETE, &op, reply, ret);
}

enum status redis_txn(struct kv_client *client, const struct kv_branches *txn,
                      const struct kv_reply *reply, struct kv_call **ret)
{
    return start_txn(client, REDIS_KIND_TXN, txn, reply, ret);
}

/* ---- leases ---- */

static enum status start_lease(struct kv_client *base, enum redis_kind kind, int64_t id,
                               int64_t ttl_s, const struct kv_reply *reply, struct kv_call **ret)
{
    struct redis_client *client = (struct redis_client *)base;
    struct redis_call *call;
    enum status st = new_call(base, kind, reply, &call);
    if (st != OK)
        return st;
    struct redis_command *command = &call->job.command;
    call->lease = id;
    call->ttl_ms = ttl_s * 1000;
    call->request.is_write = kind < REDIS_KIND_LOOK;
    command->script = REDIS_MAY_NOT_GROW;
    snprintf(call->lease_text, sizeof(call->lease_text), "%" PRId64, id);
    snprintf(call->ttl_text, sizeof(call->ttl_text), "%" PRId64, call->ttl_ms);
    redis_adds(command, kind == REDIS_KIND_GRANT    ? "grant"
                        : kind == REDIS_KIND_REVOKE ? "revoke"
                                                    : "look");
    if (kind < REDIS_KIND_LOOK)
        redis_adds(command, call->lease_text);
    if (kind == REDIS_KIND_GRANT) {
        redis_adds(command, call->ttl_text);
        redis_adds(command, client->calls.facts.server.seat);
    } else if (kind == REDIS_KIND_REVOKE) {
        redis_adds(command, "-1");
        redis_adds(command, call->tag_text);
    }
    kv_request_start(&call->request, ret);
    return OK;
}

enum status redis_lease_grant(struct kv_client *client, int64_t ttl_s, const struct kv_reply *reply,
                              struct kv_call **ret)
{
    return start_lease(client, REDIS_KIND_GRANT, kv_random(),
                       ttl_s < LEASE_MIN_S ? LEASE_MIN_S : ttl_s, reply, ret);
}

enum status redis_lease_revoke(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                               struct kv_call **ret)
{
    return start_lease(client, REDIS_KIND_REVOKE, id, 0, reply, ret);
}

enum status redis_lease_look(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                             struct kv_call **ret)
{
    return start_lease(client, REDIS_KIND_LOOK, id, 0, reply, ret);
}

enum status redis_lease_settle(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                               struct kv_call **ret)
{
    return start_lease(client, REDIS_KIND_SETTLE, id, 0, reply, ret);
}

void redis_call_cancel(struct kv_call *call)
{
    kv_request_cancel((struct kv_request *)call);
}

/* Every transaction may: see above. */
void redis_call_may_repeat(struct kv_call *call)
{
    (void)call;
}
