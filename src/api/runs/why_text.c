#include "runs/why_text.h"

#include <string.h>

#include "definition/after_check.h"
#include "fires.h"
#include "function/eligible.h"
#include "groups/slots.h"
#include "run_words.h"
#include "runs/encode.h"

/* Times are the same in all languages. */
struct short_text {
    char text[TIME_TEXT + 16];
};

static struct short_text time_text(int64_t ms)
{
    struct short_text ret;
    char text[TIME_TEXT];
    time_format(ms, text);
    snprintf(ret.text, sizeof(ret.text), "%s", text);
    return ret;
}

/* 3 天 4 小时, 7 秒 */
static void print_chinese_span(int64_t s, struct strbuf *out)
{
    static const struct {
        int64_t s;
        const char *name;
    } units[] = {{86400, "天"}, {3600, "小时"}, {60, "分"}, {1, "秒"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (s >= units[i].s || (units[i].s == 1 && !out->length))
            strbuf_addf(out, "%s%lld %s", out->length ? " " : "", (long long)(s / units[i].s),
                        units[i].name);
        s %= units[i].s;
    }
}

static struct short_text span_text(const struct why_answer *answer, int64_t ms)
{
    bool is_chinese = answer->language == LANGUAGE_ZH;
    struct short_text ret;
    struct strbuf text;
    strbuf_init(&text);
    if (ms < 1000)
        strbuf_addf(&text, is_chinese ? "%d 毫秒" : "%d ms", (int)(ms > 0 ? ms : 0));
    else if (is_chinese)
        print_chinese_span(ms / 1000, &text);
    else
        span_print(ms / 1000, &text);
    snprintf(ret.text, sizeof(ret.text), "%s", text.text);
    strbuf_release(&text);
    return ret;
}

void why_answer_init(struct why_answer *answer, enum language language, int64_t tick_ms)
{
    *answer = (struct why_answer){.language = language, .tick_ms = tick_ms, .state = "unknown"};
    strbuf_init(&answer->text);
}

/* A sentence, or a part of one, of message.c. */
__attribute__((format(printf, 2, 3))) static void tell(struct why_answer *answer,
                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_addv(&answer->text, message_in(answer->language, format), args);
    va_end(args);
}

/* ---- what is on record ---- */

static void tell_reason(struct why_answer *answer, enum run_reason reason, const char *detail)
{
    if (reason != REASON_NONE)
        tell(answer, ": %s", run_reason_text(reason, answer->language));
    if (*detail)
        tell(answer, " (%s)", detail);
    tell(answer, ".");
}

static void tell_end(const struct run *run, const char *english, struct why_answer *answer)
{
    const char *ended = message_in(answer->language, english);
    struct short_text start = time_text(run->started_ms);
    struct short_text span = span_text(answer, run->finished_ms - run->started_ms);
    if (!run->started_ms && run->state == RUN_LOST) /* only its node would know */
        tell(answer, "It was lost");
    else if (!run->started_ms || run->reason == REASON_NO_START) /* a process was made, no more */
        tell(answer, "It %s without having started", ended);
    else if (!run->finished_ms)
        tell(answer, "It started at %s and %s", start.text, ended);
    else
        tell(answer, "It started at %s and %s after %s", start.text, ended, span.text);
    if (run->reason == REASON_EXIT_CODE && *run->detail)
        tell(answer, ": exit code %d (%s).", run->exit_code, run->detail);
    else if (run->reason == REASON_EXIT_CODE)
        tell(answer, ": exit code %d.", run->exit_code);
    else
        tell_reason(answer, run->reason, run->detail);
    if (run->retried)
        tell(answer, " It was followed by attempt %d.", run->attempt + 1);
    else if (run->attempt > 1)
        tell(answer, " It was attempt %d of %d.", run->attempt, run->attempts);
    if (run->parts > 1)
        tell(answer, " The tick has %d runs, and this is number %d of them.", run->parts,
             run->part + 1);
}

static void tell_passed(enum run_state state, enum run_reason reason, const char *detail,
                        struct why_answer *answer)
{
    if (state == RUN_SKIPPED)
        tell(answer, "It was skipped");
    else
        tell(answer, "It was missed");
    tell_reason(answer, reason, detail);
}

void why_tell_run(const struct run *run, int64_t now_ms, struct why_answer *answer)
{
    answer->run = run;
    answer->state = run_state_name(run->state);
    answer->reason = run->reason;
    switch (run->state) {
    case RUN_QUEUED:
        if (run_waits_for_turn(run))
            tell(answer,
                 "It waits for its turn: of the %d runs of its tick, this is number %d, and an "
                 "earlier one has not ended.",
                 run->parts, run->part + 1);
        else
            tell(answer, "It waits for an earlier run of the job to end.");
        return;
    case RUN_DUE:
        if (run->attempt > 1 && run->not_before_ms > now_ms)
            tell(answer, "Attempt %d of %d starts at %s, since the one before it has failed.",
                 run->attempt, run->attempts, time_text(run->not_before_ms).text);
        else if (run->pinned[0])
            tell(answer, "It is due, and waits for node %s to take it.", run->pinned);
        else
            tell(answer, "It is due and waits for a node to take it.");
        return;
    case RUN_CLAIMED:
        tell(answer, "It is about to start on %s.", run->node);
        return;
    case RUN_BEGUN: /* on another node it stays BEGUN while it runs */
        tell(answer, "It is under way on %s, which alone knows since when.", run->node);
        return;
    case RUN_RUNNING:
        if (run_is_instance(run))
            tell(answer, "It has been under way for %s.",
                 span_text(answer, now_ms - run->started_ms).text);
        else
            tell(answer, "It has been running on %s for %s.", run->node,
                 span_text(answer, now_ms - run->started_ms).text);
        return;
    case RUN_SKIPPED:
    case RUN_MISSED:
        tell_passed(run->state, run->reason, run->detail, answer);
        return;
    case RUN_OK:
        tell_end(run, "ended well", answer);
        return;
    case RUN_FAILED:
        tell_end(run, "failed", answer);
        return;
    case RUN_TIMED_OUT:
        tell_end(run, "timed out", answer);
        return;
    case RUN_KILLED:
        tell_end(run, "was killed", answer);
        return;
    case RUN_LOST:
        tell_end(run, "was lost", answer);
        return;
    case RUN_STATES: /* no state */
        break;
    }
    tell(answer,
         "It is in a state that only a newer peal knows; a node of that version goes on with "
         "it.");
}

/* "billing" or, with the selector, "billing (zone=eu)". */
struct program_text {
    char text[PROGRAM_MAX + 48];
};

static struct program_text program_text(const char *where)
{
    struct program_text text;
    size_t length;
    const char *program = eligible_program(where, &length);
    const char *labels = eligible_where(where);
    snprintf(text.text, sizeof(text.text), "%.*s%s%.40s%s", (int)length, program,
             labels ? " (" : "", labels ? labels : "", labels ? ")" : "");
    return text;
}

/* Which label is missing, and since when. */
static void tell_lack(const struct why_facts *facts, struct why_answer *answer)
{
    if (facts->unmatched && *facts->unmatched)
        tell(answer, " None has %s.", facts->unmatched);
    if (facts->nobody_ms)
        tell(answer, " That is so since %s.", time_text(facts->nobody_ms).text);
}

static void tell_nobody(const struct why_facts *facts, struct why_answer *answer)
{
    const char *where = facts->job->where;
    answer->reason = REASON_NO_NODE;
    strbuf_reset(&answer->text);
    if (eligible_is_program(where) && *facts->lacking)
        tell(answer,
             "It is due, but no process of the program %s that is running has the function %s: not "
             "%s.",
             program_text(where).text, catalog_job_function(facts->job), facts->lacking);
    else if (eligible_is_program(where))
        tell(answer, "It is due, but no process of the program %s is there. See `peal nodes`.",
             program_text(where).text);
    else if (!where)
        tell(answer, "It is due, but no agent that runs jobs is there. See `peal nodes`.");
    else if (eligible_has_limits(where))
        tell(answer,
             "It is due, but no node has the labels that its limits need: %s. See `peal nodes`.",
             where);
    else
        tell(answer, "It is due, but no node has the labels of its where: %s. See `peal nodes`.",
             where);
}

void why_tell_nobody(const struct why_facts *facts, struct why_answer *answer)
{
    tell_nobody(facts, answer);
    tell_lack(facts, answer);
}

void why_tell_function(const struct job *definition, const struct run *run, int64_t now_ms,
                       struct why_answer *answer)
{
    int64_t until_ms = run->started_ms + (definition->timeout_s + definition->grace_s) * 1000;
    if (definition->kind != JOB_FUNCTION || run->state != RUN_RUNNING || !definition->timeout_s ||
        now_ms <= until_ms)
        return;
    tell(answer,
         " Its timeout has passed: the function was told to end, and can't be ended before it "
         "returns.");
}

void why_tell_held(const char *node, const char *lack, struct why_answer *answer)
{
    strbuf_reset(&answer->text);
    tell(answer, "It is due, and only node %s may run it, which takes no runs now: %s.", node,
         lack);
}

static void tell_limit(const struct slot_wait *wait, struct why_answer *answer)
{
    const char *label = wait->label.label;
    int name_length;
    bool is_lacked = group_label_is_lacked(label, &name_length);
    if (wait->limit == SLOT_OF_CLUSTER)
        tell(answer, ", of which %d may run", wait->most);
    else if (wait->limit == SLOT_OF_NODE)
        tell(answer, ", of which %d may run on a node", wait->most);
    else if (!is_lacked)
        tell(answer, ", of which %d may run on the nodes with %s", wait->most, label);
    else
        tell(answer, ", of which %d may run on the nodes without the label %.*s", wait->most,
             name_length, label);
}

void why_tell_slot(const struct slot_wait *wait, const char *holders, struct why_answer *answer)
{
    const char *name = wait->group->name;
    strbuf_reset(&answer->text);
    if (group_is_space(name))
        tell(answer, "It waits for its namespace %.*s", (int)strlen(name) - 1, name);
    else
        tell(answer, "It waits for group %s", name);
    tell_limit(wait, answer);
    tell(answer, ": number %zu of %zu that wait.", wait->place, wait->waiting);
    if (*holders)
        tell(answer, " Held by: %s.", holders);
}

void why_tell_entry(const struct ledger_entry *entry, struct why_answer *answer)
{
    answer->entry = entry;
    answer->state = run_state_name(entry->state);
    answer->reason = entry->reason;
    tell_passed(entry->state, entry->reason, entry->detail, answer);
    if (entry->count < 2)
        return;
    tell(answer, " So were all %lld ticks from %s to %s.", (long long)entry->count,
         time_text(entry->from_ms).text, time_text(entry->to_ms).text);
}

/* ---- what is not ---- */

static void explain_no_tick(const struct why_facts *facts, struct why_answer *answer)
{
    struct short_text before = time_text(facts->before_ms), after = time_text(facts->after_ms);
    bool has_before = facts->before_ms != NEVER_MS, has_after = facts->after_ms != NEVER_MS;
    answer->state = "not_a_tick";
    if (has_before && has_after)
        tell(answer,
             "The job is not due at this time. The tick before is at %s, the tick after at %s.",
             before.text, after.text);
    else if (has_before)
        tell(answer, "The job is not due at this time. The tick before is at %s.", before.text);
    else if (has_after)
        tell(answer, "The job is not due at this time. The tick after is at %s.", after.text);
    else
        tell(answer, "The job is not due at this time.");
}

static void tell_doubt(const struct why_facts *facts, struct why_answer *answer)
{
    tell(answer,
         " The clock of this node is not trusted: %s. Nothing is started here until %s, unless it "
         "is corrected or most of the other nodes have the same time.",
         message_in(answer->language, facts->doubt), time_text(facts->believed_ms).text);
}

/* The job runs only on the dates of other calendars. */
static bool is_not_on(const struct why_facts *facts)
{
    const struct job_calendars *calendars = facts->job->calendars;
    return calendars && facts->out.calendar == calendars->not_on;
}

/* Its name, or those that are required. */
static const char *calendar_of(const struct why_facts *facts)
{
    return is_not_on(facts) ? facts->out.calendar + strlen("not on ") : facts->out.calendar;
}

static bool requires_windows(const struct why_facts *facts)
{
    const struct calendars *set = &facts->job->calendars->set;
    bool has_windows = false;
    for (size_t i = 0; i < set->only_count; i++)
        has_windows |= set->items[set->count + i]->window_count > 0;
    return has_windows;
}

/* Behind "It is due". */
static void tell_calendar(const struct why_facts *facts, struct why_answer *answer)
{
    struct strbuf window;
    strbuf_init(&window);
    answer->reason = REASON_CALENDAR;
    if (facts->out.window)
        window_print(facts->out.window, &window);
    if (window.length)
        tell(answer, " It will be skipped: it is in the window \"%s\" of the calendar \"%s\".",
             window.text, calendar_of(facts));
    else if (!is_not_on(facts))
        tell(answer, " It will be skipped: its date is on the calendar \"%s\".",
             calendar_of(facts));
    else if (requires_windows(facts))
        tell(answer, " It will be skipped: its time is not on the calendar %s.",
             calendar_of(facts));
    else
        tell(answer, " It will be skipped: its date is not on the calendar %s.",
             calendar_of(facts));
    strbuf_release(&window);
}

/* The calendar that is not there is one of those on whose dates alone the job runs. */
static bool requires_missing(const struct why_facts *facts)
{
    char **name = facts->definition->only_on;
    while (name && *name && strcmp(*name, facts->missing) != 0)
        name++;
    return name && *name;
}

/* The tick falls into maintenance, or into a pause of more than its job. */
static void tell_maintenance(const struct why_facts *facts, struct why_answer *answer)
{
    const struct maintenance *maintenance = facts->maintenance;
    bool is_pause = maintenance->is_pause;
    answer->reason = is_pause ? REASON_PAUSED : REASON_MAINTENANCE;
    if (maintenance->space[0])
        tell(answer,
             is_pause ? " It will be skipped: namespace %s is paused."
                      : " It will be skipped: namespace %s is in maintenance then.",
             maintenance->space);
    else
        tell(answer, is_pause ? " It will be skipped: the cluster is paused."
                              : " It will be skipped: the cluster is in maintenance then.");
    if (maintenance->to_ms)
        tell(answer, " It ends at %s.", time_text(maintenance->to_ms).text);
    if (maintenance->reason[0])
        tell(answer, " The reason that was given: %s.", maintenance->reason);
}

/* What the job's conditions say of the tick as of now. */
static void tell_conditions(const struct why_facts *facts, struct why_answer *answer)
{
    const struct conditions_look *look = facts->look;
    char unmet[160];
    if (!look)
        return;
    if (!look->unmet) {
        tell(answer, " Its conditions (only_if) hold.");
        return;
    }
    const struct job_conditions *conditions = facts->job->conditions;
    conditions_tell(conditions, look, unmet, sizeof(unmet));
    answer->reason = REASON_ONLY_IF;
    if (conditions->wait_ms && facts->tick_ms <= facts->now_ms)
        tell(answer, " It waits for a condition (only_if) until %s, and is skipped then: %s.",
             time_text(facts->tick_ms + catalog_job_jitter_ms(facts->job) + conditions->wait_ms)
                 .text,
             unmet);
    else
        tell(answer, " A condition (only_if) does not hold yet: %s.", unmet);
}

static void explain_coming(const struct why_facts *facts, struct why_answer *answer)
{
    struct short_text span = span_text(answer, facts->tick_ms - facts->now_ms);
    answer->state = "upcoming";
    if (facts->job->paused) {
        answer->reason = REASON_PAUSED;
        tell(answer, "It is due in %s, and will be skipped unless the job is resumed before.",
             span.text);
    } else if (facts->tick_ms <= facts->definition->skip_until_ms) {
        answer->reason = REASON_SKIP_NEXT;
        tell(answer, "It is due in %s, and will be skipped, as a person asked.", span.text);
    } else if (facts->maintenance) {
        tell(answer, "It is due in %s.", span.text);
        tell_maintenance(facts, answer);
    } else if (facts->out.calendar) {
        tell(answer, "It is due in %s.", span.text);
        tell_calendar(facts, answer);
    } else if (facts->nobody) {
        answer->reason = REASON_NO_NODE;
        if (eligible_is_program(facts->job->where) && *facts->lacking)
            tell(answer,
                 "It is due in %s, but no process of the program %s that is running has the "
                 "function %s: not %s.",
                 span.text, program_text(facts->job->where).text, catalog_job_function(facts->job),
                 facts->lacking);
        else if (eligible_is_program(facts->job->where))
            tell(answer, "It is due in %s, but no process of the program %s is there.", span.text,
                 program_text(facts->job->where).text);
        else if (!facts->job->where)
            tell(answer, "It is due in %s, but no agent that runs jobs is there.", span.text);
        else if (eligible_has_limits(facts->job->where))
            tell(answer, "It is due in %s, but no node has the labels that its limits need: %s.",
                 span.text, facts->job->where);
        else
            tell(answer, "It is due in %s, but no node has the labels of its where: %s.", span.text,
                 facts->job->where);
        tell_lack(facts, answer);
    } else if (facts->draining) {
        tell(answer, "It is due in %s, but this agent is draining and starts nothing.", span.text);
    } else if (facts->doubt) {
        tell(answer, "It is due in %s.", span.text);
        tell_doubt(facts, answer);
    } else {
        tell(answer, "It is due in %s.", span.text);
        tell_conditions(facts, answer);
    }
    if (facts->missing && requires_missing(facts))
        tell(answer, " The calendar \"%s\", on whose dates alone the job runs, is not there.",
             facts->missing);
    else if (facts->missing)
        tell(answer, " The job names a calendar \"%s\" that is not there, and runs as without it.",
             facts->missing);
}

/* Why a due tick does not start now, and what happens to it later. */
static void explain_hindrance(const struct why_facts *facts, struct why_answer *answer)
{
    answer->reason = facts->hindrance;
    if (facts->hindrance == REASON_DISK_FULL)
        tell(answer, "It is due, but the disk is full: %s.", facts->trouble);
    else if (facts->hindrance == REASON_STORE_AWAY)
        tell(answer, "It is due, but the store is unavailable: %s.", facts->trouble);
    else if (facts->hindrance == REASON_DRAINED)
        tell(answer, "It is due, but the nodes that could run it are drained: see `peal nodes`.");
    else
        tell(answer, "It is due, but the clock of this node differs from that of the others.");
    tell(answer, " After that, it starts if it is at most 30 s late; otherwise catch_up decides.");
}

static void explain_waiting(const struct why_facts *facts, struct why_answer *answer)
{
    answer->state = "waiting";
    if (facts->job->paused) {
        answer->reason = REASON_PAUSED;
        tell(answer, "It is due.");
        tell(answer, " It will be skipped unless the job is resumed before.");
    } else if (facts->maintenance) {
        tell(answer, "It is due.");
        tell_maintenance(facts, answer);
    } else if (facts->out.calendar) {
        tell(answer, "It is due.");
        tell_calendar(facts, answer);
    } else if (facts->nobody) {
        why_tell_nobody(facts, answer);
    } else if (facts->draining) {
        tell(answer, "It is due, but this agent is draining and starts nothing.");
    } else if (facts->doubt) {
        answer->reason = REASON_CLOCK_DOUBTED;
        tell(answer, "It is due.");
        tell_doubt(facts, answer);
    } else if (facts->hindrance) {
        explain_hindrance(facts, answer);
    } else if (facts->look && facts->look->unmet) {
        tell(answer, "It is due.");
        tell_conditions(facts, answer);
    } else if (eligible_is_program(facts->job->where)) {
        tell(answer,
             "It is due, and waits for a process of the program %s that takes runs and has "
             "registered the function.",
             program_text(facts->job->where).text);
        if (*facts->lacking)
            tell(answer, " It is not registered in %s.", facts->lacking);
    } else {
        tell(answer, "It is due and being processed; ask again in a moment, and see `peal state` "
                     "if this goes on.");
    }
}

/* The jobs in one of the three conditions, as a comma-separated list. */
enum wait_state { WAIT_MISSING, WAIT_OPEN, WAIT_MET };

static void list_waits(const struct why_facts *facts, const struct catalog_job *const *others,
                       enum wait_state wanted, struct strbuf *out)
{
    for (size_t i = 0; i < facts->definition->after_count; i++) {
        const struct job_after *after = &facts->definition->after[i];
        enum wait_state condition = !others[i]                                       ? WAIT_MISSING
                                    : after_is_met(facts->job, after->on, others[i]) ? WAIT_MET
                                                                                     : WAIT_OPEN;
        if (condition != wanted)
            continue;
        strbuf_addf(out, "%s%s", out->length ? ", " : "", after->job);
        if (after->on != AFTER_SUCCESS)
            strbuf_addf(out, " (on: %s)", after_on_names[after->on]);
    }
}

void why_tell_after(const struct why_facts *facts, const struct catalog_job *const *others,
                    struct why_answer *answer)
{
    struct strbuf lists[WAIT_MET + 1];
    for (int i = 0; i <= WAIT_MET; i++) {
        strbuf_init(&lists[i]);
        list_waits(facts, others, (enum wait_state)i, &lists[i]);
    }
    answer->state = "waiting";
    if (lists[WAIT_MISSING].length)
        tell(answer, "It can't run: there is no job %s. ", lists[WAIT_MISSING].text);
    if (lists[WAIT_OPEN].length)
        tell(answer, "It waits for the end of %s.", lists[WAIT_OPEN].text);
    else if (!lists[WAIT_MISSING].length)
        tell(answer, "It waits for the next end of %s.", lists[WAIT_MET].text);
    else if (answer->text.length && answer->text.text[answer->text.length - 1] == ' ')
        strbuf_truncate(&answer->text, answer->text.length - 1); /* nothing follows */
    if (lists[WAIT_MET].length && lists[WAIT_OPEN].length)
        tell(answer, " Ended since its last run: %s.", lists[WAIT_MET].text);
    if (facts->job->paused) {
        answer->reason = REASON_PAUSED;
        tell(answer, " It will be skipped unless the job is resumed before.");
    }
    for (int i = 0; i <= WAIT_MET; i++) {
        answer->text.failed |= lists[i].failed;
        strbuf_release(&lists[i]);
    }
}

void why_explain(const struct why_facts *facts, struct why_answer *answer)
{
    if (facts->any_tick) {
        answer->state = "none";
        if (facts->definition->after_count)
            tell(answer, "The jobs that it waits for have not all ended since it was created.");
        else
            tell(answer, "The job has not been due since it was created.");
    } else if (!facts->is_tick) {
        explain_no_tick(facts, answer);
    } else if (facts->tick_ms > facts->now_ms) {
        explain_coming(facts, answer);
    } else if (facts->tick_ms <= facts->definition->created_ms) {
        answer->state = "before_creation";
        tell(answer, "The job was created later, at %s.",
             time_text(facts->definition->created_ms).text);
    } else if (facts->tick_ms > facts->job->cursor_ms) {
        explain_waiting(facts, answer);
    } else if (facts->job->cursor_ms > facts->now_ms + STORE_AHEAD_MS) {
        answer->state = "waiting";
        tell(answer,
             "The clock was ahead, and the job's cursor is at %s. It continues from now once the "
             "clock is trusted.",
             time_text(facts->job->cursor_ms).text);
        if (facts->doubt)
            tell_doubt(facts, answer);
    } else {
        tell(answer, "Nothing is on record. Its record may have been removed by retention, or the "
                     "job had another schedule then.");
    }
}
