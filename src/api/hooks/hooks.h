/* Inbound webhooks: shared by their handlers. */
#ifndef PEAL_API_HOOKS_H
#define PEAL_API_HOOKS_H

#include "hooks/webhook.h"

struct api;

#define HOOKS_PATH "/hooks/"

/* Takes in a change of the feed. */
void hooks_take(struct api *api, const struct store_change *change);

/* A timer's: every minute the leader forgets deliveries that are older than DELIVERY_KEPT_MS. */
void hooks_sweep(void *context);

#endif
