/* One HTTP call.
 *
 *   STARTING -> WAITING -> UNDER_WAY -> ENDED
 *          \________\________________^
 *
 *   STARTING   its id waits to be written to the journal, with others
 *   WAITING    another call is looking up the same host
 *   UNDER_WAY  libcurl has it
 *   ENDED      reported; waits for the agent's ACK */
#ifndef PEAL_CALLER_CALL_H
#define PEAL_CALLER_CALL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "call_address.h"
#include "call_request.h"
#include "serve/agent_link.h"
#include "serve/masking.h"
#include "serve/output.h"
#include "spawn_message.h"
#include "strbuf.h"

struct caller;
struct lookup;

enum call_state {
    CALL_STARTING,
    CALL_WAITING,
    CALL_UNDER_WAY,
    CALL_ENDED,
};

/* A text that is looked for in a stream of bytes. */
struct needle {
    char *text; /* NULL: none */
    char *tail; /* the last bytes of the stream, one less than the text has */
    size_t length, tail_length;
    bool is_found;
};

struct call {
    struct spawn_run info; /* with its id, as it is reported */
    struct caller *caller;
    enum call_state state;
    int64_t deadline_boot_ms;   /* of the start; 0: none */
    int64_t timeout_at_boot_ms; /* 0: none */
    int64_t due_boot_ms;        /* its next timer; 0: none */
    int64_t timeout_ms;
    uint32_t timer_place;
    struct output output;
    struct strbuf pending;   /* output that is not in the file yet */
    struct masking *masking; /* of what goes to the file; NULL: it has no secrets */

    /* the transfer; all NULL once it has ended */
    CURL *easy;
    struct curl_slist *headers;
    char *body;
    size_t body_length;
    char *statuses; /* expected */
    char *allow;
    struct needle match, no_match;
    size_t head_bytes; /* of all heads */
    bool head_is_too_long;
    char refused[CALL_ADDRESS_TEXT]; /* the last address that was refused; "": none */
    const char *refused_kind;
    char error[CURL_ERROR_SIZE];

    char *host; /* NULL: an address, which needs no lookup */
    struct lookup *lookup;
    bool looks_up; /* it is the one that does */

    struct reported reported;
    bool is_growing;
    bool is_packing; /* it has ended, and its output waits to be written with others */
    TAILQ_ENTRY(call) all, growing, line;
};

TAILQ_HEAD(call_list, call);

#endif
