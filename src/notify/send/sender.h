/* Sends over HTTP and SMTP with libcurl on the loop. Certificates are checked, redirects are not
 * followed, slow receivers time out. */
#ifndef PEAL_SENDER_H
#define PEAL_SENDER_H

#include <sys/socket.h>

#include "loop.h"
#include "payload/payload.h"

struct sender;

/* 0, NULL: the default named here. */
struct sender_config {
    int connect_ms;      /* 5,000 */
    int whole_ms;        /* 15,000: from the first packet to the answer's last */
    const char *ca_file; /* PEM; NULL: the system's authorities */
    const char *agent;   /* the User-Agent; "peal" */
};

/* The result of a send. */
struct outcome {
    enum verdict verdict;
    const char *answer;    /* for people: what the receiver said, or why it said nothing */
    const char *body;      /* the first bytes of its answer */
    int64_t retry_after_s; /* when the receiver asks to be tried again; 0: it does not say */
};

typedef void sender_done(void *context, const struct outcome *outcome);

MUST_CHECK enum status sender_new(struct loop *loop, const struct sender_config *config,
                                  struct sender **ret);

/* Sends under way are dropped; their `done` is not called. */
struct sender *sender_free(struct sender *sender);

/* Takes the payload over, also when it fails: E_NOMEM. `done` is called once, from the loop. */
MUST_CHECK enum status sender_send(struct sender *sender, const struct channel *channel,
                                   struct payload *payload, sender_done *done, void *context);

enum { POST_WHY = 160 };

/* A POST of a text, of which nothing is secret but the URL and the headers. */
struct post {
    const char *url, *body;
    const char *type;                /* of its content; NULL: plain text */
    const struct job_pairs *headers; /* further ones; NULL: none */
    /* Asked with the address of the connection: true, and why, if it is not to be reached. NULL:
     * all are. Such a post uses no proxy, and a connection of its own. */
    bool (*refuses)(void *context, const struct sockaddr *address, char why[POST_WHY]);
    void *context;
};

/* E_NOMEM: `done` is not called. */
MUST_CHECK enum status sender_post(struct sender *sender, const struct post *post,
                                   sender_done *done, void *context);

#endif
