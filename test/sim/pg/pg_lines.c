/* Connections to the PostgreSQL that is played: pg_wire.h over line.h. */
#include <stdlib.h>
#include <string.h>

#include "pg_play.h"

enum { CONNECT_MS = 3000 }; /* as in pg_connect.c */

struct pg_wire {
    struct loop *loop;
    const struct pg_wire_events *events;
    void *context;
    struct line *line;
    struct loop_timer *timer;
    bool is_open;
};

/* ---- the server's end ---- */

static struct pg_answer *new_answer(struct pg_answer answer)
{
    struct pg_answer *ret = malloc(sizeof(*ret));
    if (!ret)
        abort();
    *ret = answer;
    return ret;
}

struct pg_answer *pg_answer_rows(PGresult *rows)
{
    return new_answer((struct pg_answer){.rows = rows});
}

struct pg_answer *pg_answer_error(const char *state, const char *message)
{
    return new_answer((struct pg_answer){.state = state, .message = message});
}

void pg_notify(struct play *play)
{
    struct line *line;
    TAILQ_FOREACH (line, &play->lines.list, entry)
        if (((const struct pg_conn *)line)->listens && line->near && !line->is_ended)
            line_answer(line, new_answer((struct pg_answer){.rows = NULL}));
}

static void free_answer(void *item)
{
    struct pg_answer *answer = item;
    PQclear(answer->rows);
    free(answer);
}

void pg_query_free(struct pg_query *query)
{
    if (!query)
        return;
    for (int i = 0; i < query->count; i++)
        free(query->params[i].bytes);
    free(query);
}

static void free_query(void *item)
{
    pg_query_free(item);
}

static void take(struct line *line, void *command)
{
    struct pg_answer *answer = pg_do((struct pg_conn *)line, command);
    if (answer)
        line_answer(line, answer);
}

static void woken(struct line *line)
{
    struct pg_answer *answer = pg_commit((struct pg_conn *)line);
    line_answer(line, answer);
    line_go_on(line);
}

static void took(struct lines *lines)
{
    (void)lines; /* whoever listens was notified by the commit */
}

/* What it is busy with is not done. */
static void gone(struct line *line)
{
    struct pg_conn *conn = (struct pg_conn *)line;
    pg_query_free(conn->query);
    if (conn->answer)
        free_answer(conn->answer);
}

/* ---- the client's ---- */

static void opened(struct line *line)
{
    struct pg_wire *wire = line->near;
    wire->is_open = true;
    loop_timer_stop(wire->timer);
    wire->events->opened(wire->context, OK, "");
}

static void tell(struct line *line, void *item)
{
    const struct pg_wire *wire = line->near;
    struct pg_answer *answer = item;
    PGresult *rows = answer->rows;
    answer->rows = NULL;
    if (!rows && !answer->state) {
        wire->events->notified(wire->context);
    } else {
        if (rows)
            wire->events->rows(wire->context, rows);
        else
            wire->events->error(wire->context, &(struct pg_error){.state = answer->state,
                                                                  .message = answer->message,
                                                                  .words = answer->message});
        wire->events->over(wire->context);
    }
    free_answer(answer);
}

static void paused(struct line *line)
{
    const struct pg_wire *wire = line->near;
    wire->events->paused(wire->context);
}

static void closed(struct line *line, const char *why)
{
    const struct pg_wire *wire = line->near;
    if (wire->is_open)
        wire->events->closed(wire->context, why);
    else
        wire->events->opened(wire->context, E_UNREACHABLE, why);
}

const struct line_ops pg_line_ops = {.size = sizeof(struct pg_conn),
                                     .take = take,
                                     .woken = woken,
                                     .took = took,
                                     .gone = gone,
                                     .opened = opened,
                                     .tell = tell,
                                     .paused = paused,
                                     .closed = closed,
                                     .free_command = free_query,
                                     .free_answer = free_answer};

/* ---- pg_wire.h ---- */

static void on_late(void *context)
{
    const struct pg_wire *wire = context;
    wire->events->opened(wire->context, E_UNREACHABLE, "no connection in time");
}

enum status pg_wire_new(struct loop *loop, const struct pg_target *target,
                        const struct pg_wire_events *events, void *context, struct pg_wire **ret)
{
    if (loop->is_ghost)
        return E_IO;
    struct pg_wire *wire = calloc(1, sizeof(*wire));
    if (!wire)
        abort();
    *wire = (struct pg_wire){.loop = loop, .events = events, .context = context};
    if (loop_timer_new(loop, on_late, wire, &wire->timer) != OK)
        abort();
    wire->line = line_new(&play_of(loop->net)->lines, loop, wire);
    struct pg_conn *conn = (struct pg_conn *)wire->line;
    conn->client_id = target->client_id;
    conn->listens = conn->line.reads_feed = target->listens;
    loop_timer_set(wire->timer, CONNECT_MS);
    *ret = wire;
    return OK;
}

struct pg_wire *pg_wire_free(struct pg_wire *wire)
{
    if (!wire)
        return NULL;
    loop_timer_free(wire->timer);
    line_leave(wire->line);
    free(wire);
    return NULL;
}

void pg_wire_bind(struct pg_wire *wire, const struct pg_wire_events *events, void *context)
{
    wire->events = events;
    wire->context = context;
}

enum status pg_wire_send(struct pg_wire *wire, enum pg_statement statement,
                         const struct pg_params *params)
{
    struct pg_query *query = calloc(1, sizeof(*query));
    if (!query)
        abort();
    query->statement = statement;
    query->count = params->count;
    for (int i = 0; i < params->count; i++) {
        size_t length = (size_t)params->lengths[i];
        query->params[i] = (struct pg_param){length, malloc(length + 1)};
        if (!query->params[i].bytes)
            abort();
        if (length)
            memcpy(query->params[i].bytes, params->values[i], length);
        query->params[i].bytes[length] = '\0';
    }
    line_send(wire->line, query);
    return OK;
}

enum status pg_wire_flush(struct pg_wire *wire)
{
    (void)wire;
    return OK;
}

const char *pg_wire_why(const struct pg_wire *wire)
{
    (void)wire;
    return "";
}
