#include "message_log.h"

#include <stdlib.h>
#include <string.h>

#include "id_json.h"
#include "notifier_internal.h"

static const char *const state_names[MESSAGE_STATES] = {
    [MESSAGE_WAITING] = "waiting",   [MESSAGE_HELD] = "held",   [MESSAGE_SENT] = "sent",
    [MESSAGE_GIVEN_UP] = "given_up", [MESSAGE_MUTED] = "muted",
};

/* As a bit; 0: there is no such state. */
static unsigned state_bit(const char *name, size_t length)
{
    for (int i = 0; i < MESSAGE_STATES; i++) {
        if (strlen(state_names[i]) == length && memcmp(state_names[i], name, length) == 0)
            return 1U << i;
    }
    return 0;
}

enum status message_states_parse(const char *text, unsigned *ret, const char **ret_unknown,
                                 size_t *ret_length)
{
    unsigned states = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        unsigned bit = state_bit(text, length);
        if (!bit) {
            *ret_unknown = text;
            *ret_length = length;
            return E_NOT_FOUND;
        }
        states |= bit;
        text += length;
        text += *text == ',';
    }
    *ret = states;
    return OK;
}

/* ---- what there is ---- */

/* One that waits, or one that has ended. */
struct listed {
    const struct lane *lane;
    const struct waiting *waiting; /* NULL: it has ended */
    const struct past *past;
    int64_t made_ms;
};

struct listing {
    struct listed *items;
    size_t count;
};

static enum message_state state_of(const struct listed *message, struct now now)
{
    const struct past *past = message->past;
    if (past)
        return past->was_sent ? MESSAGE_SENT : past->was_muted ? MESSAGE_MUTED : MESSAGE_GIVEN_UP;
    return message->waiting->notice.not_before_ms > now.wall.ms ? MESSAGE_HELD : MESSAGE_WAITING;
}

static const char *job_of(const struct listed *message)
{
    return message->past ? message->past->job : message->waiting->notice.job;
}

static void take(struct listing *messages, const struct message_query *query, struct now now,
                 struct listed message)
{
    bool is_wanted = (!query->job || strcmp(query->job, job_of(&message)) == 0) &&
                     (!query->states || query->states >> state_of(&message, now) & 1);
    if (is_wanted)
        messages->items[messages->count++] = message;
}

static void take_lane(struct listing *messages, const struct message_query *query, struct now now,
                      const struct lane *lane)
{
    const struct waiting *waiting;
    const struct past *past;
    TAILQ_FOREACH (waiting, &lane->waiting, link) {
        take(messages, query, now, (struct listed){lane, waiting, NULL, waiting->notice.made_ms});
    }
    TAILQ_FOREACH (past, &lane->past, link) {
        take(messages, query, now, (struct listed){lane, NULL, past, past->made_ms});
    }
}

static int compare(const void *one, const void *other)
{
    const struct listed *a = one, *b = other;
    if (a->made_ms != b->made_ms)
        return a->made_ms < b->made_ms ? 1 : -1;
    return !a->waiting - !b->waiting; /* what waits is newer than what has ended */
}

/* False: out of memory. */
static bool collect(const struct notifier *notifier, const struct message_query *query,
                    struct now now, struct listing *messages)
{
    const struct lane *lane;
    size_t count = 0;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        count += lane->stats.waiting + lane->past_count;
    }
    count += notifier->pings ? notifier->pings->past_count : 0;
    messages->items = calloc(count + 1, sizeof(*messages->items));
    if (!messages->items)
        return false;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        if (!query->channel || strcmp(query->channel, lane->name) == 0)
            take_lane(messages, query, now, lane);
    }
    if (notifier->pings && (!query->channel || strcmp(query->channel, PINGS_NAME) == 0))
        take_lane(messages, query, now, notifier->pings);
    qsort(messages->items, messages->count, sizeof(*messages->items), compare);
    return true;
}

/* ---- as JSON ---- */

/* The wall time of the next attempt; 0: it is under way, or about to be. */
static int64_t next_try_ms(const struct listed *message, struct now now)
{
    const struct lane *lane = message->lane;
    const struct waiting *waiting = message->waiting;
    if (!waiting || !lane->channel || waiting == lane->sending)
        return 0;
    int64_t try_at_ms = waiting->try_at.ms > lane->try_at.ms ? waiting->try_at.ms : lane->try_at.ms;
    int64_t at_ms = now.wall.ms + try_at_ms - now.boot.ms;
    if (waiting->notice.not_before_ms > at_ms)
        at_ms = waiting->notice.not_before_ms;
    return at_ms > now.wall.ms ? at_ms : 0;
}

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

static json_t *encode(const struct notifier *notifier, const struct listed *message, struct now now)
{
    const struct past *past = message->past;
    const struct notice *notice = past ? NULL : &message->waiting->notice;
    bool is_entry = past ? past->is_entry : notice->is_entry;
    const struct id *id = past ? &past->id : &notice->id;
    enum notify_event event = past ? past->event : notice->event;
    char key[NOTICE_KEY_MAX + 1];
    notice_key_of(id, event, message->lane->name, key);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:i, s:o, s:I, s:I, s:I, s:I}", "id", key, "node",
        notifier->node, "channel", message->lane->name, "job", job_of(message), "run",
        is_entry ? json_null() : json_id(id), "event", notify_event_name(event), "state",
        state_names[state_of(message, now)], "tries", past ? past->tries : message->waiting->tries,
        "answer", text_or_null(past ? past->answer : message->waiting->answer), "held_back",
        (json_int_t)(past ? past->held : notice->held), "made_ms", (json_int_t)message->made_ms,
        "ended_ms", (json_int_t)(past ? past->ended_ms : 0), "next_try_ms",
        (json_int_t)next_try_ms(message, now));
}

/* How the channels of the query do on this node. NULL: out of memory. */
static json_t *list_channels(const struct notifier *notifier, const struct message_query *query)
{
    json_t *list = json_array();
    bool failed = !list;
    const struct lane *lane;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        struct channel_stats stats;
        if (failed || (!lane->channel && !lane->is_unreadable) ||
            (query->channel && strcmp(query->channel, lane->name) != 0))
            continue;
        notifier_stats(notifier, lane->name, &stats);
        failed =
            json_array_append_new(
                list,
                json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "channel",
                          lane->name, "node", notifier->node, "state",
                          lane->is_unreadable ? "unreadable" : channel_state(&stats), "sent",
                          (json_int_t)stats.sent, "failed", (json_int_t)stats.failed, "given_up",
                          (json_int_t)stats.given_up, "muted", (json_int_t)stats.muted, "waiting",
                          (json_int_t)stats.waiting, "held", (json_int_t)stats.held, "sent_ms",
                          (json_int_t)stats.sent_ms, "failed_ms", (json_int_t)stats.failed_ms,
                          "error", text_or_null(stats.error))) != 0;
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

json_t *message_list(const struct notifier *notifier, const struct message_query *query,
                     struct now now)
{
    struct listing messages = {0};
    json_t *items = json_array();
    bool failed = !items || !collect(notifier, query, now, &messages);
    for (size_t i = 0; i < messages.count && i < query->limit && !failed; i++)
        failed = json_array_append_new(items, encode(notifier, &messages.items[i], now)) != 0;
    free(messages.items);
    json_t *channels = failed ? NULL : list_channels(notifier, query);
    if (channels)
        return json_pack("{s:o, s:o}", "items", items, "channels", channels);
    json_decref(items);
    return NULL;
}

/* ---- between nodes ---- */

json_t *message_question(const struct message_query *query)
{
    return json_pack("{s:s*, s:s*, s:i, s:I}", "channel", query->channel, "job", query->job,
                     "states", (int)query->states, "limit", (json_int_t)query->limit);
}

static int append(const char *bytes, size_t length, void *out)
{
    strbuf_add(out, bytes, length);
    return 0;
}

enum status message_answer(const struct notifier *notifier, const char *question, size_t length,
                           struct strbuf *out)
{
    json_t *value = json_loadb(question, length, 0, NULL);
    json_int_t limit = json_integer_value(json_object_get(value, "limit"));
    struct message_query query = {
        .channel = json_string_value(json_object_get(value, "channel")),
        .job = json_string_value(json_object_get(value, "job")),
        .states = (unsigned)json_integer_value(json_object_get(value, "states")),
        .limit = limit > 0 && limit < MESSAGES_MAX ? (size_t)limit : MESSAGES_MAX,
    };
    enum status st = json_is_object(value) ? OK : E_INVALID;
    json_t *list = st == OK ? message_list(notifier, &query, clock_now()) : NULL;
    if (st == OK && (!list || json_dump_callback(list, append, out, JSON_COMPACT) != 0))
        st = E_NOMEM;
    json_decref(list);
    json_decref(value);
    return st;
}
