/* The pings of jobs, as the notifier's. Those that were given up are shown as messages of a channel
 * that is none. */
#include <stdio.h>

#include "notifier_internal.h"

enum { PING_FOR_MS = 600000 };

static enum notify_event event_of(const struct ping *ping)
{
    return ping->kind == PING_FAILURE ? NOTIFY_FAILURE : NOTIFY_SUCCESS;
}

static void given_up(void *context, const struct ping *ping, int tries, const char *why)
{
    static const char *const kinds[] = {
        [PING_START] = "start", [PING_SUCCESS] = "success", [PING_FAILURE] = "failure"};
    struct notifier *notifier = context;
    int64_t now_ms = clock_now().wall.ms;
    bool is_heartbeat = !*ping->job;
    notifier_log(notifier, is_heartbeat ? "heartbeat_given_up" : "ping_given_up",
                 "job=%s of=%s tries=%d error=\"%s\"", is_heartbeat ? "-" : ping->job,
                 kinds[ping->kind], tries, why);
    struct waiting end = {.notice = {.event = event_of(ping),
                                     .id = ping->run_id,
                                     .is_entry = is_heartbeat,
                                     .made_ms = now_ms},
                          .tries = tries};
    snprintf(end.notice.job, sizeof(end.notice.job), "%s", is_heartbeat ? "-" : ping->job);
    (void)past_add(notifier->pings, &end, false, why, now_ms); /* no memory: it is in the log */
}

enum status pings_init(struct notifier *notifier, const struct notifier_config *config)
{
    notifier->pings = lane_new(notifier, PINGS_NAME);
    if (!notifier->pings)
        return E_NOMEM;
    struct pinger_config pinger = {
        .sender = notifier->sender,
        .loop = notifier->loop,
        .retry_first_ms = notifier->retry_first_ms,
        .retry_last_ms = notifier->retry_last_ms,
        .give_up_ms = config->ping_for_ms ? config->ping_for_ms : (int64_t)PING_FOR_MS,
        .refuses = config->refuses,
        .refuses_context = config->refuses_context,
        .given_up = given_up,
        .context = notifier,
    };
    return pinger_new(&pinger, &notifier->pinger);
}

void pings_release(struct notifier *notifier)
{
    notifier->pinger = pinger_free(notifier->pinger);
    if (notifier->pings)
        lane_free(notifier->pings);
    notifier->pings = NULL;
}

void notifier_ping(struct notifier *notifier, const struct ping *ping)
{
    pinger_send(notifier->pinger, ping);
}

struct ping_stats notifier_ping_stats(const struct notifier *notifier)
{
    return pinger_stats(notifier->pinger);
}
