#include "idempotency.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum {
    KEEP_MS = 10 * 60 * 1000,
    KEYS_MAX = 4096,
    BYTES_MAX = 16 << 20, /* of answers */
    KEY_LENGTH_MAX = 128,
    DIGEST = 32,
};

enum progress { UNDER_WAY, UNCERTAIN, ANSWERED };

struct idempotent {
    char *key; /* credential, path and the client's key */
    uint8_t digest[DIGEST];
    enum progress progress;
    int64_t since_ms;  /* boot time */
    int64_t asked_ms;  /* wall time of the first call, and ... */
    struct id run_id;  /* ... the id of its run */
    bool is_forgotten; /* to be freed when its call ends */
    int status;
    char *type, *text;
    size_t length;
    TAILQ_ENTRY(idempotent) link;
};

static const struct table_type keys_type = {.key_at = offsetof(struct idempotent, key),
                                            .is_pointer = true};

void idempotency_init(struct idempotency *idempotency)
{
    *idempotency = (struct idempotency){0};
    table_init(&idempotency->by_key, &keys_type);
    TAILQ_INIT(&idempotency->by_age);
}

static void free_one(struct idempotent *one)
{
    free(one->key);
    free(one->type);
    free(one->text);
    free(one);
}

static void forget(struct idempotency *idempotency, struct idempotent *one)
{
    TAILQ_REMOVE(&idempotency->by_age, one, link);
    table_remove(&idempotency->by_key, one);
    idempotency->bytes -= one->length;
    if (one->progress == UNDER_WAY)
        one->is_forgotten = true;
    else
        free_one(one);
}

void idempotency_release(struct idempotency *idempotency)
{
    for (struct idempotent *one; (one = TAILQ_FIRST(&idempotency->by_age));)
        forget(idempotency, one);
    table_release(&idempotency->by_key);
}

static void forget_old(struct idempotency *idempotency, int64_t now_ms)
{
    for (struct idempotent *one; (one = TAILQ_FIRST(&idempotency->by_age));) {
        if (now_ms - one->since_ms <= KEEP_MS && idempotency->by_key.count < KEYS_MAX &&
            idempotency->bytes <= BYTES_MAX)
            return;
        forget(idempotency, one);
    }
}

/* ---- a call ---- */

static bool digest(const struct call *call, uint8_t ret[DIGEST])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const char *query = call->query_text ? call->query_text : "";
    bool done = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) &&
                EVP_DigestUpdate(context, query, strlen(query) + 1) &&
                EVP_DigestUpdate(context, call->body_text ? call->body_text : "",
                                 call->body_text ? call->body_length : 0) &&
                EVP_DigestFinal_ex(context, ret, NULL);
    EVP_MD_CTX_free(context);
    return done;
}

/* Makes the entry of a call; NULL: out of memory. */
static struct idempotent *remember(struct call *call, char *key, const uint8_t sum[DIGEST])
{
    struct idempotency *idempotency = &call->api->idempotency;
    struct idempotent *one = calloc(1, sizeof(*one));
    if (!one) {
        free(key);
        return NULL;
    }
    one->key = key;
    one->since_ms = clock_now().boot.ms;
    one->asked_ms = call->now_ms;
    one->run_id = call_make_id(call);
    memcpy(one->digest, sum, DIGEST);
    if (table_insert(&idempotency->by_key, one) != OK) {
        free_one(one);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&idempotency->by_age, one, link);
    return one;
}

static void repeat_answer(struct call *call, const struct idempotent *one)
{
    char *text = malloc(one->length + 1);
    if (text)
        memcpy(text, one->text, one->length);
    call_header(call, "Idempotency-Replayed", "true");
    call_reply_text(call, one->status, one->type, text, one->length);
}

/* The key is known: true if the call is to be handled again. */
static bool repeat(struct call *call, struct idempotent *one, const uint8_t sum[DIGEST])
{
    if (memcmp(one->digest, sum, DIGEST) != 0) {
        call_fail(call, 422, "this Idempotency-Key was used for another request; make a new one");
    } else if (one->progress == ANSWERED) {
        repeat_answer(call, one);
    } else if (one->progress == UNDER_WAY) {
        call_header(call, "Retry-After", "1");
        call_fail(call, 409, "the first request with this Idempotency-Key is still under way");
    } else {
        one->progress = UNDER_WAY;
        call->repeatable = one;
        call->now_ms = one->asked_ms;
        return true;
    }
    return false;
}

static bool is_sane(const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < length; i++) {
        if (key[i] < '!' || key[i] > '~')
            return false;
    }
    return length && length <= KEY_LENGTH_MAX;
}

bool idempotency_begin(struct call *call)
{
    struct idempotency *idempotency = &call->api->idempotency;
    const char *given = call_input(call, "Idempotency-Key");
    uint8_t sum[DIGEST];
    char id[PRINCIPAL_ID_SIZE];
    struct strbuf key;
    if (!given || call->route->method != HTTP_POST || call->route->right == RIGHT_PUBLIC)
        return true;
    if (!is_sane(given)) {
        call_fail(call, 422, "Idempotency-Key: expected 1 to %d visible ASCII characters",
                  KEY_LENGTH_MAX);
        return false;
    }
    forget_old(idempotency, clock_now().boot.ms);
    strbuf_init(&key);
    principal_print_id(&call->principal, id);
    strbuf_addf(&key, "%s\n%s\n%s", id, call->path, given);
    char *text = strbuf_detach(&key);
    if (!text || !digest(call, sum)) {
        free(text);
        call_fail(call, 500, "out of memory");
        return false;
    }
    struct idempotent *known = table_find(&idempotency->by_key, text);
    if (known) {
        free(text);
        return repeat(call, known, sum);
    }
    call->repeatable = remember(call, text, sum);
    if (call->repeatable)
        return true;
    call_fail(call, 500, "out of memory");
    return false;
}

/* The call is over; true if the entry is still in use. */
static bool end_call(struct call *call, struct idempotent *one)
{
    call->repeatable = NULL;
    one->progress = UNCERTAIN;
    if (!one->is_forgotten)
        return true;
    free_one(one);
    return false;
}

void idempotency_keep(struct call *call, int status, const char *type, const char *text,
                      size_t length)
{
    struct idempotent *one = call->repeatable;
    if (!one || !end_call(call, one) || status >= 500)
        return;
    one->type = strdup(type);
    one->text = malloc(length + 1);
    if (!one->type || !one->text)
        return; /* then a repeat is handled again */
    memcpy(one->text, text, length);
    one->length = length;
    one->status = status;
    one->progress = ANSWERED;
    call->api->idempotency.bytes += length;
}

void idempotency_keep_instead(struct call *call, int status, const json_t *body)
{
    char *text = call->repeatable ? json_dumps(body, JSON_COMPACT) : NULL;
    if (text)
        idempotency_keep(call, status, "application/json", text, strlen(text));
    else
        idempotency_give_up(call);
    free(text);
}

void idempotency_give_up(struct call *call)
{
    if (call->repeatable)
        end_call(call, call->repeatable);
}

struct id idempotency_run_id(const struct call *call)
{
    return call->repeatable ? call->repeatable->run_id : call_make_id(call);
}
