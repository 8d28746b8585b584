#include "gather_port.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "connection.h"
#include "gather_wire.h"
#include "server_tls.h"

enum {
    BODY_LIMIT = 16 << 10, /* a question is short */
    HEADERS_LIMIT = 8 << 10,
    SILENCE_S = 60,
};

static const struct connection_limits limits = {
    .connections = 256,
    .request_ms = 5000,
    .answer_ms = 10000,
    .idle_ms = 60000,
    .bytes_per_s = 64 << 10,
    .held_bytes = 4 << 20,
    .unsent_bytes = 64 << 20,
};

struct gather_port {
    struct evhttp *http;
    struct server_tls *tls;
    struct connections connections;
    gather_is_announced *is_announced;
    void *context;
    struct history *own;
};

/* One question, until the history has answered it. */
struct question {
    struct connection *connection;
    struct evhttp_request *request; /* NULL: who asked went away */
    json_t *json;                   /* has the texts */
    enum history_request_kind kind;
    union gather_answer answer;
};

/* ---- answers ---- */

static void refuse(int status, struct strbuf *out)
{
    strbuf_addf(out, "HTTP/1.1 %d Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                status);
}

static void send_text(struct connection *connection, struct evhttp_request *request, int status,
                      const struct strbuf *text)
{
    struct evbuffer *out = evhttp_request_get_output_buffer(request);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
                      "application/json");
    if (text && text->length)
        evbuffer_add(out, text->text, text->length);
    connection_answer(connection, request, evbuffer_get_length(out));
    evhttp_send_reply(request, status, NULL, NULL);
}

static void question_free(struct question *question)
{
    gather_answer_release(question->kind, &question->answer);
    json_decref(question->json);
    free(question);
}

static void answered(struct question *question, enum status st)
{
    struct strbuf text;
    strbuf_init(&text);
    if (st == OK && question->request)
        st = wire_encode_answer(question->kind, &question->answer, &text);
    int status = st == OK ? 200 : st == E_INVALID ? 422 : 503;
    if (question->request)
        send_text(question->connection, question->request, status, st == OK ? &text : NULL);
    strbuf_release(&text);
    question_free(question);
}

static void read_done(struct history_read *read, enum status st)
{
    answered(read->context, st);
}

static void log_done(struct history_log *log, enum status st)
{
    answered(log->context, st);
}

static void stats_done(struct history_stats *stats, enum status st)
{
    answered(stats->context, st);
}

static void changes_done(struct history_changes *changes, enum status st)
{
    answered(changes->context, st);
}

/* ---- questions ---- */

static void submit(struct question *question, struct history *own)
{
    union gather_answer *answer = &question->answer;
    switch (question->kind) {
    case HISTORY_READ:
        answer->read.done = read_done;
        answer->read.context = question;
        history_read(own, &answer->read);
        return;
    case HISTORY_LOG:
        answer->log.done = log_done;
        answer->log.context = question;
        history_log(own, &answer->log);
        return;
    case HISTORY_STATS:
        answer->stats.done = stats_done;
        answer->stats.context = question;
        history_stats(own, &answer->stats);
        return;
    case HISTORY_CHANGES:
        answer->changes.done = changes_done;
        answer->changes.context = question;
        history_changes(own, &answer->changes);
        return;
    case HISTORY_APPEND:
    case HISTORY_PRUNE:
        break;
    }
    answered(question, E_INVALID);
}

static void gone(void *context)
{
    struct question *question = context;
    question->request = NULL;
}

/* The certificate was good when they connected; whose it is may have left since. */
static bool is_known(const struct gather_port *port, struct evhttp_request *request)
{
    struct evhttp_connection *http = evhttp_request_get_connection(request);
    char fingerprint[FINGERPRINT_TEXT + 1];
    return gather_tls_other_end(evhttp_connection_get_bufferevent(http), fingerprint) &&
           port->is_announced(port->context, fingerprint);
}

static int read_question(struct evhttp_request *request, struct question *question)
{
    struct evbuffer *body = evhttp_request_get_input_buffer(request);
    size_t length = evbuffer_get_length(body);
    const char *text = (const char *)evbuffer_pullup(body, -1);
    if (!wire_kind(evhttp_request_get_uri(request), &question->kind))
        return 404;
    if (evhttp_request_get_command(request) != EVHTTP_REQ_POST)
        return 405;
    question->json = length ? json_loadb(text, length, 0, NULL) : NULL;
    return wire_decode_question(question->kind, question->json, &question->answer) == OK ? 200
                                                                                         : 422;
}

static void on_request(struct evhttp_request *request, void *context)
{
    struct gather_port *port = context;
    struct question *question = calloc(1, sizeof(*question));
    struct connection *connection =
        question ? connection_serve(&port->connections, request, gone, question) : NULL;
    if (!connection) { /* no memory to serve it */
        free(question);
        evhttp_send_error(request, 503, NULL);
        return;
    }
    question->connection = connection;
    question->request = request;
    int status = is_known(port, request) ? read_question(request, question) : 403;
    if (status == 200) {
        submit(question, port->own);
        return;
    }
    send_text(connection, request, status, NULL);
    question_free(question);
}

/* ---- life ---- */

enum status gather_port_new(struct loop *loop, struct gather_tls *tls,
                            gather_is_announced *is_announced, void *context, struct history *own,
                            int fd, struct gather_port **ret)
{
    struct gather_port *port = calloc(1, sizeof(*port));
    enum status st = E_NOMEM;
    if (!port || !(port->http = evhttp_new(loop_base(loop)))) {
        close(fd);
        goto out;
    }
    port->is_announced = is_announced;
    port->context = context;
    port->own = own;
    evhttp_set_max_body_size(port->http, BODY_LIMIT);
    evhttp_set_max_headers_size(port->http, HEADERS_LIMIT);
    evhttp_set_timeout(port->http, SILENCE_S);
    evhttp_set_gencb(port->http, on_request, port);
    evhttp_set_allowed_methods(port->http, EVHTTP_REQ_POST);
    st = gather_tls_server(tls, &port->tls);
    if (st == OK)
        st = connections_init(&port->connections, loop, &limits, port->tls, port->http, refuse);
    if (st == OK)
        st = connections_listen(&port->connections, port->http, fd);
    else
        close(fd);
    if (st != OK)
        goto out;
    *ret = port;
    port = NULL;
out:
    gather_port_free(port);
    return st;
}

struct gather_port *gather_port_free(struct gather_port *port)
{
    if (!port)
        return NULL;
    connections_release(&port->connections, port->http);
    server_tls_free(port->tls);
    free(port);
    return NULL;
}
