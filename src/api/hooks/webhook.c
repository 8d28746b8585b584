#include "hooks/webhook.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/run_input.h"

/* ---- rates ---- */

static const struct {
    char unit;
    int64_t ms;
} periods[] = {{'s', 1000}, {'m', 60 * 1000}, {'h', 3600 * 1000}};

enum { PERIODS = sizeof(periods) / sizeof(periods[0]), RATE_MAX = 6000 };

bool hook_rate_parse(const char *text, struct hook_rate *ret)
{
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 4 || text[digits] != '/' || !text[digits + 1] || text[digits + 2])
        return false;
    int count = atoi(text);
    for (size_t i = 0; i < PERIODS && count >= 1 && count <= RATE_MAX; i++) {
        if (periods[i].unit != text[digits + 1])
            continue;
        *ret = (struct hook_rate){.count = count, .period_ms = periods[i].ms};
        return true;
    }
    return false;
}

void hook_rate_print(const struct hook_rate *rate, char *ret, size_t size)
{
    char unit = 's';
    for (size_t i = 0; i < PERIODS; i++)
        unit = periods[i].ms == rate->period_ms ? periods[i].unit : unit;
    snprintf(ret, size, "%d/%c", rate->count, unit);
}

/* A bucket as one time: each request moves it on by its share of the period, and it may be a whole
 * period ahead of the clock. In microseconds, since a share may be less than a millisecond. */
int64_t webhook_ask(struct webhook *hook, int64_t boot_ms)
{
    int64_t share_us = hook->rate.period_ms * 1000 / hook->rate.count;
    int64_t from_us = hook->due_us > boot_ms * 1000 ? hook->due_us : boot_ms * 1000;
    int64_t over_us = from_us + share_us - (boot_ms + hook->rate.period_ms) * 1000;
    if (over_us > 0)
        return (over_us + 999) / 1000;
    hook->due_us = from_us + share_us;
    return 0;
}

/* ---- the document ---- */

char *webhook_encode(const struct webhook *hook)
{
    char rate[16];
    hook_rate_print(&hook->rate, rate, sizeof(rate));
    json_t *value =
        json_pack("{s:s, s:s, s:s, s:I, s:I, s:s}", "kind", webhook_kind_names[hook->kind],
                  "secret", hook->secret, "rate", rate, "created_ms", (json_int_t)hook->created_ms,
                  "rotated_ms", (json_int_t)hook->rotated_ms, "by", hook->by);
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}

static bool read_kind(const char *name, enum webhook_kind *ret)
{
    for (int i = 0; i < WEBHOOK_KINDS; i++) {
        if (strcmp(webhook_kind_names[i], name) == 0) {
            *ret = (enum webhook_kind)i;
            return true;
        }
    }
    return false;
}

enum status webhook_decode(const char *uid, const char *json, struct webhook *ret)
{
    struct webhook hook = {.revision = 0};
    struct id id;
    json_t *value = json_loads(json, 0, NULL);
    const char *kind = json_string_value(json_object_get(value, "kind"));
    const char *secret = json_string_value(json_object_get(value, "secret"));
    const char *rate = json_string_value(json_object_get(value, "rate"));
    const char *by = json_string_value(json_object_get(value, "by"));
    bool is_good = id_parse(uid, &id) == OK && kind && read_kind(kind, &hook.kind) && secret &&
                   strlen(secret) >= WEBHOOK_SECRET_MIN && strlen(secret) <= WEBHOOK_SECRET_MAX &&
                   rate && hook_rate_parse(rate, &hook.rate);
    if (is_good) {
        snprintf(hook.uid, sizeof(hook.uid), "%s", uid);
        snprintf(hook.secret, sizeof(hook.secret), "%s", secret);
        snprintf(hook.by, sizeof(hook.by), "%s", by ? by : "");
        hook.created_ms = json_integer_value(json_object_get(value, "created_ms"));
        hook.rotated_ms = json_integer_value(json_object_get(value, "rotated_ms"));
        *ret = hook;
    }
    json_decref(value);
    return is_good ? OK : E_CORRUPT;
}

/* ---- what this node knows ---- */

struct delivery_count {
    char uid[ID_TEXT + 1];
    size_t count;
};

/* All begin with their names. */
static const struct table_type names_type = {.key_at = 0};

void webhooks_init(struct webhooks *hooks)
{
    table_init(&hooks->by_uid, &names_type);
    table_init(&hooks->deliveries, &names_type);
    table_init(&hooks->counts, &names_type);
}

void webhooks_release(struct webhooks *hooks)
{
    table_release_items(&hooks->by_uid);
    table_release_items(&hooks->deliveries);
    table_release_items(&hooks->counts);
}

struct webhook *webhooks_find(const struct webhooks *hooks, const char *uid)
{
    return table_find(&hooks->by_uid, uid);
}

static void take_webhook(struct webhooks *hooks, const struct store_doc *doc)
{
    struct webhook read, *known = webhooks_find(hooks, doc->name);
    bool is_there = doc->json && webhook_decode(doc->name, doc->json, &read) == OK;
    if (is_there)
        read.revision = doc->revision;
    if (is_there && known) {
        read.due_us = known->due_us;
        read.last_ms = known->last_ms;
        *known = read;
    } else if (is_there) {
        (void)table_add(&hooks->by_uid, &read, sizeof(read));
    } else if (known) {
        table_remove(&hooks->by_uid, known);
        free(known);
    }
}

static void count_delivery(struct webhooks *hooks, const char *name, bool is_new)
{
    struct delivery_count key = {.count = 0};
    snprintf(key.uid, sizeof(key.uid), "%.*s", ID_TEXT, name);
    struct delivery_count *count = table_find(&hooks->counts, key.uid);
    if (!count && is_new)
        count = table_add(&hooks->counts, &key, sizeof(key));
    if (!count)
        return;
    count->count += is_new ? 1 : 0;
    count->count -= !is_new && count->count ? 1 : 0;
    if (count->count)
        return;
    table_remove(&hooks->counts, count);
    free(count);
}

enum status delivery_decode(const struct store_doc *doc, struct delivery *ret)
{
    json_t *value = doc->json ? json_loads(doc->json, 0, NULL) : NULL;
    const char *run_id = json_string_value(json_object_get(value, "run_id"));
    bool is_good =
        run_id && id_parse(run_id, &ret->run_id) == OK && strlen(doc->name) < sizeof(ret->name);
    ret->at_ms = json_integer_value(json_object_get(value, "at_ms"));
    json_decref(value);
    if (is_good)
        snprintf(ret->name, sizeof(ret->name), "%.*s", DELIVERY_NAME_SIZE - 1, doc->name);
    return is_good ? OK : E_CORRUPT;
}

static void take_delivery(struct webhooks *hooks, const struct store_doc *doc)
{
    struct delivery read, *known = table_find(&hooks->deliveries, doc->name);
    bool is_there = delivery_decode(doc, &read) == OK;
    if (is_there && known) {
        *known = read;
    } else if (is_there && table_add(&hooks->deliveries, &read, sizeof(read))) {
        count_delivery(hooks, read.name, true);
    } else if (!is_there && known) {
        count_delivery(hooks, known->name, false);
        table_remove(&hooks->deliveries, known);
        free(known);
    }
}

void webhooks_take(struct webhooks *hooks, const struct store_change *change)
{
    if (change->kind != STORE_CHANGE_DOC)
        return;
    if (strcmp(change->doc->kind, WEBHOOK_DOC) == 0)
        take_webhook(hooks, change->doc);
    else if (strcmp(change->doc->kind, DELIVERY_DOC) == 0)
        take_delivery(hooks, change->doc);
}

void delivery_name(const char *uid, const char *id, char ret[DELIVERY_NAME_SIZE])
{
    unsigned char digest[32] = {0};
    EVP_Digest(id, strlen(id), digest, NULL, EVP_sha256(), NULL);
    size_t length = (size_t)snprintf(ret, DELIVERY_NAME_SIZE, "%s.", uid);
    for (size_t i = 0; i < sizeof(digest); i++, length += 2)
        snprintf(ret + length, DELIVERY_NAME_SIZE - length, "%02x", digest[i]);
}

void delivery_print(const struct id *run_id, int64_t at_ms, char *ret, size_t size)
{
    char id[ID_TEXT + 1];
    id_format(run_id, id);
    snprintf(ret, size, "{\"run_id\":\"%s\",\"at_ms\":%lld}", id, (long long)at_ms);
}

const struct delivery *webhooks_delivery(const struct webhooks *hooks, const char *name)
{
    return table_find(&hooks->deliveries, name);
}

size_t webhooks_count(const struct webhooks *hooks, const char *uid)
{
    const struct delivery_count *count = table_find(&hooks->counts, uid);
    return count ? count->count : 0;
}

size_t webhooks_old(const struct webhooks *hooks, int64_t before_ms, const char **ret, size_t max)
{
    const struct delivery *delivery;
    size_t count = 0;
    for (size_t at = 0; count < max && (delivery = table_next(&hooks->deliveries, &at));) {
        if (delivery->at_ms < before_ms)
            ret[count++] = delivery->name;
    }
    return count;
}
