#include "client/client.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text_width.h"
#include "cli/when.h"
#include "client/remote.h"
#include "data_folder.h"
#include "print/state_words.h"
#include "text/tr.h"

enum {
    ANSWER_MAX = 256 * 1024 * 1024,
    CONNECT_TIMEOUT_MS = 5000,
    PAGE = 500,
};

const struct option_row data_option[] = {
    OPTION_TEXT(request_base, data, 0, "data", "DIR",
                "the agent's data folder (else $PEAL_DATA, else the default)",
                .complete = COMPLETE_FILES),
    {0},
};

const struct option_row client_options[] = {
    {.group = data_option},
    OPTION_VARIABLE("PEAL_URL", "url", "URL",
                    "the agent of another machine, like https://host:7325 (else $PEAL_URL)"),
    OPTION_VARIABLE("PEAL_TOKEN_FILE", "token-file", "FILE",
                    "a file whose first line is the token for that agent (else the token in "
                    "$PEAL_TOKEN, else the one kept by peal login)",
                    .complete = COMPLETE_FILES),
    OPTION_VARIABLE("PEAL_CA", "ca", "FILE",
                    "the CA certificate that signed that agent's certificate (else $PEAL_CA)",
                    .complete = COMPLETE_FILES),
    {0},
};

struct client {
    CURL *curl;
    struct strbuf data, socket_path; /* for a remote agent its URL, and "" */
    struct remote remote;
    bool keeps_cookies;
    char cookie[sizeof(((struct reply *)NULL)->cookie)];
    bool told_incomplete; /* the note on absent nodes was printed */
};

/* ---- open and close ---- */

bool client_is_remote(const struct client *client)
{
    return client->remote.url.length > 0;
}

static enum exit_code no_remote(const struct remote *remote)
{
    cli_error("can't reach %s: %s", remote->url.text,
              remote->error[0] ? remote->error : tr("no answer"));
    if (remote->is_distrusted && !remote->ca)
        fprintf(stderr, "%s\n",
                tr("If the certificate is its own (peal tls init): --ca FILE, a copy of its "
                   "tls/cert.pem"));
    return EXIT_UNREACHABLE;
}

enum exit_code client_not_for_us(const char *folder)
{
    cli_error("the agent at %s is for root and for the user that it runs as; for others: --url, "
              "with a token",
              folder);
    return EXIT_UNREACHABLE;
}

static enum exit_code no_socket(const struct client *client)
{
    if (client_is_remote(client))
        return no_remote(&client->remote);
    if (access(client->socket_path.text, W_OK) != 0 && errno == EACCES)
        return client_not_for_us(client->data.text);
    cli_error("no agent answers at %s; is it running?", client->data.text);
    fprintf(stderr, tr("Start it: peal start -d --data %s"), client->data.text);
    fputc('\n', stderr);
    return EXIT_UNREACHABLE;
}

enum exit_code client_open(const char *data, struct client **ret)
{
    struct client *client = calloc(1, sizeof(*client));
    if (!client)
        return cli_fail(E_NOMEM);
    strbuf_init(&client->data);
    strbuf_init(&client->socket_path);
    if (data)
        unsetenv("PEAL_URL"); /* a folder that was named goes before the environment */
    enum exit_code code = remote_init(&client->remote);
    if (code != EXIT_OK) {
        client_close(client);
        return code;
    }
    enum status st = client_is_remote(client) ? OK : data_folder_find(data, &client->data);
    if (client_is_remote(client))
        strbuf_adds(&client->data, client->remote.url.text);
    else
        strbuf_addf(&client->socket_path, "%s/api.sock", client->data.text);
    if (st == OK)
        st = strbuf_status(&client->socket_path);
    if (st == OK && !(client->curl = curl_easy_init()))
        st = E_NOMEM;
    if (st == OK) {
        *ret = client;
        return EXIT_OK;
    }
    client_close(client);
    if (st != E_NOT_FOUND)
        return cli_fail(st);
    cli_error("can't tell where the data folder is: no --data, no PEAL_DATA, no HOME");
    return EXIT_USAGE;
}

struct client *client_close(struct client *client)
{
    if (!client)
        return NULL;
    curl_easy_cleanup(client->curl);
    strbuf_release(&client->data);
    strbuf_release(&client->socket_path);
    remote_release(&client->remote);
    free(client);
    return NULL;
}

enum exit_code client_must_be_remote(const struct client *client)
{
    if (client_is_remote(client))
        return EXIT_OK;
    cli_error("which agent? --url https://HOST:7325; this machine's own needs no login");
    return EXIT_USAGE;
}

enum exit_code client_keep_cookies(struct client *client)
{
    enum exit_code code = client_must_be_remote(client);
    if (code != EXIT_OK)
        return code;
    client->keeps_cookies = true;
    strbuf_reset(&client->remote.token);
    return remote_refuse_clear(&client->remote);
}

const char *client_data(const struct client *client)
{
    return client->data.text;
}

void reply_release(struct reply *reply)
{
    json_decref(reply->body);
    *reply = (struct reply){0};
}

/* ---- one request ---- */

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct strbuf *body = context;
    size_t length = size * count;
    if (body->length + length > ANSWER_MAX)
        return 0;
    strbuf_add(body, bytes, length);
    return body->failed ? 0 : length;
}

/* The ETag matters, "12-8f3a2b1c" -> 12, and the cookie of a session. */
static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    static const char cookie[] = "set-cookie: ";
    struct reply *reply = context;
    size_t length = size * count, used = 0;
    if (length >= sizeof(cookie) && strncasecmp(bytes, cookie, strlen(cookie)) == 0) {
        const char *value = bytes + strlen(cookie);
        const char *end = memchr(value, ';', length - strlen(cookie));
        bool is_session = memmem(value, length - strlen(cookie), "peal_session=", 13) != NULL;
        if (is_session && end && (size_t)(end - value) < sizeof(reply->cookie))
            snprintf(reply->cookie, sizeof(reply->cookie), "%.*s", (int)(end - value), value);
    }
    if (length > 5 && strncasecmp(bytes, "etag:", 5) == 0) {
        for (size_t i = 5; i < length && used + 1 < sizeof(reply->revision); i++) {
            if (isdigit((unsigned char)bytes[i]))
                reply->revision[used++] = bytes[i];
            else if (used)
                break;
        }
        reply->revision[used] = '\0';
    }
    return length;
}

static struct curl_slist *add_header(struct curl_slist *list, bool *failed, const char *text)
{
    struct curl_slist *longer = curl_slist_append(list, text);
    if (!longer)
        *failed = true;
    return longer ? longer : list;
}

static struct curl_slist *make_headers(const struct client *client,
                                       const struct client_request *request, bool *failed)
{
    char line[512];
    struct curl_slist *list = add_header(NULL, failed, "Expect:");
    if (tr_language_of_answers() == LANGUAGE_ZH)
        list = add_header(list, failed, "Accept-Language: zh");
    if (client->remote.token.length)
        list = add_header(list, failed, client->remote.token.text);
    if (client->cookie[0]) {
        snprintf(line, sizeof(line), "Cookie: %s", client->cookie);
        list = add_header(list, failed, line);
        const char *url = client->remote.url.text, *host = strstr(url, "://") + 3;
        snprintf(line, sizeof(line), "Origin: %.*s", (int)(host + strcspn(host, "/") - url), url);
        list = add_header(list, failed, line);
    }
    if (request->body || request->text)
        list = add_header(list, failed, "Content-Type: application/json");
    if (request->if_match) {
        snprintf(line, sizeof(line), "If-Match: \"%s\"", request->if_match);
        list = add_header(list, failed, line);
    }
    if (request->if_none_match)
        list = add_header(list, failed, "If-None-Match: *");
    return list;
}

static void set_options(struct client *client, const struct client_request *request,
                        const char *url, const char *body, struct curl_slist *headers)
{
    CURL *curl = client->curl;
    curl_easy_reset(curl); /* keeps the connection */
    curl_easy_setopt(curl, CURLOPT_URL, url);
    if (client_is_remote(client)) {
        remote_set_options(&client->remote, curl);
    } else {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, client->socket_path.text);
        curl_easy_setopt(curl, CURLOPT_PROXY, "");
    }
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    if (body || (request->method && strcmp(request->method, "POST") == 0)) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body ? body : "");
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)(body ? strlen(body) : 0));
    }
    if (request->method)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static enum status status_of(CURLcode code)
{
    if (code == CURLE_OK)
        return OK;
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
        code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_SSL_CONNECT_ERROR ||
        code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
        return E_UNREACHABLE; /* nothing has been sent */
    return code == CURLE_OUT_OF_MEMORY ? E_NOMEM : E_UNKNOWN;
}

static enum status perform(struct client *client, const struct client_request *request,
                           const char *url, const char *body, struct reply *reply)
{
    struct strbuf answer;
    bool failed = false;
    struct curl_slist *headers = make_headers(client, request, &failed);
    strbuf_init(&answer);
    set_options(client, request, url, body, headers);
    curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(client->curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(client->curl, CURLOPT_HEADERDATA, reply);
    CURLcode result = failed ? CURLE_OUT_OF_MEMORY : curl_easy_perform(client->curl);
    enum status st = status_of(result);
    client->remote.is_distrusted = result == CURLE_PEER_FAILED_VERIFICATION;
    if (st == OK) {
        curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &reply->status);
        reply->body = json_loadb(answer.text, answer.length, JSON_DECODE_ANY, NULL);
        if (answer.length && !reply->body)
            st = E_CORRUPT;
        if (client->keeps_cookies && reply->cookie[0])
            memcpy(client->cookie, reply->cookie, sizeof(client->cookie));
    }
    curl_slist_free_all(headers);
    strbuf_release(&answer);
    return st;
}

enum status client_try(struct client *client, const struct client_request *request,
                       struct reply *ret)
{
    struct reply reply = {0};
    struct strbuf url;
    strbuf_init(&url);
    strbuf_addf(&url, "%s/api/v1%s",
                client_is_remote(client) ? client->remote.url.text : "http://peal", request->path);
    char *body = request->body ? json_dumps(request->body, JSON_COMPACT) : NULL;
    enum status st = strbuf_status(&url);
    if (request->body && !body)
        st = E_NOMEM;
    if (st == OK)
        st = perform(client, request, url.text, body ? body : request->text, &reply);
    free(body);
    strbuf_release(&url);
    if (st == OK)
        *ret = reply;
    else
        reply_release(&reply);
    return st;
}

/* ---- telling what went wrong ---- */

/* Prints text of the agent, which may hold arbitrary user input, safely. */
static void print_safe(const char *prefix, const char *text)
{
    struct strbuf safe;
    strbuf_init(&safe);
    text_print_safe(text, strlen(text), &safe);
    fprintf(stderr, "%s%s\n", prefix, safe.text);
    strbuf_release(&safe);
}

/* "schedule, line 3, column 5"; empty: none is given. */
static void print_place(const json_t *error, struct strbuf *out)
{
    const char *pointer = answer_text(error, "pointer");
    const char *field = *pointer == '/' ? pointer + 1 : pointer;
    long long row = answer_int(error, "line", 0), column = answer_int(error, "column", 0);
    struct strbuf at;
    strbuf_init(&at);
    if (row > 0 && column > 0)
        strbuf_addf(&at, tr("line %lld, column %lld"), row, column);
    else if (row > 0)
        strbuf_addf(&at, tr("line %lld"), row);
    else if (column > 0)
        strbuf_addf(&at, tr("column %lld"), column);
    if (*field && at.length)
        strbuf_addf(out, tr("%s, %s"), field, at.text);
    else
        strbuf_addf(out, "%s%s", field, at.text);
    strbuf_release(&at);
}

/* Prints each error with its place, except for one that repeats `detail`. */
static void print_errors(const json_t *errors, const char *detail)
{
    size_t i;
    const json_t *error;
    json_array_foreach (errors, i, error) {
        struct strbuf line;
        if (strcmp(answer_text(error, "message"), detail) == 0)
            continue;
        strbuf_init(&line);
        print_place(error, &line);
        strbuf_addf(&line, line.length ? tr(": %s") : "%s", answer_text(error, "message"));
        print_safe("  ", line.text);
        strbuf_release(&line);
    }
}

enum exit_code client_code_of(long status)
{
    switch (status) {
    case 404:
        return EXIT_NOT_FOUND;
    case 409:
    case 412:
        return EXIT_CONFLICT;
    case 400:
    case 413:
    case 422:
        return EXIT_INVALID;
    case 502:
    case 503:
    case 504:
        return EXIT_UNREACHABLE;
    default:
        return EXIT_ERROR;
    }
}

static enum exit_code connection_broke(const struct client *client)
{
    const char *url = client->remote.url.text;
    cli_error("the connection to the agent broke; look whether it was done before you repeat");
    if (client_is_remote(client) && strncasecmp(url, "http://", strlen("http://")) == 0) {
        fprintf(stderr, tr("If it has a certificate: --url https://%s"), url + strlen("http://"));
        fputc('\n', stderr);
    }
    return EXIT_UNREACHABLE;
}

enum exit_code client_report(struct client *client, enum status st, const struct reply *reply)
{
    if (st == E_UNREACHABLE)
        return no_socket(client);
    if (st == E_UNKNOWN)
        return connection_broke(client);
    if (st == E_CORRUPT) {
        cli_error("the agent's answer is not JSON");
        return EXIT_ERROR;
    }
    if (st != OK)
        return cli_fail(st);
    if (reply->status < 300)
        return EXIT_OK;
    const char *detail = answer_text(reply->body, "detail");
    const char *title = answer_text(reply->body, "title");
    if (*detail || *title)
        print_safe("peal: ", *detail ? detail : title);
    else
        cli_error("the agent answered with status %ld", reply->status);
    print_errors(json_object_get(reply->body, "errors"), detail);
    if (reply->status == 401 && client_is_remote(client) && !client->keeps_cookies) {
        fprintf(stderr, tr("Log in: peal login --url %s"), client->remote.url.text);
        fputc('\n', stderr);
    }
    return client_code_of(reply->status);
}

enum exit_code client_call(struct client *client, const struct client_request *request,
                           struct reply *ret)
{
    struct reply reply = {0};
    enum status st = client_try(client, request, &reply);
    enum exit_code code = client_report(client, st, &reply);
    if (code == EXIT_OK)
        *ret = reply;
    else
        reply_release(&reply);
    return code;
}

void client_tell_incomplete(struct client *client, const json_t *body)
{
    const json_t *list = json_object_get(body, "incomplete"), *item;
    size_t i;
    if (client->told_incomplete || !json_is_array(list))
        return;
    client->told_incomplete = true;
    json_array_foreach (list, i, item) {
        struct strbuf line;
        strbuf_init(&line);
        const char *node = answer_text(item, "node"), *why = absence_word(answer_text(item, "why"));
        if (*node)
            strbuf_addf(&line, tr("node %s %s: what it has on record is not shown"), node, why);
        else
            strbuf_addf(&line, tr("the history's database %s: what it has on record is not shown"),
                        why);
        print_safe("", line.text);
        strbuf_release(&line);
    }
}

static enum exit_code call_for_body(struct client *client, const struct client_request *request,
                                    json_t **ret)
{
    struct reply reply;
    enum exit_code code = client_call(client, request, &reply);
    if (code != EXIT_OK)
        return code;
    client_tell_incomplete(client, reply.body);
    if (ret)
        *ret = json_incref(reply.body);
    reply_release(&reply);
    return EXIT_OK;
}

enum exit_code client_get(struct client *client, const char *path, json_t **ret)
{
    return call_for_body(client, &(struct client_request){.path = path}, ret);
}

enum exit_code client_post(struct client *client, const char *path, const json_t *body,
                           json_t **ret)
{
    return call_for_body(
        client, &(struct client_request){.method = "POST", .path = path, .body = body}, ret);
}

/* ---- lists ---- */

/* One page, added to *items; *cursor is where the next one starts, empty at the end. */
/* *ret: the page's items; *cursor: of the next one, empty after the last. */
static enum exit_code get_page(struct client *client, const char *path, size_t limit,
                               struct strbuf *cursor, json_t **ret)
{
    struct strbuf full;
    json_t *page = NULL;
    strbuf_init(&full);
    strbuf_addf(&full, "%slimit=%zu", path, limit);
    if (cursor->length) {
        strbuf_adds(&full, "&cursor=");
        url_escape(&full, cursor->text);
    }
    enum exit_code code = cli_fail(strbuf_status(&full));
    if (code == EXIT_OK)
        code = client_get(client, full.text, &page);
    strbuf_release(&full);
    if (code != EXIT_OK)
        return code;
    strbuf_reset(cursor);
    strbuf_adds(cursor, answer_text(page, "next"));
    enum status st = strbuf_status(cursor);
    json_t *items = json_object_get(page, "items");
    if (st == OK && !json_is_array(items))
        st = E_CORRUPT;
    if (st == OK)
        *ret = json_incref(items);
    json_decref(page);
    return cli_fail(st);
}

enum exit_code client_pages(struct client *client, const char *path, size_t limit,
                            client_page *page, void *context)
{
    struct strbuf cursor;
    enum exit_code code = EXIT_OK;
    size_t count = 0;
    bool is_last = false;
    strbuf_init(&cursor);
    while (code == EXIT_OK && !is_last) {
        size_t left = limit ? limit - count : PAGE;
        json_t *items = NULL;
        code = get_page(client, path, left < PAGE ? left : PAGE, &cursor, &items);
        count += json_array_size(items);
        is_last = cursor.length == 0 || (limit && count >= limit);
        if (code == EXIT_OK)
            code = page(context, items, is_last);
        json_decref(items);
    }
    strbuf_release(&cursor);
    return code;
}

static enum exit_code add_items(void *context, const json_t *items, bool is_last)
{
    (void)is_last;
    return cli_fail(json_array_extend(context, (json_t *)items) == 0 ? OK : E_NOMEM);
}

enum exit_code client_list(struct client *client, const char *path, size_t limit, json_t **ret)
{
    json_t *items = json_array();
    enum exit_code code =
        items ? client_pages(client, path, limit, add_items, items) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        *ret = items;
    else
        json_decref(items);
    return code;
}
