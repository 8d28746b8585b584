/* Sends over HTTP and SMTP, on the loop: libcurl decides what to do, the loop when. Certificates
 * are checked, redirects are not followed, and whoever does not answer in time is given up. */
#ifndef PEAL_SENDER_H
#define PEAL_SENDER_H

#include "loop.h"
#include "payload.h"

struct sender;

/* 0, NULL: as said here. */
struct sender_config {
    int connect_ms;      /* 5,000 */
    int whole_ms;        /* 15,000: from the first packet to the answer's last */
    const char *ca_file; /* PEM, of authorities in the place of the system's */
    const char *agent;   /* of HTTP: "peal" */
};

/* What came of it. */
struct outcome {
    enum verdict verdict;
    const char *why;       /* in words; "" if it was sent */
    int64_t retry_after_s; /* as the receiver asked; 0: it did not */
};

typedef void sender_done(void *context, const struct outcome *outcome);

MUST_CHECK enum status sender_new(struct loop *loop, const struct sender_config *config,
                                  struct sender **ret);

/* What is under way is given up without a word. */
struct sender *sender_free(struct sender *sender);

/* Takes the payload over, also when it fails: E_NOMEM. `done` is called once, from the loop. */
MUST_CHECK enum status sender_send(struct sender *sender, const struct channel *channel,
                                   struct payload *payload, sender_done *done, void *context);

#endif
