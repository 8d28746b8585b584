#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack.h"

enum {
    ANSWER_MS = 500, /* the attacker's patience: not all of it is answered */
    VICTIM_MS = 10000,
    VICTIMS = 2,
    TRIES = 3, /* a proxy may find that its connection has just been closed */
};

/* Not finished: the next who is sent down the same connection adds its own request line to the last
 * field, and its credentials behind that. A whole request would show nothing, for proxies drop a
 * connection on which an answer comes that nobody has asked for. */
#define SMUGGLED "DELETE /api/v1/jobs/bait HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Swallow: "

enum body {
    PLAIN,     /* the smuggled request */
    CHUNKED,   /* the same as one chunk */
    EARLY_END, /* behind the last chunk */
    EXTENDED,  /* in the extension of a chunk, of which LF alone may be the end */
    PREFIXED,  /* behind a size that some take for 0 */
    TRAILED,   /* behind the trailer */
};

/* "N" is the body's length. */
struct attempt {
    int line;
    const char *method, *fields;
    enum body body;
};

#define LENGTH_AND(body) "Content-Length: N\r\n", body
#define CODED            "Transfer-Encoding: chunked\r\n"

static const struct attempt attempts[] = {
    /* every method, with a body in each of the two ways */
    {__LINE__, "GET", LENGTH_AND(PLAIN)},
    {__LINE__, "HEAD", LENGTH_AND(PLAIN)},
    {__LINE__, "POST", LENGTH_AND(PLAIN)},
    {__LINE__, "PUT", LENGTH_AND(PLAIN)},
    {__LINE__, "PATCH", LENGTH_AND(PLAIN)},
    {__LINE__, "DELETE", LENGTH_AND(PLAIN)},
    {__LINE__, "OPTIONS", LENGTH_AND(PLAIN)},
    {__LINE__, "PROPFIND", LENGTH_AND(PLAIN)},
    {__LINE__, "LOCK", LENGTH_AND(PLAIN)},
    {__LINE__, "SEARCH", LENGTH_AND(PLAIN)},
    {__LINE__, "TRACE", LENGTH_AND(PLAIN)},
    {__LINE__, "BREW", LENGTH_AND(PLAIN)},
    {__LINE__, "GET", CODED, CHUNKED},
    {__LINE__, "HEAD", CODED, CHUNKED},
    {__LINE__, "POST", CODED, CHUNKED},
    {__LINE__, "PUT", CODED, CHUNKED},
    {__LINE__, "PATCH", CODED, CHUNKED},
    {__LINE__, "DELETE", CODED, CHUNKED},
    {__LINE__, "OPTIONS", CODED, CHUNKED},
    {__LINE__, "PROPFIND", CODED, CHUNKED},
    {__LINE__, "LOCK", CODED, CHUNKED},
    {__LINE__, "BREW", CODED, CHUNKED},

    /* lengths that differ, or look odd */
    {__LINE__, "POST", "Content-Length: 0\r\nContent-Length: N\r\n", PLAIN},
    {__LINE__, "POST", "Content-Length: N\r\nContent-Length: 0\r\n", PLAIN},
    {__LINE__, "POST", "Content-Length: N\r\nContent-Length: N\r\n", PLAIN},
    {__LINE__, "POST", "Content-Length: N, 0\r\n", PLAIN},
    {__LINE__, "POST", "Content-Length : N\r\n", PLAIN},
    {__LINE__, "POST", "Content-Length: +N\r\n", PLAIN},
    {__LINE__, "POST", "Content-Length: 0N\r\n", PLAIN},
    {__LINE__, "POST", "Content-Length: N\v\r\n", PLAIN},
    {__LINE__, "POST", "Content-Length:\r\n N\r\n", PLAIN},
    {__LINE__, "POST", "Content-Length: N\n", PLAIN},
    {__LINE__, "POST", "X: y\rContent-Length: N\r\n", PLAIN},
    {__LINE__, "HEAD", "Content-Length : N\r\n", PLAIN},
    {__LINE__, "GET", "Content_Length: N\r\n", PLAIN},
    {__LINE__, "HEAD", "Expect: 100-continue\r\nContent-Length: N\r\n", PLAIN},
    {__LINE__, "PUT", "Expect: 100-continue\r\nContent-Length: N\r\n", PLAIN},
    {__LINE__, "PROPFIND", "Expect: 100-continue\r\nContent-Length: N\r\n", PLAIN},

    /* a length and a coding */
    {__LINE__, "POST", "Content-Length: N\r\n" CODED, EARLY_END},
    {__LINE__, "POST", CODED "Content-Length: N\r\n", EARLY_END},
    {__LINE__, "HEAD", CODED "Content-Length: N\r\n", EARLY_END},
    {__LINE__, "POST", "Content-Length: N\r\nTransfer-Encoding : chunked\r\n", EARLY_END},
    {__LINE__, "POST", "Content-Length: N\r\nTransfer-Encoding: xchunked\r\n", EARLY_END},
    {__LINE__, "POST", "Content-Length: N\r\nTransfer-Encoding:\vchunked\r\n", EARLY_END},
    {__LINE__, "POST", "Content-Length: N\r\nTransfer-Encoding: chunked, identity\r\n", EARLY_END},
    {__LINE__, "POST", "Content-Length: N\r\nTransfer-Encoding:\r\n chunked\r\n", EARLY_END},
    {__LINE__, "POST", "Content-Length: N\r\nX: y\nTransfer-Encoding: chunked\r\n", EARLY_END},

    /* codings */
    {__LINE__, "POST", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", CHUNKED},
    {__LINE__, "POST", "Transfer-Encoding: CHUNKED\r\n", CHUNKED},
    {__LINE__, "POST", "Transfer-Encoding: chunked \r\n", CHUNKED},
    {__LINE__, "HEAD", "Transfer-Encoding:\tchunked\r\n", CHUNKED},
    {__LINE__, "POST", CODED, EARLY_END},
    {__LINE__, "POST", CODED, EXTENDED},
    {__LINE__, "POST", CODED, PREFIXED},
    {__LINE__, "POST", CODED, TRAILED},
    {__LINE__, "HEAD", CODED, TRAILED},
};

static void add_body(enum body body, struct strbuf *out)
{
    switch (body) {
    case PLAIN:
        strbuf_adds(out, SMUGGLED);
        return;
    case CHUNKED:
        strbuf_addf(out, "%zx\r\n%s\r\n0\r\n\r\n", strlen(SMUGGLED), SMUGGLED);
        return;
    case EARLY_END:
        strbuf_adds(out, "0\r\n\r\n" SMUGGLED);
        return;
    case EXTENDED:
        strbuf_addf(out, "2;\nxx\r\n%zx\r\n%s\r\n0\r\n\r\n", strlen(SMUGGLED), SMUGGLED);
        return;
    case PREFIXED:
        strbuf_addf(out, "0x%zx\r\n%s\r\n0\r\n\r\n", strlen(SMUGGLED), SMUGGLED);
        return;
    case TRAILED:
        strbuf_adds(out, "0\r\nX-Trailer: y\r\n\r\n" SMUGGLED);
        return;
    }
}

static void print_attempt(const struct attempt *attempt, struct strbuf *out)
{
    struct strbuf body;
    strbuf_init(&body);
    add_body(attempt->body, &body);
    bool is_post = strcmp(attempt->method, "POST") == 0;
    strbuf_addf(out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n", attempt->method,
                is_post ? "/api/v1/login" : "/livez");
    for (const char *c = attempt->fields; *c; c++) {
        bool is_length = *c == 'N' && (c[1] == '\r' || c[1] == '\n' || c[1] == '\v' || c[1] == ',');
        if (is_length)
            strbuf_addf(out, "%zu", body.length);
        else
            strbuf_addc(out, *c);
    }
    strbuf_adds(out, "\r\n");
    strbuf_add(out, body.text, body.length);
    strbuf_release(&body);
}

/* ---- those who ask next ---- */

static bool ask(const struct target *target, const char *token, const char *id,
                struct strbuf *answer)
{
    char request[512];
    struct peer *peer = peer_open(target);
    int length = snprintf(request, sizeof(request),
                          "GET /api/v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: %s\r\n"
                          "Authorization: Bearer %s\r\nConnection: close\r\n\r\n",
                          id, token);
    if (peer) {
        peer_send(peer, request, (size_t)length);
        peer_read_answer(peer, false, VICTIM_MS, answer);
    }
    peer_close(peer);
    int status = answer_status(answer->text);
    return status && status != 502 && status != 503 && status != 504;
}

/* It got its own answer, to what it asked. */
static bool is_unharmed(const struct target *target, const char *token, const char *id)
{
    struct strbuf answer;
    char got[80];
    strbuf_init(&answer);
    for (int i = 0; i < TRIES && !ask(target, token, id, &answer); i++)
        strbuf_reset(&answer);
    answer_header(answer.text, "X-Request-Id", got, sizeof(got));
    bool is_own = answer_status(answer.text) == 200 && strcmp(got, id) == 0 &&
                  strstr(answer.text, "\"name\":\"victim\"");
    if (!is_own)
        printf("  %s got: %.300s\n", id, answer.text);
    strbuf_release(&answer);
    return is_own;
}

static void attempt_it(const struct target *target, const struct attempt *attempt)
{
    struct peer *peer = peer_open(target);
    struct strbuf request, answer;
    strbuf_init(&request);
    strbuf_init(&answer);
    print_attempt(attempt, &request);
    if (peer) {
        peer_send(peer, request.text, request.length);
        peer_read_answer(peer, strcmp(attempt->method, "HEAD") == 0, ANSWER_MS, &answer);
    }
    peer_close(peer);
    strbuf_release(&answer);
    strbuf_release(&request);
}

int attack_swallow(const struct target *target, const char *token)
{
    int harmed = 0;
    if (!is_unharmed(target, token, "before"))
        return 2;
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        attempt_it(target, &attempts[i]);
        for (int j = 0; j < VICTIMS; j++) {
            char id[40];
            snprintf(id, sizeof(id), "victim-%zu-%d", i, j);
            if (is_unharmed(target, token, id))
                continue;
            printf("swallow.c:%d: %s with %s harmed %s\n", attempts[i].line, attempts[i].method,
                   strtok(strdupa(attempts[i].fields), "\r\n"), id);
            harmed++;
        }
    }
    printf("%zu attempts, %d harmed\n", sizeof(attempts) / sizeof(attempts[0]), harmed);
    return harmed ? 1 : 0;
}
