#include "server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "documents/mutes.h"
#include "handlers.h"
#include "hooks/hooks.h"
#include "http.h"
#include "listen.h"
#include "live/events.h"
#include "server_tls.h"
#include "stream.h"

enum { TURN_MS = 1 };

static const struct http_limits default_limits = {
    .connections = 12000,
    .request_ms = 10000,
    .answer_ms = 60000,
    .idle_ms = 60000,
    .bytes_per_s = 16 << 10,
    .held_bytes = 64 << 20,
    .unsent_bytes = 256 << 20,
};

enum { ASKERS_MAX = 20000, ASKERS_KEEP_MS = 3600 * 1000 };

/* A console page makes some ten requests at once. */
static const struct rate default_known_rate = {.per_s = 200, .burst = 1000};
static const struct rate default_unknown_rate = {.per_s = 50, .burst = 500};

/* ---- HTTP ---- */

/* A graceful stop may wait for the last answer. */
static void on_sent(void *context)
{
    const struct listener *listener = context;
    listener->api->ports.ended(listener->api->ports.context);
}

/* Continues new and answered calls, a few per turn of the loop, so that due runs are not delayed.
 * Calls that use call_later wait for the turn after this one. */
static void go_on(void *context)
{
    struct api *api = context;
    struct call_list ready = TAILQ_HEAD_INITIALIZER(ready);
    int64_t end_ms = clock_now().boot.ms + TURN_MS;
    TAILQ_CONCAT(&ready, &api->ready, in_ready);
    for (struct call *call; (call = TAILQ_FIRST(&ready));) {
        TAILQ_REMOVE(&ready, call, in_ready);
        call->then(call);
        if (clock_now().boot.ms >= end_ms)
            break;
    }
    TAILQ_CONCAT(&ready, &api->ready, in_ready);
    TAILQ_CONCAT(&api->ready, &ready, in_ready);
    if (!TAILQ_EMPTY(&api->ready))
        loop_timer_set(api->later, 0);
}

/* On the UNIX socket: 1 for a client that gets no rights from its user, see guard.c. */
static int look_at_peer(void *context, int fd)
{
    const struct listener *listener = context;
    const struct api_ports *ports = &listener->api->ports;
    return ports->may_be_run && ports->may_be_run(ports->context, fd);
}

/* Takes the socket over. */
static enum status serve(struct api *api, int fd, bool is_tcp, const struct http_limits *limits)
{
    struct listener *listener = &api->listeners[api->listener_count++];
    listener->api = api;
    listener->is_tcp = is_tcp;
    struct http_service service = {
        .accepted = is_tcp ? NULL : look_at_peer,
        .head = dispatch_head,
        .request = dispatch_request,
        .too_large = dispatch_too_large,
        .refuse = print_refusal,
        .sent = on_sent,
        .context = listener,
    };
    return http_server_new(api->ports.loop, limits, is_tcp ? api->tls : NULL, &service, fd,
                           &listener->http);
}

/* ---- addresses ---- */

/* An address that others can reach needs TLS. */
static enum status check_exposed(const struct server_tls *tls, const struct listen_address *address,
                                 const char *text, struct strbuf *why)
{
    if (address->is_loopback || tls)
        return OK;
    strbuf_addf(
        why,
        "can't listen on %s, which other machines can reach, without TLS. For TLS: peal tls "
        "init (a certificate to start with), or tls.cert and tls.key in the configuration "
        "file. It also needs an account: while it listens on loopback alone, peal user add "
        "NAME.",
        text);
    return E_INVALID;
}

enum status api_check_exposed(const struct api *api, struct strbuf *why)
{
    for (size_t i = 0; i < api->listener_count && !api->accounts.users.count; i++) {
        if (!api->listeners[i].is_exposed)
            continue;
        strbuf_addf(why,
                    "can't listen on %s, which other machines can reach, without an account. Start "
                    "it on loopback alone (without --listen), then: peal user add NAME",
                    api->listeners[i].text);
        return E_INVALID;
    }
    return OK;
}

/* The host for URLs; a wildcard address has none. */
static void name_host(struct listener *listener, const struct listen_address *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)&address->address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)&address->address;
    char text[INET6_ADDRSTRLEN] = "";
    if (address->address.ss_family == AF_INET && v4->sin_addr.s_addr != htonl(INADDR_ANY)) {
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
        snprintf(listener->host, sizeof(listener->host), "%s", text);
    } else if (address->address.ss_family == AF_INET6 && !IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)) {
        inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
        snprintf(listener->host, sizeof(listener->host), "[%s]", text);
    }
}

static int port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.v6 = {0}};
    socklen_t length = sizeof(address);
    if (getsockname(fd, &address.any, &length) != 0)
        return 0;
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

static enum status open_address(struct api *api, const char *text, const struct http_limits *limits,
                                struct strbuf *why)
{
    struct listen_address address;
    int fd;
    enum status st = listen_parse(text, &address, why);
    if (st == OK)
        st = check_exposed(api->tls, &address, text, why);
    if (st == OK)
        st = listen_tcp(&address, text, &fd, why);
    if (st != OK)
        return st;
    struct listener *listener = &api->listeners[api->listener_count];
    listener->port = port_of(fd);
    listener->is_exposed = !address.is_loopback;
    listener->text = strdup(text);
    name_host(listener, &address);
    if (!listener->text) {
        close(fd);
        return E_NOMEM;
    }
    return serve(api, fd, true, limits);
}

/* Of the agent's descriptors, one eighth is for the UNIX socket and five eighths are shared by the
 * addresses; two eighths stay for the store, the history and the spawner. */
static size_t affordable_connections(size_t addresses)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return addresses ? files.rlim_cur / 8 * 5 / addresses : files.rlim_cur / 8;
}

/* `addresses` 0: of the UNIX socket. */
static struct http_limits fill_limits(struct http_limits limits, size_t addresses)
{
    size_t affordable = affordable_connections(addresses);
#define FILL(field) limits.field = limits.field ? limits.field : default_limits.field
    FILL(connections);
    FILL(request_ms);
    FILL(answer_ms);
    FILL(idle_ms);
    FILL(bytes_per_s);
    FILL(held_bytes);
    FILL(unsent_bytes);
#undef FILL
    if (limits.connections > affordable)
        limits.connections = affordable;
    return limits;
}

static enum status open_listeners(struct api *api, const struct api_config *config,
                                  struct strbuf *why)
{
    struct http_limits local = fill_limits(config->limits, 0);
    struct http_limits limits = fill_limits(config->limits, config->listen_count);
    int fd;
    api->listeners = calloc(1 + config->listen_count, sizeof(*api->listeners));
    if (!api->listeners)
        return E_NOMEM;
    enum status st = listen_unix(api->socket_path, &fd, why);
    if (st != OK)
        return st;
    api->owns_path = true;
    st = serve(api, fd, false, &local);
    if (st == OK && config->tls_cert && config->listen_count)
        st = server_tls_new(config->tls_cert, config->tls_key, &api->tls, why);
    for (size_t i = 0; i < config->listen_count && st == OK; i++) {
        st = open_address(api, config->listen[i], &limits, why);
        if (st == E_IO && config->listen_if_free)
            st = OK;
    }
    return st;
}

static bool is_held(const struct listen_address *address, const int *held, size_t held_count)
{
    int port = listen_port(address);
    for (size_t i = 0; i < held_count; i++) {
        if (held[i] == port)
            return true;
    }
    return false;
}

enum status api_try_listen(const struct api_config *config, const int *held, size_t held_count,
                           struct strbuf *why)
{
    struct server_tls *tls = NULL;
    enum status st = OK;
    if (config->tls_cert && config->listen_count)
        st = server_tls_new(config->tls_cert, config->tls_key, &tls, why);
    for (size_t i = 0; i < config->listen_count && st == OK; i++) {
        struct listen_address address;
        int fd = -1;
        st = listen_parse(config->listen[i], &address, why);
        if (st == OK)
            st = check_exposed(tls, &address, config->listen[i], why);
        if (st == OK && !config->listen_if_free && !is_held(&address, held, held_count))
            st = listen_tcp(&address, config->listen[i], &fd, why);
        if (fd >= 0)
            close(fd);
    }
    server_tls_free(tls);
    return st;
}

/* ---- life ---- */

static bool copy(const char *text, char **ret)
{
    *ret = strdup(text);
    return *ret != NULL;
}

static bool copy_texts(struct api *api, const struct api_config *config)
{
    if (!copy(config->socket_path, &api->socket_path) || !copy(config->version, &api->version) ||
        !copy(config->node, &api->node) || !copy(config->data_dir, &api->data_dir) ||
        !copy(config->store_url ? config->store_url : "sqlite", &api->store_url) ||
        !copy(config->default_tz, &api->default_tz))
        return false;
    api->hosts = calloc(config->host_count + 1, sizeof(*api->hosts));
    if (!api->hosts)
        return false;
    for (; api->host_count < config->host_count; api->host_count++) {
        if (!copy(config->hosts[api->host_count], &api->hosts[api->host_count]))
            return false;
    }
    return true;
}

static enum status read_proxies(const char *text, struct proxy_list *ret, struct strbuf *why)
{
    struct parse_error error = {0};
    enum status st = proxy_list_parse(text, ret, &error);
    if (st == E_INVALID)
        strbuf_addf(why, "trusted_proxies: %s", error.message);
    return st;
}

static void look_up_user(struct api *api)
{
    api->own_uid = geteuid();
    const struct passwd *user = getpwuid(api->own_uid);
    if (user)
        snprintf(api->own_user, sizeof(api->own_user), "%s", user->pw_name);
    else
        snprintf(api->own_user, sizeof(api->own_user), "uid %u", (unsigned)api->own_uid);
}

static enum status open_events(struct api *api, const struct api_config *config)
{
    struct events_config events = {
        .loop = api->ports.loop,
        .epoch = (uint64_t)api->started_ms,
        .accounts = &api->accounts,
        .held_max = config->unread_events,
        .log = api->ports.log,
    };
    return events_new(&events, &api->events);
}

enum status api_new(const struct api_config *config, const struct api_ports *ports,
                    struct api **ret, struct strbuf *why)
{
    struct api *api = calloc(1, sizeof(*api));
    if (!api)
        return E_NOMEM;
    api->ports = *ports;
    api->started_ms = config->started_ms;
    api->undelete_s = config->undelete_s;
    api->hidden = ROUTE_FACADES & ~config->facades;
    TAILQ_INIT(&api->calls);
    TAILQ_INIT(&api->ready);
    confirms_init(&api->confirms);
    idempotency_init(&api->idempotency);
    metrics_init(&api->metrics);
    accounts_init(&api->accounts);
    undecoded_init(&api->undecoded);
    webhooks_init(&api->webhooks);
    limits_init(&api->limits, ASKERS_MAX, ASKERS_KEEP_MS);
    guesses_init(&api->guesses);
    api->known_rate = config->known_rate.per_s ? config->known_rate : default_known_rate;
    api->unknown_rate = config->unknown_rate.per_s ? config->unknown_rate : default_unknown_rate;
    streams_init(&api->streams);
    TAILQ_INIT(&api->puts);
    look_up_user(api);
    enum status st = copy_texts(api, config) ? OK : E_NOMEM;
    if (st == OK)
        st = quota_sum_init(&api->held, &api->quotas);
    if (st == OK)
        st = api_set_quotas(api, &config->quotas);
    if (st == OK)
        st = read_proxies(config->trusted_proxies, &api->proxies, why);
    if (st == OK)
        st = loop_timer_new_patient(api->ports.loop, go_on, api, &api->later);
    if (st == OK)
        st = loop_timer_new_patient(api->ports.loop, hooks_sweep, api, &api->hooks_timer);
    if (st == OK)
        st = loop_timer_new_patient(api->ports.loop, mutes_sweep, api, &api->mutes_timer);
    if (st == OK)
        st = kept_batches_init(&api->kept, api);
    if (st == OK)
        st = trail_init(&api->trail, api);
    if (st == OK)
        st = node_loads_init(&api->node_loads, api);
    if (st == OK)
        st = open_events(api, config);
    if (st == OK)
        st = hasher_new(api->ports.loop, &api->hasher);
    if (st == OK)
        st = open_listeners(api, config, why);
    if (st != OK)
        goto out;
    if (api->ports.engine) {
        engine_set_observer(api->ports.engine, (struct change_observer){watch_change, api});
        engine_set_clock_observer(api->ports.engine, (struct clock_observer){watch_step, api});
    }
    *ret = api;
    api = NULL;
out:
    api_free(api);
    return st;
}

struct api *api_free(struct api *api)
{
    if (!api)
        return NULL;
    if (api->ports.engine) {
        engine_set_observer(api->ports.engine, (struct change_observer){0});
        engine_set_clock_observer(api->ports.engine, (struct clock_observer){0});
    }
    if (api->owns_path)
        unlink(api->socket_path);
    hasher_free(api->hasher);                        /* before the calls that wait for it */
    for (size_t i = 0; i < api->listener_count; i++) /* closes the sockets and all connections */
        http_server_free(api->listeners[i].http);
    for (struct call *call; (call = TAILQ_FIRST(&api->calls));)
        call_free(call);
    idempotency_release(&api->idempotency);
    kept_batches_release(&api->kept);
    trail_release(&api->trail);
    node_loads_release(&api->node_loads);
    events_free(api->events);
    accounts_release(&api->accounts);
    undecoded_release(&api->undecoded);
    webhooks_release(&api->webhooks);
    one_time_release(&api->one_time);
    limits_release(&api->limits);
    guesses_release(&api->guesses);
    quotas_release(&api->quotas);
    quota_sum_release(&api->held);
    streams_release(&api->streams);
    for (size_t i = 0; i < api->listener_count; i++)
        free(api->listeners[i].text);
    loop_timer_free(api->later);
    loop_timer_free(api->hooks_timer);
    loop_timer_free(api->mutes_timer);
    server_tls_free(api->tls);
    proxy_list_release(&api->proxies);
    free(api->listeners);
    free(api->socket_path);
    free(api->version);
    free(api->node);
    free(api->data_dir);
    free(api->store_url);
    free(api->default_tz);
    for (size_t i = 0; i < api->host_count; i++)
        free(api->hosts[i]);
    free(api->hosts);
    free(api);
    return NULL;
}

enum status api_set_timezone(struct api *api, const char *zone_name)
{
    char *fresh;
    if (!copy(zone_name, &fresh))
        return E_NOMEM;
    free(api->default_tz);
    api->default_tz = fresh;
    return OK;
}

/* Namespaces with slashes are counted only if a quota needs it. */
enum status api_set_quotas(struct api *api, const struct quotas *quotas)
{
    struct quotas copy;
    struct engine *engine = api->ports.engine;
    enum status st = quotas_copy(quotas, &copy);
    for (size_t i = 0; st == OK && i < quotas->namespace_count; i++) {
        const char *name = quotas->namespaces[i].name;
        if (!namespaces_watches(&api->held.namespaces, name))
            st = namespaces_watch(&api->held.namespaces, name, 0);
        if (st == OK && engine)
            st = catalog_watch_namespace(engine_catalog(engine), name);
    }
    if (st != OK)
        return st;
    quotas_release(&api->quotas);
    api->quotas = copy;
    return OK;
}

enum status api_reload_tls(struct api *api, struct strbuf *why)
{
    return api->tls ? server_tls_reload(api->tls, why) : OK;
}

size_t api_open_requests(const struct api *api)
{
    size_t count = api->call_count;
    for (size_t i = 0; i < api->listener_count; i++)
        count += http_server_sending(api->listeners[i].http);
    return count;
}

bool api_is_idle(const struct api *api)
{
    return !api_open_requests(api) && !trail_open(&api->trail);
}

size_t api_connections(const struct api *api)
{
    size_t count = 0;
    for (size_t i = 0; i < api->listener_count; i++)
        count += http_server_connections(api->listeners[i].http);
    return count;
}

size_t api_unsent(const struct api *api)
{
    size_t bytes = 0;
    for (size_t i = 0; i < api->listener_count; i++)
        bytes += http_server_unsent(api->listeners[i].http);
    return bytes;
}

uint64_t api_cut(const struct api *api)
{
    uint64_t count = 0;
    for (size_t i = 0; i < api->listener_count; i++)
        count += http_server_cut(api->listeners[i].http);
    return count;
}

int api_port(const struct api *api, size_t i)
{
    return i + 1 < api->listener_count ? api->listeners[i + 1].port : 0;
}
