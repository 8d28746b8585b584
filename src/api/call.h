/* One request of a client, from its first byte to its answer. A handler answers with exactly one
 * call_reply or call_fail, after which the call is gone; or it waits for the store or the history,
 * and goes on in `then`.
 *
 * `then` is called from the loop, never from within a turn of the engine: whatever the store did is
 * in the catalog by then. A client that goes away does not stop its call; the answer goes nowhere.
 */
#ifndef PEAL_CALL_H
#define PEAL_CALL_H

#include <jansson.h>
#include <sys/queue.h>

#include "engine.h"
#include "router.h"
#include "text/message.h"

struct api;
struct http_request;
struct idempotent;
struct job_error;
struct listener;
struct note;
struct quota_item;

typedef void call_then(struct call *call);

/* Brings the answer of a native handler into the shape of a facade; takes `native` over. NULL: out
 * of memory. */
typedef json_t *call_shape(struct call *call, int *status, json_t *native);

enum { REQUEST_ID_MAX = 64, ADDRESS_SIZE = 48, HOST_SIZE = 272 };

/* What a page of the history has of theirs, for who sees a part only; see call_history.c. */
struct part {
    bool is_needed, are_changes;
    void *items; /* struct history_row or struct change_record */
    size_t count, wanted;
    int rounds;
    call_then *then;
};

struct call {
    struct api *api;
    struct listener *listener;
    struct http_request *request; /* NULL: the client went away */
    bool is_head;
    bool is_safe; /* it only looks: GET, HEAD */
    char request_id[REQUEST_ID_MAX + 1];
    enum language language;
    struct principal principal;
    char address[ADDRESS_SIZE]; /* of the client; empty: on the UNIX socket */
    bool is_secure;             /* the client speaks TLS, with us or with a proxy that we trust */
    char host[HOST_SIZE];       /* by which the client calls us, as a Host header has it */
    const struct route *route;  /* NULL: not found yet */
    char *path;                 /* as it came, not decoded */
    char *argument;             /* the {name} or {id} of the path; NULL: it has none */
    char *second_argument;      /* the {revision}, likewise */
    const char *query_text;     /* inside path; NULL: none */
    struct query query;
    const char *body_text; /* good only until the first wait */
    size_t body_length;
    json_t *body;     /* an object, perhaps empty, for routes with fields */
    char *large_body; /* the text of a ROUTE_LARGE, as long as the call; NULL: none */
    size_t large_length;
    struct query form;             /* the same for ROUTE_FORM */
    call_shape *shape;             /* of answers below 300; NULL: as they are */
    json_t *before;                /* the facade's, for its shape; NULL: nothing */
    int64_t now_ms;                /* when its last byte came */
    struct idempotent *repeatable; /* its Idempotency-Key is remembered here; NULL: it has none */
    int64_t revision;              /* of what it answers with, for the ETag; 0: none */

    /* What it waits for. */
    struct store_request store;
    int64_t asked_boot_ms; /* the store, when */
    struct history_read read;
    struct history_log log;
    struct history_changes changes;
    struct history_stats stats;
    struct part part;
    struct note *note; /* of what it has changed; NULL: nothing yet */
    bool note_failed;  /* some of that could not be noted */
    bool note_is_late; /* the history has not answered in time: it is not waited for again */
    enum status answer;
    call_then *then;
    call_then *answered;     /* the store has: called at once; NULL: nobody needs to know */
    struct quota_item *held; /* what its request may add, see jobs.h */
    size_t held_count;
    bool
        is_served; /* all of it is there: it ends with an answer, whether the client waits or not */
    bool has_waited;
    bool is_detached;

    void *state; /* the handler's */
    void (*release)(void *state);

    TAILQ_ENTRY(call) link, in_ready;
};

/* With the head of a request, whose owner it is. NULL: out of memory. */
struct call *call_new(struct listener *listener, struct http_request *request);

/* The body is there, too: from now on it is under way. */
void call_serve(struct call *call);

/* What was read of a page, and not answered with. */
void call_release_part(struct call *call);

/* Without an answer; what it waited for must have been answered. */
void call_free(struct call *call);

/* Zeroed memory that goes with the call. NULL: out of memory, and the call has failed. */
void *call_state(struct call *call, size_t size, void (*release)(void *state));

/* Sets what the path does not name: call->argument. False: the call has failed. */
bool call_name(struct call *call, const char *name);

/* A new id, of the moment when the call came. */
struct id call_make_id(const struct call *call);

/* A header of the request; NULL: it has none. */
const char *call_input(const struct call *call, const char *name);

/* Where it comes from, for limits; "local" on the UNIX socket. */
void call_address(const struct call *call, char ret[ADDRESS_SIZE]);

/* Who asks has the right everywhere; false: the call has failed. */
bool call_may(struct call *call, enum right right);

/* It goes on without an end, and nobody waits for it any more. */
void call_detach(struct call *call);

/* ---- waiting ---- */

/* The items stay as they are until `then`, which finds the status in call->answer. */
void call_submit(struct call *call, enum store_op op, void *items, size_t count, call_then *then);
void call_read_history(struct call *call, call_then *then); /* call->read.query is filled in */
void call_read_log(struct call *call, call_then *then);     /* run_id, offset and limit of log */
void call_read_changes(struct call *call, call_then *then); /* call->changes.query */
void call_read_stats(struct call *call, call_then *then);   /* what call->stats asks for */

/* For anything else that answers later: whoever does calls call_answer, which has the shape of a
 * callback, once; `context` is the call. */
void call_wait(struct call *call, call_then *then);
void call_answer(void *context, enum status st);

/* In the next turn of the loop: long work is done in slices. */
void call_later(struct call *call, call_then *then);

/* ---- answers: the call is gone afterwards ---- */

/* A header of the answer, before it is given. */
void call_header(struct call *call, const char *name, const char *value);

/* Takes `body` over; NULL, out of memory, is a 500. */
void call_reply(struct call *call, int status, json_t *body);

/* JSON that is text already; empties `body`. */
void call_reply_buffer(struct call *call, int status, struct strbuf *body);

/* Another type than JSON; takes `text` over, which malloc made. */
void call_reply_text(struct call *call, int status, const char *type, char *text, size_t length);

/* To a HEAD: of an answer whose body would be so long. */
void call_reply_head(struct call *call, int status, const char *type, size_t length);

/* What is kept compressed and stays as it is, under the name of the tag; sent so to those who take
 * it. A Cache-Control and a Content-Security-Policy that were given before stay. */
struct packed {
    const char *type, *tag;
    const unsigned char *gzip;
    size_t gzip_length, length;
};
void call_reply_packed(struct call *call, const struct packed *packed);

/* A problem: `status` and a sentence for people, in their language if message.c has it. */
void call_fail(struct call *call, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with more members; takes `more` over, an object or NULL. */
void call_fail_with(struct call *call, int status, json_t *more, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* 422 at one place: a JSON pointer into the body, or "?name" for a parameter. */
void call_fail_at(struct call *call, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a word that is none of `known`, which are separated by commas: with a guess. */
void call_fail_word(struct call *call, const char *pointer, const char *typed, const char *known,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
void call_fail_job(struct call *call, const struct job_error *error);

/* 422: the body is not JSON. */
void call_fail_json(struct call *call, const json_error_t *error);

/* An item of `errors`: the hint is that of the message (message_hint) or NULL. NULL: out of memory.
 */
json_t *error_item(const struct call *call, const char *pointer, int line, int column,
                   const char *message, const char *hint);
json_t *job_error_item(const struct call *call, const char *pointer, const struct job_error *error);

/* 429: `words` say what was too often. */
void call_fail_later(struct call *call, int64_t wait_ms, const char *words);

/* 503: clients have left so much unread that there is no room for another answer. */
void call_fail_full(struct call *call);

/* 500 or 503, by what the store or the history answered; 409: it has something there that can't be
 * read, see store_aside. */
void call_fail_store(struct call *call, enum status st);
void call_fail_history(struct call *call, enum status st);

/* The whole answer to what is no request, since it has `why`: a problem, too. */
void print_refusal(int status, const char *why, struct strbuf *out);

#endif
