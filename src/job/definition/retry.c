#include "definition/retry.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_internal.h"

const char *const retry_backoff_names[] = {
    [BACKOFF_FIXED] = "fixed", [BACKOFF_EXPONENTIAL] = "exponential", NULL};
const char *const retry_notify_names[] = {
    [RETRY_NOTIFY_LAST] = "last", [RETRY_NOTIFY_EACH] = "each", NULL};

/* ---- items of `on` ---- */

enum { SIGNAL_MOST = 64 };

/* Ends that have a number: "exit 1,75-78". */
struct numbered {
    const char *word;
    int least, most;
    int (*number_of)(const struct run *end); /* -1: it has none */
    bool has_names;                          /* of signals */
    const char *complaint;
};

/* A number, or the name of a signal; -1: neither. *text moves behind it. */
static int take_number(const struct numbered *kind, const char **text)
{
    const char *at = *text;
    int number = 0;
    if (*at >= '0' && *at <= '9') {
        for (; *at >= '0' && *at <= '9' && number <= kind->most; at++)
            number = number * 10 + (*at - '0');
        *text = at;
        return number >= kind->least && number <= kind->most ? number : -1;
    }
    if (!kind->has_names)
        return -1;
    size_t length = strcspn(at, ",- ");
    const char *name = strncmp(at, "SIG", 3) == 0 ? at + 3 : at;
    size_t name_length = length - (size_t)(name - at);
    for (number = 1; number < SIGNAL_MOST; number++) {
        const char *known = sigabbrev_np(number);
        if (known && strlen(known) == name_length && strncmp(known, name, name_length) == 0) {
            *text = at + length;
            return number;
        }
    }
    return -1;
}

struct number_span {
    int first, last;
};

/* The next of "1,75-78"; false: there is none, and *text is at the end or at the mistake. */
static bool next_span(const struct numbered *kind, const char **text, struct number_span *ret)
{
    const char *at = *text;
    if (!*at)
        return false;
    int first = take_number(kind, &at);
    int last = first;
    if (first >= 0 && *at == '-') {
        at++;
        last = take_number(kind, &at);
    }
    if (first < 0 || last < first || (*at && (*at != ',' || !at[1])))
        return false;
    *ret = (struct number_span){first, last};
    *text = *at ? at + 1 : at;
    return true;
}

static bool is_list(const struct numbered *kind, const char *text)
{
    struct number_span span;
    size_t count = 0;
    while (next_span(kind, &text, &span))
        count++;
    return count && !*text;
}

static bool is_listed(const struct numbered *kind, const char *text, int number)
{
    struct number_span span;
    while (next_span(kind, &text, &span)) {
        if (number >= span.first && number <= span.last)
            return true;
    }
    return false;
}

/* What follows the word and a space; NULL: the text is not of that kind. */
static const char *after_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && text[length] == ' ' ? text + length + 1 : NULL;
}

/* Its process was not there in time: the agent or the spawner was away right after the begin. */
static bool is_window_over(const struct run *end)
{
    return end->state == RUN_MISSED && end->reason == REASON_START_WINDOW;
}

static bool is_failure(const struct run *end)
{
    return end->state == RUN_FAILED || is_window_over(end);
}

static bool is_timeout(const struct run *end)
{
    return end->state == RUN_TIMED_OUT;
}

static bool is_loss(const struct run *end)
{
    return end->state == RUN_LOST;
}

static bool is_no_start(const struct run *end)
{
    return (end->state == RUN_FAILED && end->reason == REASON_NO_START) || is_window_over(end);
}

static bool is_unanswered(const struct run *end)
{
    return end->state == RUN_FAILED && end->reason == REASON_HTTP_ERROR;
}

static const struct {
    const char *word;
    bool (*matches)(const struct run *end);
} ends[] = {
    {"failed", is_failure},    {"timed_out", is_timeout},      {"lost", is_loss},
    {"no_start", is_no_start}, {"no_response", is_unanswered},
};

static int exit_code_of(const struct run *end)
{
    return end->exit_code;
}

static int signal_of(const struct run *end)
{
    return end->term_signal > 0 ? end->term_signal : -1;
}

static const struct numbered numbered[] = {
    {"exit", 0, 255, exit_code_of, false, "must be exit codes, like exit 1,75-78"},
    {"signal", 0, SIGNAL_MOST, signal_of, true, "must be signals, like signal KILL,TERM"},
    {"http", 100, 599, run_http_status, false, "must be HTTP statuses, like http 429,500-599"},
};

enum { ENDS = sizeof(ends) / sizeof(ends[0]), NUMBERED = sizeof(numbered) / sizeof(numbered[0]) };

const char *retry_on_complaint(const char *text)
{
    const char *numbers;
    for (size_t i = 0; i < ENDS; i++)
        if (strcmp(text, ends[i].word) == 0)
            return NULL;
    for (size_t i = 0; i < NUMBERED; i++)
        if ((numbers = after_word(text, numbered[i].word)))
            return is_list(&numbered[i], numbers) ? NULL : numbered[i].complaint;
    return "must be failed, timed_out, lost, no_start, no_response, exit CODES, signal NAMES or "
           "http STATUSES";
}

static bool item_matches(const char *text, const struct run *end)
{
    const char *numbers;
    for (size_t i = 0; i < ENDS; i++)
        if (strcmp(text, ends[i].word) == 0)
            return ends[i].matches(end);
    for (size_t i = 0; i < NUMBERED && end->state == RUN_FAILED; i++)
        if ((numbers = after_word(text, numbered[i].word)))
            return is_listed(&numbered[i], numbers, numbered[i].number_of(end));
    return false;
}

/* ---- decisions ---- */

bool retry_is_wanted(const struct job_retries *retries, const struct run *end)
{
    static char *usual[] = {"failed", "timed_out", NULL};
    if (end->attempt > retries->count)
        return false;
    for (char *const *item = retries->on ? retries->on : usual; *item; item++)
        if (item_matches(*item, end))
            return true;
    return false;
}

int64_t retry_wait_ms(const struct job_retries *retries, int attempt, uint64_t random)
{
    int64_t wait_s = retries->wait_s;
    if (retries->backoff == BACKOFF_EXPONENTIAL) {
        for (int i = 1; i < attempt && wait_s < retries->max_wait_s; i++)
            wait_s *= 2;
        if (wait_s > retries->max_wait_s)
            wait_s = retries->max_wait_s;
    }
    int64_t wait_ms = wait_s * 1000;
    int64_t part_ms = wait_ms / 100 * retries->jitter_percent;
    return wait_ms + (part_ms ? (int64_t)(random % (uint64_t)part_ms) : 0);
}

int64_t retry_at_ms(const struct job_retries *retries, const struct run *end, uint64_t random,
                    int64_t window_ms)
{
    int64_t wait_ms = retry_wait_ms(retries, end->attempt, random);
    if ((end->state == RUN_LOST || is_window_over(end)) && wait_ms < window_ms)
        wait_ms = window_ms;
    int64_t at_ms = end->finished_ms + wait_ms;
    bool is_made_good = end->cause == CAUSE_CATCH_UP || end->cause == CAUSE_BACKFILL;
    bool is_late =
        retries->within_s && !is_made_good && at_ms - end->tick_ms > retries->within_s * 1000;
    return is_late ? -1 : at_ms;
}
