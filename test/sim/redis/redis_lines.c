/* Connections to the Redis that is played: redis_wire.h over line.h. */
#include "redis_wire.h"

#include <stdlib.h>
#include <string.h>

#include "redis_play.h"

struct redis_wire {
    struct loop *loop;
    const struct redis_wire_events *events;
    void *context;
    struct line *line;
    bool is_open;
};

/* ---- the server's end ---- */

static void free_words(void *command)
{
    struct redis_words *words = command;
    for (int i = 0; i < words->argc; i++)
        free(words->argv[i].bytes);
    free(words);
}

static void take(struct line *line, void *command)
{
    redisReply *reply = redis_do((struct redis_conn *)line, command);
    free_words(command);
    if (reply)
        line_answer(line, reply);
}

static void woken(struct line *line)
{
    struct redis_conn *conn = (struct redis_conn *)line;
    line_answer(line, conn->is_in_wait ? replica_waited(conn) : reply_nil());
    line_go_on(line);
}

static void took(struct lines *lines)
{
    redis_tell(play_of(lines->net));
}

/* ---- the client's ---- */

static void opened(struct line *line)
{
    struct redis_wire *wire = line->near;
    wire->is_open = true;
    wire->events->opened(wire->context);
}

static void tell(struct line *line, void *answer)
{
    const struct redis_wire *wire = line->near;
    wire->events->reply(wire->context, answer);
}

static void paused(struct line *line)
{
    const struct redis_wire *wire = line->near;
    wire->events->paused(wire->context);
}

static void closed(struct line *line, const char *why)
{
    const struct redis_wire *wire = line->near;
    wire->events->closed(wire->context, why);
}

const struct line_ops redis_line_ops = {.size = sizeof(struct redis_conn),
                                        .take = take,
                                        .woken = woken,
                                        .took = took,
                                        .opened = opened,
                                        .tell = tell,
                                        .paused = paused,
                                        .closed = closed,
                                        .free_command = free_words,
                                        .free_answer = freeReplyObject};

/* ---- redis_wire.h ---- */

enum status redis_wire_new(struct loop *loop, const struct redis_address *address,
                           const struct redis_wire_events *events, void *context,
                           struct redis_wire **ret)
{
    (void)address;
    if (loop->is_ghost)
        return E_IO;
    struct play *play = play_of(loop->net);
    if (!play->lines.made)
        replica_begin((struct redis_play *)play, play->net->latency_ms[loop->number]);
    struct redis_wire *wire = calloc(1, sizeof(*wire));
    if (!wire)
        abort();
    *wire = (struct redis_wire){.loop = loop, .events = events, .context = context};
    wire->line = line_new(&play->lines, loop, wire);
    *ret = wire;
    return OK;
}

struct redis_wire *redis_wire_free(struct redis_wire *wire)
{
    if (wire)
        line_leave(wire->line);
    free(wire);
    return NULL;
}

void redis_wire_bind(struct redis_wire *wire, const struct redis_wire_events *events, void *context)
{
    wire->events = events;
    wire->context = context;
}

bool redis_wire_is_open(const struct redis_wire *wire)
{
    return wire->is_open;
}

enum status redis_wire_send(struct redis_wire *wire, int argc, const char **argv,
                            const size_t *lengths)
{
    struct redis_words *words = calloc(1, sizeof(*words));
    if (!words || argc > WORDS_MAX)
        abort();
    words->argc = argc;
    for (int i = 0; i < argc; i++) {
        words->argv[i] = (struct redis_text){lengths[i], malloc(lengths[i] + 1)};
        if (!words->argv[i].bytes)
            abort();
        if (lengths[i])
            memcpy(words->argv[i].bytes, argv[i], lengths[i]);
        words->argv[i].bytes[lengths[i]] = '\0';
    }
    line_send(wire->line, words);
    return OK;
}
