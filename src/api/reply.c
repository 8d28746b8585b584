/* Answers on their way out: headers, conditions, compression. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ZLIB_CONST /* const input pointers */
#include <zlib.h>

#include "auth/origin.h"
#include "http.h"
#include "idempotency.h"
#include "server.h"

enum {
    COMPRESS_FROM = 1024,
    COMPRESS_TO = 1 << 20, /* takes some 10 ms, in which the loop waits */
    LARGE = 64 << 10,
};

void call_header(struct call *call, const char *name, const char *value)
{
    if (call->request)
        http_set(call->request, name, value);
}

/* ---- bytes ---- */

struct content {
    char *bytes; /* from malloc */
    size_t length;
};

/* "gzip" is a word of the list, and not with q=0. */
static bool accepts_gzip(const struct call *call)
{
    const char *list = call_input(call, "Accept-Encoding");
    const char *word = list ? strcasestr(list, "gzip") : NULL;
    if (!word || (word != list && !strchr(", \t", word[-1])))
        return false;
    word += strlen("gzip");
    word += strspn(word, " \t");
    if (*word != ';')
        return !*word || *word == ',';
    const char *q = word + strcspn(word, "=,");
    return *q != '=' || strtod(q + 1, NULL) > 0;
}

/* Replaces *content by the compressed one. Fast rather than small: the loop waits. */
static bool compress_content(struct content *content)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t room = deflateBound(&stream, content->length);
    char *out = malloc(room);
    stream.next_in = (Bytef *)content->bytes;
    stream.avail_in = (uInt)content->length;
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)room;
    bool done = out && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    deflateEnd(&stream);
    if (!done) {
        free(out);
        return false;
    }
    free(content->bytes);
    *content = (struct content){out, stream.total_out};
    return true;
}

/* ---- headers ---- */

/* Does the server have a host name of its own? HSTS for localhost would affect other servers there,
 * and is ignored for addresses. */
static bool has_name(const struct call *call)
{
    static const char local[] = "localhost";
    struct authority host;
    return authority_read(call->host, &host) && !authority_is_address(&host) &&
           !(host.length == strlen(local) && strncasecmp(host.host, local, host.length) == 0);
}

/* Security headers of every answer: only pages of this origin may use it. HSTS where TLS ends here;
 * a TLS proxy sets it itself. */
static void add_common_headers(struct call *call, const char *type)
{
    static const struct {
        const char *name, *value;
    } common[] = {
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Vary", "Accept-Encoding, Accept-Language"},
    };
    static const struct {
        const char *name, *value;
    } unless_set[] = {
        {"Cache-Control", "private, no-cache"},
        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    };
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        call_header(call, common[i].name, common[i].value);
    for (size_t i = 0; i < sizeof(unless_set) / sizeof(unless_set[0]); i++) {
        if (!http_is_set(call->request, unless_set[i].name))
            call_header(call, unless_set[i].name, unless_set[i].value);
    }
    if (http_ssl(call->request) && has_name(call))
        call_header(call, "Strict-Transport-Security", "max-age=31536000");
    call_header(call, "Content-Type", type);
    call_header(call, "X-Request-Id", call->request_id);
}

/* A hash of the content; a job's tag starts with its revision, for If-Match. */
static void make_tag(const struct call *call, const struct content *content, char tag[64])
{
    unsigned long sum = crc32(0, (const Bytef *)content->bytes, (uInt)content->length);
    if (call->revision)
        snprintf(tag, 64, "\"%lld-%08lx\"", (long long)call->revision, sum);
    else
        snprintf(tag, 64, "W/\"%zx-%08lx\"", content->length, sum);
}

/* Does the list have this tag, weak or not? */
static bool has_tag(const char *list, const char *tag)
{
    tag += strcspn(tag, "\"");
    return list && (strcmp(list, "*") == 0 || strstr(list, tag));
}

/* ---- the answer ---- */

/* A fixed answer for out of memory. */
static void send_no_memory(struct call *call)
{
    struct http_request *request = call->request;
    call_free(call);
    if (request)
        http_answer(request, 500, NULL, 0);
}

static void send_content(struct call *call, int status, struct content content)
{
    struct http_request *request = call->request;
    call_free(call);
    if (request)
        http_answer(request, status, content.bytes, content.length);
    else
        free(content.bytes);
}

/* Unread answers of others have filled the memory meanwhile. Answers to changes are sent anyway. */
static bool comes_too_late(const struct call *call, int status, size_t length)
{
    return status < 300 && call->is_safe && call->request && length >= LARGE &&
           http_server_is_full(call->listener->http);
}

void call_reply_text(struct call *call, int status, const char *type, char *text, size_t length)
{
    struct content content = {text, length};
    if (!text) {
        send_no_memory(call);
        return;
    }
    if (comes_too_late(call, status, length)) {
        free(text);
        call_fail_full(call);
        return;
    }
    idempotency_keep(call, status, type, text, length);
    if (!call->request) {
        send_content(call, status, content);
        return;
    }
    add_common_headers(call, type);
    if (status < 300 && (call->revision || call->is_safe)) {
        char tag[64];
        make_tag(call, &content, tag);
        call_header(call, "ETag", tag);
        if (call->is_safe && has_tag(call_input(call, "If-None-Match"), tag))
            status = 304;
    }
    if (status != 304 && length >= COMPRESS_FROM && length <= COMPRESS_TO && accepts_gzip(call) &&
        compress_content(&content))
        call_header(call, "Content-Encoding", "gzip");
    send_content(call, status, content);
}

void call_reply_head(struct call *call, int status, const char *type, size_t length)
{
    if (call->request)
        add_common_headers(call, type);
    send_content(call, status, (struct content){NULL, length});
}

/* NULL: out of memory. */
static char *unpack(const struct packed *packed)
{
    char *out = malloc(packed->length + 1);
    z_stream stream = {.next_in = packed->gzip,
                       .avail_in = (uInt)packed->gzip_length,
                       .next_out = (Bytef *)out,
                       .avail_out = (uInt)packed->length};
    if (!out || inflateInit2(&stream, 15 + 16) != Z_OK) { /* 16: gzip's frame */
        free(out);
        return NULL;
    }
    int result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    if (result == Z_STREAM_END)
        return out;
    free(out);
    return NULL;
}

static char *copy_bytes(const void *bytes, size_t length)
{
    char *out = malloc(length);
    return out ? memcpy(out, bytes, length) : NULL;
}

void call_reply_packed(struct call *call, const struct packed *packed)
{
    if (!call->request) {
        call_free(call);
        return;
    }
    add_common_headers(call, packed->type);
    call_header(call, "ETag", packed->tag);
    if (has_tag(call_input(call, "If-None-Match"), packed->tag)) {
        send_content(call, 304, (struct content){0});
        return;
    }
    bool as_it_is = accepts_gzip(call);
    struct content content = {
        .bytes = as_it_is ? copy_bytes(packed->gzip, packed->gzip_length) : unpack(packed),
        .length = as_it_is ? packed->gzip_length : packed->length,
    };
    if (!content.bytes) {
        send_no_memory(call);
        return;
    }
    if (as_it_is)
        call_header(call, "Content-Encoding", "gzip");
    send_content(call, 200, content);
}

void call_reply(struct call *call, int status, json_t *body)
{
    if (body && call->shape && status < 300)
        body = call->shape(call, &status, body);
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    call_reply_text(call, status, "application/json", text, text ? strlen(text) : 0);
}

void call_reply_buffer(struct call *call, int status, struct strbuf *body)
{
    size_t length = body->length;
    char *text = strbuf_detach(body); /* `body` may be freed with the call */
    if (!text || !call->shape) {
        call_reply_text(call, status, "application/json", text, length);
        return;
    }
    json_t *value = json_loadb(text, length, 0, NULL);
    free(text);
    call_reply(call, status, value);
}
