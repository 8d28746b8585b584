/* Problems (RFC 9457): what went wrong, for programs and for people. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "definition/job_fields.h"
#include "http.h"
#include "live/health.h"
#include "runs/encode.h"
#include "server.h"
#include "text/hint.h"
#include "text/message.h"
#include "text/parsed.h"

/* The tutorial's clients only check "errno". */
static void send_errno(struct call *call, int status, const char *detail, json_t *more)
{
    json_decref(more);
    call->shape = NULL;
    call_reply(call, status < 500 ? 200 : status,
               json_pack("{s:i, s:o, s:n}", "errno", -1, "msg", json_words(detail), "data"));
}

static void send_problem(struct call *call, int status, const char *detail, json_t *more)
{
    if (call->route && call->route->flags & ROUTE_TUTORIAL) {
        send_errno(call, status, detail, more);
        return;
    }
    json_t *problem = json_pack("{s:s, s:s, s:i, s:o, s:s}", "type", "about:blank", "title",
                                http_status_title(status), "status", status, "detail",
                                json_words(detail), "request_id", call->request_id);
    if (problem && more)
        json_object_update(problem, more);
    json_decref(more);
    call_header(call, "Content-Language", call->language == LANGUAGE_ZH ? "zh" : "en");
    char *text = problem ? json_dumps(problem, JSON_COMPACT) : NULL;
    json_decref(problem);
    call_reply_text(call, status, "application/problem+json", text, text ? strlen(text) : 0);
}

static void fail_with(struct call *call, int status, json_t *more, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));
static void fail_with(struct call *call, int status, json_t *more, const char *format, va_list args)
{
    struct strbuf detail;
    strbuf_init(&detail);
    strbuf_addv(&detail, message_in(call->language, format), args);
    send_problem(call, status, detail.text, more);
    strbuf_release(&detail);
}

void call_fail_with(struct call *call, int status, json_t *more, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_with(call, status, more, format, args);
    va_end(args);
}

void call_fail_parsed(struct call *call, json_t *more, const char *message)
{
    struct strbuf detail;
    strbuf_init(&detail);
    (void)message_translate(call->language, message, &detail);
    send_problem(call, 422, detail.text, more);
    strbuf_release(&detail);
}

void call_fail(struct call *call, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_with(call, status, NULL, format, args);
    va_end(args);
}

void call_fail_full(struct call *call)
{
    call_header(call, "Retry-After", "1");
    call_fail(call, 503, "too many answers wait for their clients to read them; try again later");
}

json_t *error_item(const struct call *call, const char *pointer, int line, int column,
                   const char *message, const char *hint)
{
    struct strbuf words, text;
    strbuf_init(&words);
    strbuf_init(&text);
    if (hint)
        hint_print(call->language, hint, &words);
    (void)message_translate(call->language, message, &text);
    json_t *item = json_pack("{s:o, s:i, s:i, s:o, s:o}", "pointer", json_words(pointer), "line",
                             line, "column", column, "message", json_words(text.text), "hint",
                             json_words_or_null(words.text));
    strbuf_release(&text);
    strbuf_release(&words);
    return item;
}

/* A JSON value has no line; the column is that in the value's own text. */
json_t *job_error_item(const struct call *call, const char *pointer, const struct job_error *error)
{
    return error_item(call, pointer, error->line, error->line ? error->column : error->text_column,
                      error->message, error->hint);
}

void call_fail_at(struct call *call, const char *pointer, const char *format, ...)
{
    struct strbuf detail;
    va_list args;
    strbuf_init(&detail);
    va_start(args, format);
    strbuf_addv(&detail, message_in(call->language, format), args);
    va_end(args);
    json_t *errors =
        json_pack("{s:[o]}", "errors", error_item(call, pointer, 0, 0, detail.text, NULL));
    send_problem(call, 422, detail.text, errors);
    strbuf_release(&detail);
}

/* The word of a comma-separated list that is nearest to the typed one, ignoring case; NULL: none.
 * `list` is modified, and the result is inside it. */
static const char *nearest_in(char *list, const char *typed)
{
    enum { MOST = 64 };
    const char *words[MOST + 1] = {NULL};
    char lower[64], *rest = NULL;
    size_t count = 0, i = 0;
    for (char *word = strtok_r(list, ", ", &rest); word && count < MOST;
         word = strtok_r(NULL, ", ", &rest))
        words[count++] = word;
    for (; i < sizeof(lower) - 1 && typed[i]; i++)
        lower[i] = (char)tolower((unsigned char)typed[i]);
    lower[i] = '\0';
    return word_nearest(words, lower);
}

void call_fail_word(struct call *call, const char *pointer, const char *typed, const char *known,
                    const char *format, ...)
{
    struct strbuf detail, hint;
    va_list args;
    strbuf_init(&detail);
    strbuf_init(&hint);
    va_start(args, format);
    strbuf_addv(&detail, message_in(call->language, format), args);
    va_end(args);
    char *list = strdup(known);
    const char *nearest = list ? nearest_in(list, typed) : NULL;
    if (nearest) {
        strbuf_addf(&hint, "did you mean \"%s\"?", nearest);
        strbuf_adds(&detail, call->language == LANGUAGE_ZH ? "；" : "; ");
        hint_print(call->language, hint.text, &detail);
    }
    json_t *item = error_item(call, pointer, 0, 0, detail.text, nearest ? hint.text : NULL);
    send_problem(call, 422, detail.text, json_pack("{s:[o]}", "errors", item));
    free(list);
    strbuf_release(&hint);
    strbuf_release(&detail);
}

bool call_check(struct call *call, enum status st, const struct job_error *error)
{
    if (st == OK)
        return true;
    if (st == E_NOMEM) {
        call_fail(call, 500, "out of memory");
        return false;
    }
    json_t *errors = json_pack("{s:[o]}", "errors", job_error_item(call, error->path, error));
    call_fail_parsed(call, errors, error->message);
    return false;
}

void print_refusal(int status, const char *why, struct strbuf *out)
{
    struct strbuf body;
    strbuf_init(&body);
    strbuf_addf(&body,
                "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"detail\":"
                "\"this is no HTTP request that can be served: it has %s\"}",
                http_status_title(status), status, why);
    strbuf_addf(out,
                "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\n"
                "Content-Length: %zu\r\nX-Content-Type-Options: nosniff\r\n"
                "Cache-Control: no-store\r\nConnection: close\r\n\r\n%s",
                status, http_status_title(status), body.length, body.text);
    out->failed |= body.failed;
    strbuf_release(&body);
}

void call_fail_store(struct call *call, enum status st)
{
    struct strbuf why;
    strbuf_init(&why);
    (void)health_of_store(call->api, call->language, &why);
    if (st == E_NOMEM)
        call_fail(call, 500, "out of memory");
    else if (st == E_UNKNOWN)
        call_fail(call, 503,
                  "the store did not confirm whether it was done; check before trying again");
    else if (st == E_SET_ASIDE)
        call_fail(call, 409,
                  "what the store has there can't be read by this version, and is left as it is; "
                  "peal doctor names its key, and what to do");
    else
        call_fail(call, 503, "the store can't do this now: %s",
                  why.length ? why.text : message_in(call->language, status_text(st)));
    strbuf_release(&why);
}

void call_fail_history(struct call *call, enum status st)
{
    struct strbuf why;
    strbuf_init(&why);
    (void)health_of_history(call->api, call->language, &why);
    if (st == E_NOMEM)
        call_fail(call, 500, "out of memory");
    else
        call_fail(call, 503, "the history can't do this now: %s",
                  why.length ? why.text : message_in(call->language, status_text(st)));
    strbuf_release(&why);
}
