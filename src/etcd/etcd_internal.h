/* Internals that the files of the client share: the client, its calls, and the decoding of
 * answers. */
#ifndef PEAL_ETCD_INTERNAL_H
#define PEAL_ETCD_INTERNAL_H

#include "arena.h"
#include "etcd.h"
#include "etcd.pb-c.h"
#include "heap.h"
#include "kv_backend.h"
#include "transport/grpc_channel.h"
#include "transport/grpc_stream.h"

struct long_stream;
struct watch_hub;

/* ---- the client ---- */

struct etcd_auth {
    char *user, *password; /* NULL: no authentication */
    char *token;           /* NULL: none yet */
    bool is_asking;
    bool is_needless; /* authentication is not enabled on the server */
};

/* The leader probe, the search for a member that has a leader: etcd_probe.c */
struct etcd_probe {
    struct kv_call *call; /* NULL: none is under way */
    int64_t sent_ms;
    struct loop_timer *timer;
    bool is_timed;
};

struct etcd_client {
    struct kv_client base; /* first */
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
    uint64_t cluster_id;  /* of the last answer; 0: none yet */
    struct arena arena;   /* of the result that is being handed out */
    struct arena sending; /* of the transaction that is being encoded */

    struct etcd_auth auth;
    struct watch_hub *watches; /* NULL: none yet */
    struct long_stream *renewals;
};

/* ---- calls ---- */

typedef enum status etcd_decode(struct arena *arena, const uint8_t *bytes, size_t length,
                                struct kv_result *ret);

struct etcd_method {
    const char *path;
    etcd_decode *decode;
    bool is_read;       /* may be sent again without asking */
    bool any_member;    /* a member without a leader may answer */
    bool without_token; /* needs no authentication */
    bool is_probe;      /* the leader probe: sent once, silence means no leader */
};

/* Packs the message and sends it. Anything but OK: nothing was sent, nothing will be called. */
MUST_CHECK enum status etcd_call_start(struct kv_client *base, const struct etcd_method *method,
                                       const ProtobufCMessage *message,
                                       const struct kv_reply *reply, struct kv_call **ret);
void etcd_call_cancel(struct kv_call *call);
void etcd_call_may_repeat(struct kv_call *base);
MUST_CHECK enum status etcd_calls_init(struct etcd_client *client);
void etcd_calls_release(struct etcd_client *client);
/* Sends the waiting calls, as far as there is a connection and a token. */
void etcd_calls_flush(struct etcd_client *client);
/* Fails all calls that wait for a token. */
void etcd_calls_refuse(struct etcd_client *client, const struct kv_result *why);

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

/* etcd_watch.c */
enum status etcd_watch_new(struct kv_client *base, const struct kv_watch_config *config,
                           kv_watch_notify *notify, void *context, struct kv_watch **ret);
void etcd_watch_free(struct kv_watch *base);
void etcd_watch_restart(struct kv_watch *base);
void etcd_watches_flush(struct etcd_client *client);
void etcd_watches_release(struct etcd_client *client);

/* etcd_lease.c */
MUST_CHECK enum status etcd_leases_init(struct etcd_client *client);
void etcd_leases_release(struct etcd_client *client);
bool etcd_lease_renew(struct kv_client *client, int64_t id);
void etcd_leases_want(struct kv_client *client, bool are_any);
void etcd_leases_doubt(struct kv_client *client);

/* ---- requests: etcd_requests.c, etcd_txn.c ---- */

enum status etcd_range(struct kv_client *client, const struct kv_range *request,
                       const struct kv_reply *reply, struct kv_call **ret);
enum status etcd_put(struct kv_client *client, const struct kv_put *request,
                     const struct kv_reply *reply, struct kv_call **ret);
enum status etcd_delete(struct kv_client *client, const struct kv_delete *request,
                        const struct kv_reply *reply, struct kv_call **ret);
enum status etcd_txn(struct kv_client *base, const struct kv_branches *txn,
                     const struct kv_reply *reply, struct kv_call **ret);
enum status etcd_lease_grant(struct kv_client *client, int64_t ttl_s, const struct kv_reply *reply,
                             struct kv_call **ret);
enum status etcd_lease_revoke(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                              struct kv_call **ret);
enum status etcd_lease_look(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                            struct kv_call **ret);

/* ---- messages ---- */

ProtobufCBinaryData etcd_slice(struct kv_bytes bytes);
struct kv_pair etcd_read_kv(const Etcdpb__KeyValue *kv);

MUST_CHECK enum status etcd_make_range(struct arena *arena, const struct kv_range *request,
                                       Etcdpb__RangeRequest *ret);
MUST_CHECK enum status etcd_make_delete(struct arena *arena, const struct kv_delete *request,
                                        Etcdpb__DeleteRequest *ret);
void etcd_make_put(const struct kv_put *request, Etcdpb__PutRequest *ret);

etcd_decode etcd_decode_range, etcd_decode_put, etcd_decode_delete, etcd_decode_txn,
    etcd_decode_header, etcd_decode_grant, etcd_decode_look, etcd_decode_status, etcd_decode_alarms;

/* For protobuf-c. It points to the arena, which must outlive it. */
ProtobufCAllocator etcd_allocator(struct arena *arena);

/* Decodes any answer without children of its own type into the arena; NULL: E_CORRUPT. */
void *etcd_unpack(struct arena *arena, const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                  size_t length);
/* The same for an answer to a call, of which the header, the first field of all of them, goes to
 * *ret. */
void *etcd_unpack_answer(struct arena *arena, const ProtobufCMessageDescriptor *type,
                         const uint8_t *bytes, size_t length, struct kv_result *ret);

#endif
