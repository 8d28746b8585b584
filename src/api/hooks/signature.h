/* Who has sent a webhook: its signature, checked in constant time over the body as it came, before
 * anything else is looked at. Pure: headers and time are given.
 *
 *   github    X-Hub-Signature-256: sha256=HEX, the HMAC of the body with the secret's text as key.
 *             Gitea and Forgejo send it, too
 *   gitlab    X-Gitlab-Token: the secret itself; or, if there is a webhook-signature, as generic
 *   generic   Standard Webhooks: webhook-signature: v1,BASE64, the HMAC of "id.timestamp.body", of
 *             the headers webhook-id and webhook-timestamp, which must be within five minutes of
 *             now. The key is what follows "whsec_" in the secret, as base 64; or its text
 *
 * A header that decides and comes twice is a wrong signature. */
#ifndef PEAL_API_SIGNATURE_H
#define PEAL_API_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum webhook_kind { WEBHOOK_GITHUB, WEBHOOK_GITLAB, WEBHOOK_GENERIC, WEBHOOK_KINDS };

extern const char *const webhook_kind_names[]; /* by kind; NULL at the end */

struct hook_request {
    /* The first header of that name; NULL: none. *ret_is_twice: there are several. */
    const char *(*header)(const void *context, const char *name, bool *ret_is_twice);
    const void *context;
    const char *body;
    size_t length;
    int64_t now_s;
};

/* Costs one HMAC over the body, whatever the answer is. */
bool signature_is_good(enum webhook_kind kind, const char *secret,
                       const struct hook_request *request);

/* The id of the delivery, which the sender repeats when it tries again: X-GitHub-Delivery,
 * webhook-id, X-Gitlab-Event-UUID, or an Idempotency-Key. NULL: none, or one that is no visible
 * ASCII text of at most HOOK_DELIVERY_MAX characters, or comes twice. */
enum { HOOK_DELIVERY_MAX = 127 };
const char *hook_delivery(enum webhook_kind kind, const struct hook_request *request);

/* The sender's word for what has happened; NULL: it has none. */
const char *hook_event(enum webhook_kind kind, const struct hook_request *request);

/* The name of a header that may hold the id, for a message. */
const char *hook_delivery_header(enum webhook_kind kind);

#endif
