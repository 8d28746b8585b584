/* A channel: where messages go, and how. A document that all nodes share (docs/NOTIFY.md). */
#ifndef PEAL_CHANNEL_H
#define PEAL_CHANNEL_H

#include <jansson.h>

#include "definition/job_codec.h"
#include "job.h"
#include "words/explain.h" /* enum language */

#define CHANNEL_DOC  "channel"  /* the kind of its document */
#define CHANNEL_MASK "********" /* what is shown of a secret */

enum channel_type {
    CHANNEL_WEBHOOK,
    CHANNEL_SLACK,
    CHANNEL_DINGTALK,
    CHANNEL_FEISHU,
    CHANNEL_WECOM,
    CHANNEL_MAIL,
    CHANNEL_TYPES,
};

enum {
    /* What a channel hears of, unless it or the job says otherwise. */
    CHANNEL_EVENTS = 1 << NOTIFY_FAILURE | 1 << NOTIFY_LOST | 1 << NOTIFY_RECOVERY,
    CHANNEL_LATE_S = 60, /* and what is late then */
};

struct channel {
    char name[CHANNEL_NAME_MAX + 1];
    int64_t revision; /* of its document */
    enum channel_type type;
    char *url;                /* https://..., smtp://... */
    struct job_pairs headers; /* WEBHOOK */
    char *secret;          /* WEBHOOK, DINGTALK, FEISHU: messages are signed; NULL: they are not */
    char *from, **to;      /* MAIL: addresses */
    char *user, *password; /* MAIL; NULL: it lets us in without */
    bool unencrypted;      /* MAIL: also to a server without STARTTLS; not with a password */
    unsigned on;           /* 1 << enum notify_event; 0: CHANNEL_EVENTS */
    bool hears_all;        /* of jobs, too, that name no channels */
    enum language language;
    int64_t quiet_s;   /* at most one message of a job and event in so long; 0: all */
    int64_t give_up_s; /* how long a message is tried */
    char *notes;
};

struct channel *channel_free(struct channel *channel);

/* Reads and checks a whole one. Unknown fields are errors with the nearest known one. A mask stands
 * for what `old` has at that place; `old` NULL: there is none, so that it is an error. E_INVALID:
 * *reterr says where and why. */
MUST_CHECK enum status channel_decode(const char *name, const json_t *value,
                                      const struct channel *old, struct channel **ret,
                                      struct job_error *reterr);

/* Whole, for the store; or with its secrets masked, for all others. Only what differs from the
 * defaults. NULL: out of memory. */
json_t *channel_encode(const struct channel *channel, bool masked);

/* The URL without what lets one in: userinfo, parameters, and of a chat service the path. */
void channel_print_url(const struct channel *channel, struct strbuf *out);

#endif
