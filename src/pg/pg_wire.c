/* A connection over libpq, in pipeline mode, on the loop. Each statement has a Sync of its own, and
 * so is a transaction of its own. */
#include "pg_wire.h"

#include <stdlib.h>

#include "pg_connect.h"

struct pg_wire {
    struct loop *loop;
    const struct pg_wire_events *events;
    void *context;
    struct pg_connecting *connecting; /* NULL: it is open */
    PGconn *conn;
    struct loop_fd *fd; /* of the thread that opens it, then of the connection */
    size_t unanswered;  /* statements that were sent and are not over */
};

/* ---- results ---- */

static void tell_error(const struct pg_wire *wire, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const struct pg_error error = {.state = state ? state : "",
                                   .message = message ? message : "no message",
                                   .words = PQresultErrorMessage(result)};
    wire->events->error(wire->context, &error);
}

static void hand_over(struct pg_wire *wire, PGresult *result)
{
    switch ((int)PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
        wire->events->rows(wire->context, result);
        return;
    case PGRES_PIPELINE_SYNC:
        wire->unanswered--;
        wire->events->over(wire->context);
        break;
    case PGRES_PIPELINE_ABORTED:
        break;
    default:
        tell_error(wire, result);
        break;
    }
    PQclear(result);
}

/* Takes in all that has come; false: the connection is lost. */
static bool read_results(struct pg_wire *wire)
{
    while (wire->unanswered && !PQisBusy(wire->conn)) {
        PGresult *result = PQgetResult(wire->conn);
        if (result)
            hand_over(wire, result);
        else if (PQstatus(wire->conn) == CONNECTION_BAD)
            return false; /* else it is the end of a statement's results */
    }
    return true;
}

static void take_notifies(struct pg_wire *wire)
{
    PGnotify *notify;
    bool is_any = false;
    while ((notify = PQnotifies(wire->conn))) {
        is_any = true;
        PQfreemem(notify);
    }
    if (is_any)
        wire->events->notified(wire->context);
}

static void on_ready(void *context, unsigned events)
{
    struct pg_wire *wire = context;
    (void)events;
    if (!PQconsumeInput(wire->conn) || !read_results(wire)) {
        wire->events->closed(wire->context, PQerrorMessage(wire->conn));
        return;
    }
    take_notifies(wire);
    if (pg_wire_flush(wire) == OK)
        wire->events->paused(wire->context);
    else
        wire->events->closed(wire->context, PQerrorMessage(wire->conn));
}

/* ---- opening ---- */

static void on_connected(void *context, unsigned events)
{
    struct pg_wire *wire = context;
    struct strbuf why;
    (void)events;
    strbuf_init(&why);
    wire->fd = loop_fd_free(wire->fd);
    enum status st = pg_connecting_take(wire->connecting, &wire->conn, &why);
    wire->connecting = pg_connecting_free(wire->connecting);
    if (st == OK)
        st = loop_fd_new(wire->loop, PQsocket(wire->conn), on_ready, wire, &wire->fd);
    if (st == OK)
        loop_fd_want(wire->fd, LOOP_READ);
    wire->events->opened(wire->context, st, why.length ? why.text : status_text(st));
    strbuf_release(&why);
}

enum status pg_wire_new(struct loop *loop, const struct pg_target *target,
                        const struct pg_wire_events *events, void *context, struct pg_wire **ret)
{
    int fd = -1;
    struct pg_wire *wire = calloc(1, sizeof(*wire));
    if (!wire)
        return E_NOMEM;
    *wire = (struct pg_wire){.loop = loop, .events = events, .context = context};
    enum status st = pg_connecting_new(target, &wire->connecting, &fd);
    if (st == OK)
        st = loop_fd_new(loop, fd, on_connected, wire, &wire->fd);
    if (st != OK) {
        pg_wire_free(wire);
        return st;
    }
    loop_fd_want(wire->fd, LOOP_READ);
    *ret = wire;
    return OK;
}

struct pg_wire *pg_wire_free(struct pg_wire *wire)
{
    if (!wire)
        return NULL;
    loop_fd_free(wire->fd);
    pg_connecting_free(wire->connecting);
    PQfinish(wire->conn);
    free(wire);
    return NULL;
}

void pg_wire_bind(struct pg_wire *wire, const struct pg_wire_events *events, void *context)
{
    wire->events = events;
    wire->context = context;
}

/* ---- sending ---- */

enum status pg_wire_send(struct pg_wire *wire, enum pg_statement statement,
                         const struct pg_params *params)
{
    static const int formats[PG_PARAMS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    if (!PQsendQueryPrepared(wire->conn, pg_statement_name(statement), params->count,
                             params->values, params->lengths, formats, 1) ||
        !PQpipelineSync(wire->conn))
        return E_UNREACHABLE;
    wire->unanswered++;
    return OK;
}

enum status pg_wire_flush(struct pg_wire *wire)
{
    int unsent = PQflush(wire->conn);
    if (unsent < 0)
        return E_UNREACHABLE;
    loop_fd_want(wire->fd, LOOP_READ | (unsent ? LOOP_WRITE : 0));
    return OK;
}

const char *pg_wire_why(const struct pg_wire *wire)
{
    return PQerrorMessage(wire->conn);
}
