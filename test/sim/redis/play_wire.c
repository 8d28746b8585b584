/* Connections to the Redis that is played: redis_wire.h, over the network of the stage. Each keeps
 * the order of what it carries. What is sent while the way is cut waits. */
#include <stdlib.h>
#include <string.h>

#include "play.h"
#include "redis_wire.h"

enum { CUT_LOOK_MS = 40, PLAY_MEMBER = 0 };

struct redis_wire {
    struct loop *loop;
    const struct redis_wire_events *events;
    void *context;
    struct play_conn *conn;
    bool is_open;
};

static struct play *play_of(const struct loop *loop)
{
    return loop->net->context;
}

bool play_is_up(const struct play *play)
{
    int down = 0;
    for (int i = 0; i < NET_MEMBERS; i++)
        down += play->net->is_down[i];
    return !play->net->is_down[PLAY_MEMBER] && down < 2 &&
           play->stage->now_ms >= play->down_until_ms;
}

static unsigned cuts_of(const struct play_conn *conn)
{
    return conn->play->net->cuts[conn->machine][PLAY_MEMBER];
}

static int64_t arrival_ms(const struct play_conn *conn, int64_t more_ms, int64_t *last_ms)
{
    const struct play *play = conn->play;
    int64_t at_ms = play->stage->now_ms +
                    stage_below(play->stage, play->net->latency_ms[conn->machine] + 1) +
                    (more_ms ? stage_below(play->stage, more_ms + 1) : 0);
    if (at_ms < *last_ms)
        at_ms = *last_ms;
    return *last_ms = at_ms;
}

/* ---- the ends of what is on its way ---- */

static void free_command(struct play_command *command)
{
    for (int i = 0; i < command->argc; i++)
        free(command->argv[i].bytes);
    free(command);
}

static void drop_up(struct play_conn *conn)
{
    for (struct play_command *command; (command = TAILQ_FIRST(&conn->up));) {
        TAILQ_REMOVE(&conn->up, command, entry);
        free_command(command);
    }
}

static void drop_down(struct play_conn *conn)
{
    for (struct play_answer *answer; (answer = TAILQ_FIRST(&conn->down));) {
        TAILQ_REMOVE(&conn->down, answer, entry);
        if (answer->reply)
            freeReplyObject(answer->reply);
        free(answer);
    }
}

static void free_conn(struct play_conn *conn)
{
    drop_up(conn);
    drop_down(conn);
    task_stop(conn->play->stage, &conn->up_task);
    task_stop(conn->play->stage, &conn->down_task);
    task_stop(conn->play->stage, &conn->block_task);
    TAILQ_REMOVE(&conn->play->conns, conn, entry);
    free(conn);
}

static void send_down(struct play_conn *conn, redisReply *reply, const char *closed)
{
    struct play *play = conn->play;
    struct play_answer *answer = conn->wire ? calloc(1, sizeof(*answer)) : NULL;
    if (!answer) {
        if (reply)
            freeReplyObject(reply);
        return;
    }
    *answer = (struct play_answer){
        .reply = reply,
        .closed = closed,
        .due_ms = arrival_ms(conn, play->net->lag_ms[PLAY_MEMBER], &conn->last_down_ms)};
    TAILQ_INSERT_TAIL(&conn->down, answer, entry);
    play->net->messages++;
    if (!task_is_set(&conn->down_task))
        task_at(play->stage, &conn->down_task, answer->due_ms);
}

void play_answer(struct play_conn *conn, redisReply *reply)
{
    send_down(conn, reply, NULL);
}

void play_conn_end(struct play_conn *conn, const char *why)
{
    if (conn->is_ended)
        return;
    conn->is_ended = true;
    drop_up(conn);
    task_stop(conn->play->stage, &conn->up_task);
    task_stop(conn->play->stage, &conn->block_task);
    send_down(conn, NULL, why);
    if (!conn->wire)
        free_conn(conn);
}

void play_conns_end(struct play *play, const char *why)
{
    struct play_conn *conn, *next;
    for (conn = TAILQ_FIRST(&play->conns); conn; conn = next) {
        next = TAILQ_NEXT(conn, entry);
        play_conn_end(conn, why);
    }
}

void play_conns_release(struct play *play)
{
    while (!TAILQ_EMPTY(&play->conns))
        free_conn(TAILQ_FIRST(&play->conns));
}

/* ---- to the server ---- */

static void go_on(struct play_conn *conn)
{
    struct play_command *next = TAILQ_FIRST(&conn->up);
    struct stage *stage = conn->play->stage;
    if (!next && !conn->wire)
        free_conn(conn);
    else if (next && !conn->is_blocked && !task_is_set(&conn->up_task))
        task_at(stage, &conn->up_task, next->due_ms > stage->now_ms ? next->due_ms : stage->now_ms);
}

void play_conn_unblock(struct play_conn *conn)
{
    conn->is_blocked = false;
    task_stop(conn->play->stage, &conn->block_task);
    go_on(conn);
}

static void on_up(struct task *task)
{
    struct play_conn *conn =
        (struct play_conn *)((char *)task - offsetof(struct play_conn, up_task));
    struct play *play = conn->play;
    struct play_command *command = TAILQ_FIRST(&conn->up);
    if (cuts_of(conn) & CUT_UP) {
        task_at(play->stage, task, play->stage->now_ms + CUT_LOOK_MS);
        return;
    }
    if (play->frozen_until_ms > play->stage->now_ms) {
        task_at(play->stage, task, play->frozen_until_ms);
        return;
    }
    TAILQ_REMOVE(&conn->up, command, entry);
    redisReply *reply = play_do(conn, command);
    free_command(command);
    if (reply)
        play_answer(conn, reply);
    if (!conn->is_ended)
        go_on(conn);
    play_tell(play);
}

/* ---- to the client ---- */

static void open_wire(struct redis_wire *wire)
{
    wire->is_open = true;
    wire->events->opened(wire->context);
}

static void on_down(struct task *task)
{
    struct play_conn *conn =
        (struct play_conn *)((char *)task - offsetof(struct play_conn, down_task));
    struct stage *stage = conn->play->stage;
    struct play_answer *answer;
    struct redis_wire *wire = conn->wire;
    bool is_told = false;
    if (conn->is_stuck || cuts_of(conn) & CUT_DOWN) {
        task_at(stage, task, stage->now_ms + CUT_LOOK_MS);
        return;
    }
    machine_act(conn->loop);
    while ((answer = TAILQ_FIRST(&conn->down)) && answer->due_ms <= stage->now_ms) {
        struct play_answer taken = *answer;
        TAILQ_REMOVE(&conn->down, answer, entry);
        free(answer);
        if (taken.closed) {
            wire->events->closed(wire->context, taken.closed); /* it may be freed now */
            return;
        }
        is_told |= taken.reply != NULL;
        if (taken.reply)
            wire->events->reply(wire->context, taken.reply);
        else
            open_wire(wire);
    }
    if (answer)
        task_at(stage, task, answer->due_ms);
    if (is_told)
        wire->events->paused(wire->context);
}

static void on_block(struct task *task)
{
    struct play_conn *conn =
        (struct play_conn *)((char *)task - offsetof(struct play_conn, block_task));
    if (conn->play->frozen_until_ms > conn->play->stage->now_ms) {
        task_at(conn->play->stage, task, conn->play->frozen_until_ms);
        return;
    }
    play_answer(conn, conn->is_in_wait ? play_replica_waited(conn) : reply_nil());
    play_conn_unblock(conn);
}

/* ---- redis_wire.h ---- */

enum status redis_wire_new(struct loop *loop, const struct redis_address *address,
                           const struct redis_wire_events *events, void *context,
                           struct redis_wire **ret)
{
    (void)address;
    if (loop->is_ghost)
        return E_IO;
    struct play *play = play_of(loop);
    if (!play->conns_made)
        play_replica_begin(play, play->net->latency_ms[loop->number]);
    struct redis_wire *wire = calloc(1, sizeof(*wire));
    struct play_conn *conn = calloc(1, sizeof(*conn));
    if (!wire || !conn)
        abort();
    *conn = (struct play_conn){.play = play,
                               .wire = wire,
                               .loop = loop,
                               .machine = loop->number,
                               .id = ++play->conns_made};
    TAILQ_INIT(&conn->up);
    TAILQ_INIT(&conn->down);
    task_init(&conn->up_task, NULL, on_up);
    task_init(&conn->down_task, loop, on_down);
    task_init(&conn->block_task, NULL, on_block);
    TAILQ_INSERT_TAIL(&play->conns, conn, entry);
    *wire = (struct redis_wire){loop, events, context, conn, false};
    if (play_is_up(play))
        send_down(conn, NULL, NULL);
    else
        play_conn_end(conn, "Connection refused");
    *ret = wire;
    return OK;
}

/* Some of what is on its way arrives all the same. */
struct redis_wire *redis_wire_free(struct redis_wire *wire)
{
    if (!wire)
        return NULL;
    struct play_conn *conn = wire->conn;
    struct stage *stage = conn->play->stage;
    conn->wire = NULL;
    task_stop(stage, &conn->down_task);
    drop_down(conn);
    for (struct play_command *last;
         (last = TAILQ_LAST(&conn->up, play_commands)) && stage_chance(stage, 500);) {
        TAILQ_REMOVE(&conn->up, last, entry);
        free_command(last);
    }
    free(wire);
    if (conn->is_ended || TAILQ_EMPTY(&conn->up))
        free_conn(conn);
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
    struct play_conn *conn = wire->conn;
    struct play *play = conn->play;
    if (wire->loop->is_ghost || conn->is_ended)
        return OK;
    machine_act(wire->loop);
    struct play_command *command = calloc(1, sizeof(*command));
    if (!command || argc > PLAY_ARGS_MAX)
        abort();
    command->argc = argc;
    for (int i = 0; i < argc; i++) {
        command->argv[i] = (struct play_text){lengths[i], malloc(lengths[i] + 1)};
        if (!command->argv[i].bytes)
            abort();
        if (lengths[i])
            memcpy(command->argv[i].bytes, argv[i], lengths[i]);
        command->argv[i].bytes[lengths[i]] = '\0';
    }
    command->due_ms = arrival_ms(conn, 0, &conn->last_up_ms);
    TAILQ_INSERT_TAIL(&conn->up, command, entry);
    play->net->messages++;
    if (!conn->is_blocked && !task_is_set(&conn->up_task))
        task_at(play->stage, &conn->up_task, command->due_ms);
    return OK;
}
