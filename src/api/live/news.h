/* Reference-counted texts for clients: each is in memory once, however many clients it is sent to,
 * until the last has read it or is gone. Their memory is counted. */
#ifndef PEAL_NEWS_H
#define PEAL_NEWS_H

#include <stddef.h>

struct evbuffer;
struct news;
struct news_desk;
struct strbuf;

/* The owner of the texts. NULL: out of memory. */
struct news_desk *news_desk_new(void);

/* Unread texts are freed later, with their connections. Accepts NULL; returns NULL. */
struct news_desk *news_desk_close(struct news_desk *desk);

/* Bytes of all texts and of their send queues. */
size_t news_desk_held(const struct news_desk *desk);

/* Moves the content of `text`. NULL: out of memory. */
struct news *news_new(struct news_desk *desk, struct strbuf *text);

/* Appends the text to a client's output, without a copy. */
void news_send(struct news *news, struct evbuffer *to);

/* Drops the maker's reference. Accepts NULL; returns NULL. */
struct news *news_release(struct news *news);

#endif
