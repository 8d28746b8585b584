#include "agent_gather.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "history_gather.h"
#include "listen.h"

enum { PEER_PORT = 7326 };

static bool has_file(const struct agent_config *config)
{
    return !config->history || !*config->history;
}

bool agent_gather_has_history(const struct agent_config *config, const struct agent_data *data)
{
    return has_file(config) || history_waiting(data->history) > 0;
}

/* ---- which address ---- */

static struct sockaddr *name_of(struct listen_address *address)
{
    return (struct sockaddr *)(void *)&address->address;
}

static in_port_t *port_of(struct listen_address *address)
{
    return name_of(address)->sa_family == AF_INET6
               ? &((struct sockaddr_in6 *)(void *)&address->address)->sin6_port
               : &((struct sockaddr_in *)(void *)&address->address)->sin_port;
}

static bool is_any(struct listen_address *address)
{
    if (name_of(address)->sa_family == AF_INET6)
        return IN6_IS_ADDR_UNSPECIFIED(
            &((struct sockaddr_in6 *)(void *)&address->address)->sin6_addr);
    return ((struct sockaddr_in *)(void *)&address->address)->sin_addr.s_addr == INADDR_ANY;
}

/* "10.0.0.1:7326", "[fd00::1]:7326" */
static void print_address(struct listen_address *address, char *to, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";
    bool is_v6 = name_of(address)->sa_family == AF_INET6;
    const void *bytes = is_v6
                            ? (void *)&((struct sockaddr_in6 *)(void *)&address->address)->sin6_addr
                            : (void *)&((struct sockaddr_in *)(void *)&address->address)->sin_addr;
    inet_ntop(name_of(address)->sa_family, bytes, host, sizeof(host));
    snprintf(to, size, is_v6 ? "[%s]:%d" : "%s:%d", host, ntohs(*port_of(address)));
}

/* The local address of a route to `there`; nothing is sent. */
static bool find_way(const struct addrinfo *there, struct listen_address *ret)
{
    struct listen_address address = {.length = sizeof(address.address)};
    char text[80];
    struct strbuf why;
    int fd = socket(there->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found = fd >= 0 && connect(fd, there->ai_addr, there->ai_addrlen) == 0 &&
                 getsockname(fd, name_of(&address), &address.length) == 0;
    if (fd >= 0)
        close(fd);
    if (!found)
        return false;
    *port_of(&address) = htons(PEER_PORT);
    print_address(&address, text, sizeof(text));
    strbuf_init(&why);
    found = listen_parse(text, ret, &why) == OK; /* also sets is_loopback */
    strbuf_release(&why);
    return found;
}

/* The local address of the route to a server of the store, which the other nodes reach, too. A
 * loopback address is better than none. */
static bool find_own_address(const struct store_url *store, struct listen_address *ret)
{
    bool found = false;
    for (size_t i = 0; i < store->endpoint_count && (!found || ret->is_loopback); i++) {
        const char *host = strstr(store->endpoints[i], "://");
        char name[256];
        struct addrinfo *there = NULL, hints = {.ai_socktype = SOCK_DGRAM};
        host = host ? host + 3 : store->endpoints[i];
        const char *colon = strrchr(host, ':');
        size_t length = colon ? (size_t)(colon - host) : strlen(host);
        size_t skip = *host == '[';
        snprintf(name, sizeof(name), "%.*s", (int)(length - 2 * skip), host + skip);
        if (getaddrinfo(name, colon ? colon + 1 : NULL, &hints, &there) != 0)
            continue;
        found |= find_way(there, ret);
        freeaddrinfo(there);
    }
    return found;
}

/* The host of --address if it is numeric, else the route to the store, or to this machine's other
 * agents. */
static bool choose_address(const struct agent_config *config, struct listen_address *ret)
{
    struct strbuf why;
    strbuf_init(&why);
    const char *address =
        !*config->address && config->store.shared ? "127.0.0.1:1" : config->address;
    bool is_told = *address && listen_parse(address, ret, &why) == OK;
    strbuf_release(&why);
    if (!is_told && !find_own_address(&config->store, ret))
        return false;
    *port_of(ret) = htons(PEER_PORT);
    return true;
}

/* ---- the port ---- */

static enum status open_port(struct listen_address *address, bool is_default, int *ret_fd,
                             struct strbuf *why)
{
    char text[80];
    struct strbuf scratch;
    strbuf_init(&scratch);
    print_address(address, text, sizeof(text));
    enum status st = listen_tcp(address, text, ret_fd, &scratch);
    if (st == E_IO && is_default &&
        errno == EADDRINUSE) { /* several nodes on one machine: any port */
        *port_of(address) = 0;
        st = listen_tcp(address, text, ret_fd, &scratch);
    }
    if (st != OK)
        strbuf_addf(why,
                    "can't open the port for other nodes, %s: %s; choose another address with "
                    "--peer-listen, or --peer-listen none",
                    text, strerror(errno));
    strbuf_release(&scratch);
    return st;
}

/* The address for the others: not a wildcard, and with the actual port. */
static bool find_announced(const struct agent_config *config, int fd,
                           struct listen_address *address)
{
    struct listen_address bound = {.length = sizeof(bound.address)};
    if (getsockname(fd, name_of(&bound), &bound.length) != 0)
        return false;
    if (is_any(address) && !choose_address(config, address))
        return false;
    *port_of(address) = *port_of(&bound);
    return true;
}

enum status agent_gather_try(const struct agent_config *config, const int *held, size_t held_count,
                             struct strbuf *why)
{
    struct listen_address address;
    const char *told = config->peer_listen;
    int fd = -1;
    if (!store_url_is_cluster(&config->store) || !told || strcmp(told, "none") == 0)
        return OK;
    enum status st = listen_parse_for(PEER_PORT, told, &address, why);
    for (size_t i = 0; st == OK && i < held_count; i++) {
        if (held[i] == listen_port(&address))
            return OK;
    }
    if (st == OK)
        st = open_port(&address, false, &fd, why);
    if (fd >= 0)
        close(fd);
    return st;
}

static enum status listen_for_others(const struct agent_config *config, struct agent_log *log,
                                     struct agent_data *data, struct strbuf *why)
{
    struct listen_address address;
    const char *told = config->peer_listen;
    int fd;
    if (told ? strcmp(told, "none") == 0 : !(config->roles & PEER_API))
        return OK;
    enum status st = OK;
    if (told)
        st = listen_parse_for(PEER_PORT, told, &address, why);
    else if (!choose_address(config, &address))
        st = E_NOT_FOUND;
    if (st == OK)
        st = open_port(&address, !told, &fd, why);
    if (st != OK && !told) { /* it was not configured */
        agent_log_event(log, "peer_port_closed", "detail=\"%s\"",
                        why->length ? why->text : "this node's own address is not known");
        strbuf_reset(why);
        return OK;
    }
    if (st != OK)
        return st;
    if (find_announced(config, fd, &address))
        print_address(&address, data->peer_address, sizeof(data->peer_address));
    agent_log_event(log, "peer_port", "address=%s", data->peer_address);
    return gather_net_listen(data->net, fd);
}

static enum status gather_history(struct history_wake wake, bool is_shared, struct agent_data *data)
{
    struct history *own = data->history;
    data->history = NULL;
    enum status st = history_gather_new(data->net, own, is_shared, wake, &data->history);
    data->gathers = st == OK;
    return st;
}

enum status agent_gather(const struct agent_config *config, struct loop *loop,
                         struct agent_log *log, struct history_wake wake, struct agent_data *data,
                         struct strbuf *why)
{
    if (!store_url_is_cluster(&config->store))
        return OK;
    enum status st = gather_net_new(loop, &data->net);
    if (st == OK)
        st = gather_history(wake, !has_file(config), data);
    return st == OK ? listen_for_others(config, log, data, why) : st;
}

void agent_gather_announce(const struct agent_config *config, const struct agent_data *data,
                           struct peer *self)
{
    self->has_history = agent_gather_has_history(config, data);
    if (!data->net)
        return;
    snprintf(self->history_address, sizeof(self->history_address), "%s", data->peer_address);
    snprintf(self->fingerprint, sizeof(self->fingerprint), "%s", gather_net_fingerprint(data->net));
}
