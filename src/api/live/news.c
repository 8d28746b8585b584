#include "live/news.h"

#include <event2/buffer.h>
#include <stdlib.h>

#include "strbuf.h"

enum { SEND_COST = 1200 }; /* bytes that libevent needs for every unsent piece */

/* Outlives its owner: libevent frees the output of a closed connection later. */
struct news_desk {
    size_t references; /* the owner's, and one per text */
    size_t held;
};

struct news {
    struct news_desk *desk;
    size_t references; /* the maker's, and one per client that has not read it */
    char *text;
    size_t length;
};

struct news_desk *news_desk_new(void)
{
    struct news_desk *desk = calloc(1, sizeof(*desk));
    if (desk)
        desk->references = 1;
    return desk;
}

struct news_desk *news_desk_close(struct news_desk *desk)
{
    if (desk && !--desk->references)
        free(desk);
    return NULL;
}

size_t news_desk_held(const struct news_desk *desk)
{
    return desk->held;
}

struct news *news_new(struct news_desk *desk, struct strbuf *text)
{
    size_t length = text->length;
    char *taken = strbuf_detach(text);
    char *fitting = taken ? realloc(taken, length + 1) : NULL;
    struct news *news = fitting ? calloc(1, sizeof(*news)) : NULL;
    if (!news) {
        free(fitting ? fitting : taken);
        return NULL;
    }
    *news = (struct news){desk, 1, fitting, length};
    desk->references++;
    desk->held += length;
    return news;
}

struct news *news_release(struct news *news)
{
    if (!news || --news->references)
        return NULL;
    news->desk->held -= news->length;
    news_desk_close(news->desk);
    free(news->text);
    free(news);
    return NULL;
}

static void on_taken(const void *text, size_t length, void *context)
{
    struct news *news = context;
    (void)text;
    (void)length;
    news->desk->held -= SEND_COST;
    news_release(news);
}

void news_send(struct news *news, struct evbuffer *to)
{
    if (!news->length || evbuffer_add_reference(to, news->text, news->length, on_taken, news) != 0)
        return;
    news->references++;
    news->desk->held += SEND_COST;
}
