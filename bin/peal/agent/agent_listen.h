/* Where the agent's API is on TCP, and with which certificate. */
#ifndef PEAL_AGENT_LISTEN_H
#define PEAL_AGENT_LISTEN_H

#include "api.h"
#include "config/agent_config.h"

struct agent_listen {
    char *addresses, *hosts; /* taken apart by the lists below */
    const char *address_list[16], *host_list[32];
    size_t address_count, host_count;
    bool is_default; /* nobody asked for the address: it may be somebody else's */
    char *cert, *key;
};

/* E_NOMEM. The certificate is the configuration's, else that of `peal tls init` if it is there. */
MUST_CHECK enum status agent_listen_init(struct agent_listen *listen,
                                         const struct agent_config *config);
void agent_listen_release(struct agent_listen *listen);

/* Sets the members that are about TCP; they point into *listen. */
void agent_listen_fill(const struct agent_listen *listen, struct api_config *config);

#endif
