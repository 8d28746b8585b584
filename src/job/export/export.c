#include "export/export.h"

#include <string.h>

#include "definition/job_internal.h"
#include "definition/selector.h"
#include "duration.h"

static void add_duration(struct strbuf *out, const char *program, const char *what, int64_t seconds)
{
    if (!seconds)
        return;
    strbuf_addf(out, "# not in %s: %s: ", program, what);
    duration_print(seconds, out);
    strbuf_addc(out, '\n');
}

/* A name each. */
static void add_names(struct strbuf *out, const char *program, const char *what, char *const *names)
{
    for (; names && *names; names++)
        strbuf_addf(out, "# not in %s: %s: %s\n", program, what, *names);
}

static void add_when(struct strbuf *out, const struct job *job, const struct export_target *target)
{
    const char *program = target->name;
    if (!(target->carries & CARRIES_DEADLINE))
        add_duration(out, program, "deadline", job->deadline_s);
    if (!(target->carries & CARRIES_JITTER))
        add_duration(out, program, "jitter", job->jitter_s);
    if (job->start_s != TIME_UNSET || job->end_s != TIME_UNSET)
        strbuf_addf(out, "# not in %s: start and end\n", program);
    if (job->dst != DST_DEFAULT)
        strbuf_addf(out, "# not in %s: dst\n", program);
    for (size_t i = 0; i < job->calendar_count; i++)
        strbuf_addf(out, "# not in %s: calendar: %s\n", program, job->calendars[i]);
    add_names(out, program, "only_on", job->only_on);
    if (job->only_if.jobs)
        strbuf_addf(out, "# not in %s: only_if\n", program);
}

static void add_where(struct strbuf *out, const struct job *job, const char *program)
{
    if (job->where)
        strbuf_addf(out, "# not in %s: where: %s\n", program, job->where);
    if (spread_read(job->spread).kind != SPREAD_ONE)
        strbuf_addf(out, "# not in %s: spread: %s\n", program, job->spread);
    if (job->rolling.at_once)
        strbuf_addf(out, "# not in %s: rolling\n", program);
    if (job->place != PLACE_EVEN)
        strbuf_addf(out, "# not in %s: place: %s\n", program, place_names[job->place]);
    add_names(out, program, "groups", job->groups);
}

static bool expects(const struct job *job, bool carries_exit)
{
    const struct job_expect *expect = &job->expect;
    return expect->matches || expect->not_matches || expect->file || expect->min_s ||
           expect->max_s || expect->duration != EXPECT_DURATION_ANY ||
           (expect->exit && !carries_exit);
}

void export_remarks(const struct job *job, const struct export_target *target, struct strbuf *out)
{
    const struct job_limits none = job_defaults().limits;
    const char *program = target->name;
    bool is_carried = job->overlap == OVERLAP_SKIP ||
                      (job->overlap == OVERLAP_ALLOW && (target->carries & CARRIES_ALLOW)) ||
                      (job->overlap == OVERLAP_REPLACE && (target->carries & CARRIES_REPLACE));
    if (!is_carried)
        strbuf_addf(out, "# not in %s: overlap: %s\n", program, overlap_policy_name(job->overlap));
    if (!(target->carries & CARRIES_TIMEOUT))
        add_duration(out, program, "timeout", job->timeout_s);
    add_when(out, job, target);
    add_where(out, job, program);
    if (memcmp(&job->limits, &none, sizeof(none)) != 0 && !(target->carries & CARRIES_LIMITS))
        strbuf_addf(out, "# not in %s: limits\n", program);
    if (job->retries.count && !(target->carries & CARRIES_RETRIES))
        strbuf_addf(out, "# not in %s: retries: %d\n", program, job->retries.count);
    if (expects(job, target->carries & CARRIES_EXIT))
        strbuf_addf(out, "# not in %s: expect\n", program);
    add_names(out, program, "secrets", job->secrets);
    add_names(out, program, "notify", job->notify.to);
    if (job->ping)
        strbuf_addf(out, "# not in %s: ping\n", program);
}

const char *export_complaint(const struct job *job)
{
    if (job->kind == JOB_HTTP)
        return "it is an HTTP call";
    if (job->kind == JOB_FUNCTION)
        return "it is a function of a program";
    if (job->kind == JOB_WORKFLOW)
        return "it is a workflow";
    if (job->script && !job->script[strspn(job->script, " \t\n")])
        return "its script is empty";
    if (job->params.count)
        return "it has parameters";
    return NULL;
}

void export_comment(const char *text, struct strbuf *out)
{
    strbuf_adds(out, "# ");
    for (; *text; text++) {
        strbuf_addc(out, *text);
        if (*text == '\n')
            strbuf_adds(out, "# ");
    }
    strbuf_addc(out, '\n');
}

static int64_t next_of_all(struct schedule *const *schedules, size_t count, int64_t after_s)
{
    int64_t first = NEVER;
    for (size_t i = 0; i < count; i++) {
        int64_t next = schedule_next(schedules[i], after_s);
        first = next < first ? next : first;
    }
    return first;
}

struct export_proof export_compare(const struct schedule *ours, struct schedule *const *theirs,
                                   size_t count, int64_t from_s)
{
    enum { TICKS_MAX = 100000, YEAR_S = 366 * 86400 };
    struct export_proof proof = {.is_equal = true, .is_by_clock = true};
    int64_t until_s = from_s + YEAR_S, our_tick = schedule_next(ours, from_s),
            their_tick = next_of_all(theirs, count, from_s);
    for (int i = 0; i < TICKS_MAX; i++) {
        int64_t first = our_tick < their_tick ? our_tick : their_tick;
        if (first > until_s)
            break;
        enum tick_note_kind kind = schedule_tick_note(ours, first).kind;
        bool is_both = our_tick == their_tick;
        if ((!is_both || kind == TICK_SECOND_PASS) && proof.is_equal) {
            proof.is_equal = false;
            proof.differs_s = first;
        }
        if (!is_both)
            proof.is_by_clock = proof.is_by_clock && our_tick == first && kind != TICK_PLAIN;
        if (our_tick == first)
            our_tick = schedule_next(ours, our_tick);
        if (their_tick == first)
            their_tick = next_of_all(theirs, count, their_tick);
    }
    return proof;
}
