#include "send/pinger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "clock.h"
#include "table.h"

enum {
    UNDER_WAY_MAX = 32,
    WAITING_MAX = 5000,
    OF_JOB_MAX = 20, /* of which the oldest goes */
};

/* A ping that waits, with its texts. */
struct due {
    struct ping ping;
    char *texts; /* url, job, output */
    int tries;
    struct boot_ms made, try_at;
    TAILQ_ENTRY(due) link;
};

/* Of one job. */
struct line {
    struct id uid;
    struct pinger *pinger;
    TAILQ_HEAD(due_list, due) waiting; /* oldest first */
    size_t count;
    bool is_sending; /* the first one */
    TAILQ_ENTRY(line) link;
};

struct pinger {
    struct pinger_config config;
    struct loop_timer *timer;
    struct table by_uid;
    TAILQ_HEAD(line_list, line) lines;
    size_t under_way;
    struct ping_stats stats;
};

static const struct table_type lines_type = {.key_size = sizeof(struct id)};

/* ---- texts ---- */

/* The 128 bits of the id, written as a UUID, which is what the protocol asks for. */
static void print_rid(const struct id *id, struct strbuf *out)
{
    for (size_t i = 0; i < sizeof(id->bytes); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            strbuf_addc(out, '-');
        strbuf_addf(out, "%02x", id->bytes[i]);
    }
}

void ping_print_url(const struct ping *ping, struct strbuf *out)
{
    size_t path = strcspn(ping->url, "?#");
    const char *query = ping->url[path] == '?' ? ping->url + path : "";
    while (path && ping->url[path - 1] == '/')
        path--;
    strbuf_add(out, ping->url, path);
    if (ping->kind == PING_START)
        strbuf_adds(out, "/start");
    else if (ping->kind == PING_FAILURE && ping->exit_code > 0 && ping->exit_code < 256)
        strbuf_addf(out, "/%d", ping->exit_code);
    else if (ping->kind == PING_FAILURE)
        strbuf_adds(out, "/fail");
    strbuf_add(out, query, strcspn(query, "#"));
    if (id_is_zero(&ping->run_id))
        return;
    strbuf_adds(out, *query ? "&rid=" : "?rid=");
    print_rid(&ping->run_id, out);
}

static struct due *copy_of(const struct ping *ping)
{
    struct due *due = calloc(1, sizeof(*due));
    const char *output = ping->output ? ping->output : "";
    size_t url = strlen(ping->url) + 1, job = strlen(ping->job) + 1, text = strlen(output) + 1;
    if (!due || !(due->texts = malloc(url + job + text))) {
        free(due);
        return NULL;
    }
    due->ping = *ping;
    due->ping.url = memcpy(due->texts, ping->url, url);
    due->ping.job = memcpy(due->texts + url, ping->job, job);
    due->ping.output = memcpy(due->texts + url + job, output, text);
    return due;
}

/* ---- lines ---- */

static void drop(struct line *line, struct due *due)
{
    TAILQ_REMOVE(&line->waiting, due, link);
    line->count--;
    line->pinger->stats.waiting--;
    free(due->texts);
    free(due);
}

static void drop_line(struct line *line)
{
    struct pinger *pinger = line->pinger;
    struct due *next;
    for (struct due *due = TAILQ_FIRST(&line->waiting); due; due = next) {
        next = TAILQ_NEXT(due, link);
        drop(line, due);
    }
    TAILQ_REMOVE(&pinger->lines, line, link);
    table_remove(&pinger->by_uid, line);
    free(line);
}

static struct line *line_of(struct pinger *pinger, const struct id *uid)
{
    struct line *line = table_find(&pinger->by_uid, uid);
    if (line)
        return line;
    line = table_add(&pinger->by_uid, &(struct line){.uid = *uid, .pinger = pinger}, sizeof(*line));
    if (!line)
        return NULL;
    TAILQ_INIT(&line->waiting);
    TAILQ_INSERT_TAIL(&pinger->lines, line, link);
    return line;
}

/* What nobody needs any more: starts that have failed, and the oldest of too many. */
static void make_way(struct line *line)
{
    struct due *first = TAILQ_FIRST(&line->waiting);
    if (line->is_sending)
        first = TAILQ_NEXT(first, link);
    if (first && ((first->tries && first->ping.kind == PING_START) || line->count >= OF_JOB_MAX))
        drop(line, first);
}

/* ---- sending ---- */

static void pump(struct pinger *pinger);

static int64_t pause_ms(const struct pinger *pinger, int tries)
{
    int64_t ms = pinger->config.retry_first_ms;
    for (int i = 1; i < tries && ms < pinger->config.retry_last_ms; i++)
        ms *= 2;
    return ms < pinger->config.retry_last_ms ? ms : pinger->config.retry_last_ms;
}

static void give_up(struct line *line, struct due *due, const char *why)
{
    struct pinger *pinger = line->pinger;
    pinger->stats.given_up++;
    pinger->config.given_up(pinger->config.context, &due->ping, due->tries, why);
    drop(line, due);
}

static void sent(void *context, const struct outcome *outcome)
{
    struct line *line = context;
    struct pinger *pinger = line->pinger;
    struct due *due = TAILQ_FIRST(&line->waiting);
    struct now now = clock_now();
    line->is_sending = false;
    pinger->under_way--;
    due->tries++;
    if (outcome->verdict == VERDICT_SENT) {
        pinger->stats.sent++;
        drop(line, due);
    } else {
        pinger->stats.failed++;
        bool is_over = outcome->verdict == VERDICT_REFUSED ||
                       now.boot.ms - due->made.ms >= pinger->config.give_up_ms;
        due->try_at.ms = now.boot.ms + pause_ms(pinger, due->tries);
        if (is_over)
            give_up(line, due, outcome->answer);
    }
    if (TAILQ_EMPTY(&line->waiting))
        drop_line(line);
    pump(pinger);
}

static void send_first(struct pinger *pinger, struct line *line, struct now now)
{
    struct due *due = TAILQ_FIRST(&line->waiting);
    bool is_guarded = *due->ping.job && pinger->config.refuses;
    struct strbuf url;
    strbuf_init(&url);
    ping_print_url(&due->ping, &url);
    struct post post = {.url = url.text,
                        .body = due->ping.output,
                        .refuses = is_guarded ? pinger->config.refuses : NULL,
                        .context = pinger->config.refuses_context};
    enum status st = strbuf_status(&url);
    if (st == OK)
        st = sender_post(pinger->config.sender, &post, sent, line);
    strbuf_release(&url);
    if (st != OK) {
        due->try_at.ms = now.boot.ms + pause_ms(pinger, ++due->tries);
        return;
    }
    line->is_sending = true;
    pinger->under_way++;
}

static void pump(struct pinger *pinger)
{
    struct now now = clock_now();
    int64_t first_ms = INT64_MAX;
    struct line *line;
    TAILQ_FOREACH (line, &pinger->lines, link) {
        if (pinger->under_way >= UNDER_WAY_MAX)
            break; /* goes on when one of them is over */
        if (line->is_sending)
            continue;
        if (TAILQ_FIRST(&line->waiting)->try_at.ms <= now.boot.ms)
            send_first(pinger, line, now);
        int64_t wait_ms = TAILQ_FIRST(&line->waiting)->try_at.ms - now.boot.ms;
        if (!line->is_sending && wait_ms < first_ms)
            first_ms = wait_ms;
    }
    if (first_ms == INT64_MAX)
        loop_timer_stop(pinger->timer);
    else
        loop_timer_set(pinger->timer, first_ms > 0 ? first_ms : 0);
}

static void on_timer(void *context)
{
    pump(context);
}

void pinger_send(struct pinger *pinger, const struct ping *ping)
{
    struct line *line =
        pinger->stats.waiting < WAITING_MAX ? line_of(pinger, &ping->job_uid) : NULL;
    struct due *due = line ? copy_of(ping) : NULL;
    if (!due) {
        pinger->stats.given_up++;
        pinger->config.given_up(pinger->config.context, ping, 0,
                                line ? "out of memory" : "too many pings wait already");
        if (line && !line->count)
            drop_line(line);
        return;
    }
    if (line->count)
        make_way(line);
    due->made = clock_now().boot;
    TAILQ_INSERT_TAIL(&line->waiting, due, link);
    line->count++;
    pinger->stats.waiting++;
    pump(pinger);
}

struct ping_stats pinger_stats(const struct pinger *pinger)
{
    return pinger->stats;
}

/* ---- from new to free ---- */

enum status pinger_new(const struct pinger_config *config, struct pinger **ret)
{
    struct pinger *pinger = calloc(1, sizeof(*pinger));
    if (!pinger)
        return E_NOMEM;
    pinger->config = *config;
    TAILQ_INIT(&pinger->lines);
    table_init(&pinger->by_uid, &lines_type);
    enum status st = loop_timer_new_patient(config->loop, on_timer, pinger, &pinger->timer);
    if (st != OK) {
        pinger_free(pinger);
        return st;
    }
    *ret = pinger;
    return OK;
}

struct pinger *pinger_free(struct pinger *pinger)
{
    if (!pinger)
        return NULL;
    struct line *next;
    for (struct line *line = TAILQ_FIRST(&pinger->lines); line; line = next) {
        next = TAILQ_NEXT(line, link);
        drop_line(line);
    }
    table_release(&pinger->by_uid);
    loop_timer_free(pinger->timer);
    free(pinger);
    return NULL;
}
