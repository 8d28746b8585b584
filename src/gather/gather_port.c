#include "gather_port.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gather_wire.h"
#include "http.h"
#include "program/output_relay.h"
#include "program/records_wire.h"
#include "server_tls.h"

enum { QUESTION_MAX = 16 << 10 };

static const struct http_limits limits = {
    .connections = 1024,
    .request_ms = 5000,
    .answer_ms = 10000,
    .idle_ms = 60000,
    .bytes_per_s = 64 << 10,
    .held_bytes = 64 << 20,
    .unsent_bytes = 64 << 20,
};

struct gather_port {
    struct http_server *http;
    struct server_tls *tls;
    gather_is_announced *is_announced;
    void *context;
    const struct gather_served *served;
};

/* One request, until the history has answered it. */
struct question {
    struct http_request *request; /* NULL: the client has left */
    json_t *json;                 /* has the texts */
    enum history_request_kind kind;
    union gather_answer answer;
};

/* ---- answers ---- */

static void refuse(int status, const char *why, struct strbuf *out)
{
    (void)why;
    strbuf_addf(out, "HTTP/1.1 %d %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status,
                http_status_title(status));
}

/* Empties `text`, which may be NULL. */
static void send_text(struct http_request *request, int status, struct strbuf *text)
{
    size_t length = text ? text->length : 0;
    char *body = length ? strbuf_detach(text) : NULL;
    http_set(request, "Content-Type", "application/json");
    http_answer(request, length && !body ? 503 : status, body, body ? length : 0);
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
        send_text(question->request, status, st == OK ? &text : NULL);
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

/* Releases the answer. */
static void send_output(struct http_request *request, struct live_read *read, enum status st)
{
    struct strbuf text;
    strbuf_init(&text);
    if (st == OK)
        st = wire_encode_output(read, &text);
    live_read_release(read);
    send_text(request, st == OK ? 200 : 503, st == OK ? &text : NULL);
    strbuf_release(&text);
}

/* The output of a program, until that has answered. */
struct relayed_output {
    struct live_read read;
    struct output_relay *relay;
    struct http_request *request;
};

static void relay_answered(struct live_read *read, enum status st)
{
    struct relayed_output *relayed = read->context;
    send_output(relayed->request, read, st);
    free(relayed);
}

static void reader_gone(void *context)
{
    struct relayed_output *relayed = context;
    output_relay_give_up(relayed->relay, &relayed->read);
    free(relayed);
}

static void relay_output(const struct gather_port *port, struct http_request *request,
                         const struct live_read *read)
{
    struct relayed_output *relayed = calloc(1, sizeof(*relayed));
    if (!relayed) {
        send_text(request, 503, NULL);
        return;
    }
    *relayed = (struct relayed_output){*read, port->served->relay, request};
    relayed->read.done = relay_answered;
    relayed->read.context = relayed;
    http_own(request, relayed, reader_gone);
    output_relay_read(port->served->relay, &relayed->read);
}

/* Of this node it is read at once. */
static void answer_output(const struct gather_port *port, struct http_request *request)
{
    const struct gather_served *served = port->served;
    const struct live_output *output = &served->output;
    struct live_read read;
    size_t length;
    const char *body = http_body(request, &length);
    enum status st = wire_decode_output_question(body, length, &read);
    if (st != OK) {
        send_text(request, 422, NULL);
        return;
    }
    if (served->is_attached && served->is_attached(port->context, read.node)) {
        relay_output(port, request, &read);
        return;
    }
    st = output->read ? output->read(output->context, &read.run_id, read.offset, read.limit,
                                     &read.chunks, &read.count)
                      : E_NOT_FOUND;
    read.found = st == OK;
    send_output(request, &read, st == E_NOMEM ? E_NOMEM : OK);
}

static void answer_messages(const struct gather_port *port, struct http_request *request)
{
    const struct own_answer *messages = &port->served->messages;
    struct strbuf text;
    size_t length;
    const char *body = http_body(request, &length);
    strbuf_init(&text);
    enum status st = messages->answer(messages->context, body, length, &text);
    send_text(request, st == OK ? 200 : st == E_INVALID ? 422 : 503, st == OK ? &text : NULL);
    strbuf_release(&text);
}

/* Whose certificate it is; NULL: of nobody who is announced. */
static const char *sender(const struct gather_port *port, const struct http_request *request)
{
    char fingerprint[FINGERPRINT_TEXT + 1];
    return gather_tls_other_end(http_ssl(request), fingerprint)
               ? port->served->name_of(port->context, fingerprint)
               : NULL;
}

static void answer_offer(const struct gather_port *port, struct http_request *request)
{
    const char *node = sender(port, request);
    if (node)
        output_relay_offer(port->served->relay, node, request);
    else
        send_text(request, 403, NULL);
}

/* The certificate was announced at the handshake; its node may have left since. */
static bool is_known(const struct gather_port *port, const struct http_request *request)
{
    char fingerprint[FINGERPRINT_TEXT + 1];
    return gather_tls_other_end(http_ssl(request), fingerprint) &&
           port->is_announced(port->context, fingerprint);
}

static int read_question(const struct http_request *request, struct question *question)
{
    size_t length;
    const char *text = http_body(request, &length);
    question->json = length ? json_loadb(text, length, 0, NULL) : NULL;
    return wire_decode_question(question->kind, question->json, &question->answer) == OK ? 200
                                                                                         : 422;
}

static bool is_output(const struct gather_port *port, const char *path)
{
    return strcmp(path, WIRE_OUTPUT) == 0 && (port->served->output.read || port->served->relay);
}

static bool is_offer(const struct gather_port *port, const char *path)
{
    return strcmp(path, WIRE_OFFER) == 0 && port->served->relay;
}

static bool is_records(const struct gather_port *port, const char *path)
{
    return strcmp(path, WIRE_RECORDS) == 0 && port->served->history;
}

static bool is_messages(const struct gather_port *port, const char *path)
{
    return strcmp(path, WIRE_MESSAGES) == 0 && port->served->messages.answer;
}

static bool is_served(const struct gather_port *port, const char *path)
{
    enum history_request_kind kind;
    return is_output(port, path) || is_offer(port, path) || is_records(port, path) ||
           is_messages(port, path) || (port->served->history && wire_kind(path, &kind));
}

/* A question is short. */
static size_t body_max(const struct gather_port *port, const char *path)
{
    return is_offer(port, path) || is_records(port, path) ? WIRE_RECORDS_MAX : QUESTION_MAX;
}

static void on_head(void *context, struct http_request *request)
{
    const struct gather_port *port = context;
    if (!is_known(port, request))
        send_text(request, 403, NULL);
    else if (!is_served(port, http_target(request)))
        send_text(request, 404, NULL);
    else if (http_method(request) != HTTP_POST)
        send_text(request, 405, NULL);
    else
        http_admit(request, body_max(port, http_target(request)), true);
}

static void on_too_large(void *context, struct http_request *request, uint64_t length)
{
    (void)context;
    (void)length;
    send_text(request, 413, NULL);
}

static void on_request(void *context, struct http_request *request)
{
    struct gather_port *port = context;
    const char *path = http_target(request);
    if (is_output(port, path)) {
        answer_output(port, request);
        return;
    }
    if (is_offer(port, path)) {
        answer_offer(port, request);
        return;
    }
    if (is_messages(port, path)) {
        answer_messages(port, request);
        return;
    }
    if (is_records(port, path)) {
        records_take(request, port->served->history, &port->served->observer);
        return;
    }
    struct question *question = port->served->history ? calloc(1, sizeof(*question)) : NULL;
    if (!question || !wire_kind(path, &question->kind)) {
        free(question);
        send_text(request, 503, NULL);
        return;
    }
    question->request = request;
    http_own(request, question, gone);
    int status = read_question(request, question);
    if (status == 200) {
        submit(question, port->served->history);
        return;
    }
    send_text(request, status, NULL);
    question_free(question);
}

/* ---- life ---- */

enum status gather_port_new(struct loop *loop, struct gather_tls *tls,
                            gather_is_announced *is_announced, void *context,
                            const struct gather_served *served, int fd, struct gather_port **ret)
{
    struct gather_port *port = calloc(1, sizeof(*port));
    struct ssl_ctx_st *tls_context = port ? gather_tls_server(tls) : NULL;
    enum status st = tls_context ? server_tls_take(tls_context, &port->tls) : E_NOMEM;
    if (st != OK) {
        close(fd);
        goto out;
    }
    port->is_announced = is_announced;
    port->context = context;
    port->served = served;
    struct http_service service = {.head = on_head,
                                   .request = on_request,
                                   .too_large = on_too_large,
                                   .refuse = refuse,
                                   .context = port};
    st = http_server_new(loop, &limits, port->tls, &service, fd, &port->http);
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
    http_server_free(port->http);
    server_tls_free(port->tls);
    free(port);
    return NULL;
}
