/* Requests. A transaction has a random tag, which is written with what it changes. So one whose
 * connection was lost is sent again as it is, with the word that it may have been done: then the
 * server finds it by its tag, and gives the answer of the first copy. The server process of the
 * lost connection was ended before, so no copy is done later. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_internal.h"

enum { DEADLINE_MS = 2000, MUTE_MS = 10000, LEASE_MIN_S = 2 };

static const struct pg_job_type call_type, unblock_type;

static struct pg_call *call_of(struct pg_job *job)
{
    return (struct pg_call *)((char *)job - offsetof(struct pg_call, job));
}

static struct pg_client *client_of(const struct pg_call *call)
{
    return (struct pg_client *)call->request.base.client;
}

/* ---- as a request ---- */

static void free_call(struct kv_request *request)
{
    struct pg_call *call = (struct pg_call *)request;
    PQclear(call->rows);
    kv_request_release(request);
    free(call);
}

static void free_job(struct pg_job *job)
{
    free_call(&call_of(job)->request);
}

static void submit(struct kv_request *request)
{
    struct pg_call *call = (struct pg_call *)request;
    bool is_mute = kv_now_ms() < client_of(call)->mute_until_ms;
    pg_write_int8(call->seen_bytes, request->may_be_done ? call->seen : -1);
    pg_write_int4(call->how_bytes, call->how | (is_mute ? 0 : 1));
    call->status = E_UNKNOWN;
    call->is_again = false;
    PQclear(call->rows);
    call->rows = NULL;
    pg_link_submit(call->link, &call->job);
}

static bool withdraw(struct kv_request *request)
{
    struct pg_call *call = (struct pg_call *)request;
    call->job.is_dropped = !pg_link_withdraw(call->link, &call->job);
    return !call->job.is_dropped;
}

static bool is_away(const struct kv_request *request, struct strbuf *why)
{
    const struct pg_link *link = ((const struct pg_call *)request)->link;
    if (!link->wire)
        strbuf_adds(why, link->why.length ? link->why.text : "no connection yet");
    return !link->wire;
}

static const struct kv_request_ops request_ops = {
    .submit = submit, .withdraw = withdraw, .is_away = is_away, .free = free_call};

enum status pg_calls_init(struct pg_client *client, int64_t deadline_ms)
{
    enum status st = kv_requests_init(&client->requests, &client->base, &request_ops);
    client->requests.server = client->address.name;
    client->requests.deadline_ms = deadline_ms > 0 ? deadline_ms : DEADLINE_MS;
    return st;
}

static enum status new_call(struct pg_client *client, enum pg_kind kind,
                            const struct kv_reply *reply, struct pg_call **ret)
{
    struct pg_call *call = calloc(1, sizeof(*call));
    if (!call)
        return E_NOMEM;
    kv_request_init(&client->requests, &call->request, reply);
    call->job.type = &call_type;
    call->job.params = &call->params;
    call->link = kind >= PG_KIND_LOOK ? &client->stream : &client->calls;
    call->kind = kind;
    call->tag = kv_random();
    call->seen = client->newest;
    *ret = call;
    return OK;
}

/* ---- answers ---- */

/* Somebody has sent a part of a transaction, and holds the row of the feed. */
void pg_unblock(struct pg_client *client)
{
    static const struct pg_params none = {.count = 0};
    struct pg_job *job = calloc(1, sizeof(*job));
    if (!job)
        return;
    *job = (struct pg_job){.type = &unblock_type, .statement = PG_UNBLOCK, .params = &none};
    pg_link_submit(&client->stream, job);
}

static bool unblock_rows(struct pg_job *job, PGresult *rows)
{
    (void)job;
    (void)rows;
    return false;
}

static void unblock_over(struct pg_job *job, bool is_lost)
{
    (void)is_lost;
    free(job);
}

static void unblock_free(struct pg_job *job)
{
    free(job);
}

static const struct pg_job_type unblock_type = {
    .rows = unblock_rows, .over = unblock_over, .free = unblock_free};

static void call_error(struct pg_job *job, const struct pg_error *error)
{
    struct pg_call *call = call_of(job);
    const char *state = error->state[0] ? error->state : "08000";
    enum pg_verdict verdict = pg_judge(state, &call->status);
    strbuf_reset(&call->request.message);
    strbuf_adds(&call->request.message, error->message);
    call->is_again = verdict != PG_REFUSED;
    if (verdict == PG_MUTE)
        client_of(call)->mute_until_ms = kv_now_ms() + MUTE_MS;
    if (verdict == PG_BLOCKED)
        pg_unblock(client_of(call));
    if (verdict == PG_LOST)
        pg_link_lose(call->link, "the server ended the session");
}

static void take_lease(struct pg_call *call, int64_t rev, int64_t incarnation)
{
    struct kv_result *result = &call->request.result;
    pg_learn(client_of(call), call->link, rev, incarnation, 0);
    result->revision = rev;
    result->cluster_id = pg_cluster_id(&call->link->facts, incarnation);
    result->lease = (struct kv_lease_result){call->lease, call->ttl_ms / 1000, 0};
}

/* Whoever finds that it is over ends it; the next one to ask sees it gone. */
static int64_t settle(const struct pg_call *call, const struct kv_observed *seen)
{
    const PGresult *rows = call->rows;
    int64_t age_ms = 0, now_ms = kv_now_ms();
    for (int row = 0; row < PQntuples(rows); row++)
        if (!PQgetisnull(rows, row, 2) && pg_int8_at(rows, row, 2) == call->lease)
            age_ms = pg_int8_at(rows, row, 5);
    int is_over = kv_observer_settle(seen, age_ms, now_ms);
    if (is_over > 0)
        pg_lease_end(client_of(call), seen);
    return is_over < 0 ? seen->ttl_ms / 1000 : 0;
}

static enum status take_look(struct pg_call *call)
{
    const PGresult *rows = call->rows;
    if (PQntuples(rows) == 0)
        return E_CORRUPT;
    pg_leases_saw(client_of(call), rows);
    take_lease(call, pg_int8_at(rows, 0, 0), pg_int8_at(rows, 0, 1));
    const struct kv_observed *seen = kv_observer_find(&client_of(call)->observer, call->lease);
    int64_t left_ms = seen ? kv_observer_left_ms(seen, kv_now_ms()) : -1;
    call->request.result.lease.ttl_s = !seen ? -1 : left_ms < 0 ? 0 : left_ms / 1000;
    if (seen && call->kind == PG_KIND_SETTLE)
        call->request.result.lease.ttl_s = settle(call, seen);
    call->request.result.lease.granted_s = seen ? seen->ttl_ms / 1000 : 0;
    return OK;
}

static enum status take_rows(struct pg_call *call)
{
    const PGresult *rows = call->rows;
    call->request.result =
        (struct kv_result){.message = "", .term = strtoull(call->link->facts.timeline, NULL, 16)};
    if (call->kind >= PG_KIND_LOOK)
        return take_look(call);
    if (call->kind != PG_KIND_GRANT && call->kind != PG_KIND_REVOKE)
        return pg_decode_rows(call);
    if (PQntuples(rows) != 1)
        return E_CORRUPT;
    take_lease(call, pg_int8_at(rows, 0, 1), pg_int8_at(rows, 0, 2));
    bool is_done = PQgetlength(rows, 0, 0) == 1 && *PQgetvalue(rows, 0, 0);
    if (!is_done && !call->request.may_be_done) {
        strbuf_adds(&call->request.message, "there is no such lease");
        return E_NOT_FOUND;
    }
    return OK;
}

static bool call_rows(struct pg_job *job, PGresult *rows)
{
    struct pg_call *call = call_of(job);
    PQclear(call->rows);
    call->rows = rows;
    call->status = OK;
    return true;
}

static void succeed(struct pg_call *call)
{
    struct kv_request *request = &call->request;
    enum status st = take_rows(call);
    if (st == OK) {
        kv_request_succeed(request);
        return;
    }
    request->is_paused = true; /* off the link */
    kv_request_fail(request, request->is_write && st != E_NOT_FOUND ? E_UNKNOWN : st,
                    request->message.length ? request->message.text : status_text(st));
}

static void call_over(struct pg_job *job, bool is_lost)
{
    struct pg_call *call = call_of(job);
    struct kv_request *request = &call->request;
    if (call->status == OK) {
        succeed(call);
    } else if (is_lost && call->status == E_UNKNOWN) {
        request->may_be_done = true;
        submit(request);
    } else if (call->is_again) {
        kv_request_pause(request);
    } else {
        request->is_paused = true;
        kv_request_fail(request, call->status, request->message.text);
    }
}

static const struct pg_job_type call_type = {
    .rows = call_rows, .error = call_error, .over = call_over, .free = free_job};

/* ---- requests ---- */

static enum status start_txn(struct kv_client *base, enum pg_kind kind,
                             const struct kv_branches *txn, const struct kv_reply *reply,
                             struct kv_call **ret)
{
    struct pg_call *call;
    enum status st = new_call((struct pg_client *)base, kind, reply, &call);
    if (st != OK)
        return st;
    st = pg_encode_txn(call, txn);
    if (st != OK) {
        free_call(&call->request);
        return st;
    }
    kv_request_start(&call->request, ret);
    return OK;
}

static enum status start_op(struct kv_client *client, enum pg_kind kind, struct kv_op *op,
                            const struct kv_reply *reply, struct kv_call **ret)
{
    const struct kv_branches txn = {.success = {op, 1, 1}};
    return start_txn(client, kind, &txn, reply, ret);
}

enum status pg_range(struct kv_client *client, const struct kv_range *request,
                     const struct kv_reply *reply, struct kv_call **ret)
{
    struct kv_op op = {.kind = KV_OP_RANGE, .range = *request};
    return start_op(client, PG_KIND_RANGE, &op, reply, ret);
}

enum status pg_put(struct kv_client *client, const struct kv_put *request,
                   const struct kv_reply *reply, struct kv_call **ret)
{
    struct kv_op op = {.kind = KV_OP_PUT, .put = *request};
    return start_op(client, PG_KIND_PUT, &op, reply, ret);
}

enum status pg_delete(struct kv_client *client, const struct kv_delete *request,
                      const struct kv_reply *reply, struct kv_call **ret)
{
    struct kv_op op = {.kind = KV_OP_DELETE, .remove = *request};
    return start_op(client, PG_KIND_DELETE, &op, reply, ret);
}

enum status pg_txn(struct kv_client *client, const struct kv_branches *txn,
                   const struct kv_reply *reply, struct kv_call **ret)
{
    return start_txn(client, PG_KIND_TXN, txn, reply, ret);
}

/* ---- leases ---- */

static enum status start_lease(struct kv_client *base, enum pg_kind kind, int64_t id, int64_t ttl_s,
                               const struct kv_reply *reply, struct kv_call **ret)
{
    struct pg_call *call;
    enum status st = new_call((struct pg_client *)base, kind, reply, &call);
    if (st != OK)
        return st;
    call->lease = id;
    call->ttl_ms = ttl_s * 1000;
    call->request.is_write = kind < PG_KIND_LOOK;
    call->job.statement = kind == PG_KIND_GRANT    ? PG_GRANT
                          : kind == PG_KIND_REVOKE ? PG_REVOKE
                                                   : PG_LEASES;
    if (call->request.is_write) {
        int64_t numbers[] = {id, kind == PG_KIND_GRANT ? call->ttl_ms : -1, call->tag};
        int count = kind == PG_KIND_GRANT ? 2 : 3;
        char *bytes = arena_alloc(&call->request.arena, sizeof(numbers));
        if (!bytes) {
            free_call(&call->request);
            return E_NOMEM;
        }
        for (int i = 0; i < count; i++) {
            pg_write_int8(bytes + 8 * i, numbers[i]);
            call->params.values[i] = bytes + 8 * i;
            call->params.lengths[i] = 8;
        }
        call->params.count = count;
        if (kind == PG_KIND_REVOKE) {
            call->params.values[count] = call->how_bytes;
            call->params.lengths[count] = 4;
            call->params.count++;
        }
    }
    kv_request_start(&call->request, ret);
    return OK;
}

enum status pg_lease_grant(struct kv_client *client, int64_t ttl_s, const struct kv_reply *reply,
                           struct kv_call **ret)
{
    return start_lease(client, PG_KIND_GRANT, kv_random(),
                       ttl_s < LEASE_MIN_S ? LEASE_MIN_S : ttl_s, reply, ret);
}

enum status pg_lease_revoke(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                            struct kv_call **ret)
{
    return start_lease(client, PG_KIND_REVOKE, id, 0, reply, ret);
}

enum status pg_lease_settle(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                            struct kv_call **ret)
{
    return start_lease(client, PG_KIND_SETTLE, id, 0, reply, ret);
}

enum status pg_lease_look(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                          struct kv_call **ret)
{
    return start_lease(client, PG_KIND_LOOK, id, 0, reply, ret);
}

void pg_call_cancel(struct kv_call *call)
{
    kv_request_cancel((struct kv_request *)call);
}

/* Every transaction may: see above. */
void pg_call_may_repeat(struct kv_call *call)
{
    (void)call;
}
