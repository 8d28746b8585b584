/* What is sent for a notice: an HTTP request in the form that the channel's receiver knows, or a
 * mail; and what its answer means. Pure. */
#ifndef PEAL_PAYLOAD_H
#define PEAL_PAYLOAD_H

#include "notice_text.h"

struct payload {
    char *url;                /* with its signature, where that is a parameter */
    struct job_pairs headers; /* of HTTP */
    struct strbuf body;       /* JSON, or a whole mail with lines that end in CRLF */
};

void payload_release(struct payload *payload);

/* `now_ms` is when it is sent: signatures and the date of a mail hold it. E_NOMEM. */
MUST_CHECK enum status payload_make(const struct channel *channel, const struct notice *notice,
                                    const struct notice_world *world, int64_t now_ms,
                                    struct payload *ret);

/* payload_mail.c */
void mail_write(const struct channel *channel, const struct notice *notice,
                const struct notice_world *world, int64_t now_ms, struct strbuf *out);

enum verdict {
    VERDICT_SENT,
    VERDICT_REFUSED, /* this message; others may do better */
    VERDICT_TROUBLE, /* with the receiver: what waits behind it waits, too */
};

/* Of an answer that came. *why gets words for people if it is not SENT. */
enum verdict payload_judge(enum channel_type type, long http_status, const char *body,
                           struct strbuf *why);

#endif
