#include "definition/job_http.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "definition/job_decode.h"
#include "document/template.h"
#include "params/secret_use.h"
#include "workflow/refs.h"
#include "workflow/steps.h"

static const char token_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~";

/* ---- fields one by one ---- */

static bool is_one_variable(const char *text)
{
    size_t length = strlen(text);
    return strncmp(text, "${", 2) == 0 && strchr(text, '}') == text + length - 1;
}

const char *http_url_complaint(const char *url)
{
    if (is_one_variable(url))
        return NULL;
    size_t scheme = strncasecmp(url, "https://", 8) == 0  ? 8
                    : strncasecmp(url, "http://", 7) == 0 ? 7
                                                          : 0;
    if (!scheme)
        return "is not a URL that begins with http:// or https://";
    if (!url[scheme + strspn(url + scheme, "@:")] || strchr("/?#", url[scheme]))
        return "is a URL without a host";
    for (const char *at = url; *at; at++) {
        if ((unsigned char)*at <= ' ' || *at == 0x7f)
            return "is not a URL: it holds a blank or a control character";
    }
    return NULL;
}

const char *http_method_complaint(const char *method)
{
    static const char *const methods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                          "PATCH", "DELETE", "OPTIONS"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(method, methods[i]) == 0)
            return NULL;
    }
    return "is not one of GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS";
}

/* Headers that frame the request are peal's to write. */
const char *http_header_complaint(const char *name)
{
    static const char *const own[] = {
        "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "TE", "Trailer",
        "Expect",         "Proxy-Connection",  "Keep-Alive"};
    if (!*name || name[strspn(name, token_letters)])
        return "the name of a header may hold letters, digits and - only, like X-Request-Id";
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcasecmp(name, own[i]) == 0)
            return "this header is part of the framing of a request, which peal writes itself";
    }
    return NULL;
}

static bool is_status(const char *text)
{
    return text[0] >= '1' && text[0] <= '5' && isdigit((unsigned char)text[1]) &&
           isdigit((unsigned char)text[2]);
}

const char *http_status_complaint(const char *range)
{
    bool is_range = is_status(range) && range[3] == '-' && is_status(range + 4);
    bool is_good =
        is_range ? !range[7] && strncmp(range, range + 4, 3) <= 0 : is_status(range) && !range[3];
    if (!is_good)
        return "is not an HTTP status like 204, or a range of them like 200-299";
    return NULL;
}

bool http_value_is_clean(const char *value)
{
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* ---- what holds unless told ---- */

const char *job_http_method(const struct job *job)
{
    static const char *const usual[] = {"GET", "POST"};
    return job->http.method ? job->http.method : usual[job->http.body != NULL];
}

void job_http_statuses(const struct job *job, struct strbuf *out)
{
    char *const *status = job->http.status;
    if (!status || !*status) {
        strbuf_adds(out, "200-299");
        return;
    }
    for (size_t i = 0; status[i]; i++)
        strbuf_addf(out, "%s%s", i ? "," : "", status[i]);
}

bool job_http_has_variable(const char *name, size_t length)
{
    static const char *const names[] = {
        "PEAL_JOB",   "PEAL_RUN_ID",    "PEAL_TICK",         "PEAL_ATTEMPT", "PEAL_FENCE",
        "PEAL_NODE",  "PEAL_AFTER_JOB", "PEAL_AFTER_RUN_ID", "TRACEPARENT",  "PEAL_PART",
        "PEAL_PARTS", "PEAL_SHARD",     "PEAL_SHARDS",       "TRACESTATE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return true;
    }
    return false;
}

/* ---- fields together ---- */

static bool is_param_variable(const struct job *job, const char *name, size_t length)
{
    const size_t prefix = sizeof(PARAM_VARIABLE) - 1;
    return length > prefix && strncmp(name, PARAM_VARIABLE, prefix) == 0 &&
           job_params_find(&job->params, name + prefix, length - prefix);
}

static bool has_variable(const struct job *job, const char *name, size_t length)
{
    for (size_t i = 0; i < job->env.count; i++) {
        const char *variable = job->env.items[i].name;
        if (strlen(variable) == length && strncmp(variable, name, length) == 0)
            return true;
    }
    return is_param_variable(job, name, length);
}

/* Of a template: where it is, and what was found in it. */
struct look {
    const struct decoder *d;
    bool has_secret;
};

/* Any value will do: only the names are checked. A step has the variables of its workflow, too. */
static const char *look_up(void *context, const char *name, size_t length)
{
    struct look *look = context;
    const struct decoder *d = look->d;
    if (secret_use_has_variable(d->job, name, length)) {
        look->has_secret = true;
        return name;
    }
    bool is_there = job_params_find(&d->job->params, name, length) ||
                    has_variable(d->job, name, length) || job_http_has_variable(name, length);
    if (!is_there && d->workflow)
        is_there = has_variable(d->workflow, name, length) || step_has_variable(name, length);
    return is_there ? name : NULL;
}

/* The text of a step without its references, which are checked with all steps: places stay. */
static void blank_refs(char *text)
{
    const char *at = text, *end, *complaint;
    struct ref ref;
    for (; ref_next(&at, &end, &ref, &complaint); at = end)
        memset(text + (at - text), '-', (size_t)(end - at));
}

static enum status check_template(const struct decoder *d, const struct spot *spot,
                                  bool takes_secrets)
{
    struct parse_error inside = {0};
    struct look look = {.d = d};
    if (!spot->node)
        return OK;
    char *text = d->workflow ? strdup(spot->node->text) : NULL;
    if (d->workflow && !text)
        return E_NOMEM;
    if (text)
        blank_refs(text);
    enum status st = template_expand(text ? text : spot->node->text, TEMPLATE_TEXT, look_up, &look,
                                     NULL, &inside);
    free(text);
    if (st != OK)
        spot_set_inside(d->err, spot, &inside);
    else if (look.has_secret && !takes_secrets)
        st = spot_fail(d->err, spot,
                       "can't hold a secret: a URL is shown in messages, and servers log it; "
                       "headers and the body can");
    return st;
}

static enum status check_headers(const struct decoder *d, const struct spot *headers)
{
    if (!headers->node)
        return OK;
    for (const struct entry *entry = headers->node->entries; entry; entry = entry->next) {
        struct spot value = {headers, entry->key->text, 0, entry->value};
        if (!http_value_is_clean(entry->value->text))
            return spot_fail(d->err, &value, "holds a line break or another control character");
        enum status st = check_template(d, &value, true);
        if (st != OK)
            return st;
    }
    return OK;
}

/* A field that only processes have, and that is not as it is unless told. */
static enum status check_others(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    for (const struct field *field = job_fields; field->name; field++) {
        struct spot spot = {root, field->name, 0, node_get(root->node, field->name)};
        bool is_harmless = field->kind == FIELD_CHOICE && job->output == OUTPUT_SEPARATE;
        if (field->of_process && spot.node && !is_harmless)
            return spot_fail(d->err, &spot, "is for jobs with a process; an HTTP call has none");
    }
    return OK;
}

enum status check_http(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    struct spot http = {root, "http", 0, node_get(root->node, "http")};
    bool is_alone = http.node->kind != NODE_MAP;
    struct spot url = {&http, "url", 0, is_alone ? NULL : node_get(http.node, "url")};
    struct spot headers = {&http, "headers", 0, is_alone ? NULL : node_get(http.node, "headers")};
    struct spot body = {&http, "body", 0, is_alone ? NULL : node_get(http.node, "body")};
    struct spot key = {&http, "key", 0, is_alone ? NULL : node_get(http.node, "key")};
    struct spot redirects = {&http, "redirects", 0,
                             is_alone ? NULL : node_get(http.node, "redirects")};
    if (job->http.key && !job->http.cert)
        return spot_fail(d->err, &key, "needs a \"cert\", the certificate that it belongs to");
    if (job->http.redirects && job->secrets)
        return spot_fail(d->err, &redirects,
                         "are not for a call with secrets: they would go where the answer says");
    if (job->http.body && strcmp(job_http_method(job), "HEAD") == 0)
        return spot_fail(d->err, &body, "a HEAD request has no body");
    enum status st = check_template(d, is_alone ? &http : &url, false);
    if (st == OK)
        st = check_headers(d, &headers);
    if (st == OK)
        st = check_template(d, &body, true);
    return st == OK ? check_others(d, root) : st;
}
