/* What is asked on a new connection before it is used: who it is and whether it keeps what it
 * acknowledges, then, by the script, whether it has kept what was seen before.
 *
 *     GREETING -> ENDING (the connection before) -> COMPARING -> over
 *                                                     ^----'
 *                                  until the other nodes have compared, too
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "redis_internal.h"

enum {
    ANSWER_MS = 5000,      /* for all of it, but the waiting for others */
    RECHECK_MS = 5000,     /* for which others may compare what a new master has kept */
    RECHECK_POLL_MS = 20,  /* at first ... */
    RECHECK_LAST_MS = 200, /* ... and at last */
};

enum stage { GREETING, ENDING, COMPARING };

/* The commands of a greeting, in their order. */
enum greeting { AUTH, SELECT, CLIENT_ID, INFO, FSYNC, LOAD_FIRST, LOAD_LAST, GREETINGS };

struct redis_opening {
    struct redis_client *client;
    bool is_for_calls;
    struct redis_memory memory;
    redis_opened *over;
    void *context;
    struct redis_wire *wire;
    struct loop_timer *timer, *again;
    enum stage stage;
    enum greeting awaited[GREETINGS];
    int asked, answered;
    bool is_over;
    struct redis_facts facts;
    struct redis_keys keys;
    int64_t recheck_until_ms, recheck_ms;
    enum status status;
    struct strbuf why;
};

/* ---- the end ---- */

static void finish(struct redis_opening *opening, enum status st)
{
    if (opening->is_over)
        return;
    opening->is_over = true;
    loop_timer_stop(opening->timer);
    loop_timer_stop(opening->again);
    opening->over(opening->context, st, opening->why.text);
}

static void refuse(struct redis_opening *opening, enum status st, const char *message)
{
    if (opening->status != OK)
        return;
    strbuf_reset(&opening->why);
    redis_explain(&opening->client->place, message, &opening->why);
    opening->status = st;
}

/* An error as an answer. What a person has to change does not pass by itself. */
static void refuse_by(struct redis_opening *opening, const char *error)
{
    enum status st;
    enum redis_verdict verdict = redis_judge(error, &st);
    bool is_for_person = strncmp(error, "NOAUTH", 6) == 0 || strncmp(error, "ERR AUTH", 8) == 0 ||
                         strncmp(error, "ERR invalid DB", 14) == 0 ||
                         strncmp(error, "ERR DB index", 12) == 0;
    refuse(opening,
           is_for_person || (verdict == REDIS_REFUSED && st == E_INVALID) ? E_INVALID
                                                                          : E_UNREACHABLE,
           error);
}

static void on_timer(void *context)
{
    struct redis_opening *opening = context;
    refuse(opening, E_UNREACHABLE, "it does not answer");
    finish(opening, opening->status);
}

/* ---- greeting ---- */

static void ask(struct redis_opening *opening, const struct redis_command *command)
{
    if (redis_send(opening->wire, &opening->keys, command) != OK)
        refuse(opening, E_UNREACHABLE, "out of memory");
    opening->asked++;
}

static void greet(struct redis_opening *opening, enum greeting greeting, const char *const words[],
                  int count)
{
    struct redis_command command = {.script = REDIS_NO_SCRIPT};
    for (int i = 0; i < count; i++)
        redis_adds(&command, words[i]);
    opening->awaited[opening->asked] = greeting;
    ask(opening, &command);
}

static void greet_all(struct redis_opening *opening)
{
    const struct redis_client *client = opening->client;
    char db[16];
    opening->stage = GREETING;
    opening->asked = opening->answered = 0;
    if (client->password && client->place.user)
        greet(opening, AUTH, (const char *[]){"AUTH", client->place.user, client->password}, 3);
    else if (client->password)
        greet(opening, AUTH, (const char *[]){"AUTH", client->password}, 2);
    snprintf(db, sizeof(db), "%d", client->place.db);
    if (client->place.db)
        greet(opening, SELECT, (const char *[]){"SELECT", db}, 2);
    greet(opening, CLIENT_ID, (const char *[]){"CLIENT", "ID"}, 2);
    greet(opening, INFO, (const char *[]){"INFO"}, 1);
    greet(opening, FSYNC, (const char *[]){"CONFIG", "GET", "appendfsync"}, 3);
    for (int i = 0; i < REDIS_SCRIPTS; i++) {
        char *text = redis_script_text((enum redis_script)i);
        if (text)
            greet(opening, (enum greeting)(LOAD_FIRST + i),
                  (const char *[]){"SCRIPT", "LOAD", text}, 3);
        else
            refuse(opening, E_UNREACHABLE, "out of memory");
        free(text);
    }
}

static bool read_sha(const struct redisReply *reply, char sha[REDIS_SHA + 1])
{
    struct kv_bytes bytes;
    if (!redis_read_bytes(reply, &bytes) || bytes.length != REDIS_SHA ||
        strspn(bytes.data, "0123456789abcdef") != REDIS_SHA)
        return false;
    memcpy(sha, bytes.data, REDIS_SHA + 1);
    return true;
}

/* {"appendfsync", "always"}; an error, or something else: it would not say. */
static bool read_fsync(const struct redisReply *reply, struct redis_info *server)
{
    struct kv_bytes value;
    if (redis_read_bytes(redis_at(reply, 1), &value) && value.length < sizeof(server->fsync))
        memcpy(server->fsync, value.data, value.length + 1);
    return true;
}

static bool read_info(const struct redisReply *reply, struct redis_info *server)
{
    char fsync[REDIS_POLICY];
    struct kv_bytes info;
    memcpy(fsync, server->fsync, sizeof(fsync));
    if (!redis_read_bytes(reply, &info) || !redis_info_read(info.data, info.length, server))
        return false;
    memcpy(server->fsync, fsync, sizeof(fsync));
    return true;
}

static bool take_greeting(struct redis_opening *opening, enum greeting greeting,
                          const struct redisReply *reply)
{
    struct redis_facts *facts = &opening->facts;
    if (reply->type == REDIS_REPLY_ERROR && greeting != FSYNC) {
        refuse_by(opening, reply->str);
        return true;
    }
    switch (greeting) {
    case AUTH:
    case SELECT:
        return reply->type == REDIS_REPLY_STATUS;
    case CLIENT_ID:
        return redis_read_number(reply, &facts->client_id);
    case INFO:
        facts->clock_ms = clock_now().wall.ms;
        return read_info(reply, &facts->server);
    case FSYNC:
        return read_fsync(reply, &facts->server);
    case LOAD_FIRST:
    case LOAD_LAST:
        return read_sha(reply, opening->keys.shas[greeting - LOAD_FIRST]);
    case GREETINGS:
        break;
    }
    return false;
}

/* ---- comparing ---- */

static void compare(struct redis_opening *opening)
{
    const struct redis_memory *memory = &opening->memory;
    const int64_t numbers[] = {memory->mark.revision, memory->mark.tag, memory->mark.incarnation,
                               kv_random()};
    char texts[4][24], ids[24 * REDIS_LEASES_MAX];
    struct redis_command command = {.script = REDIS_MAY_NOT_GROW};
    redis_adds(&command, "open");
    for (int i = 0; i < 4; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%" PRId64, numbers[i]);
        redis_adds(&command, texts[i]);
    }
    redis_adds(&command, opening->facts.server.seat);
    ids[0] = '\0';
    for (size_t i = 0; i < memory->lease_count; i++)
        snprintf(ids + strlen(ids), 24, "%" PRId64 " ", memory->leases[i]);
    redis_adds(&command, ids);
    opening->stage = COMPARING;
    opening->asked = 1;
    opening->answered = 0;
    if (redis_send(opening->wire, &opening->keys, &command) != OK)
        refuse(opening, E_UNREACHABLE, "out of memory");
}

static void on_again(void *context)
{
    compare(context);
}

/* On another server changes may be missing that only other nodes have seen. They get the time to
 * compare; who finds something draws a new incarnation, which is read at the end. */
static bool must_wait(struct redis_opening *opening, int64_t others)
{
    const char *seat = opening->memory.seat;
    int64_t now_ms = kv_now_ms();
    if (!opening->is_for_calls || !others || !seat[0] ||
        strcmp(seat, opening->facts.server.seat) == 0)
        return false;
    if (!opening->recheck_until_ms)
        opening->recheck_until_ms = now_ms + RECHECK_MS;
    return now_ms < opening->recheck_until_ms;
}

static bool take_comparison(struct redis_opening *opening, const struct redisReply *reply)
{
    struct redis_facts *facts = &opening->facts;
    int64_t least, format, others;
    char text[224];
    if (!redis_read_head(redis_at(reply, 0), &facts->head) ||
        !redis_read_number(redis_at(reply, 1), &least) ||
        !redis_read_number(redis_at(reply, 2), &format) ||
        !redis_read_number(redis_at(reply, 3), &others))
        return false;
    if (least > REDIS_FORMAT) {
        snprintf(text, sizeof(text),
                 "the keys below %.60s are of a newer peal (format %" PRId64
                 "; this one knows %d): upgrade this node, or restore the backup from before",
                 opening->client->place.prefix, format, REDIS_FORMAT);
        refuse(opening, E_VERSION, text);
        return true;
    }
    opening->memory.mark = (struct kv_mark){0}; /* once is enough */
    if (!must_wait(opening, others)) {
        opening->asked = 0; /* it is over */
        return true;
    }
    opening->recheck_ms = opening->recheck_ms ? 2 * opening->recheck_ms : RECHECK_POLL_MS;
    if (opening->recheck_ms > RECHECK_LAST_MS)
        opening->recheck_ms = RECHECK_LAST_MS;
    loop_timer_set(opening->timer, RECHECK_MS + ANSWER_MS);
    loop_timer_set(opening->again, opening->recheck_ms);
    return true;
}

/* ---- ending ---- */

/* What the connection before has sent may still be done, unless that is ended. */
static void end_predecessor(struct redis_opening *opening)
{
    const struct redis_memory *memory = &opening->memory;
    struct redis_command command = {.script = REDIS_NO_SCRIPT};
    char id[24];
    snprintf(id, sizeof(id), "%" PRId64, memory->client_id);
    redis_adds(&command, "CLIENT");
    redis_adds(&command, "KILL");
    redis_adds(&command, "ID");
    redis_adds(&command, id);
    opening->stage = ENDING;
    opening->asked = opening->answered = 0;
    ask(opening, &command);
}

/* ---- the connection ---- */

static void on_opened(void *context)
{
    greet_all(context);
}

static bool take(struct redis_opening *opening, const struct redisReply *reply)
{
    if (opening->stage == GREETING)
        return opening->answered < opening->asked &&
               take_greeting(opening, opening->awaited[opening->answered], reply);
    if (reply->type == REDIS_REPLY_ERROR) {
        refuse_by(opening, reply->str);
        return true;
    }
    return opening->stage == ENDING ? reply->type == REDIS_REPLY_INTEGER
                                    : take_comparison(opening, reply);
}

static void on_reply(void *context, struct redisReply *reply)
{
    struct redis_opening *opening = context;
    if (opening->status == OK && !take(opening, reply))
        refuse(opening, E_UNREACHABLE, "this is no Redis: its answer can't be read");
    opening->answered++;
    freeReplyObject(reply);
}

static void check(struct redis_opening *opening)
{
    const struct redis_client *client = opening->client;
    struct redis_facts *facts = &opening->facts;
    const struct redis_memory *memory = &opening->memory;
    bool is_same = strcmp(memory->seat, facts->server.seat) == 0;
    facts->replicas = client->place.replicas;
    if (facts->replicas == REDIS_REPLICAS_SEEN)
        facts->replicas = is_same && memory->replicas > facts->server.replicas
                              ? memory->replicas
                              : facts->server.replicas;
    opening->status = redis_info_check(&facts->server, client->place.name,
                                       client->place.accepts_loss, &opening->why);
}

static void on_paused(void *context)
{
    struct redis_opening *opening = context;
    const struct redis_memory *memory = &opening->memory;
    if (opening->status == OK && opening->answered < opening->asked)
        return;
    if (opening->status == OK && opening->stage == GREETING)
        check(opening);
    if (opening->status != OK || (opening->stage == COMPARING && !opening->asked))
        finish(opening, opening->status);
    else if (opening->stage == GREETING && memory->client_id &&
             strcmp(memory->run_id, opening->facts.server.run_id) == 0)
        end_predecessor(opening);
    else if (opening->stage != COMPARING)
        compare(opening);
}

static void on_closed(void *context, const char *why)
{
    struct redis_opening *opening = context;
    refuse(opening, E_UNREACHABLE, why);
    finish(opening, opening->status);
}

static const struct redis_wire_events wire_events = {
    .opened = on_opened, .reply = on_reply, .paused = on_paused, .closed = on_closed};

static enum status connect_to(struct redis_opening *opening, const struct redis_host *host)
{
    const struct redis_client *client = opening->client;
    const struct redis_address address = {
        .host = host->host, .port = host->port, .tls = client->tls, .names = client->names};
    return redis_wire_new(client->base.loop, &address, &wire_events, opening, &opening->wire);
}

enum status redis_opening_new(struct redis_client *client, const struct redis_host *host,
                              bool is_for_calls, const struct redis_memory *memory,
                              redis_opened *over, void *context, struct redis_opening **ret)
{
    struct redis_opening *opening = calloc(1, sizeof(*opening));
    if (!opening)
        return E_NOMEM;
    opening->client = client;
    opening->is_for_calls = is_for_calls;
    opening->memory = *memory;
    opening->over = over;
    opening->context = context;
    strbuf_init(&opening->why);
    redis_keys_init(&opening->keys, client->place.prefix);
    enum status st = loop_timer_new(client->base.loop, on_timer, opening, &opening->timer);
    if (st == OK)
        st = loop_timer_new(client->base.loop, on_again, opening, &opening->again);
    if (st == OK)
        st = connect_to(opening, host);
    if (st != OK) {
        redis_opening_free(opening);
        return st;
    }
    loop_timer_set(opening->timer, ANSWER_MS);
    *ret = opening;
    return OK;
}

struct redis_wire *redis_opening_take(struct redis_opening *opening, struct redis_facts *ret,
                                      struct redis_keys *ret_keys)
{
    struct redis_wire *wire = opening->wire;
    *ret = opening->facts;
    *ret_keys = opening->keys;
    opening->wire = NULL;
    return wire;
}

struct redis_opening *redis_opening_free(struct redis_opening *opening)
{
    if (!opening)
        return NULL;
    redis_wire_free(opening->wire);
    loop_timer_free(opening->timer);
    loop_timer_free(opening->again);
    strbuf_release(&opening->why);
    free(opening);
    return NULL;
}
