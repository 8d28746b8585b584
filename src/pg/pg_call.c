/* The life of a request.
 *
 *     waiting -> sent -> answered
 *        ^ \       |
 *        |  \      v
 *        +--- paused        and from anywhere: answered when the deadline has passed
 *
 * A transaction has a random tag, which is written with what it changes. So one whose connection
 * was lost is sent again as it is, with the word that it may have been done: then the server finds
 * it by its tag, and gives the answer of the first copy. The server process of the lost connection
 * was ended before, so no copy is done later. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_internal.h"

enum {
    TICK_MS = 20,
    PAUSE_FIRST_MS = 5,
    PAUSE_MAX_MS = 100,
    MUTE_MS = 10000,
    LEASE_MIN_S = 2,
};

static const struct pg_job_type call_type, unblock_type;

static struct pg_call *call_of(struct pg_job *job)
{
    return (struct pg_call *)((char *)job - offsetof(struct pg_call, job));
}

/* ---- memory ---- */

static void free_call(struct pg_call *call)
{
    PQclear(call->rows);
    loop_timer_free(call->again);
    arena_release(&call->arena);
    strbuf_release(&call->message);
    free(call);
}

static void free_job(struct pg_job *job)
{
    free_call(call_of(job));
}

static enum status new_call(struct pg_client *client, enum pg_kind kind,
                            const struct kv_reply *reply, struct pg_call **ret)
{
    struct pg_call *call = calloc(1, sizeof(*call));
    if (!call)
        return E_NOMEM;
    int64_t timeout_ms = reply->deadline_ms > 0 ? reply->deadline_ms : client->deadline_ms;
    call->base.client = &client->base;
    call->job.type = &call_type;
    call->job.params = &call->params;
    call->client = client;
    call->link = kind == PG_KIND_LOOK ? &client->stream : &client->calls;
    call->kind = kind;
    call->done = reply->done;
    call->context = reply->context;
    call->timeout_ms = timeout_ms;
    call->deadline_at_ms = kv_now_ms() + timeout_ms;
    call->tag = pg_random();
    call->seen = client->newest;
    arena_init(&call->arena);
    strbuf_init(&call->message);
    *ret = call;
    return OK;
}

/* ---- the list of those that are not answered ---- */

static void set_timer(struct pg_client *client)
{
    if (client->is_call_timed || !client->open_calls)
        return;
    client->is_call_timed = true;
    loop_timer_set(client->call_timer, TICK_MS);
}

static void enlist(struct pg_call *call)
{
    struct pg_client *client = call->client;
    call->next = client->open_calls;
    call->link_in_list = &client->open_calls;
    if (call->next)
        call->next->link_in_list = &call->next;
    client->open_calls = call;
    set_timer(client);
}

static void delist(struct pg_call *call)
{
    *call->link_in_list = call->next;
    if (call->next)
        call->next->link_in_list = call->link_in_list;
}

/* Nobody waits for it any more. What is sent is freed when its link is done with it. */
static void let_go(struct pg_call *call)
{
    delist(call);
    if (call->is_paused || pg_link_withdraw(call->link, &call->job))
        free_call(call);
    else
        call->job.is_dropped = true;
}

/* ---- the end ---- */

static void fail(struct pg_call *call, enum status st, const char *message)
{
    kv_done *done = call->done;
    void *context = call->context;
    struct strbuf words;
    strbuf_init(&words);
    strbuf_adds(&words, message);
    let_go(call); /* first, so that `done` finds a client in order */
    done(context, &(struct kv_result){
                      .status = st, .code = KV_NO_CODE, .message = words.text ? words.text : ""});
    strbuf_release(&words);
}

static void fail_late(struct pg_call *call)
{
    const struct pg_link *link = call->link;
    struct strbuf words;
    bool is_sent = !call->is_paused && link->conn;
    strbuf_init(&words);
    if (link->conn)
        strbuf_addf(&words, "%s did not answer within %lld ms", call->client->place.name,
                    (long long)call->timeout_ms);
    else
        strbuf_addf(&words, "%s", link->why.length ? link->why.text : "no connection yet");
    if (call->message.length)
        strbuf_addf(&words, "; the last attempt: %s", call->message.text);
    fail(call, is_sent || call->may_be_done ? E_UNKNOWN : E_UNREACHABLE,
         words.text ? words.text : "");
    strbuf_release(&words);
}

static void on_timer(void *context)
{
    struct pg_client *client = context;
    int64_t now_ms = kv_now_ms();
    struct pg_call *call = client->open_calls;
    client->is_call_timed = false;
    while (call) {
        /* Who is let go is not in the list. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        if (now_ms >= call->deadline_at_ms) {
            if (call->refusal == OK)
                fail_late(call);
            else
                fail(call, call->refusal,
                     call->refusal == E_INVALID ? "key is not provided"
                                                : "only the newest revision is kept");
            call = client->open_calls; /* `done` may have changed the list */
        } else {
            call = call->next;
        }
    }
    set_timer(client);
}

void pg_calls_refuse(struct pg_client *client, enum status st, const char *message)
{
    while (client->open_calls) {
        /* As above. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        fail(client->open_calls, st, message);
    }
}

void pg_calls_release(struct pg_client *client)
{
    while (client->open_calls) {
        /* As above. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        let_go(client->open_calls);
    }
    client->call_timer = loop_timer_free(client->call_timer);
}

/* ---- sending ---- */

static void submit(struct pg_call *call)
{
    bool is_mute = kv_now_ms() < call->client->mute_until_ms;
    pg_write_int8(call->seen_bytes, call->may_be_done ? call->seen : -1);
    pg_write_int4(call->how_bytes, call->how | (is_mute ? 0 : 1));
    call->is_paused = false;
    call->status = E_UNKNOWN;
    call->is_again = false;
    PQclear(call->rows);
    call->rows = NULL;
    pg_link_submit(call->link, &call->job);
}

static void on_again(void *context)
{
    submit(context);
}

static void pause_call(struct pg_call *call)
{
    int64_t pause_ms = PAUSE_FIRST_MS;
    for (int i = 0; i < call->pauses && pause_ms < PAUSE_MAX_MS; i++)
        pause_ms *= 2;
    call->pauses++;
    call->is_paused = true;
    if (!call->again &&
        loop_timer_new(call->client->base.loop, on_again, call, &call->again) != OK) {
        fail(call, E_NOMEM, status_text(E_NOMEM));
        return;
    }
    loop_timer_set(call->again, pause_ms);
}

static enum status start(struct pg_call *call, struct kv_call **ret)
{
    if (!call->client->call_timer) {
        enum status st = loop_timer_new(call->client->base.loop, on_timer, call->client,
                                        &call->client->call_timer);
        if (st != OK) {
            free_call(call);
            return st;
        }
    }
    enlist(call);
    if (ret)
        *ret = &call->base;
    if (call->refusal != OK) { /* told like an answer */
        call->is_paused = true;
        call->deadline_at_ms = kv_now_ms();
        return OK;
    }
    submit(call);
    return OK;
}

/* ---- answers ---- */

/* Somebody has sent a part of a transaction, and holds the row of the feed. */
static void unblock(struct pg_client *client)
{
    static const struct pg_params none = {.count = 0};
    struct pg_job *job = calloc(1, sizeof(*job));
    if (!job)
        return;
    *job = (struct pg_job){.type = &unblock_type, .statement = PG_UNBLOCK, .params = &none};
    pg_link_submit(&client->stream, job);
}

static bool unblock_result(struct pg_job *job, PGresult *result)
{
    (void)job;
    (void)result;
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
    .result = unblock_result, .over = unblock_over, .free = unblock_free};

static void take_error(struct pg_call *call, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    enum pg_verdict verdict = pg_judge(state ? state : "08000", &call->status);
    strbuf_reset(&call->message);
    strbuf_adds(&call->message, message ? message : "no message");
    call->is_again = verdict != PG_REFUSED;
    if (verdict == PG_MUTE)
        call->client->mute_until_ms = kv_now_ms() + MUTE_MS;
    if (verdict == PG_BLOCKED)
        unblock(call->client);
    if (verdict == PG_LOST)
        call->link->must_close = true;
}

static void take_lease(struct pg_call *call, int64_t rev, int64_t incarnation)
{
    struct kv_result *result = &call->result;
    pg_learn(call->client, call->link, rev, incarnation, 0);
    result->revision = rev;
    result->cluster_id = pg_cluster_id(&call->link->facts, incarnation);
    result->lease = (struct kv_lease_result){call->lease, call->ttl_ms / 1000, 0};
}

static enum status take_look(struct pg_call *call)
{
    const PGresult *rows = call->rows;
    if (PQntuples(rows) == 0)
        return E_CORRUPT;
    pg_leases_saw(call->client, rows);
    take_lease(call, pg_int8_at(rows, 0, 0), pg_int8_at(rows, 0, 1));
    const struct kv_observed *seen = kv_observer_find(&call->client->observer, call->lease);
    int64_t left_ms = seen ? kv_observer_left_ms(seen, kv_now_ms()) : -1;
    call->result.lease.ttl_s = !seen ? -1 : left_ms < 0 ? 0 : left_ms / 1000;
    call->result.lease.granted_s = seen ? seen->ttl_ms / 1000 : 0;
    return OK;
}

static enum status take_rows(struct pg_call *call)
{
    const PGresult *rows = call->rows;
    call->result =
        (struct kv_result){.message = "", .term = strtoull(call->link->facts.timeline, NULL, 16)};
    if (call->kind == PG_KIND_LOOK)
        return take_look(call);
    if (call->kind != PG_KIND_GRANT && call->kind != PG_KIND_REVOKE)
        return pg_decode_rows(call);
    if (PQntuples(rows) != 1)
        return E_CORRUPT;
    take_lease(call, pg_int8_at(rows, 0, 1), pg_int8_at(rows, 0, 2));
    bool is_done = PQgetlength(rows, 0, 0) == 1 && *PQgetvalue(rows, 0, 0);
    if (!is_done && !call->may_be_done) {
        strbuf_adds(&call->message, "there is no such lease");
        return E_NOT_FOUND;
    }
    return OK;
}

static bool call_result(struct pg_job *job, PGresult *result)
{
    struct pg_call *call = call_of(job);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK) {
        take_error(call, result);
        return false;
    }
    PQclear(call->rows);
    call->rows = result;
    call->status = OK;
    return true;
}

static void succeed(struct pg_call *call)
{
    enum status st = take_rows(call);
    if (st != OK) {
        call->is_paused = true; /* off the link */
        fail(call, call->is_write && st != E_NOT_FOUND ? E_UNKNOWN : st,
             call->message.length ? call->message.text : status_text(st));
        return;
    }
    delist(call);
    call->done(call->context, &call->result);
    free_call(call);
}

static void call_over(struct pg_job *job, bool is_lost)
{
    struct pg_call *call = call_of(job);
    if (call->status == OK) {
        succeed(call);
    } else if (is_lost && call->status == E_UNKNOWN) {
        call->may_be_done = true;
        submit(call);
    } else if (call->is_again) {
        pause_call(call);
    } else {
        call->is_paused = true;
        fail(call, call->status, call->message.length ? call->message.text : "");
    }
}

static const struct pg_job_type call_type = {
    .result = call_result, .over = call_over, .free = free_job};

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
        free_call(call);
        return st;
    }
    return start(call, ret);
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
    call->is_write = kind != PG_KIND_LOOK;
    call->job.statement = kind == PG_KIND_GRANT    ? PG_GRANT
                          : kind == PG_KIND_REVOKE ? PG_REVOKE
                                                   : PG_LEASES;
    if (kind != PG_KIND_LOOK) {
        int64_t numbers[] = {id, kind == PG_KIND_GRANT ? call->ttl_ms : -1, call->tag};
        int count = kind == PG_KIND_GRANT ? 2 : 3;
        char *bytes = arena_alloc(&call->arena, sizeof(numbers));
        if (!bytes) {
            free_call(call);
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
    return start(call, ret);
}

enum status pg_lease_grant(struct kv_client *client, int64_t ttl_s, const struct kv_reply *reply,
                           struct kv_call **ret)
{
    return start_lease(client, PG_KIND_GRANT, pg_random(),
                       ttl_s < LEASE_MIN_S ? LEASE_MIN_S : ttl_s, reply, ret);
}

enum status pg_lease_revoke(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                            struct kv_call **ret)
{
    return start_lease(client, PG_KIND_REVOKE, id, 0, reply, ret);
}

enum status pg_lease_look(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                          struct kv_call **ret)
{
    return start_lease(client, PG_KIND_LOOK, id, 0, reply, ret);
}

void pg_call_cancel(struct kv_call *call)
{
    let_go((struct pg_call *)call);
}

/* Every transaction may: see above. */
void pg_call_may_repeat(struct kv_call *call)
{
    (void)call;
}
