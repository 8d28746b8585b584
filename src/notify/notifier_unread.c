/* Messages in the journal from a newer version, which this one can't decode. They stay in the
 * journal unchanged for that version. */
#include <stdlib.h>

#include "frame.h"
#include "notifier_internal.h"

enum { UNREAD_MAX = 1000 };

struct unread {
    uint64_t number;
    struct strbuf frame;
    TAILQ_ENTRY(unread) link;
};

static void drop(struct notifier *notifier, struct unread *unread)
{
    TAILQ_REMOVE(&notifier->unread, unread, link);
    notifier->unread_count--;
    notifier->unread_bytes -= unread->frame.length;
    strbuf_release(&unread->frame);
    free(unread);
}

void unread_keep(struct notifier *notifier, uint64_t number, const char *payload, size_t length)
{
    struct strbuf text;
    struct unread *unread = notifier->unread_count < UNREAD_MAX ? calloc(1, sizeof(*unread)) : NULL;
    if (!unread)
        return;
    strbuf_init(&text);
    strbuf_init(&unread->frame);
    strbuf_add(&text, payload, length);
    if (strbuf_status(&text) == OK)
        frame_add(&unread->frame, &text);
    strbuf_release(&text);
    unread->number = number;
    TAILQ_INSERT_TAIL(&notifier->unread, unread, link);
    notifier->unread_count++;
    notifier->unread_bytes += unread->frame.length;
}

void unread_done(struct notifier *notifier, uint64_t number)
{
    struct unread *unread;
    TAILQ_FOREACH (unread, &notifier->unread, link) {
        if (unread->number == number) {
            drop(notifier, unread);
            return;
        }
    }
}

void unread_write(const struct notifier *notifier, struct strbuf *frames)
{
    const struct unread *unread;
    TAILQ_FOREACH (unread, &notifier->unread, link) {
        strbuf_add(frames, unread->frame.text, unread->frame.length);
    }
}

void unread_release(struct notifier *notifier)
{
    struct unread *next;
    for (struct unread *unread = TAILQ_FIRST(&notifier->unread); unread; unread = next) {
        next = TAILQ_NEXT(unread, link);
        strbuf_release(&unread->frame);
        free(unread);
    }
}
