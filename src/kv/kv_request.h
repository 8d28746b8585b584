/* The life of a request of an implementation that has a connection of its own: what is the same
 * for all of them.
 *
 *     submitted -> answered
 *       ^   \         (kv_request_succeed, kv_request_fail)
 *       |    v
 *       +-- paused    and from anywhere: answered when the deadline has passed
 *
 * A request whose connection was lost is submitted again with `may_be_done` set, by its owner, who
 * knows how to find out. */
#ifndef PEAL_KV_REQUEST_H
#define PEAL_KV_REQUEST_H

#include "arena.h"
#include "kv_backend.h"
#include "strbuf.h"

struct kv_request;

struct kv_request_ops {
    void (*submit)(struct kv_request *request);
    /* Nobody waits for it any more. True: it was not sent, and can be freed now; false: it is freed
     * by its owner, when its answer is there. */
    bool (*withdraw)(struct kv_request *request);
    /* Why there is no connection, into *why; false: there is one. */
    bool (*is_away)(const struct kv_request *request, struct strbuf *why);
    void (*free)(struct kv_request *request);
};

/* All that are not answered. */
struct kv_requests {
    struct kv_client *client;
    const struct kv_request_ops *ops;
    const char *server;  /* its name, for messages */
    int64_t deadline_ms; /* of those that have none of their own */
    struct kv_request *first;
    struct loop_timer *timer;
    bool is_timed;
};

struct kv_request {
    struct kv_call base; /* first */
    struct kv_requests *all;
    struct kv_request *next, **link;
    kv_done *done;
    void *context;
    int64_t deadline_at_ms, timeout_ms;
    bool is_write;
    bool is_paused;   /* its owner does not have it */
    bool may_be_done; /* it was sent, and its outcome is not known */
    int pauses;
    struct loop_timer *again;
    enum status refusal; /* set before the start: answered so, without the server */
    struct arena arena;  /* of the request and its result */
    struct strbuf message;
    struct kv_result result;
};

MUST_CHECK enum status kv_requests_init(struct kv_requests *all, struct kv_client *client,
                                        const struct kv_request_ops *ops);
void kv_requests_release(struct kv_requests *all); /* cancels those that are left */
/* Answers all of them so. */
void kv_requests_refuse(struct kv_requests *all, enum status st, const char *message);

/* Embedded in what the owner allocates; kv_request_release is for its `free`. */
void kv_request_init(struct kv_requests *all, struct kv_request *request,
                     const struct kv_reply *reply);
void kv_request_release(struct kv_request *request);

/* Enlists and submits it. */
void kv_request_start(struct kv_request *request, struct kv_call **ret);
/* Submits it again in a while, longer each time. */
void kv_request_pause(struct kv_request *request);
void kv_request_cancel(struct kv_request *request);

/* The answer: `result`, or a failure. The owner must not have it any more; it is freed. */
void kv_request_succeed(struct kv_request *request);
void kv_request_fail(struct kv_request *request, enum status st, const char *message);

#endif
