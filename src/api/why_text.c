#include "why_text.h"

#include <string.h>

#include "encode.h"
#include "fires.h"

static void add_time(struct strbuf *out, int64_t ms)
{
    char text[TIME_TEXT];
    time_format(ms, text);
    strbuf_adds(out, text);
}

static void add_span(struct strbuf *out, int64_t ms)
{
    if (ms < 1000)
        strbuf_addf(out, "%d ms", (int)(ms > 0 ? ms : 0));
    else
        span_print(ms / 1000, out);
}

void why_answer_init(struct why_answer *answer, int64_t tick_ms)
{
    *answer = (struct why_answer){.tick_ms = tick_ms, .state = "unknown"};
    strbuf_init(&answer->text);
}

/* ---- what is on record ---- */

static void add_reason(struct strbuf *out, enum run_reason reason, const char *detail)
{
    if (reason != REASON_NONE)
        strbuf_addf(out, ": %s", run_reason_text(reason));
    if (*detail)
        strbuf_addf(out, " (%s)", detail);
    strbuf_addc(out, '.');
}

static void tell_end(const struct run *run, const char *ended, struct strbuf *out)
{
    if (run->started_ms) {
        strbuf_adds(out, "It started at ");
        add_time(out, run->started_ms);
        strbuf_addf(out, " and %s", ended);
        if (run->finished_ms) {
            strbuf_adds(out, " after ");
            add_span(out, run->finished_ms - run->started_ms);
        }
    } else {
        strbuf_addf(out, "It %s without having started", ended);
    }
    if (run->reason == REASON_EXIT_CODE)
        strbuf_addf(out, ": exit code %d.", run->exit_code);
    else
        add_reason(out, run->reason, run->detail);
}

static void tell_passed(enum run_state state, enum run_reason reason, const char *detail,
                        struct strbuf *out)
{
    strbuf_adds(out, state == RUN_SKIPPED ? "It was skipped" : "It was missed");
    add_reason(out, reason, detail);
}

void why_tell_run(const struct run *run, int64_t now_ms, struct why_answer *answer)
{
    struct strbuf *out = &answer->text;
    answer->run = run;
    answer->state = run_state_name(run->state);
    answer->reason = run->reason;
    switch (run->state) {
    case RUN_QUEUED:
        strbuf_adds(out, "It waits for an earlier run of the job to end.");
        return;
    case RUN_DUE:
        strbuf_adds(out, "It is due and waits for a node to take it.");
        return;
    case RUN_CLAIMED:
    case RUN_BEGUN:
        strbuf_addf(out, "It is about to start on %s.", run->node);
        return;
    case RUN_RUNNING:
        strbuf_addf(out, "It has been running on %s for ", run->node);
        add_span(out, now_ms - run->started_ms);
        strbuf_addc(out, '.');
        return;
    case RUN_SKIPPED:
    case RUN_MISSED:
        tell_passed(run->state, run->reason, run->detail, out);
        return;
    case RUN_OK:
        tell_end(run, "ended well", out);
        return;
    case RUN_FAILED:
        tell_end(run, "failed", out);
        return;
    case RUN_TIMED_OUT:
        tell_end(run, "timed out", out);
        return;
    case RUN_KILLED:
        tell_end(run, "was killed", out);
        return;
    case RUN_LOST:
        tell_end(run, "was lost", out);
        return;
    case RUN_STATES: /* no state */
        return;
    }
}

void why_tell_nobody(const char *where, struct why_answer *answer)
{
    answer->reason = REASON_NO_NODE;
    strbuf_reset(&answer->text);
    strbuf_addf(&answer->text,
                "It is due, but no node has the labels of its where: %s. See `peal nodes`.", where);
}

void why_tell_entry(const struct ledger_entry *entry, struct why_answer *answer)
{
    struct strbuf *out = &answer->text;
    answer->entry = entry;
    answer->state = run_state_name(entry->state);
    answer->reason = entry->reason;
    tell_passed(entry->state, entry->reason, entry->detail, out);
    if (entry->count < 2)
        return;
    strbuf_addf(out, " So were all %lld ticks from ", (long long)entry->count);
    add_time(out, entry->from_ms);
    strbuf_adds(out, " to ");
    add_time(out, entry->to_ms);
    strbuf_addc(out, '.');
}

/* ---- what is not ---- */

static void explain_no_tick(const struct why_facts *facts, struct why_answer *answer)
{
    struct strbuf *out = &answer->text;
    answer->state = "not_a_tick";
    strbuf_adds(out, "The job is not due at this time");
    if (facts->before_ms != NEVER_MS) {
        strbuf_adds(out, "; before it, it was due at ");
        add_time(out, facts->before_ms);
    }
    if (facts->after_ms != NEVER_MS) {
        strbuf_adds(out, facts->before_ms != NEVER_MS ? ", after it at " : "; after it at ");
        add_time(out, facts->after_ms);
    }
    strbuf_addc(out, '.');
}

static void explain_coming(const struct why_facts *facts, struct why_answer *answer)
{
    struct strbuf *out = &answer->text;
    answer->state = "upcoming";
    strbuf_adds(out, "It is due in ");
    add_span(out, facts->tick_ms - facts->now_ms);
    if (facts->job->paused) {
        answer->reason = REASON_PAUSED;
        strbuf_adds(out, ", and will be skipped unless the job is resumed before");
    } else if (facts->tick_ms <= facts->definition->skip_until_ms) {
        answer->reason = REASON_SKIP_NEXT;
        strbuf_adds(out, ", and will be skipped, as a person asked");
    } else if (facts->nobody) {
        answer->reason = REASON_NO_NODE;
        strbuf_addf(out, ", but no node has the labels of its where: %s", facts->job->where);
    } else if (facts->draining) {
        strbuf_adds(out, ", but this agent is draining and starts nothing");
    }
    strbuf_addc(out, '.');
}

static void explain_waiting(const struct why_facts *facts, struct why_answer *answer)
{
    struct strbuf *out = &answer->text;
    answer->state = "waiting";
    if (facts->job->paused) {
        answer->reason = REASON_PAUSED;
        strbuf_adds(out, "It was skipped: the job is paused. It will be on record within an hour, "
                         "or when the job is resumed.");
    } else if (facts->nobody) {
        why_tell_nobody(facts->job->where, answer);
    } else if (facts->draining) {
        strbuf_adds(out, "It is due, but this agent is draining and starts nothing.");
    } else {
        strbuf_adds(out, "It is due and being dealt with; ask again in a moment, and see `peal "
                         "state` if this goes on.");
    }
}

void why_explain(const struct why_facts *facts, struct why_answer *answer)
{
    if (facts->any_tick) {
        answer->state = "none";
        strbuf_adds(&answer->text, "The job has not been due since it was made.");
    } else if (!facts->is_tick) {
        explain_no_tick(facts, answer);
    } else if (facts->tick_ms > facts->now_ms) {
        explain_coming(facts, answer);
    } else if (facts->tick_ms <= facts->definition->created_ms) {
        answer->state = "before_creation";
        strbuf_adds(&answer->text, "The job was made later, at ");
        add_time(&answer->text, facts->definition->created_ms);
        strbuf_addc(&answer->text, '.');
    } else if (facts->tick_ms > facts->job->cursor_ms) {
        explain_waiting(facts, answer);
    } else {
        strbuf_adds(&answer->text,
                    "Nothing is on record. Its record may have been removed by retention, or the "
                    "job had another schedule then.");
    }
}
