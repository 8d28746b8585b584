#include "notifier.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "frame.h"
#include "notifier_internal.h"

enum {
    RETRY_FIRST_MS = 2000,
    RETRY_LAST_MS = 60000,
    WAITING_MAX = 10000,
    JOURNAL_SLACK = 256 * 1024, /* garbage in the journal before it is compacted */
};

void notifier_log(const struct notifier *notifier, const char *event, const char *format, ...)
{
    struct strbuf text;
    va_list args;
    if (!notifier->log)
        return;
    strbuf_init(&text);
    va_start(args, format);
    strbuf_addv(&text, format, args);
    va_end(args);
    notifier->log(notifier->log_context, event, text.text);
    strbuf_release(&text);
}

/* ---- the journal: {"put": N, "notice": {...}}, {"done": N} and notifier_past.c's ---- */

static int append(const char *bytes, size_t length, void *out)
{
    strbuf_add(out, bytes, length);
    return 0;
}

/* Takes `value` over. Returns the size of its frame. */
static size_t add_frame(struct strbuf *out, json_t *value)
{
    size_t before = out->length;
    struct strbuf payload;
    strbuf_init(&payload);
    if (!value || json_dump_callback(value, append, &payload, JSON_COMPACT) != 0)
        payload.failed = true;
    json_decref(value);
    if (strbuf_status(&payload) == OK)
        frame_add(out, &payload);
    else
        out->failed = true;
    strbuf_release(&payload);
    return out->length - before;
}

static size_t add_put(struct strbuf *out, const struct waiting *waiting)
{
    return add_frame(out, json_pack("{s:I, s:o}", "put", (json_int_t)waiting->number, "notice",
                                    notice_encode(&waiting->notice)));
}

/* Compacts the journal to the waiting notices, and the last ones that have ended. */
static void rewrite_journal(struct notifier *notifier)
{
    struct strbuf frames;
    struct lane *lane;
    struct waiting *waiting;
    struct past *past;
    strbuf_init(&frames);
    unread_write(notifier, &frames);
    notifier->past_bytes = 0;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        TAILQ_FOREACH (past, &lane->past, link) {
            json_t *end = json_pack("{s:o}", "end", past_encode(lane, past));
            past_note_bytes(lane, past, add_frame(&frames, end));
        }
        TAILQ_FOREACH (waiting, &lane->waiting, link) {
            add_put(&frames, waiting);
        }
    }
    if (strbuf_status(&frames) != OK || journal_replace(notifier->journal, &frames) != OK)
        strbuf_release(&frames); /* out of memory: later */
}

/* Hands the buffered frames to the journal. */
static void write_frames(struct notifier *notifier, journal_done *done, void *context)
{
    if (strbuf_status(&notifier->frames) != OK ||
        journal_append(notifier->journal, &notifier->frames, done, context) != OK) {
        strbuf_release(&notifier->frames);
        if (done)
            done(context, E_NOMEM);
    }
    int64_t live =
        (int64_t)(notifier->waiting_bytes + notifier->unread_bytes + notifier->past_bytes);
    if (journal_size(notifier->journal) > 4 * live + JOURNAL_SLACK)
        rewrite_journal(notifier);
}

static void add_waiting(struct notifier *notifier, struct lane *lane, struct waiting *waiting)
{
    TAILQ_INSERT_TAIL(&lane->waiting, waiting, link);
    lane->stats.waiting++;
    notifier->waiting_count++;
    notifier->waiting_bytes += waiting->bytes;
}

/* Removes the notice from its lane and frees it; the journal is the caller's. */
static void drop_waiting(struct notifier *notifier, struct lane *lane, struct waiting *waiting)
{
    TAILQ_REMOVE(&lane->waiting, waiting, link);
    lane->stats.waiting--;
    notifier->waiting_count--;
    notifier->waiting_bytes -= waiting->bytes;
    notice_release(&waiting->notice);
    free(waiting->answer);
    free(waiting);
}

/* `past` NULL: another one has replaced it. */
static void remove_waiting(struct notifier *notifier, struct lane *lane, struct waiting *waiting,
                           struct past *past)
{
    json_t *end = past ? past_encode(lane, past) : NULL;
    size_t bytes = add_frame(&notifier->frames, json_pack("{s:I, s:o*}", "done",
                                                          (json_int_t)waiting->number, "end", end));
    if (past)
        past_note_bytes(lane, past, bytes);
    drop_waiting(notifier, lane, waiting);
    if (!notifier->unwritten) /* else it is written with those */
        write_frames(notifier, NULL, NULL);
}

void notifier_end(struct notifier *notifier, struct lane *lane, struct waiting *waiting,
                  bool was_sent, const char *answer, int64_t now_ms)
{
    remove_waiting(notifier, lane, waiting, past_add(lane, waiting, was_sent, answer, now_ms));
}

/* False: it can't be decoded. */
static bool load_put(struct notifier *notifier, const json_t *value, uint64_t number, size_t bytes)
{
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    if (!waiting || notice_decode(json_object_get(value, "notice"), &waiting->notice) != OK) {
        free(waiting);
        return false;
    }
    struct lane *lane = lane_get(notifier, waiting->notice.channel);
    if (!lane) {
        notice_release(&waiting->notice);
        free(waiting);
        return false;
    }
    waiting->number = number;
    waiting->bytes = bytes;
    add_waiting(notifier, lane, waiting);
    if (waiting->notice.not_before_ms && !notice_is_group(&waiting->notice))
        lane_note_told(lane, &waiting->notice, waiting->notice.not_before_ms);
    return true;
}

static void load_done(struct notifier *notifier, uint64_t number)
{
    unread_done(notifier, number);
    struct lane *lane;
    struct waiting *waiting, *next;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        for (waiting = TAILQ_FIRST(&lane->waiting); waiting; waiting = next) {
            next = TAILQ_NEXT(waiting, link);
            if (waiting->number == number) {
                drop_waiting(notifier, lane, waiting);
                return;
            }
        }
    }
}

static void load(void *context, const char *payload, size_t length)
{
    struct notifier *notifier = context;
    json_t *value = json_loadb(payload, length, 0, NULL);
    const json_t *put = json_object_get(value, "put"), *done = json_object_get(value, "done");
    const json_t *end = json_object_get(value, "end");
    uint64_t number = (uint64_t)json_integer_value(put ? put : done);
    if (put && !load_put(notifier, value, number, FRAME_HEAD + length))
        unread_keep(notifier, number, payload, length);
    else if (done)
        load_done(notifier, number);
    if (end)
        past_load(notifier, end, FRAME_HEAD + length);
    if (number >= notifier->next_number)
        notifier->next_number = number + 1;
    json_decref(value);
}

/* ---- what is told ---- */

static void refuse(struct notifier *notifier, struct lane *lane, const struct notice *notice,
                   const char *why)
{
    struct waiting refused = {.notice = *notice};
    lane->stats.given_up++;
    channel_note_failure(&lane->stats, notice->made_ms);
    past_add(lane, &refused, false, why, notice->made_ms); /* in memory alone, as there are many */
    snprintf(lane->stats.error, sizeof(lane->stats.error), "%s", why);
    notifier_log(notifier, "notification_given_up", "channel=%s job=%s of=%s error=\"%s\"",
                 lane->name, notice->job, notify_event_name(notice->event), why);
}

static void queue_notice(struct notifier *notifier, struct lane *lane, struct notice *notice,
                         int64_t now_ms)
{
    if (lane_same(lane, notice) || lane_had(lane, notice))
        return; /* a duplicate: it waits already, or was sent */
    struct waiting *old = lane_held(lane, notice, now_ms);
    struct waiting *group = old ? NULL : lane_group(lane, now_ms);
    struct notice grouped;
    if (group) { /* takes this one in, and is written anew */
        grouped = group->notice;
        notice_group_add(&grouped, notice);
        old = group;
        notice = &grouped;
    } else if (old) { /* the newest one is sent, with the number of the others */
        notice->held = old->notice.held + 1;
        notice->not_before_ms = old->notice.not_before_ms;
    } else {
        notice->not_before_ms = lane_hold_until(lane, notice, now_ms);
        int64_t until_ms;
        if (!notice->not_before_ms && !lane_may_send_alone(lane, now_ms, &until_ms)) {
            grouped = *notice;
            grouped.output = grouped.title = grouped.text = NULL;
            notice_group_start(&grouped);
            grouped.not_before_ms = until_ms;
            notice = &grouped;
        }
    }
    if (!old && notifier->waiting_count >= notifier->waiting_max) {
        refuse(notifier, lane, notice, "too many messages wait already");
        return;
    }
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    if (!waiting || !notice_copy(notice, &waiting->notice)) {
        free(waiting);
        refuse(notifier, lane, notice, "out of memory");
        return;
    }
    waiting->number = notifier->next_number++;
    waiting->bytes = add_put(&notifier->frames, waiting);
    notifier->unwritten++;
    add_waiting(notifier, lane, waiting);
    if (old)
        remove_waiting(notifier, lane, old, NULL);
}

/* The events of this job that the channel is notified of. */
static unsigned wanted(const struct channel *channel, const struct job_notify *notify)
{
    unsigned events = notify && notify->on ? notify->on
                      : channel->on        ? channel->on
                                           : CHANNEL_EVENTS;
    if (notify && notify->late_s)
        events |= 1 << NOTIFY_LATE;
    if (notify && notify->too_long)
        events |= 1 << NOTIFY_TOO_LONG;
    if (notify && notify->too_short)
        events |= 1 << NOTIFY_TOO_SHORT;
    if (notify && (notify->success_by || notify->success_within_s))
        events |= 1 << NOTIFY_OVERDUE;
    return events;
}

static bool is_named(const struct job_notify *notify, const char *channel)
{
    for (size_t i = 0; notify->to[i]; i++) {
        if (strcmp(notify->to[i], channel) == 0)
            return true;
    }
    return false;
}

static bool hears(const struct lane *lane, const struct job_notify *notify)
{
    if (!lane->channel)
        return false;
    return notify && notify->to ? is_named(notify, lane->name) : lane->channel->hears_all;
}

static unsigned events_of(const struct ending *ending)
{
    int64_t late_s =
        ending->notify && ending->notify->late_s ? ending->notify->late_s : (int64_t)CHANNEL_LATE_S;
    if (ending->is_no_end)
        return ending->more_events;
    if (!ending->run)
        return entry_events(ending->entry) | ending->more_events;
    unsigned events = run_events(ending->run, ending->was_bad, late_s * 1000, ending->jitter_ms);
    return attempt_events(ending->run, events, ending->tells_each) | ending->more_events;
}

static void fill_notice(struct notice *notice, const struct ending *ending, int64_t now_ms)
{
    if (ending->run)
        notice_of_run(notice, ending->run);
    else
        notice_of_entry(notice, ending->entry);
    if (ending->timezone)
        snprintf(notice->timezone, sizeof(notice->timezone), "%s", ending->timezone);
    if (ending->output_length)
        notice_set_output(notice, ending->output, ending->output_length, ending->output_is_cut);
    notice_set_templates(notice, ending->notify);
    notice->made_ms = now_ms;
}

/* A success that is a recovery is sent as a recovery, unless the channel does not want those. */
static unsigned events_for(const struct lane *lane, const struct ending *ending, unsigned events)
{
    unsigned told = events & wanted(lane->channel, ending->notify);
    return told & 1 << NOTIFY_RECOVERY ? told & ~(1U << NOTIFY_SUCCESS) : told;
}

bool notifier_would_tell(const struct notifier *notifier, const struct ending *ending)
{
    unsigned events = events_of(ending);
    const struct lane *lane;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        if (events && hears(lane, ending->notify) && events_for(lane, ending, events))
            return true;
    }
    return false;
}

void notifier_tell(struct notifier *notifier, const struct ending *ending, int64_t now_ms)
{
    unsigned events = events_of(ending);
    struct notice notice = {0};
    bool is_filled = false;
    struct lane *lane;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        unsigned told =
            events && hears(lane, ending->notify) ? events_for(lane, ending, events) : 0;
        for (int event = 0; event < NOTIFY_EVENTS; event++) {
            if (!(told >> event & 1))
                continue;
            if (!is_filled)
                fill_notice(&notice, ending, now_ms);
            is_filled = true;
            notice.event = (enum notify_event)event;
            notice.held = 0;
            if (ending->detail && event >= NOTIFY_TOO_LONG)
                snprintf(notice.detail, sizeof(notice.detail), "%s", ending->detail);
            snprintf(notice.channel, sizeof(notice.channel), "%s", lane->name);
            if (ending->mute && mute_takes(ending->mute, notice.event)) {
                lane_note_muted(lane, &notice, ending->mute);
                continue;
            }
            queue_notice(notifier, lane, &notice, now_ms);
        }
    }
    notice_release(&notice);
}

/* ---- on disk ---- */

struct sync {
    struct notifier *notifier;
    notifier_done *done;
    void *context;
};

static void synced(void *context, enum status st)
{
    struct sync sync = *(struct sync *)context;
    struct notifier *notifier = sync.notifier;
    free(context);
    bool is_bad = st != OK;
    if (is_bad != notifier->is_disk_bad)
        notifier_log(notifier, is_bad ? "notifications_not_on_disk" : "notifications_on_disk",
                     "error=\"%s\"", is_bad ? status_text(st) : "");
    notifier->is_disk_bad = is_bad;
    sync.done(sync.context);
    notifier_pump(notifier);
}

void notifier_sync(struct notifier *notifier, notifier_done *done, void *context)
{
    struct sync *sync = notifier->unwritten ? malloc(sizeof(*sync)) : NULL;
    if (!sync) {
        done(context);
        return;
    }
    *sync = (struct sync){notifier, done, context};
    notifier->unwritten = 0;
    write_frames(notifier, synced, sync);
}

/* ---- channels ---- */

void notifier_take_channel(struct notifier *notifier, const char *name, const char *json,
                           int64_t revision)
{
    struct job_error error = {0};
    struct channel *channel = NULL;
    struct lane *lane = lane_get(notifier, name);
    json_t *value = json ? json_loads(json, 0, NULL) : NULL;
    if (value && channel_decode(name, value, NULL, &channel, &error) != OK)
        notifier_log(notifier, "channel_broken", "channel=%s error=\"%s\"", name, error.message);
    json_decref(value);
    if (!lane) {
        channel_free(channel);
        return;
    }
    channel_free(lane->channel);
    lane->channel = channel;
    lane->is_unreadable = json && !channel;
    if (channel)
        channel->revision = revision;
    lane->try_at.ms = 0; /* the new settings may work */
    lane->troubles = 0;
    struct waiting *waiting;
    TAILQ_FOREACH (waiting, &lane->waiting, link) {
        waiting->try_at.ms = 0;
    }
    notifier_pump(notifier);
}

void notifier_go_live(struct notifier *notifier)
{
    struct lane *lane;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        if (!lane->channel)
            past_release(lane); /* the channel was deleted meanwhile */
    }
    notifier->is_live = true;
    notifier_pump(notifier);
}

const struct channel *notifier_channel(const struct notifier *notifier, const char *name)
{
    const struct lane *lane = lane_find(notifier, name);
    return lane ? lane->channel : NULL;
}

const struct channel *notifier_next_channel(const struct notifier *notifier, const char *after)
{
    const struct lane *lane;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        if (lane->channel && (!after || strcmp(lane->name, after) > 0))
            return lane->channel;
    }
    return NULL;
}

void channel_note_failure(struct channel_stats *stats, int64_t at_ms)
{
    stats->failed_ms = at_ms;
    if (!stats->failing_ms)
        stats->failing_ms = at_ms;
}

const char *channel_state(const struct channel_stats *stats)
{
    if (stats->failed_ms && stats->failed_ms > stats->sent_ms)
        return "failing";
    return stats->sent_ms ? "ok" : "idle";
}

void notifier_stats(const struct notifier *notifier, const char *name, struct channel_stats *ret)
{
    const struct lane *lane = lane_find(notifier, name);
    struct channel_stats stats = {0};
    const struct waiting *waiting;
    if (lane) {
        stats = lane->stats;
        int64_t now_ms = clock_now().wall.ms;
        TAILQ_FOREACH (waiting, &lane->waiting, link) {
            stats.held += waiting->notice.not_before_ms > now_ms;
        }
    }
    *ret = stats;
}

/* ---- from new to free ---- */

static void wake(void *context)
{
    const struct notifier *notifier = context;
    uint64_t one = 1;
    if (write(notifier->wake_fd, &one, sizeof(one)) < 0)
        return; /* EAGAIN: a wake is pending already */
}

static void on_wake(void *context, unsigned events)
{
    struct notifier *notifier = context;
    uint64_t count;
    (void)events;
    if (read(notifier->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
        notifier_log(notifier, "wake_failed", "error=\"%s\"", strerror(errno));
    journal_dispatch(notifier->journal);
}

static void on_timer(void *context)
{
    notifier_pump(context);
}

static enum status copy_text(const char *text, char **ret)
{
    *ret = text ? strdup(text) : NULL;
    return text && !*ret ? E_NOMEM : OK;
}

static enum status set_up(struct notifier *notifier, const struct notifier_config *config,
                          struct strbuf *why)
{
    enum status st = copy_text(config->node, &notifier->node);
    if (st == OK)
        st = copy_text(config->public_url, &notifier->public_url);
    notifier->world = (struct notice_world){config->zones, notifier->public_url};
    notifier->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (st == OK && notifier->wake_fd < 0)
        st = E_IO;
    if (st == OK)
        st = loop_fd_new(notifier->loop, notifier->wake_fd, on_wake, notifier,
                         &notifier->wake_watch);
    if (st == OK)
        loop_fd_want(notifier->wake_watch, LOOP_READ);
    if (st == OK)
        st = loop_timer_new_patient(notifier->loop, on_timer, notifier, &notifier->timer);
    if (st == OK)
        st = sender_new(notifier->loop, &config->sender, &notifier->sender);
    if (st == OK)
        st = pings_init(notifier, config);
    if (st == OK)
        st = journal_open(config->data_dir, (struct journal_wake){wake, notifier}, load, notifier,
                          &notifier->journal, why);
    if (st == OK && notifier->unread_count)
        notifier_log(notifier, "notifications_unreadable",
                     "count=%zu error=\"only a newer peal can send them; they are kept\"",
                     notifier->unread_count);
    return st;
}

enum status notifier_new(struct loop *loop, const struct notifier_config *config,
                         struct notifier **ret, struct strbuf *why)
{
    struct notifier *notifier = calloc(1, sizeof(*notifier));
    if (!notifier)
        return E_NOMEM;
    notifier->loop = loop;
    notifier->retry_first_ms = config->retry_first_ms ? config->retry_first_ms : RETRY_FIRST_MS;
    notifier->retry_last_ms = config->retry_last_ms ? config->retry_last_ms : RETRY_LAST_MS;
    notifier->waiting_max = config->waiting_max ? config->waiting_max : WAITING_MAX;
    notifier->log = config->log;
    notifier->log_context = config->log_context;
    notifier->next_number = 1;
    TAILQ_INIT(&notifier->lanes);
    TAILQ_INIT(&notifier->samples);
    TAILQ_INIT(&notifier->unread);
    mutes_init(notifier);
    strbuf_init(&notifier->frames);
    enum status st = set_up(notifier, config, why);
    if (st != OK) {
        notifier_free(notifier);
        return st;
    }
    *ret = notifier;
    return OK;
}

struct notifier *notifier_free(struct notifier *notifier)
{
    if (!notifier)
        return NULL;
    notifier->is_live = false;
    if (notifier->journal && notifier->unwritten)
        write_frames(notifier, NULL, NULL);
    journal_free(notifier->journal);
    notifier_free_samples(notifier);
    pings_release(notifier);
    sender_free(notifier->sender);
    for (struct lane *lane; (lane = TAILQ_FIRST(&notifier->lanes));) {
        TAILQ_REMOVE(&notifier->lanes, lane, link);
        lane_free(lane);
    }
    loop_timer_free(notifier->timer);
    loop_fd_free(notifier->wake_watch);
    if (notifier->wake_fd >= 0)
        close(notifier->wake_fd);
    unread_release(notifier);
    mutes_release(notifier);
    strbuf_release(&notifier->frames);
    free(notifier->node);
    free(notifier->public_url);
    free(notifier);
    return NULL;
}
