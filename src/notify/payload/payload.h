/* The message for a notice: an HTTP request in the receiver's format, or a mail; and the meaning of
 * the answer. Pure. */
#ifndef PEAL_PAYLOAD_H
#define PEAL_PAYLOAD_H

#include "notice_text.h"

struct payload {
    char *url;                /* with its signature, where that is a parameter */
    struct job_pairs headers; /* of HTTP */
    struct strbuf body;       /* JSON, or a whole mail with lines that end in CRLF */
};

void payload_release(struct payload *payload);

/* `now_ms` is the time of sending, for signatures and the date of a mail. E_NOMEM. */
MUST_CHECK enum status payload_make(const struct channel *channel, const struct notice *notice,
                                    const struct notice_world *world, int64_t now_ms,
                                    struct payload *ret);

/* The title, on one line, and the text: by the channel's templates, or as peal words them. */
void payload_title(const struct channel *channel, const struct notice *notice,
                   const struct notice_world *world, struct strbuf *out);
void payload_facts(const struct channel *channel, const struct notice *notice,
                   const struct notice_world *world, struct strbuf *out);

/* Is the text of a template? */
bool payload_has_text(const struct channel *channel, const struct notice *notice);

/* What is shown below the text: of a template nothing, as it says itself where they are. */
const char *payload_output(const struct channel *channel, const struct notice *notice);
void payload_link(const struct channel *channel, const struct notice *notice,
                  const struct notice_world *world, struct strbuf *out);

/* payload_mail.c */
void mail_write(const struct channel *channel, const struct notice *notice,
                const struct notice_world *world, int64_t now_ms, struct strbuf *out);

enum verdict {
    VERDICT_SENT,
    VERDICT_REFUSED, /* the receiver refused this message; others may pass */
    VERDICT_TROUBLE, /* the receiver fails: later messages wait, too */
};

/* The meaning of an answer. *why gets the answer in words. */
enum verdict payload_judge(enum channel_type type, long http_status, const char *body,
                           struct strbuf *why);

/* When the answer asks to be tried again; 0: it does not say. */
int64_t payload_retry_after_s(enum channel_type type, const char *body);

#endif
