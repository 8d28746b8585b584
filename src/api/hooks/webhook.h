/* A webhook of a job, as the document of the store has it, and the webhooks and deliveries that
 * this node knows from the feed. */
#ifndef PEAL_API_WEBHOOK_H
#define PEAL_API_WEBHOOK_H

#include <jansson.h>

#include "hooks/signature.h"
#include "id.h"
#include "store.h"
#include "table.h"

enum {
    WEBHOOK_SECRET_MIN = 16,
    WEBHOOK_SECRET_MAX = 200, /* bytes */
    WEBHOOK_SECRET_BYTES = 32,
    /* A delivery is known for this long, and a webhook takes so many in that time: else another
     * 429. */
    DELIVERY_KEPT_MS = 24 * 3600 * 1000,
    DELIVERIES_MAX = 20000,
};

/* So many in a period, all at once or spread over it. */
struct hook_rate {
    int count;
    int64_t period_ms;
};

struct webhook {
    char uid[ID_TEXT + 1]; /* of the job */
    int64_t revision;
    enum webhook_kind kind;
    struct hook_rate rate;
    char secret[WEBHOOK_SECRET_MAX + 1];
    int64_t created_ms, rotated_ms; /* wall time; rotated: when the secret was made */
    char by[64];                    /* who has made it */
    /* Of this node, since its start: */
    int64_t due_us;  /* boot time until which the rate is used up, as if evenly spread */
    int64_t last_ms; /* wall time of the last request that was signed; 0: none */
};

/* "30/m": a number from 1 to 6000, and s, m or h. False: it is no such text. */
bool hook_rate_parse(const char *text, struct hook_rate *ret);
void hook_rate_print(const struct hook_rate *rate, char *ret, size_t size);

/* May one more come now? 0, and it counts; else the time to wait, in ms. */
int64_t webhook_ask(struct webhook *hook, int64_t boot_ms);

/* NULL: out of memory. */
char *webhook_encode(const struct webhook *hook);
/* E_CORRUPT: it is no webhook. */
MUST_CHECK enum status webhook_decode(const char *uid, const char *json, struct webhook *ret);

/* ---- what this node knows ---- */

/* UID.SHA256 of the id of a delivery. */
enum { DELIVERY_NAME_SIZE = ID_TEXT + 1 + 64 + 1 };

struct delivery {
    char name[DELIVERY_NAME_SIZE];
    struct id run_id;
    int64_t at_ms; /* wall time */
};

struct webhooks {
    struct table by_uid;
    struct table deliveries; /* by name */
    struct table counts;     /* of deliveries, by uid */
};

void webhooks_init(struct webhooks *hooks);
void webhooks_release(struct webhooks *hooks);

/* Takes in a change of the feed. */
void webhooks_take(struct webhooks *hooks, const struct store_change *change);

struct webhook *webhooks_find(const struct webhooks *hooks, const char *uid);

void delivery_name(const char *uid, const char *id, char ret[DELIVERY_NAME_SIZE]);
/* E_CORRUPT: it is none, or is deleted. */
MUST_CHECK enum status delivery_decode(const struct store_doc *doc, struct delivery *ret);
void delivery_print(const struct id *run_id, int64_t at_ms, char *ret, size_t size);
/* NULL: not known. */
const struct delivery *webhooks_delivery(const struct webhooks *hooks, const char *name);
/* Deliveries of a webhook that are known. */
size_t webhooks_count(const struct webhooks *hooks, const char *uid);

/* Names of up to `max` deliveries from before that time. */
size_t webhooks_old(const struct webhooks *hooks, int64_t before_ms, const char **ret, size_t max);

#endif
