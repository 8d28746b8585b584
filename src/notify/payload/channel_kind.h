/* The kinds of receivers: one row each says what differs between them. Pure. */
#ifndef PEAL_CHANNEL_KIND_H
#define PEAL_CHANNEL_KIND_H

#include "payload.h"

/* Fields that only some kinds have. */
enum kind_field {
    KIND_HEADERS = 1 << 0,
    KIND_SECRET = 1 << 1,
    KIND_TOKEN = 1 << 2,
    KIND_CHAT = 1 << 3,
    KIND_MAIL = 1 << 4, /* from, to, user, password, unencrypted */
};

struct channel_kind {
    const char *usual_url; /* of a channel that names none; NULL: it must */
    bool hides_path;       /* the path of its URL lets one in */
    unsigned takes, needs; /* enum kind_field */

    /* Of a request; NULL: it is a mail. Returns NULL: out of memory. */
    json_t *(*body)(const struct channel *channel, const struct notice *notice,
                    const struct notice_world *world, int64_t now_ms);
    /* Changes the URL, which is the channel's before. NULL: it stays. */
    void (*change_url)(const struct channel *channel, int64_t now_ms, struct strbuf *url);
    /* NULL: none besides those of all kinds. */
    enum status (*add_headers)(const struct channel *channel, const struct notice *notice,
                               int64_t now_ms, struct payload *payload);
    /* Judges an answer with a status below 300. NULL: the message was taken. */
    enum verdict (*judge)(const char *body, struct strbuf *why);
};

const struct channel_kind *channel_kind_of(enum channel_type type);

#endif
