/* A client of etcd (3.4 and later): gRPC over HTTP/2, plain or TLS. It implements the contract of
 * kv.h; here is what only etcd has. */
#ifndef PEAL_ETCD_H
#define PEAL_ETCD_H

#include "kv.h"

struct etcd_client_config {
    /* "http://host:port", "https://host:port" or "host:port" (TLS when any of the files is set), in
     * order of preference. An IPv6 address is in brackets. */
    const char *const *endpoints;
    size_t endpoint_count;
    const char *user, *password; /* NULL: none */
    const char *ca_file;         /* PEM; NULL: the system's authorities */
    const char *cert_file, *key_file;
    const char *server_name;    /* checked in the certificate; NULL: the endpoint's host */
    int64_t deadline_ms;        /* default of requests; 0: 2000 */
    int64_t connect_timeout_ms; /* TCP, TLS and HTTP/2 together; 0: 1000 */
};

/* Connects with the first request. Free it with kv_client_free. E_INVALID, E_IO: *reterr says which
 * endpoint or file. */
MUST_CHECK enum status etcd_client_new(struct loop *loop, const struct etcd_client_config *config,
                                       struct kv_client **ret, struct parse_error *reterr);

/* The functions below are for a client of etcd only. */

/* After a request was answered: a user is configured, but the server's authentication is off. */
bool etcd_client_has_needless_user(const struct kv_client *client);

/* ---- maintenance: `own` of the result is a struct etcd_member_result ---- */

enum etcd_alarm {
    ETCD_ALARM_NONE = 0,
    ETCD_ALARM_NOSPACE = 1,
    ETCD_ALARM_CORRUPT = 2,
};

struct etcd_alarm_member {
    uint64_t member_id;
    enum etcd_alarm alarm;
};

struct etcd_member_result {
    const char *version;
    int64_t db_bytes, db_bytes_in_use;
    uint64_t leader_id; /* 0: none */
    const struct etcd_alarm_member *alarms;
    size_t alarm_count;
};

/* Of an answer; all zero, with empty texts, when there was none. */
const struct etcd_member_result *etcd_member_of(const struct kv_result *result);

/* Version, size and leader as the member at the other end sees them; it need not have a leader. */
MUST_CHECK enum status etcd_status(struct kv_client *client, const struct kv_reply *reply,
                                   struct kv_call **ret);
MUST_CHECK enum status etcd_alarms(struct kv_client *client, const struct kv_reply *reply,
                                   struct kv_call **ret);

#endif
