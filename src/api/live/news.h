/* Texts on their way to clients: each is in memory once, however many it is sent to, until the last
 * of them has taken it or is gone. What all of them hold is counted. */
#ifndef PEAL_NEWS_H
#define PEAL_NEWS_H

#include <stddef.h>

struct evbuffer;
struct news;
struct news_desk;
struct strbuf;

/* Where texts are made. NULL: out of memory. */
struct news_desk *news_desk_new(void);

/* Texts that are still on their way when the desk is closed are freed as they arrive. Accepts NULL,
 * and returns it. */
struct news_desk *news_desk_close(struct news_desk *desk);

/* Bytes of all texts, and what it costs to send them. */
size_t news_desk_held(const struct news_desk *desk);

/* Takes what is in `text`, and empties it. NULL: out of memory. */
struct news *news_new(struct news_desk *desk, struct strbuf *text);

/* Puts the text into what a client is sent. */
void news_send(struct news *news, struct evbuffer *to);

/* Whoever made it is done with it. Accepts NULL, and returns it. */
struct news *news_release(struct news *news);

#endif
