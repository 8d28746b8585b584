#include "agent_listen.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data_folder.h"
#include "peer.h"

static const char default_address[] = "127.0.0.1:7325";

/* Splits the text at commas; items beyond `room` are dropped. */
static size_t split(char *text, const char **list, size_t room)
{
    size_t count = 0;
    char *rest = text;
    for (char *word; rest && count < room && (word = strsep(&rest, ", "));) {
        if (*word)
            list[count++] = word;
    }
    return count;
}

static enum status take_certificate(struct agent_listen *listen, const struct agent_config *config)
{
    bool is_given = config->tls_cert && config->tls_key;
    listen->cert =
        is_given ? strdup(config->tls_cert) : data_folder_file(config->data, "tls/cert.pem");
    listen->key =
        is_given ? strdup(config->tls_key) : data_folder_file(config->data, "tls/key.pem");
    if (!listen->cert || !listen->key)
        return E_NOMEM;
    if (!is_given && access(listen->cert, F_OK) != 0) {
        free(listen->cert);
        listen->cert = NULL;
    }
    return OK;
}

enum status agent_listen_init(struct agent_listen *listen, const struct agent_config *config)
{
    *listen = (struct agent_listen){.is_default = !config->listen};
    const char *addresses = config->listen ? config->listen : default_address;
    if (!(config->roles & PEER_API) || strcmp(addresses, "none") == 0)
        return OK;
    listen->addresses = strdup(addresses);
    listen->hosts = strdup(config->hosts ? config->hosts : "");
    if (!listen->addresses || !listen->hosts || take_certificate(listen, config) != OK) {
        agent_listen_release(listen);
        return E_NOMEM;
    }
    listen->address_count = split(listen->addresses, listen->address_list, 16);
    listen->host_count = split(listen->hosts, listen->host_list, 32);
    return OK;
}

void agent_listen_release(struct agent_listen *listen)
{
    free(listen->addresses);
    free(listen->hosts);
    free(listen->cert);
    free(listen->key);
    *listen = (struct agent_listen){0};
}

void agent_listen_fill(const struct agent_listen *listen, struct api_config *config)
{
    config->listen = listen->address_list;
    config->listen_count = listen->address_count;
    config->listen_if_free = listen->is_default;
    config->tls_cert = listen->cert;
    config->tls_key = listen->key;
    config->hosts = listen->host_list;
    config->host_count = listen->host_count;
}
