/* Runs of this node that go on for longer than their job's notify.too_long, and what is learned of
 * the lengths of good runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "clock.h"
#include "duration.h"
#include "strbuf.h"
#include "table.h"
#include "watch/watch.h"

enum {
    LEARNED_FOR_MS = 3600 * 1000,
    UNLEARNED_FOR_MS = 1000, /* too few runs may soon be enough */
    ASK_MS = 10000,          /* how long a verdict waits for the history */
};

/* A run of this node that may become too long. */
struct long_run {
    struct run run;
    int64_t due_ms; /* wall time; 0: its limit is not known */
    bool is_learned;
};

struct lesson {
    struct id job_uid;
    struct learned learned;
    struct boot_ms read; /* 0: never */
    struct boot_ms asked;
    bool is_under_way;
    bool is_awaited;  /* by a verdict */
    bool is_answered; /* since then */
};

/* Outlives the lengths if it must. */
struct question {
    struct history_read read;
    struct lengths *lengths; /* NULL: nobody wants to know any more */
    LIST_ENTRY(question) link;
};

struct lengths {
    struct watch_config config;
    struct loop_timer *timer;
    struct table runs;    /* of long_run, by id */
    struct table lessons; /* by job */
    LIST_HEAD(question_list, question) questions;
};

static const struct table_type runs_type = {.key_at = offsetof(struct long_run, run.id),
                                            .key_size = sizeof(struct id)};
static const struct table_type lessons_type = {.key_at = offsetof(struct lesson, job_uid),
                                               .key_size = sizeof(struct id)};

/* When the verdict that has waited longest waits no more, in so many ms; INT64_MAX: none waits. */
static int64_t awaited_in_ms(const struct lengths *lengths, struct boot_ms now)
{
    int64_t first_ms = INT64_MAX;
    const struct lesson *lesson;
    for (size_t at = 0; (lesson = table_next(&lengths->lessons, &at));) {
        int64_t left_ms = lesson->asked.ms + ASK_MS - now.ms;
        if (lesson->is_awaited && left_ms < first_ms)
            first_ms = left_ms;
    }
    return first_ms;
}

static void set_timer(struct lengths *lengths)
{
    int64_t first_ms = INT64_MAX;
    struct now now = clock_now();
    const struct long_run *run;
    for (size_t at = 0; (run = table_next(&lengths->runs, &at));) {
        if (run->due_ms && run->due_ms < first_ms)
            first_ms = run->due_ms;
    }
    int64_t awaited_ms = awaited_in_ms(lengths, now.boot);
    int64_t wait_ms = first_ms - now.wall.ms;
    if (awaited_ms != INT64_MAX && (first_ms == INT64_MAX || awaited_ms < wait_ms))
        first_ms = wait_ms = awaited_ms;
    if (first_ms == INT64_MAX)
        loop_timer_stop(lengths->timer);
    else
        loop_timer_set(lengths->timer, wait_ms < 0 ? 0 : wait_ms > 60000 ? 60000 : wait_ms);
}

/* ---- what is learned ---- */

struct learned lengths_learned(const struct lengths *lengths, const struct id *job_uid)
{
    const struct lesson *lesson = table_find(&lengths->lessons, job_uid);
    return lesson ? lesson->learned : (struct learned){0};
}

static void set_due(struct long_run *run, int64_t limit_ms)
{
    if (limit_ms > 0)
        run->due_ms = run->run.started_ms + limit_ms;
}

static void take_lesson(struct lengths *lengths, struct question *question)
{
    int64_t durations[LEARNED_RUNS];
    size_t count = 0;
    struct lesson *lesson = table_find(&lengths->lessons, &question->read.query.job_uid);
    for (size_t i = 0; i < question->read.count && count < LEARNED_RUNS; i++) {
        const struct run *run = &question->read.rows[i].run;
        if (run->started_ms && run->finished_ms >= run->started_ms)
            durations[count++] = run->finished_ms - run->started_ms;
    }
    if (!lesson)
        return;
    lesson->learned = learn_limits(durations, count);
    struct long_run *run;
    for (size_t at = 0; (run = table_next(&lengths->runs, &at));) {
        if (run->is_learned && !run->due_ms && id_compare(&run->run.job_uid, &lesson->job_uid) == 0)
            set_due(run, lesson->learned.too_long_ms);
    }
    set_timer(lengths);
}

static void answered(struct history_read *read, enum status st)
{
    struct question *question = read->context;
    struct lengths *lengths = question->lengths;
    struct lesson *lesson = lengths ? table_find(&lengths->lessons, &read->query.job_uid) : NULL;
    bool is_awaited = lesson && lesson->is_awaited;
    if (lesson) {
        lesson->is_under_way = lesson->is_awaited = false;
        lesson->is_answered = is_awaited;
        lesson->read = clock_now().boot;
    }
    if (lengths && st == OK)
        take_lesson(lengths, question);
    if (is_awaited)
        lengths->config.wake(lengths->config.wake_context);
    if (lengths)
        LIST_REMOVE(question, link);
    history_read_release(read);
    free(question);
}

static bool is_fresh(const struct lesson *lesson, struct boot_ms now)
{
    int64_t for_ms = lesson->learned.too_long_ms ? LEARNED_FOR_MS : UNLEARNED_FOR_MS;
    return lesson->read.ms && now.ms - lesson->read.ms < for_ms;
}

static struct lesson *lesson_of(struct lengths *lengths, const struct id *job_uid)
{
    struct lesson *lesson = table_find(&lengths->lessons, job_uid);
    return lesson ? lesson
                  : table_add(&lengths->lessons, &(struct lesson){.job_uid = *job_uid},
                              sizeof(*lesson));
}

static void ask(struct lengths *lengths, struct lesson *lesson, struct boot_ms now)
{
    struct question *question = lesson->is_under_way ? NULL : calloc(1, sizeof(*question));
    if (!question)
        return;
    question->lengths = lengths;
    question->read.query = (struct history_query){
        .job_uid = lesson->job_uid, .states = 1U << RUN_OK, .limit = LEARNED_RUNS};
    question->read.done = answered;
    question->read.context = question;
    LIST_INSERT_HEAD(&lengths->questions, question, link);
    lesson->is_under_way = true;
    lesson->asked = now;
    history_read(lengths->config.history, &question->read);
}

/* Asks the history, at most once an hour for a job that has taught something. */
static void learn(struct lengths *lengths, const struct id *job_uid)
{
    struct boot_ms now = clock_now().boot;
    struct lesson *lesson = lesson_of(lengths, job_uid);
    if (lesson && !is_fresh(lesson, now))
        ask(lengths, lesson, now);
}

/* As long as nothing was learned, each verdict has an answer of its own: the tenth good run may
 * have ended right before. */
bool lengths_find(struct lengths *lengths, const struct id *job_uid, struct learned *ret)
{
    struct boot_ms now = clock_now().boot;
    learn(lengths, job_uid);
    struct lesson *lesson = lesson_of(lengths, job_uid);
    *ret = (struct learned){0};
    if (!lesson)
        return true;
    if (!lesson->learned.too_long_ms && !lesson->is_answered)
        ask(lengths, lesson, now);
    bool is_to_come = !lesson->learned.too_long_ms && !lesson->is_answered &&
                      lesson->is_under_way && now.ms - lesson->asked.ms < ASK_MS;
    *ret = lesson->learned;
    lesson->is_awaited = is_to_come;
    lesson->is_answered = false;
    if (is_to_come)
        set_timer(lengths);
    return !is_to_come;
}

/* ---- runs ---- */

static void forget(struct lengths *lengths, const struct id *id)
{
    struct long_run *run = table_find(&lengths->runs, id);
    if (!run)
        return;
    table_remove(&lengths->runs, run);
    free(run);
}

/* What a message needs of it. */
static struct run facts_of(const struct run *run)
{
    struct run facts = {.id = run->id,
                        .job_uid = run->job_uid,
                        .tick_ms = run->tick_ms,
                        .attempt = run->attempt,
                        .state = RUN_RUNNING,
                        .exit_code = -1};
    snprintf(facts.job_name, sizeof(facts.job_name), "%s", run->job_name);
    snprintf(facts.node, sizeof(facts.node), "%s", run->node);
    int64_t from_ms = run->claimed_ms > run->tick_ms ? run->claimed_ms : run->tick_ms;
    facts.started_ms = run->started_ms ? run->started_ms : from_ms;
    return facts;
}

static void begin(struct lengths *lengths, const struct run *run, const struct job *job)
{
    int64_t limit_ms = notify_limit_ms(job->notify.too_long);
    if (limit_ms == 0 || notify_limit_ms(job->notify.too_short) == 0 ||
        job->expect.duration == EXPECT_DURATION_AUTO) /* known by its end */
        learn(lengths, &run->job_uid);
    if (limit_ms < 0)
        return;
    struct long_run *new = table_add(
        &lengths->runs, &(struct long_run){.run = facts_of(run), .is_learned = limit_ms == 0},
        sizeof(*new));
    if (new)
        set_due(new, limit_ms ? limit_ms : lengths_learned(lengths, &run->job_uid).too_long_ms);
    set_timer(lengths);
}

/* Could the stored definition have limits? Inside a string its quotes would be escaped. */
static bool may_have_limits(const struct catalog_job *job)
{
    return job && (strstr(job->json, "\"too_") || strstr(job->json, "\"duration\":\"auto\""));
}

void lengths_take(struct lengths *lengths, const struct store_change *change)
{
    const struct run *run = change->run;
    if (change->kind == STORE_CHANGE_FORGET)
        forget(lengths, &change->gone_id);
    if (change->kind != STORE_CHANGE_RUN)
        return;
    if (run->state != RUN_BEGUN && run->state != RUN_RUNNING) {
        forget(lengths, &run->id);
        return;
    }
    const struct catalog_job *stored =
        catalog_by_uid(engine_catalog(lengths->config.engine), &run->job_uid);
    if (run_is_step(run) || strcmp(run->node, lengths->config.node) != 0 ||
        !may_have_limits(stored) || table_find(&lengths->runs, &run->id))
        return;
    struct job *job = watch_decode(stored);
    if (job)
        begin(lengths, run, job);
    job_free(job);
}

static void tell(struct lengths *lengths, const struct long_run *run, int64_t now_ms)
{
    const struct catalog_job *stored =
        catalog_by_uid(engine_catalog(lengths->config.engine), &run->run.job_uid);
    struct job *job = watch_decode(stored);
    struct strbuf text, span;
    if (!job || !job->notify.too_long) {
        job_free(job);
        return;
    }
    strbuf_init(&text);
    strbuf_init(&span);
    duration_print((run->due_ms - run->run.started_ms) / 1000, &span);
    strbuf_addf(&text, "under way for more than %s%s", span.text,
                run->is_learned ? ", and its last runs took less" : "");
    const struct mute *mute = notifier_mute(lengths->config.notifier, &run->run.job_uid);
    bool is_muted = mute && mute_is_active(mute, stored->last.succeeded_ms, now_ms);
    notifier_tell(lengths->config.notifier,
                  &(struct ending){.run = &run->run,
                                   .more_events = 1U << NOTIFY_TOO_LONG,
                                   .is_no_end = true,
                                   .detail = text.text,
                                   .notify = &job->notify,
                                   .timezone = job->timezone,
                                   .mute = is_muted ? mute : NULL},
                  now_ms);
    strbuf_release(&text);
    strbuf_release(&span);
    job_free(job);
}

static void nothing_waits(void *context)
{
    (void)context;
}

/* The history has not answered in time: verdicts go without it. */
static void end_waits(struct lengths *lengths)
{
    struct boot_ms now = clock_now().boot;
    struct lesson *lesson;
    for (size_t at = 0; (lesson = table_next(&lengths->lessons, &at));)
        if (now.ms - lesson->asked.ms >= ASK_MS)
            lesson->is_awaited = false;
    lengths->config.wake(lengths->config.wake_context);
}

static void on_timer(void *context)
{
    struct lengths *lengths = context;
    int64_t now_ms = clock_now().wall.ms;
    bool has_told = false;
    bool is_late = awaited_in_ms(lengths, clock_now().boot) <= 0;
    struct long_run *run;
    for (size_t at = 0; (run = table_next(&lengths->runs, &at));) {
        if (!run->due_ms || run->due_ms > now_ms)
            continue;
        tell(lengths, run, now_ms);
        run->due_ms = 0;
        run->is_learned = false; /* told of once */
        has_told = true;
    }
    if (has_told)
        notifier_sync(lengths->config.notifier, nothing_waits, NULL);
    if (is_late)
        end_waits(lengths);
    set_timer(lengths);
}

/* ---- from new to free ---- */

enum status lengths_new(const struct watch_config *config, struct lengths **ret)
{
    struct lengths *lengths = calloc(1, sizeof(*lengths));
    if (!lengths)
        return E_NOMEM;
    lengths->config = *config;
    LIST_INIT(&lengths->questions);
    table_init(&lengths->runs, &runs_type);
    table_init(&lengths->lessons, &lessons_type);
    enum status st = loop_timer_new_patient(config->loop, on_timer, lengths, &lengths->timer);
    if (st != OK) {
        free(lengths);
        return st;
    }
    *ret = lengths;
    return OK;
}

struct lengths *lengths_free(struct lengths *lengths)
{
    struct question *question;
    if (!lengths)
        return NULL;
    LIST_FOREACH(question, &lengths->questions, link)
    {
        question->lengths = NULL;
    }
    loop_timer_free(lengths->timer);
    table_release_items(&lengths->runs);
    table_release_items(&lengths->lessons);
    free(lengths);
    return NULL;
}
