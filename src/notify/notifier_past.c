/* Messages that were sent or given up: the last ones of each channel, in memory and in the journal.
 * There they are {"done": N, "end": {...}}, and after a compaction {"end": {...}} alone; an older
 * version reads the first as the end of N, and skips the second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "id_json.h"
#include "message_log.h"
#include "notifier_internal.h"

enum { ANSWER_MAX = 240 }; /* bytes that are kept */

static struct past *free_past(struct past *past)
{
    if (past) {
        free(past->job);
        free(past->answer);
    }
    free(past);
    return NULL;
}

static void drop_first(struct lane *lane)
{
    struct past *past = TAILQ_FIRST(&lane->past);
    TAILQ_REMOVE(&lane->past, past, link);
    lane->past_count--;
    lane->notifier->past_bytes -= past->bytes;
    free_past(past);
}

static struct past *add(struct lane *lane, const struct past *past, const char *job,
                        const char *answer)
{
    struct past *copy = malloc(sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *past;
    copy->job = strdup(job);
    copy->answer = strndup(answer, ANSWER_MAX);
    if (!copy->job || !copy->answer)
        return free_past(copy);
    if (lane->past_count >= MESSAGES_KEPT)
        drop_first(lane);
    TAILQ_INSERT_TAIL(&lane->past, copy, link);
    lane->past_count++;
    return copy;
}

struct past *past_add(struct lane *lane, const struct waiting *waiting, bool was_sent,
                      const char *answer, int64_t now_ms)
{
    const struct notice *notice = &waiting->notice;
    return add(lane,
               &(struct past){.event = notice->event,
                              .id = notice->id,
                              .is_entry = notice->is_entry,
                              .was_sent = was_sent,
                              .made_ms = notice->made_ms,
                              .ended_ms = now_ms,
                              .tries = waiting->tries,
                              .held = notice->held},
               notice->job, answer);
}

void past_note_bytes(struct lane *lane, struct past *past, size_t bytes)
{
    past->bytes = bytes;
    lane->notifier->past_bytes += bytes;
}

json_t *past_encode(const struct lane *lane, const struct past *past)
{
    return json_pack("{s:s, s:s, s:o, s:b, s:b, s:b, s:s, s:s, s:I, s:I, s:i, s:I}", "channel",
                     lane->name, "event", notify_event_name(past->event), "id", json_id(&past->id),
                     "entry", past->is_entry, "sent", past->was_sent, "muted", past->was_muted,
                     "job", past->job, "answer", past->answer, "made", (json_int_t)past->made_ms,
                     "ended", (json_int_t)past->ended_ms, "tries", past->tries, "held",
                     (json_int_t)past->held);
}

void past_load(struct notifier *notifier, const json_t *end, size_t bytes)
{
    struct past past = {0};
    const char *channel, *event, *id, *job, *answer;
    int is_entry, was_sent, was_muted = 0;
    json_int_t made, ended, held;
    if (json_unpack((json_t *)end, "{s:s, s:s, s:s, s:b, s:b, s?b, s:s, s:s, s:I, s:I, s:i, s:I}",
                    "channel", &channel, "event", &event, "id", &id, "entry", &is_entry, "sent",
                    &was_sent, "muted", &was_muted, "job", &job, "answer", &answer, "made", &made,
                    "ended", &ended, "tries", &past.tries, "held", &held) != 0 ||
        !notice_event_by_name(event, &past.event) || id_parse(id, &past.id) != OK)
        return; /* of a newer version: nothing is lost but its line */
    past.is_entry = is_entry;
    past.was_sent = was_sent;
    past.was_muted = was_muted;
    past.made_ms = made;
    past.ended_ms = ended;
    past.held = held;
    struct lane *lane = lane_get(notifier, channel);
    struct past *kept = lane ? add(lane, &past, job, answer) : NULL;
    if (kept)
        past_note_bytes(lane, kept, bytes);
}

void past_release(struct lane *lane)
{
    while (lane->past_count)
        drop_first(lane);
}
