#include <stdio.h>
#include <string.h>

#include "attack.h"

enum { PATIENCE_MS = 10000 };

#define LINE  "GET /livez HTTP/1.1\r\n"
#define LOGIN "POST /api/v1/login HTTP/1.1\r\n" HOST
#define HOST  "Host: localhost\r\n"
#define NEXT  "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

/* Behind each of them comes NEXT: what is refused ends the connection, what is taken leaves it. */
static const struct {
    int line;
    int status; /* of the first answer */
    bool is_last;
    const char *bytes;
} cases[] = {
    /* the body that nobody takes for one */
    {__LINE__, 400, true, "HEAD /livez HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nDELET"},
    {__LINE__, 400, true, "GET /livez HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nDELET"},
    {__LINE__, 400, true, "OPTIONS /livez HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nDELET"},
    {__LINE__, 400, true,
     "HEAD /livez HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {__LINE__, 501, true, "PROPFIND /livez HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nDELET"},
    {__LINE__, 501, true, "TRACE /livez HTTP/1.1\r\n" HOST "\r\n"},
    {__LINE__, 501, true, "head /livez HTTP/1.1\r\n" HOST "\r\n"},

    /* lengths */
    {__LINE__, 400, true, LOGIN "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"},
    {__LINE__, 400, true, LOGIN "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"},
    {__LINE__, 400, true, LOGIN "Content-Length: 2, 2\r\n\r\n{}"},
    {__LINE__, 400, true, LOGIN "Content-Length : 2\r\n\r\n{}"},
    {__LINE__, 400, true, LOGIN "Content-Length: +2\r\n\r\n{}"},
    {__LINE__, 400, true, LOGIN "Content-Length: -2\r\n\r\n{}"},
    {__LINE__, 400, true, LOGIN "Content-Length: 0x2\r\n\r\n{}"},
    {__LINE__, 400, true, LOGIN "Content-Length: 02\r\n\r\n{}"},
    {__LINE__, 400, true, LOGIN "Content-Length: 2 \v\r\n\r\n{}"},
    {__LINE__, 400, true, LOGIN "Content-Length: 99999999999999999999\r\n\r\n{}"},
    {__LINE__, 400, true, LOGIN "Content-Length:\r\n 2\r\n\r\n{}"},

    /* codings */
    {__LINE__, 400, true, LOGIN "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {__LINE__, 400, true, LOGIN "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n"},
    {__LINE__, 400, true, LOGIN "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"},
    {__LINE__, 501, true, LOGIN "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"},
    {__LINE__, 501, true, LOGIN "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
    {__LINE__, 501, true, LOGIN "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"},
    {__LINE__, 501, true, LOGIN "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n"},
    {__LINE__, 400, true,
     LOGIN "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"},
    {__LINE__, 400, true,
     "POST /api/v1/login HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},

    /* chunks */
    {__LINE__, 400, true, LOGIN "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n"},
    {__LINE__, 400, true, LOGIN "Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n"},
    {__LINE__, 400, true, LOGIN "Transfer-Encoding: chunked\r\n\r\n 2\r\n{}\r\n0\r\n\r\n"},
    {__LINE__, 400, true, LOGIN "Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\n\r\n"},
    {__LINE__, 400, true, LOGIN "Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n"},
    {__LINE__, 400, true, LOGIN "Transfer-Encoding: chunked\r\n\r\n2\r\n{}0\r\n\r\n"},
    {__LINE__, 400, true, LOGIN "Transfer-Encoding: chunked\r\n\r\n0\r\nHost: other\r\n\r\n"},
    {__LINE__, 400, true,
     LOGIN "Transfer-Encoding: chunked\r\n\r\n100000000000000002\r\n{}\r\n0\r\n\r\n"},

    /* lines and names */
    {__LINE__, 400, true, "GET /livez HTTP/1.1\nHost: localhost\n\n"},
    {__LINE__, 400, true, LINE HOST "X: y\r\n folded\r\n\r\n"},
    {__LINE__, 400, true, LINE HOST "X: a\rContent-Length: 5\r\n\r\n"},
    {__LINE__, 400, true, LINE HOST "X\t: y\r\n\r\n"},
    {__LINE__, 400, true, LINE HOST ": y\r\n\r\n"},
    {__LINE__, 400, true, LINE HOST "X: \x01\r\n\r\n"},
    {__LINE__, 400, true, "\r\n" LINE HOST "\r\n"},
    {__LINE__, 400, true, "GET  /livez HTTP/1.1\r\n" HOST "\r\n"},
    {__LINE__, 400, true, "GET http://localhost/livez HTTP/1.1\r\n" HOST "\r\n"},
    {__LINE__, 400, true, "GET /livez#x HTTP/1.1\r\n" HOST "\r\n"},
    {__LINE__, 505, true, "GET /livez HTTP/1.2\r\n" HOST "\r\n"},
    {__LINE__, 505, true, "GET /livez HTTP/2.0\r\n" HOST "\r\n"},
    {__LINE__, 400, true, "GET /livez\r\n\r\n"},

    /* what must be there once */
    {__LINE__, 400, true, LINE "\r\n"},
    {__LINE__, 400, true, LINE HOST HOST "\r\n"},
    {__LINE__, 400, true, LINE HOST "Authorization: a\r\nAuthorization: b\r\n\r\n"},
    {__LINE__, 400, true, LINE HOST "Origin: http://a\r\nOrigin: http://localhost\r\n\r\n"},
    {__LINE__, 417, true, LOGIN "Expect: a miracle\r\nContent-Length: 2\r\n\r\n{}"},

    /* refused before the body was read: it is not taken for a request either */
    {__LINE__, 401, true, "PUT /api/v1/jobs/a HTTP/1.1\r\n" HOST "Content-Length: 69\r\n\r\n" NEXT},
    {__LINE__, 413, true, LOGIN "Content-Length: 16385\r\n\r\n{}"},
    {__LINE__, 413, true, LOGIN "Transfer-Encoding: chunked\r\n\r\n4001\r\n{}"},
    {__LINE__, 401, true,
     "PUT /api/v1/jobs/a HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"},

    /* what is right is served, and leaves nothing behind */
    {__LINE__, 200, false, LINE HOST "\r\n"},
    {__LINE__, 200, false, LINE HOST "Content-Length: 0\r\n\r\n"},
    {__LINE__, 200, false, LINE HOST "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n"},
    {__LINE__, 422, false, LOGIN "Content-Length: 2\r\n\r\n{}"},
    {__LINE__, 422, false, LOGIN "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"},
    {__LINE__, 401, false, "DELETE /api/v1/jobs/a HTTP/1.1\r\n" HOST "\r\n"},
    {__LINE__, 401, false, "OPTIONS /api/v1/jobs HTTP/1.1\r\n" HOST "\r\n"},
    {__LINE__, 200, true, "GET /livez HTTP/1.0\r\n" HOST "\r\n"},
    {__LINE__, 200, true, LINE HOST "Connection: close\r\n\r\n"},
};

/* How many answers there are in what came. */
static int count_answers(const char *text)
{
    int count = 0;
    for (; (text = strstr(text, "HTTP/1.1 ")); text++)
        count++;
    return count;
}

static bool withstands(const struct target *target, const char *bytes, int status, bool is_last,
                       struct strbuf *answers)
{
    struct peer *peer = peer_open(target);
    if (!peer)
        return false;
    peer_send(peer, bytes, strlen(bytes));
    peer_send(peer, NEXT, strlen(NEXT));
    bool is_closed = peer_read_all(peer, PATIENCE_MS, answers);
    peer_close(peer);
    return is_closed && answer_status(answers->text) == status &&
           count_answers(answers->text) == (is_last ? 1 : 2);
}

int attack_framing(const struct target *target)
{
    int failed = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf answers;
        strbuf_init(&answers);
        if (!withstands(target, cases[i].bytes, cases[i].status, cases[i].is_last, &answers)) {
            printf("framing.c:%d: expected %d%s, got:\n%s\n", cases[i].line, cases[i].status,
                   cases[i].is_last ? " and the end" : ", then another answer", answers.text);
            failed++;
        }
        strbuf_release(&answers);
    }
    printf("%zu requests, %d failed\n", sizeof(cases) / sizeof(cases[0]), failed);
    return failed ? 1 : 0;
}
