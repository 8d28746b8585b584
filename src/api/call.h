/* One request of a client, from its head to its answer. A handler answers with exactly one
 * call_reply or call_fail, which frees the call; or it waits for the store or the history, and
 * continues in `then`.
 *
 * `then` is called from the loop, never from within a turn of the engine: changes of the store are
 * in the catalog by then. A call goes on when its client has gone away; the answer is dropped. */
#ifndef PEAL_CALL_H
#define PEAL_CALL_H

#include <jansson.h>
#include <sys/queue.h>

#include "engine.h"
#include "live_output.h"
#include "router.h"
#include "text/message.h"

struct api;
struct http_request;
struct idempotent;
struct job_error;
struct job_puts;
struct listener;
struct note;

typedef void call_then(struct call *call);

/* Converts the answer of a native handler to a facade's format; takes `native` over. NULL: out of
 * memory. */
typedef json_t *call_shape(struct call *call, int *status, json_t *native);

enum { REQUEST_ID_MAX = 64, ADDRESS_SIZE = 48, HOST_SIZE = 272 };

/* A page of the history of which rows were left out; see call_history.c. */
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
    bool is_safe; /* read-only: GET, HEAD */
    char request_id[REQUEST_ID_MAX + 1];
    enum language language;
    struct principal principal;
    char address[ADDRESS_SIZE]; /* of the client; empty: UNIX socket */
    bool is_secure;             /* the client uses TLS, to this server or to a trusted proxy */
    char host[HOST_SIZE];       /* the host that the client used, as in a Host header */
    const struct route *route;  /* NULL: not known yet */
    char *path;                 /* as it came, not decoded */
    char *argument;             /* the {name} or {id} of the path; NULL: none */
    char *second_argument;      /* the {revision}, likewise */
    const char *query_text;     /* inside path; NULL: none */
    struct query query;
    const char *body_text; /* valid only until the first wait */
    size_t body_length;
    json_t *body;     /* an object, perhaps empty, for routes with fields */
    char *large_body; /* the body of a ROUTE_LARGE, valid as long as the call; NULL: none */
    size_t large_length;
    struct query form;             /* the fields of a ROUTE_FORM */
    call_shape *shape;             /* applied to answers below 300; NULL: none */
    json_t *before;                /* for the facade's `shape`; NULL: none */
    int64_t now_ms;                /* when the request was complete */
    struct idempotent *repeatable; /* the entry of its Idempotency-Key; NULL: none */
    int64_t revision;              /* of the answer, for the ETag; 0: none */
    const json_t
        *assumed; /* documents that a dry run takes to be there, {"groups":["NAME"]}; NULL: none */

    /* What it waits for. */
    struct store_request store;
    int64_t asked_boot_ms; /* when the store was asked */
    struct history_read read;
    bool reads_steps; /* of workflows, too; else they are left out of what the history answers */
    struct history_log log;
    struct live_read output;
    struct history_changes changes;
    struct history_stats stats;
    struct part part;
    struct note *note;      /* changes to be recorded; NULL: none yet */
    struct note *writing;   /* changes that are being recorded; NULL: none */
    bool note_failed;       /* a change could not be recorded */
    bool note_is_late;      /* the history has timed out: do not wait for it again */
    uint64_t trail_number;  /* waits until the history has the changes up to this one ... */
    int64_t trail_until_ms; /* ... or until this boot time */
    enum status answer;
    call_then *then;
    struct job_puts *puts; /* of job_puts_submit; NULL: none */
    bool is_served; /* the request is complete: the call ends with an answer, even if the client has
                       gone */
    bool has_waited;
    bool is_detached;

    void *state; /* the handler's */
    void (*release)(void *state);

    TAILQ_ENTRY(call) link, in_ready, in_trail, in_confirm;
};

TAILQ_HEAD(call_list, call);

/* Made with the head of a request, which it owns. NULL: out of memory. */
struct call *call_new(struct listener *listener, struct http_request *request);

/* The body is complete: the call is under way from now on. */
void call_serve(struct call *call);

/* Frees the rows of call->part. */
void call_release_part(struct call *call);

/* Frees the call without an answer; it must not be waiting. */
void call_free(struct call *call);

/* Zeroed memory that is freed with the call. NULL: out of memory, and the call has failed. */
void *call_state(struct call *call, size_t size, void (*release)(void *state));

/* Sets what the path does not name: call->argument. False: the call has failed. */
bool call_name(struct call *call, const char *name);

/* A new id, of the moment when the call came. Those of one millisecond, such as of all jobs of a
 * batch, follow each other, so that the databases add them at the ends of their indexes. */
struct id call_make_id(const struct call *call);

/* Is the document of this kind, "groups", taken to be there by this dry run? */
bool call_assumes(const struct call *call, const char *kind, const char *name);

/* A header of the request; NULL: none. */
const char *call_input(const struct call *call, const char *name);

/* The client's address or network, for rate limits; "local" on the UNIX socket. */
void call_address(const struct call *call, char ret[ADDRESS_SIZE]);

/* Does the caller have the right everywhere? False: the call has failed. */
bool call_may(struct call *call, enum right right);

/* The call goes on without an end (a stream), and does not delay a graceful stop. */
void call_detach(struct call *call);

/* ---- waiting ---- */

/* The items must stay valid until `then`, which finds the status in call->answer. */
void call_submit(struct call *call, enum store_op op, void *items, size_t count, call_then *then);
void call_read_history(struct call *call, call_then *then); /* call->read.query is filled in */
void call_read_log(struct call *call, call_then *then);     /* run_id, offset and limit of log */
void call_read_changes(struct call *call, call_then *then); /* call->changes.query */
void call_read_stats(struct call *call, call_then *then);   /* what call->stats asks for */

/* Selects the job's records for a query of the history (NULL: those of all jobs): by its uid if it
 * was renamed, or has the former name of another job, whose records have that name, too; otherwise
 * by name, which includes those of deleted jobs that had it. */
void call_select_job(const struct call *call, const char *name, struct id *ret_uid,
                     const char **ret_name);

/* Waits for anything else: call_answer, which can serve as a callback, must be called once;
 * `context` is the call. */
void call_wait(struct call *call, call_then *then);
void call_answer(void *context, enum status st);

/* In the next turn of the loop: long work is done in slices. */
void call_later(struct call *call, call_then *then);

/* ---- answers: they free the call ---- */

/* A header of the answer, before it is given. */
void call_header(struct call *call, const char *name, const char *value);

/* Takes `body` over; NULL, out of memory, is a 500. */
void call_reply(struct call *call, int status, json_t *body);

/* JSON text; empties `body`. */
void call_reply_buffer(struct call *call, int status, struct strbuf *body);

/* Another type than JSON; takes over `text`, which is from malloc. */
void call_reply_text(struct call *call, int status, const char *type, char *text, size_t length);

/* To a HEAD: `length` is that of the body of a GET. */
void call_reply_head(struct call *call, int status, const char *type, size_t length);

/* An immutable, compressed file with its ETag; unpacked for clients that do not accept gzip. A
 * Cache-Control and a Content-Security-Policy that were set before stay. */
struct packed {
    const char *type, *tag;
    const unsigned char *gzip;
    size_t gzip_length, length;
};
void call_reply_packed(struct call *call, const struct packed *packed);

/* A problem: `status` and a sentence for people, translated if message.c has it. */
void call_fail(struct call *call, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with more members; takes `more` over, an object or NULL. */
void call_fail_with(struct call *call, int status, json_t *more, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* 422 at one place: a JSON pointer into the body, or "?name" for a parameter. */
void call_fail_at(struct call *call, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a word that is not in the comma-separated list `known`, with the nearest one as a
 * hint. */
void call_fail_word(struct call *call, const char *pointer, const char *typed, const char *known,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* 422 by the message of a parser, which is translated; `more` as in call_fail_with. */
void call_fail_parsed(struct call *call, json_t *more, const char *message);

/* What a decoder says of the body. False: the call has failed: 500, or 422 by *error. */
bool call_check(struct call *call, enum status st, const struct job_error *error);

/* 422: the body is not JSON. */
void call_fail_json(struct call *call, const json_error_t *error);

/* An item of `errors`; `message` is translated if it is a parser's; `hint` is that of the message
 * (message_hint) or NULL. NULL: out of memory. */
json_t *error_item(const struct call *call, const char *pointer, int line, int column,
                   const char *message, const char *hint);
json_t *job_error_item(const struct call *call, const char *pointer, const struct job_error *error);

/* 429: `words` say which limit was exceeded. */
void call_fail_later(struct call *call, int64_t wait_ms, const char *words);

/* 503: unread answers of clients fill the memory limit. */
void call_fail_full(struct call *call);

/* 500 or 503, by the status of the store or the history; 409: the value is set aside, see
 * store_aside. */
void call_fail_store(struct call *call, enum status st);
void call_fail_history(struct call *call, enum status st);

/* The whole answer, a problem, to a malformed request; `why` completes "it has ...". */
void print_refusal(int status, const char *why, struct strbuf *out);

#endif
