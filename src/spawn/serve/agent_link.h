/* The connection to the agent: listens for one, talks the protocol of spawn_message.h with it, and
 * keeps what it is to be told. Only runs (or calls) are queued: each has a set of pending reports,
 * so a slow or absent agent costs no memory. */
#ifndef PEAL_SERVE_AGENT_LINK_H
#define PEAL_SERVE_AGENT_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "serve/watch.h"
#include "spawn_message.h"

/* Pending reports to the agent, sent in this order. */
enum report {
    REPORT_KNOWN = 1 << 0,
    REPORT_STARTED = 1 << 1,
    REPORT_GREW = 1 << 2,
    REPORT_ENDED = 1 << 3,
    REPORT_HELD = 1 << 4, /* until anything else is to be told; only to an agent that wants it */
};

/* Embedded in what is reported. */
struct reported {
    unsigned pending; /* enum report */
    bool is_queued;
    TAILQ_ENTRY(reported) queue;
};

TAILQ_HEAD(report_queue, reported);

/* What differs. Anything but OK from one of them is an error of the protocol: the connection ends.
 */
struct agent_link_type {
    const struct spawn_build *build;
    int messages_per_turn;
    bool end_says_all; /* of one that has ended nothing else is told */

    struct spawn_hello (*hello)(const void *context);
    /* After the HELLOs: reports everything that is known. */
    enum status (*greeted)(void *context, const struct spawn_hello *agent);
    /* `fd`, -1: none, stays the link's. */
    enum status (*start)(void *context, const struct spawn_message *message, int fd);
    void (*kill)(void *context, const struct spawn_kill *order);
    void (*ack)(void *context, const char *id);
    void (*upgrade)(void *context);
    /* The messages of a packet were read: its bytes are given up. */
    void (*packet_read)(void *context);
    /* Another agent has come. */
    void (*replaced)(void *context);
    struct spawn_run (*told)(const struct reported *reported);
};

struct agent_link {
    const struct agent_link_type *type;
    void *context;
    int epoll_fd;
    int spare_fd; /* closed to accept an agent when descriptors have run out */
    struct watch listener;
    struct watch agent; /* fd -1: none is attached */
    bool said_hello;
    bool wants_ready;  /* READY follows when the queue is empty */
    bool is_full;      /* waits until the socket can take more */
    bool wants_build;  /* it knows BUILD ... */
    bool awaits_build; /* ... and has not been sent it by this image */
    bool knows_frames;
    bool wants_held;
    struct report_queue reports;
    char packet[SPAWN_MESSAGE_MAX] __attribute__((aligned(16)));
    char frame[SPAWN_FRAME_MESSAGES * SPAWN_FIXED_MAX] __attribute__((aligned(16))); /* to send */
};

void agent_link_init(struct agent_link *link, const struct agent_link_type *type, void *context);

/* Watches the listener, and the agent if there is one (of an earlier image of this process). */
MUST_CHECK enum status agent_link_open(struct agent_link *link, int epoll_fd);

bool agent_link_is_up(const struct agent_link *link);
void agent_link_drop(struct agent_link *link);

void agent_link_report(struct agent_link *link, struct reported *reported, enum report what);
void agent_link_forget(struct agent_link *link, struct reported *reported); /* nothing of it */
void agent_link_flush(struct agent_link *link);

#endif
