#include "agent_notify.h"

#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "message_log.h"
#include "state/catalog.h"
#include "version.h"

enum { TAIL_MAX = 4096 }; /* bytes of output to take a message's last lines from */

/* Does the stored definition have "notify"? Inside a string its quotes would be escaped. */
static bool says_who(const struct catalog_job *job)
{
    return job && strstr(job->json, "\"notify\":") != NULL;
}

static void fill(struct ending *ending, const struct job *job)
{
    ending->timezone = job ? job->timezone : NULL;
    ending->notify = job ? &job->notify : NULL;
    ending->tells_each = job && job->retries.notify == RETRY_NOTIFY_EACH;
}

static struct job *decode(const struct catalog_job *stored)
{
    struct job *job = NULL;
    struct job_error error;
    return stored && job_decode_stored(stored->json, NULL, &job, &error) == OK ? job : NULL;
}

/* Copies the last bytes of the output to the end of `tail`; returns their offset. */
static size_t gather_output(const struct ended *ended, char tail[TAIL_MAX], bool *ret_is_cut)
{
    size_t at = TAIL_MAX;
    *ret_is_cut = false;
    for (size_t i = ended->chunk_count; i-- > 0;) {
        const struct output_chunk *chunk = &ended->chunks[i];
        size_t length = chunk->length < at ? chunk->length : at;
        if (length)
            memcpy(tail + at - length, (const char *)chunk->bytes + chunk->length - length, length);
        at -= length;
        *ret_is_cut |= length < chunk->length || chunk->gap_bytes > 0;
    }
    return at;
}

static const struct mute *active_mute(const struct notifier *notifier,
                                      const struct catalog_job *job, int64_t now_ms)
{
    const struct mute *mute = job ? notifier_mute(notifier, &job->uid) : NULL;
    return mute && mute_is_active(mute, job->last.succeeded_ms, now_ms) ? mute : NULL;
}

static void ping_one(struct notifier *notifier, const struct ended *ended)
{
    char tail[TAIL_MAX];
    bool is_cut;
    struct job *job = ended->run && agent_has_ping(ended->job) ? decode(ended->job) : NULL;
    if (job && job->ping) {
        size_t at = gather_output(ended, tail, &is_cut);
        agent_ping_end(notifier, ended->run, job, tail + at, TAIL_MAX - at);
    }
    job_free(job);
}

static void tell_one(const struct notify_context *context, const struct ended *ended,
                     int64_t now_ms)
{
    struct notifier *notifier = context->notifier;
    char tail[TAIL_MAX], detail[160];
    struct ending ending = {.run = ended->run, .entry = ended->entry, .was_bad = ended->was_bad};
    bool is_attempt = ended->run && (ended->run->retried || ended->run->attempt > 1);
    struct job *job = says_who(ended->job) || is_attempt ? decode(ended->job) : NULL;
    fill(&ending, job);
    if (job && context->watch && ended->run &&
        watch_is_too_short(context->watch, ended->run, job, detail)) {
        ending.more_events = 1U << NOTIFY_TOO_SHORT;
        ending.detail = detail;
    }
    ending.jitter_ms = ended->job ? catalog_job_jitter_ms(ended->job) : 0;
    ending.mute = active_mute(notifier, ended->job, now_ms);
    if (notifier_would_tell(notifier, &ending)) {
        if (!job)
            fill(&ending, job = decode(ended->job));
        size_t at = gather_output(ended, tail, &ending.output_is_cut);
        ending.output = tail + at;
        ending.output_length = TAIL_MAX - at;
        notifier_tell(notifier, &ending, now_ms);
    }
    job_free(job);
}

static void tell(void *context, const struct ended *ends, size_t count,
                 void (*done)(void *done_context), void *done_context)
{
    const struct notify_context *notify = context;
    struct notifier *notifier = notify->notifier;
    int64_t now_ms = clock_now().wall.ms;
    bool is_anybody_there = notifier_next_channel(notifier, NULL) != NULL;
    for (size_t i = 0; i < count; i++) {
        ping_one(notifier, &ends[i]);
        if (is_anybody_there)
            tell_one(notify, &ends[i], now_ms);
    }
    notifier_sync(notifier, done, done_context);
}

struct teller agent_notify_teller(const struct notify_context *context)
{
    return (struct teller){tell, (void *)context};
}

static enum status answer_messages(void *context, const char *question, size_t length,
                                   struct strbuf *out)
{
    return message_answer(context, question, length, out);
}

struct own_answer agent_notify_messages(struct notifier *notifier)
{
    return (struct own_answer){answer_messages, notifier};
}

/* ---- of programs ---- */

enum { TOLD_WITHIN_MS = 24 * 3600 * 1000 }; /* what is older is history */

static bool is_repeated(struct program_teller *teller, const struct id *id)
{
    for (size_t i = 0; i < TOLD_RUNS; i++) {
        if (id_compare(&teller->told[i], id) == 0)
            return true;
    }
    teller->told[teller->next++ % TOLD_RUNS] = *id;
    return false;
}

/* A run that was lost with its node was told of by the agent that has found it so; of the runs of
 * one tick only the store knows which was the last. */
static bool is_news(const struct history_record *record, int64_t now_ms)
{
    const struct run *run = record->run;
    if (!run)
        return record->entry && record->entry->recorded_ms > now_ms - TOLD_WITHIN_MS;
    return !run->parts && !run_is_step(run) && run->finished_ms > now_ms - TOLD_WITHIN_MS &&
           !(run->state == RUN_LOST && run->reason == REASON_NODE_DIED);
}

/* The end before this one was a failure: this one has come with the feed, or not yet. */
static bool follows_bad(const struct catalog_job *job, const struct run *run)
{
    const struct last_run *last = &job->last;
    if (id_compare(&last->run_id, &run->id) == 0)
        return job->was_bad;
    if (last->ended_ms > run->finished_ms || last->retried || last->state == RUN_OK)
        return false;
    return last->state == RUN_FAILED || last->state == RUN_TIMED_OUT || last->state == RUN_LOST ||
           job->was_bad;
}

static struct ended ended_of(const struct program_teller *teller,
                             const struct history_record *record)
{
    const struct id *uid = record->run ? &record->run->job_uid : &record->entry->job_uid;
    const struct catalog_job *job = catalog_by_uid(teller->catalog, uid);
    return (struct ended){.run = record->run,
                          .entry = record->entry,
                          .job = job,
                          .was_bad = record->run && job && follows_bad(job, record->run),
                          .chunks = record->chunks,
                          .chunk_count = record->chunk_count};
}

static void taken(void *context, const struct history_record *records, size_t count,
                  void (*done)(void *done_context), void *done_context)
{
    struct program_teller *teller = context;
    int64_t now_ms = clock_now().wall.ms;
    struct ended *ends = calloc(count, sizeof(*ends));
    size_t news = 0;
    agent_otlp_add(teller->notify->otlp, records, count);
    for (size_t i = 0; ends && i < count; i++) {
        const struct id *id = records[i].run ? &records[i].run->id : &records[i].entry->id;
        if (is_news(&records[i], now_ms) && !is_repeated(teller, id))
            ends[news++] = ended_of(teller, &records[i]);
    }
    tell((void *)teller->notify, ends, news, done, done_context);
    free(ends);
}

struct records_observer agent_notify_observer(struct program_teller *teller,
                                              const struct notify_context *notify,
                                              const struct catalog *catalog)
{
    teller->notify = notify;
    teller->catalog = catalog;
    return (struct records_observer){taken, teller};
}

enum status agent_notify_new(const struct agent_config *config, struct loop *loop, const char *node,
                             struct zone_db *zones, struct agent_log *log, struct notifier **ret,
                             struct strbuf *why)
{
    struct notifier_config notifier = {
        .data_dir = config->data,
        .node = node,
        .public_url = config->public_url,
        .refuses = agent_refuses_ping,
        .refuses_context = (void *)config,
        .zones = zones,
        .sender = {.ca_file = config->notify_ca, .agent = "peal/" PEAL_VERSION},
        .log = agent_log_write,
        .log_context = log,
    };
    return notifier_new(loop, &notifier, ret, why);
}
