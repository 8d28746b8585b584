#include "call_start.h"

#include <string.h>
#include <strings.h>

#include "definition/job_http.h"
#include "document/template.h"
#include "run_secrets.h"

/* The job's parameters, and the variables of its run. */
struct values {
    const struct job *job;
    const struct run_environment *environment;
};

/* A variable that this kind of run does not have, as PEAL_AFTER_JOB of a manual one, is empty. */
static const char *look_up(void *context, const char *name, size_t length)
{
    const struct values *values = context;
    const struct run_environment *environment = values->environment;
    const struct job_param *param = job_params_find(&values->job->params, name, length);
    if (param)
        return job_param_value(param);
    for (size_t i = 0; i < environment->variable_count; i++) {
        const char *variable = environment->variables[i];
        if (strncmp(variable, name, length) == 0 && variable[length] == '=')
            return variable + length + 1;
    }
    return job_http_has_variable(name, length) ? "" : NULL;
}

/* `out` is set to the text with its values; `field` is for the message. */
static enum status expand(struct values *values, const char *field, const char *text,
                          enum template_use use, struct strbuf *out, struct strbuf *why)
{
    struct parse_error inside = {0};
    strbuf_reset(out);
    enum status st = template_expand(text, use, look_up, values, out, &inside);
    if (st == E_INVALID)
        strbuf_addf(why, "%s: %s", field, inside.message);
    return st == OK ? strbuf_status(out) : st;
}

static enum status add_url(struct call_words *words, struct values *values, struct strbuf *text,
                           struct strbuf *why)
{
    const struct job *job = values->job;
    enum status st = expand(values, "url", job->http.url, TEMPLATE_URL, text, why);
    if (st != OK)
        return st;
    const char *complaint = http_url_complaint(text->text);
    if (complaint || strncmp(text->text, "${", 2) == 0) {
        strbuf_addf(why, "url: \"%.60s\" %s", text->text, complaint ? complaint : "is no URL");
        return E_INVALID;
    }
    call_words_add(words, "url", text->text);
    return OK;
}

static enum status add_headers(struct call_words *words, struct values *values, struct strbuf *text,
                               struct strbuf *why)
{
    const struct job *job = values->job;
    enum status st = OK;
    for (size_t i = 0; st == OK && i < job->http.headers.count; i++) {
        const struct job_pair *header = &job->http.headers.items[i];
        st = expand(values, header->name, header->value, TEMPLATE_TEXT, text, why);
        if (st == OK && !http_value_is_clean(text->text)) {
            strbuf_addf(why, "the header %s would hold a line break", header->name);
            return E_INVALID;
        }
        if (st == OK)
            call_words_add_header(words, header->name, text->text);
    }
    return st;
}

/* A header of that name in the definition counts. */
static void add_trace(struct call_words *words, const struct values *values, const char *variable,
                      const char *header)
{
    const struct job_pairs *headers = &values->job->http.headers;
    for (size_t i = 0; i < headers->count; i++) {
        if (strcasecmp(headers->items[i].name, header) == 0)
            return;
    }
    const char *value = look_up((void *)values, variable, strlen(variable));
    if (value && *value)
        call_words_add_header(words, header, value);
}

static void add_plain(struct call_words *words, const struct job *job, const char *allow,
                      struct strbuf *text)
{
    const struct job_http *http = &job->http;
    strbuf_reset(text);
    job_http_statuses(job, text);
    call_words_add(words, "method", job_http_method(job));
    call_words_add(words, "status", text->text);
    call_words_add(words, "match", http->match);
    call_words_add(words, "no-match", http->no_match);
    call_words_add(words, "ca", http->ca);
    call_words_add(words, "cert", http->cert);
    call_words_add(words, "key", http->key);
    call_words_add(words, "allow", allow);
    call_words_add_number(words, "redirects", http->redirects);
    call_words_add_number(words, "connect-ms", http->connect_s * 1000);
}

static enum status fill(struct call_start *start, const struct job *job, const char *allow,
                        struct strbuf *why)
{
    struct values values = {job, &start->environment};
    struct strbuf text;
    strbuf_init(&text);
    add_plain(&start->words, job, allow, &text);
    enum status st = add_url(&start->words, &values, &text, why);
    if (st == OK)
        st = add_headers(&start->words, &values, &text, why);
    add_trace(&start->words, &values, "TRACEPARENT", "traceparent");
    add_trace(&start->words, &values, "TRACESTATE", "tracestate");
    if (st == OK && start->has_body)
        st = expand(&values, "body", job->http.body, TEMPLATE_TEXT, &start->body, why);
    if (st == OK && (start->words.has_failed || strbuf_status(&text) != OK))
        st = start->words.count == CALL_WORDS_MAX ? E_TOO_LARGE : E_NOMEM;
    strbuf_wipe(&text);
    return st;
}

enum status call_start_init(struct call_start *start, const struct run *run, const struct job *job,
                            const struct call_place *place, struct strbuf *why)
{
    static const struct job_user nobody; /* a call has no user */
    *start = (struct call_start){.has_body = job->http.body != NULL};
    strbuf_init(&start->body);
    enum status st =
        run_environment_init(&start->environment, run, job, &nobody, place->node, NULL);
    if (st != OK)
        return st;
    call_words_init(&start->words);
    if (job->secrets)
        st = run_secrets_add(&start->environment, job, place->secrets, why);
    if (st == OK)
        st = fill(start, job, place->allow, why);
    if (st != OK)
        call_start_release(start);
    return st;
}

void call_start_release(struct call_start *start)
{
    call_words_release(&start->words);
    strbuf_wipe(&start->body);
    run_environment_release(&start->environment);
}

char *const *call_start_secrets(const struct call_start *start)
{
    const struct run_environment *environment = &start->environment;
    return environment->variables + environment->variable_count - environment->secret_count;
}
