/* The calls of a client: a FIFO of those that wait to be sent, and a heap of all by their next
 * timer (deadline, retry, leader probe). */
#ifndef PEAL_ETCD_CALL_QUEUE_H
#define PEAL_ETCD_CALL_QUEUE_H

#include "etcd_internal.h"

enum call_state {
    CALL_WAITING,
    CALL_SENT,
    CALL_PAUSED,
};

struct etcd_call {
    struct kv_call base; /* first */
    struct etcd_client *client;
    uint64_t number;
    const struct etcd_method *method;
    kv_done *done;
    void *context;
    uint8_t *request; /* with its prefix */
    size_t request_length;
    int64_t timeout_ms, deadline_at_ms;
    bool may_repeat, is_repeated;
    bool is_lost;        /* PAUSED: its connection broke; it waits for the leader probe */
    uint64_t cluster_id; /* when it was first sent; 0: not known */
    int64_t first_sent_ms, sent_ms; /* 0: never */
    int64_t patience_ms;            /* time until the copy that is under way counts as overdue */
    uint32_t place;                 /* in client->wakes */
    enum call_state state;
    struct etcd_call *next, **link; /* WAITING */
    struct grpc_stream *stream;     /* SENT */
    uint8_t *answer;
    size_t answer_length;
    int pauses, auth_tries;
    char *last_error; /* of an earlier attempt; NULL: none */
};

void call_queue_init(struct etcd_client *client);
void call_queue_arm(struct etcd_client *client); /* sets the timer for the first in the heap */

void call_wait_in_line(struct etcd_call *call);
void call_leave_line(struct etcd_call *call);

/* Sets the call's timer to at_ms, or to its deadline if that is earlier. */
void call_look_again_at(struct etcd_call *call, int64_t at_ms);

/* The call may be repeated, and its connection broke or its answer takes longer than
 * patience_ms. */
bool call_is_overdue(const struct etcd_call *call, int64_t now_ms);

/* Takes the call out of queue and heap, and cancels it if it was sent. */
void etcd_call_free(struct etcd_call *call);

#endif
