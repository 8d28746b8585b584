/* Why jobs fail, for people who are called at night: of each job whose last run was not OK, that
 * run, the line of its output that most likely has the cause (of a workflow: of the output of the
 * step that failed first), and for how long it has been so. What a person killed is not a failure,
 * and neither is what a newer run has replaced. */
#include <string.h>

#include "handlers.h"
#include "runs/encode.h"
#include "runs/job_names.h"
#include "runs/last_line.h"
#include "server.h"

enum {
    NAMES_MAX = 50,
    RUNS = 20, /* that are read first; most failures are young */
    RUNS_MAX = 1000,
    TAIL = 4096, /* bytes of output */
};

struct causes {
    struct job_names names;
    struct run run;    /* the last one of the current job that failed */
    struct id printed; /* whose output is read: of that run, or of a step of it */
    int64_t failures, since_ms;
    bool more; /* it has failed even longer */
    json_t *items;
};

static void release_causes(void *state)
{
    json_decref(((struct causes *)state)->items);
}

static void look_at_next(struct call *call);

static bool is_failure(const struct run *run)
{
    return run->state == RUN_FAILED || run->state == RUN_TIMED_OUT || run->state == RUN_LOST;
}

/* ---- the output ---- */

static void add_cause(struct call *call, const char *line)
{
    struct causes *causes = call->state;
    json_t *item = json_pack(
        "{s:o, s:o, s:o, s:I, s:o, s:b}", "name", json_words(causes->names.name), "run",
        encode_run(&causes->run), "line", json_words_or_null(line), "failures",
        (json_int_t)causes->failures, "since", json_tick(causes->since_ms), "more", causes->more);
    if (json_array_append_new(causes->items, item) != 0)
        call_fail(call, 500, "out of memory");
    else
        look_at_next(call);
}

static void tail_read(struct call *call);

static void read_tail(struct call *call, int64_t length)
{
    struct causes *causes = call->state;
    call->log.run_id = causes->printed;
    call->log.offset = length > TAIL ? length - TAIL : 0;
    call->log.limit = TAIL;
    call_read_log(call, tail_read);
}

/* What its node does not tell now is no error: the rest of the answer is of use without it. */
static void tail_read(struct call *call)
{
    const struct history_log *log = &call->log;
    char line[LINE_SIZE] = "";
    if (call->answer == OK && log->found && log->offset > log->kept_bytes) {
        read_tail(call, log->kept_bytes); /* a part of what it printed was dropped */
        return;
    }
    if (call->answer == OK && log->found)
        last_line(log->chunks, log->count, line);
    add_cause(call, line);
}

static void read_output(struct call *call, const struct run *run)
{
    struct causes *causes = call->state;
    causes->printed = run->id;
    read_tail(call, run->output_bytes);
}

/* ---- steps ---- */

/* Steps that only end with others, like a workflow within this one, print nothing. */
static bool has_failed_itself(const struct run *run)
{
    return run_is_step(run) && is_failure(run) && run->reason != REASON_STEP_FAILED;
}

static void steps_read(struct call *call)
{
    const struct history_read *read = &call->read;
    const struct run *first = NULL;
    call->reads_steps = false;
    for (size_t i = 0; call->answer == OK && i < read->count; i++) {
        const struct run *run = &read->rows[i].run;
        if (has_failed_itself(run) && (!first || run->finished_ms < first->finished_ms))
            first = run;
    }
    if (first)
        read_output(call, first);
    else
        add_cause(call, "");
}

static void read_steps(struct call *call, const struct run *instance)
{
    call->reads_steps = true;
    call->read.query = (struct history_query){.job_uid = instance->job_uid,
                                              .since_ms = instance->tick_ms,
                                              .until_ms = instance->tick_ms + 1,
                                              .limit = RUNS_MAX};
    call_read_history(call, steps_read);
}

/* ---- the runs ---- */

/* Counts failures up to the first success. False: there is more to count. */
static bool count_failures(struct causes *causes, const struct history_read *read)
{
    for (size_t i = 0; i < read->count; i++) {
        const struct run *run = &read->rows[i].run;
        if (run->state == RUN_OK)
            return true;
        if (!is_failure(run))
            continue;
        if (!causes->failures++)
            causes->run = *run;
        causes->since_ms = run->finished_ms ? run->finished_ms : run->tick_ms;
    }
    return false;
}

static void runs_read(struct call *call)
{
    struct causes *causes = call->state;
    const struct history_read *read = &call->read;
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    bool is_whole = count_failures(causes, read) || !read->more;
    if (!is_whole && call->read.query.limit == RUNS) {
        call->read.query.before = read->next;
        call->read.query.limit = RUNS_MAX;
        call_read_history(call, runs_read);
        return;
    }
    causes->more = !is_whole;
    if (!causes->failures)
        look_at_next(call);
    else if (causes->run.reason == REASON_STEP_FAILED)
        read_steps(call, &causes->run);
    else
        read_output(call, &causes->run);
}

/* Names without a job, and jobs that do not fail, are left out. */
static void look_at_next(struct call *call)
{
    struct causes *causes = call->state;
    const struct catalog_job *job;
    do
        job = job_names_next(call, &causes->names);
    while (job && job->last.state == RUN_OK);
    if (!job) {
        call_reply(call, 200, json_pack("{s:O}", "items", causes->items));
        return;
    }
    causes->failures = 0;
    call->read.query = (struct history_query){.job_uid = job->uid,
                                              .limit = RUNS,
                                              .states = 1U << RUN_OK | 1U << RUN_FAILED |
                                                        1U << RUN_TIMED_OUT | 1U << RUN_LOST};
    call_read_history(call, runs_read);
}

void list_causes(struct call *call)
{
    struct causes *causes = call_state(call, sizeof(*causes), release_causes);
    if (!causes || !job_names_read(call, NAMES_MAX, &causes->names))
        return;
    causes->items = json_array();
    if (causes->items)
        look_at_next(call);
    else
        call_fail(call, 500, "out of memory");
}
