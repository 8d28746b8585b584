#include "send/sender.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum {
    CONNECT_MS = 5000,
    WHOLE_MS = 15000,
    ANSWER_MAX = 4096, /* bytes of an answer that are kept */
};

struct transfer {
    struct sender *sender;
    enum channel_type type;
    CURL *easy;
    struct payload payload;
    size_t sent; /* of a mail */
    struct curl_slist *headers, *recipients;
    struct strbuf answer;
    char error[CURL_ERROR_SIZE];
    struct post guard; /* of a post: `refuses`, and its context */
    char refused[POST_WHY];
    sender_done *done;
    void *context;
    TAILQ_ENTRY(transfer) link;
};

/* A descriptor that curl watches. */
struct watch {
    struct sender *sender;
    curl_socket_t fd;
    struct loop_fd *loop_fd;
};

struct sender {
    struct loop *loop;
    CURLM *multi;
    struct loop_timer *timer;
    int connect_ms, whole_ms;
    char *ca_file, *agent;
    TAILQ_HEAD(transfer_list, transfer) transfers;
};

/* ---- what has ended ---- */

/* The transfer must not be in the list any more. */
static void free_transfer(struct transfer *transfer)
{
    if (transfer->easy) {
        curl_multi_remove_handle(transfer->sender->multi, transfer->easy);
        curl_easy_cleanup(transfer->easy);
    }
    curl_slist_free_all(transfer->headers);
    curl_slist_free_all(transfer->recipients);
    payload_release(&transfer->payload);
    strbuf_release(&transfer->answer);
    free(transfer);
}

static const char *error_words(const struct transfer *transfer, CURLcode code)
{
    return transfer->error[0] ? transfer->error : curl_easy_strerror(code);
}

/* 5xx refuses this mail; 4xx and any other error is trouble with the server. */
static enum verdict judge_mail(struct transfer *transfer, CURLcode code, struct strbuf *why)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK) {
        strbuf_addf(why, "SMTP status %ld", status);
        return VERDICT_SENT;
    }
    strbuf_adds(why, error_words(transfer, code));
    if (code == CURLE_USE_SSL_FAILED)
        strbuf_adds(why, "; without STARTTLS mail goes out only without a password, and if the "
                         "channel is unencrypted");
    return status >= 500 && status < 600 && code != CURLE_LOGIN_DENIED ? VERDICT_REFUSED
                                                                       : VERDICT_TROUBLE;
}

static enum verdict judge_http(struct transfer *transfer, CURLcode code, struct strbuf *why)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    bool is_enough = code == CURLE_WRITE_ERROR && transfer->answer.length >= ANSWER_MAX;
    if (code == CURLE_OK || is_enough)
        return payload_judge(transfer->type, status, transfer->answer.text, why);
    strbuf_adds(why, transfer->refused[0] ? transfer->refused : error_words(transfer, code));
    return transfer->refused[0] ? VERDICT_REFUSED : VERDICT_TROUBLE;
}

static void end_transfer(struct transfer *transfer, CURLcode code)
{
    struct strbuf why;
    curl_off_t retry_after_s = 0;
    strbuf_init(&why);
    enum verdict verdict = transfer->type == CHANNEL_MAIL ? judge_mail(transfer, code, &why)
                                                          : judge_http(transfer, code, &why);
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    if (!retry_after_s)
        retry_after_s = payload_retry_after_s(transfer->type, transfer->answer.text);
    sender_done *done = transfer->done;
    void *context = transfer->context;
    struct strbuf body = transfer->answer;
    strbuf_init(&transfer->answer);
    struct outcome outcome = {verdict, why.text, body.text, retry_after_s};
    TAILQ_REMOVE(&transfer->sender->transfers, transfer, link);
    free_transfer(transfer);
    done(context, &outcome);
    strbuf_release(&body);
    strbuf_release(&why);
}

static void take_ended(struct sender *sender)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(sender->multi, &left));) {
        char *transfer = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        end_transfer((struct transfer *)(void *)transfer, code);
    }
}

/* ---- curl on the loop ---- */

static void on_timer(void *context)
{
    struct sender *sender = context;
    int running;
    curl_multi_socket_action(sender->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    take_ended(sender);
}

static void on_ready(void *context, unsigned events)
{
    const struct watch *watch = context;
    struct sender *sender = watch->sender;
    int running;
    int ready =
        (events & LOOP_READ ? CURL_CSELECT_IN : 0) | (events & LOOP_WRITE ? CURL_CSELECT_OUT : 0);
    curl_multi_socket_action(sender->multi, watch->fd, ready, &running);
    take_ended(sender);
}

static int want_timer(CURLM *multi, long delay_ms, void *context)
{
    struct sender *sender = context;
    (void)multi;
    if (delay_ms < 0)
        loop_timer_stop(sender->timer);
    else
        loop_timer_set(sender->timer, delay_ms);
    return 0;
}

static void drop_watch(struct watch *watch)
{
    if (watch)
        loop_fd_free(watch->loop_fd);
    free(watch);
}

static struct watch *new_watch(struct sender *sender, curl_socket_t fd)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return NULL;
    *watch = (struct watch){.sender = sender, .fd = fd};
    if (loop_fd_new_patient(sender->loop, fd, on_ready, watch, &watch->loop_fd) != OK) {
        free(watch);
        return NULL;
    }
    curl_multi_assign(sender->multi, fd, watch);
    return watch;
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *socket_context)
{
    struct watch *watch = socket_context;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        drop_watch(watch);
        return 0;
    }
    if (!watch && !(watch = new_watch(context, fd)))
        return -1;
    loop_fd_want(watch->loop_fd,
                 (what & CURL_POLL_IN ? LOOP_READ : 0U) | (what & CURL_POLL_OUT ? LOOP_WRITE : 0U));
    return 0;
}

/* ---- sending ---- */

static size_t take_answer(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t length = size * count;
    size_t room = ANSWER_MAX - transfer->answer.length;
    strbuf_add(&transfer->answer, bytes, length < room ? length : room);
    return length <= room ? length : 0; /* too short: curl aborts the transfer */
}

static size_t give_mail(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t left = transfer->payload.body.length - transfer->sent;
    size_t length = left < size * count ? left : size * count;
    memcpy(bytes, transfer->payload.body.text + transfer->sent, length);
    transfer->sent += length;
    return length;
}

static bool add_line(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);
    if (longer)
        *list = longer;
    return longer != NULL;
}

static bool set_up_http(struct transfer *transfer)
{
    const struct job_pairs *headers = &transfer->payload.headers;
    bool done = add_line(&transfer->headers, "Expect:");
    struct strbuf line;
    strbuf_init(&line);
    for (size_t i = 0; i < headers->count && done; i++) {
        strbuf_reset(&line);
        bool is_empty = !headers->items[i].value[0];
        strbuf_addf(&line, is_empty ? "%s;" : "%s: %s", headers->items[i].name,
                    headers->items[i].value);
        done = strbuf_status(&line) == OK && add_line(&transfer->headers, line.text);
    }
    strbuf_release(&line);
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->payload.body.text);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)transfer->payload.body.length);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, transfer->sender->agent);
    return done;
}

static bool is_this_machine(const char *url)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    const char *host = strstr(url, "://") + 3;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length) == 0 && strchr(":/", host[length]))
            return true; /* also at its end, which strchr finds */
    }
    return false;
}

/* smtp:// requires STARTTLS unless the channel is `unencrypted`, since a man in the middle could
 * strip it. A relay on this machine, whose certificate is mostly self-signed, is used without TLS;
 * but not with a password. */
static long mail_security(const struct channel *channel)
{
    if (!channel->password && is_this_machine(channel->url))
        return CURLUSESSL_NONE;
    return channel->unencrypted && !channel->password ? CURLUSESSL_TRY : CURLUSESSL_ALL;
}

static bool set_up_mail(struct transfer *transfer, const struct channel *channel)
{
    CURL *easy = transfer->easy;
    bool done = true;
    for (size_t i = 0; channel->to[i] && done; i++)
        done = add_line(&transfer->recipients, channel->to[i]);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(easy, CURLOPT_USE_SSL, mail_security(channel));
    curl_easy_setopt(easy, CURLOPT_MAIL_FROM, channel->from);
    curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, transfer->recipients);
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_mail);
    curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE, (long)transfer->payload.body.length);
    if (channel->password) {
        curl_easy_setopt(easy, CURLOPT_USERNAME, channel->user);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, channel->password);
    }
    return done;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *transfer = context;
    const struct post *guard = &transfer->guard;
    (void)purpose;
    if (guard->refuses(guard->context, &address->addr, transfer->refused))
        return CURL_SOCKET_BAD;
    transfer->refused[0] = '\0'; /* of an address of the same name that was tried before */
    return socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                  address->protocol);
}

/* A connection that another transfer has opened was not asked about. */
static void set_up_guard(struct transfer *transfer)
{
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
}

/* `channel` NULL: a post. */
static bool set_up(struct transfer *transfer, const struct channel *channel)
{
    const struct sender *sender = transfer->sender;
    CURL *easy = transfer->easy = curl_easy_init();
    if (!easy)
        return false;
    curl_easy_setopt(easy, CURLOPT_URL, transfer->payload.url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)sender->connect_ms);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)sender->whole_ms);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    if (sender->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, sender->ca_file);
    if (transfer->guard.refuses)
        set_up_guard(transfer);
    bool is_mail = channel && channel->type == CHANNEL_MAIL;
    return is_mail ? set_up_mail(transfer, channel) : set_up_http(transfer);
}

/* Frees it if it can't be begun. */
static enum status begin(struct transfer *transfer, const struct channel *channel)
{
    struct sender *sender = transfer->sender;
    TAILQ_INSERT_TAIL(&sender->transfers, transfer, link);
    if (set_up(transfer, channel) &&
        curl_multi_add_handle(sender->multi, transfer->easy) == CURLM_OK)
        return OK;
    TAILQ_REMOVE(&sender->transfers, transfer, link);
    free_transfer(transfer);
    return E_NOMEM;
}

enum status sender_send(struct sender *sender, const struct channel *channel,
                        struct payload *payload, sender_done *done, void *context)
{
    struct transfer *transfer = calloc(1, sizeof(*transfer));
    if (!transfer) {
        payload_release(payload);
        return E_NOMEM;
    }
    *transfer = (struct transfer){.sender = sender,
                                  .type = channel->type,
                                  .payload = *payload,
                                  .done = done,
                                  .context = context};
    *payload = (struct payload){0};
    strbuf_init(&transfer->answer);
    return begin(transfer, channel);
}

enum status sender_post(struct sender *sender, const struct post *post, sender_done *done,
                        void *context)
{
    struct transfer *transfer = calloc(1, sizeof(*transfer));
    if (!transfer)
        return E_NOMEM;
    *transfer = (struct transfer){.sender = sender,
                                  .type = CHANNEL_WEBHOOK,
                                  .guard = *post,
                                  .done = done,
                                  .context = context};
    strbuf_init(&transfer->answer);
    strbuf_init(&transfer->payload.body);
    strbuf_adds(&transfer->payload.body, post->body);
    transfer->payload.url = strdup(post->url);
    enum status st = job_pairs_add(&transfer->payload.headers, "Content-Type",
                                   post->type ? post->type : "text/plain; charset=utf-8");
    for (size_t i = 0; st == OK && post->headers && i < post->headers->count; i++)
        st = job_pairs_add(&transfer->payload.headers, post->headers->items[i].name,
                           post->headers->items[i].value);
    if (st == OK && transfer->payload.url && strbuf_status(&transfer->payload.body) == OK)
        return begin(transfer, NULL);
    free_transfer(transfer);
    return E_NOMEM;
}

/* ---- from new to free ---- */

struct sender *sender_free(struct sender *sender)
{
    if (!sender)
        return NULL;
    for (struct transfer *transfer; (transfer = TAILQ_FIRST(&sender->transfers));) {
        TAILQ_REMOVE(&sender->transfers, transfer, link);
        free_transfer(transfer);
    }
    if (sender->multi)
        curl_multi_cleanup(sender->multi);
    loop_timer_free(sender->timer);
    free(sender->ca_file);
    free(sender->agent);
    free(sender);
    curl_global_cleanup();
    return NULL;
}

enum status sender_new(struct loop *loop, const struct sender_config *config, struct sender **ret)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return E_NOMEM;
    struct sender *sender = calloc(1, sizeof(*sender));
    if (!sender) {
        curl_global_cleanup();
        return E_NOMEM;
    }
    TAILQ_INIT(&sender->transfers);
    sender->loop = loop;
    sender->connect_ms = config->connect_ms ? config->connect_ms : CONNECT_MS;
    sender->whole_ms = config->whole_ms ? config->whole_ms : WHOLE_MS;
    sender->ca_file = config->ca_file ? strdup(config->ca_file) : NULL;
    sender->agent = strdup(config->agent ? config->agent : "peal");
    sender->multi = curl_multi_init();
    enum status st = sender->multi && sender->agent && !sender->ca_file == !config->ca_file
                         ? loop_timer_new_patient(loop, on_timer, sender, &sender->timer)
                         : E_NOMEM;
    if (st != OK) {
        sender_free(sender);
        return st;
    }
    curl_multi_setopt(sender->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    curl_multi_setopt(sender->multi, CURLMOPT_SOCKETDATA, sender);
    curl_multi_setopt(sender->multi, CURLMOPT_TIMERFUNCTION, want_timer);
    curl_multi_setopt(sender->multi, CURLMOPT_TIMERDATA, sender);
    *ret = sender;
    return OK;
}
