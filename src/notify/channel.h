/* A notification channel: receiver, credentials and events. A document that all nodes share
 * (docs/NOTIFY.md). */
#ifndef PEAL_CHANNEL_H
#define PEAL_CHANNEL_H

#include <jansson.h>

#include "definition/job_codec.h"
#include "job.h"
#include "language.h"

#define CHANNEL_DOC  "channel"  /* the kind of its document */
#define CHANNEL_MASK "********" /* what is shown of a secret */

enum channel_type {
    CHANNEL_WEBHOOK,
    CHANNEL_SLACK,
    CHANNEL_DINGTALK,
    CHANNEL_FEISHU,
    CHANNEL_WECOM,
    CHANNEL_MAIL,
    CHANNEL_PAGERDUTY,
    CHANNEL_TEAMS,
    CHANNEL_TELEGRAM,
    CHANNEL_NTFY,
    CHANNEL_TYPES,
};

enum {
    /* The default events of a channel, unless it or the job sets others. */
    CHANNEL_EVENTS = 1 << NOTIFY_FAILURE | 1 << NOTIFY_LOST | 1 << NOTIFY_RECOVERY,
    CHANNEL_LATE_S = 60, /* and the default lateness */
};

struct channel {
    char name[CHANNEL_NAME_MAX + 1];
    int64_t revision; /* of its document */
    enum channel_type type;
    char *url;                /* https://..., smtp://... */
    struct job_pairs headers; /* WEBHOOK */
    char *secret;             /* WEBHOOK, DINGTALK, FEISHU: signs messages; NULL: unsigned */
    char *token;              /* PAGERDUTY: routing key; TELEGRAM: the bot's; NTFY; NULL: none */
    char *chat;               /* TELEGRAM: an id, or @name of a channel */
    char *from, **to;         /* MAIL: addresses */
    char *user, *password;    /* MAIL; NULL: no login */
    bool unencrypted;         /* MAIL: a server without STARTTLS is accepted; not with a password */
    unsigned on;              /* 1 << enum notify_event; 0: CHANNEL_EVENTS */
    bool hears_all;           /* also notified of jobs that name no channels */
    enum language language;
    int64_t quiet_s;    /* at most one message per job and event in this time; 0: all */
    int64_t group_s;    /* see channel_group_s */
    int64_t give_up_s;  /* how long a message is retried */
    char *title, *text; /* templates (expect/message_template.h); NULL: as peal words them */
    char *notes;
};

struct channel *channel_free(struct channel *channel);

/* Decodes and checks a channel. Unknown fields are errors that name the nearest known one. A masked
 * secret is taken from `old`; `old` NULL: a mask is an error. E_INVALID: *reterr says where and
 * why. */
MUST_CHECK enum status channel_decode(const char *name, const json_t *value,
                                      const struct channel *old, struct channel **ret,
                                      struct job_error *reterr);

/* With its secrets, for the store; or masked, for everybody else. Only fields that differ from the
 * defaults. NULL: out of memory. */
json_t *channel_encode(const struct channel *channel, bool masked);

/* The URL without credentials: no userinfo, no parameters, and for a chat service no path. */
void channel_print_url(const struct channel *channel, struct strbuf *out);

/* When many messages are made, those of this time become one; 0: never. Unless it is set, this is
 * for receivers that people read. */
int64_t channel_group_s(const struct channel *channel);

#endif
