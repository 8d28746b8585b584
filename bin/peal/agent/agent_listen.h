/* The TCP addresses and the certificate of the agent's API. */
#ifndef PEAL_AGENT_LISTEN_H
#define PEAL_AGENT_LISTEN_H

#include "api.h"
#include "config/agent_config.h"

struct agent_listen {
    char *addresses, *hosts; /* split by the lists below */
    const char *address_list[16], *host_list[32];
    size_t address_count, host_count;
    bool is_default; /* not configured: the default address may be in use */
    char *cert, *key;
};

/* E_NOMEM. The certificate is the configured one, else that of `peal tls init` if it exists. */
MUST_CHECK enum status agent_listen_init(struct agent_listen *listen,
                                         const struct agent_config *config);
void agent_listen_release(struct agent_listen *listen);

/* Sets the members for TCP, which point into *listen. */
void agent_listen_fill(const struct agent_listen *listen, struct api_config *config);

#endif
