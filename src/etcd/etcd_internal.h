/* Internals that the files of the client share: the client, its calls, and the decoding of
 * answers. */
#ifndef PEAL_ETCD_INTERNAL_H
#define PEAL_ETCD_INTERNAL_H

#include "etcd.h"
#include "etcd.pb-c.h"
#include "heap.h"
#include "transport/arena.h"
#include "transport/grpc_channel.h"
#include "transport/grpc_stream.h"

struct stream_hub;

/* ---- the client ---- */

struct etcd_auth {
    char *user, *password; /* NULL: no authentication */
    char *token;           /* NULL: none yet */
    bool is_asking;
    bool is_needless; /* authentication is not enabled on the server */
};

/* The leader probe, the search for a member that has a leader: etcd_probe.c */
struct etcd_probe {
    struct etcd_call *call; /* NULL: none is under way */
    int64_t sent_ms;
    struct loop_timer *timer;
    bool is_timed;
    void (*away)(void *context, const char *why); /* NULL: no listener */
    void *context;
};

struct etcd_client {
    struct loop *loop;
    int64_t deadline_ms;
    struct endpoints endpoints;
    char *server_name;
    struct grpc_channel_config channel_config;
    struct grpc_channel calls;   /* requests with one answer */
    struct grpc_channel streams; /* watches and leases, so that they don't starve behind bulk */

    struct etcd_call *waiting, **waiting_end; /* in order */
    uint64_t call_count;                      /* ever */
    struct heap wakes;                        /* all calls, by their next timer */
    struct loop_timer *timer;
    int64_t timer_at_ms;
    double latency_ms; /* smoothed, of calls that may be repeated */
    struct etcd_probe probe;
    uint64_t cluster_id; /* of the last answer; 0: none yet */
    struct arena arena;  /* of the result that is being handed out */

    struct etcd_auth auth;
    struct stream_hub *watches, *leases; /* NULL: none yet */
};

int64_t etcd_now_ms(void); /* the boot clock */

/* ---- calls ---- */

typedef enum status etcd_decode(struct arena *arena, const uint8_t *bytes, size_t length,
                                struct etcd_result *ret);

struct etcd_method {
    const char *path;
    etcd_decode *decode;
    bool is_read;       /* may be sent again without asking */
    bool any_member;    /* a member without a leader may answer */
    bool without_token; /* needs no authentication */
    bool is_probe;      /* the leader probe: sent once, silence means no leader */
};

/* Packs the message and sends it. Anything but OK: nothing was sent, nothing will be called. */
MUST_CHECK enum status etcd_call_start(struct etcd_client *client, const struct etcd_method *method,
                                       const ProtobufCMessage *message,
                                       const struct etcd_reply *reply, struct etcd_call **ret);
MUST_CHECK enum status etcd_calls_init(struct etcd_client *client);
void etcd_calls_release(struct etcd_client *client);
/* Sends the waiting calls, as far as there is a connection and a token. */
void etcd_calls_flush(struct etcd_client *client);
/* Fails all calls that wait for a token. */
void etcd_calls_refuse(struct etcd_client *client, const struct etcd_result *why);

/* ---- who has a leader ---- */

MUST_CHECK enum status etcd_probe_init(struct etcd_client *client);
void etcd_probe_release(struct etcd_client *client);
/* To be called when a call is overdue. Probes one member after the other until one answers, and
 * sends the overdue calls through that one if they may be repeated. */
void etcd_probe_leader(struct etcd_client *client);

/* ---- who we are ---- */

/* False: no token yet; etcd_calls_flush and etcd_streams_flush are called when there is one. */
bool etcd_auth_ready(struct etcd_client *client);
/* The server rejected the token: the next call gets a new one. */
void etcd_auth_forget(struct etcd_client *client);
bool etcd_auth_is_stale(const struct etcd_client *client, int code, const char *message);
void etcd_auth_release(struct etcd_auth *auth);

/* ---- streams ---- */

void etcd_streams_flush(struct etcd_client *client);

/* ---- messages ---- */

ProtobufCBinaryData etcd_slice(struct etcd_bytes bytes);
/* The first key that does not begin with `prefix`; in the arena. E_NOMEM. */
MUST_CHECK enum status etcd_prefix_end(struct arena *arena, struct etcd_bytes prefix,
                                       struct etcd_bytes *ret);

struct etcd_kv etcd_read_kv(const Etcdpb__KeyValue *kv);

MUST_CHECK enum status etcd_make_range(struct arena *arena, const struct etcd_range *request,
                                       Etcdpb__RangeRequest *ret);
MUST_CHECK enum status etcd_make_delete(struct arena *arena, const struct etcd_delete *request,
                                        Etcdpb__DeleteRequest *ret);
void etcd_make_put(const struct etcd_put *request, Etcdpb__PutRequest *ret);

etcd_decode etcd_decode_range, etcd_decode_put, etcd_decode_delete, etcd_decode_txn,
    etcd_decode_header, etcd_decode_grant, etcd_decode_look, etcd_decode_status, etcd_decode_alarms;

/* Decodes any answer without children of its own type into the arena; NULL: E_CORRUPT. */
void *etcd_unpack(struct arena *arena, const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                  size_t length);
/* The same for an answer to a call, of which the header, the first field of all of them, goes to
 * *ret. */
void *etcd_unpack_answer(struct arena *arena, const ProtobufCMessageDescriptor *type,
                         const uint8_t *bytes, size_t length, struct etcd_result *ret);

#endif
