/* The messages of all channels on all nodes: those that wait, and the last ones that have ended. */
#include "message_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "documents/documents.h"
#include "handlers.h"
#include "input.h"
#include "node_question.h"
#include "runs/encode.h"
#include "server.h"

enum { PAGE = 50 };

struct message_call {
    struct call *call;
    struct message_query query;
    struct node_question others;
    char *question; /* to them */
    json_t *items, *channels;
    bool failed; /* out of memory */
};

static void release(void *state)
{
    struct message_call *ask = state;
    node_question_release(&ask->others);
    free(ask->question);
    json_decref(ask->items);
    json_decref(ask->channels);
}

/* ---- the answer ---- */

static int64_t made_ms(const json_t *item)
{
    return json_integer_value(json_object_get(item, "made_ms"));
}

static int compare(const void *one, const void *other)
{
    const json_t *const *a = one, *const *b = other;
    if (made_ms(*a) != made_ms(*b))
        return made_ms(*a) < made_ms(*b) ? 1 : -1;
    return strcmp(json_string_value(json_object_get(*a, "id")),
                  json_string_value(json_object_get(*b, "id")));
}

/* Times as the API has them. */
static int show_time(json_t *item, const char *from, const char *to)
{
    int64_t ms = json_integer_value(json_object_get(item, from));
    return json_object_set_new(item, to, json_time(ms)) || json_object_del(item, from);
}

/* The newest ones of all nodes. NULL: out of memory. */
static json_t *newest(const struct message_call *ask)
{
    size_t count = json_array_size(ask->items);
    json_t **sorted = calloc(count + 1, sizeof(json_t *));
    json_t *list = sorted ? json_array() : NULL;
    bool failed = !list;
    for (size_t i = 0; i < count && !failed; i++)
        sorted[i] = json_array_get(ask->items, i);
    if (!failed)
        qsort(sorted, count, sizeof(json_t *), compare);
    for (size_t i = 0; i < count && i < ask->query.limit && !failed; i++) {
        failed = json_array_append(list, sorted[i]) || show_time(sorted[i], "made_ms", "made_at") ||
                 show_time(sorted[i], "ended_ms", "ended_at") ||
                 show_time(sorted[i], "next_try_ms", "next_try_at");
    }
    free(sorted);
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static int compare_channels(const void *one, const void *other)
{
    const json_t *const *a = one, *const *b = other;
    int order = strcmp(json_string_value(json_object_get(*a, "channel")),
                       json_string_value(json_object_get(*b, "channel")));
    return order ? order
                 : strcmp(json_string_value(json_object_get(*a, "node")),
                          json_string_value(json_object_get(*b, "node")));
}

/* How the channels do on each node, by name and node. NULL: out of memory. */
static json_t *channels_by_name(const struct message_call *ask)
{
    size_t count = json_array_size(ask->channels);
    json_t **sorted = calloc(count + 1, sizeof(json_t *));
    json_t *list = sorted ? json_array() : NULL;
    bool failed = !list;
    for (size_t i = 0; i < count && !failed; i++)
        sorted[i] = json_array_get(ask->channels, i);
    if (!failed && count)
        qsort(sorted, count, sizeof(json_t *), compare_channels);
    for (size_t i = 0; i < count && !failed; i++)
        failed = json_array_append(list, sorted[i]) ||
                 show_time(sorted[i], "sent_ms", "last_sent_at") ||
                 show_time(sorted[i], "failed_ms", "last_failed_at");
    free(sorted);
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

/* Takes the items of one node over; what has no id or time is not of this version. */
static void take(struct message_call *ask, json_t *answer)
{
    const json_t *items = json_object_get(answer, "items");
    const json_t *channels = json_object_get(answer, "channels"); /* of an older peal: none */
    size_t i;
    json_t *item;
    json_array_foreach (items, i, item) {
        if (json_is_string(json_object_get(item, "id")) &&
            json_is_integer(json_object_get(item, "made_ms")))
            ask->failed |= json_array_append(ask->items, item) != 0;
    }
    json_array_foreach (channels, i, item) {
        if (json_is_string(json_object_get(item, "channel")) &&
            json_is_string(json_object_get(item, "node")))
            ask->failed |= json_array_append(ask->channels, item) != 0;
    }
    json_decref(answer);
}

static void answer(struct call *call)
{
    struct message_call *ask = call->state;
    const struct node_question *others = &ask->others;
    for (size_t i = 0; i < others->count; i++)
        take(ask, json_loads(others->answers[i], 0, NULL));
    json_t *items = ask->failed || call->answer != OK ? NULL : newest(ask);
    json_t *channels = items ? channels_by_name(ask) : NULL;
    json_t *value = json_pack("{s:o, s:n, s:o}", "items", items, "next", "channels", channels);
    call_reply(call, 200, value ? add_absent(value, &others->absent) : NULL);
}

/* ---- the question ---- */

static void others_answered(struct node_question *question, enum status st)
{
    struct message_call *ask = question->context;
    call_answer(ask->call, st);
}

static const char *text_param(const struct call *call, const char *name)
{
    const char *text = query_get(&call->query, name);
    return text && *text ? text : NULL;
}

/* False: the call has failed. */
static bool read_query(struct call *call, struct message_query *query)
{
    int64_t limit = PAGE;
    const char *states = text_param(call, "state"), *unknown;
    size_t length;
    *query = (struct message_query){.channel = call->argument, .job = text_param(call, "job")};
    if (states && message_states_parse(states, &query->states, &unknown, &length) != OK) {
        char name[32];
        snprintf(name, sizeof(name), "%.*s", (int)(length < 31 ? length : 31), unknown);
        call_fail_word(call, "?state", name, MESSAGE_STATE_WORDS,
                       "%s: there is no state \"%s\"; known: %s", "state", name,
                       MESSAGE_STATE_WORDS);
        return false;
    }
    if (!param_number(call, "limit", 1, MESSAGES_MAX, &limit))
        return false;
    query->limit = (size_t)limit;
    return true;
}

static void put_question(struct call *call, struct message_call *ask)
{
    const struct node_asker *asker = &call->api->ports.messages;
    json_t *question = message_question(&ask->query);
    json_t *own = message_list(call->api->ports.notifier, &ask->query, clock_now());
    ask->items = json_array();
    ask->channels = json_array();
    ask->question = question ? json_dumps(question, JSON_COMPACT) : NULL;
    ask->failed = !ask->items || !ask->channels || !ask->question || !own;
    json_decref(question);
    take(ask, own);
    if (ask->failed || !asker->ask) {
        answer(call);
        return;
    }
    ask->call = call;
    ask->others =
        (struct node_question){.text = ask->question, .done = others_answered, .context = ask};
    call_wait(call, answer);
    asker->ask(asker->context, &ask->others);
}

static void list_all(struct call *call)
{
    struct message_call *ask = call_state(call, sizeof(*ask), release);
    if (ask && read_query(call, &ask->query))
        put_question(call, ask);
}

void list_messages(struct call *call)
{
    if (call->api->ports.notifier)
        list_all(call);
    else
        call_fail(call, 503, "this agent sends no messages");
}

void list_channel_messages(struct call *call)
{
    const struct notifier *notifier = call->api->ports.notifier;
    bool is_pings = strcmp(call->argument, PINGS_NAME) == 0;
    if (notifier && !is_pings && !notifier_channel(notifier, call->argument))
        fail_missing(call, 404, CHANNEL_DOC);
    else
        list_messages(call);
}
