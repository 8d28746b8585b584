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

enum { EXIT_MOST = 255, SIGNAL_MOST = 64 };

/* A number of at most `most`, or the name of a signal; -1: neither. *text moves behind it. */
static int take_number(const char **text, int most, bool is_signal)
{
    const char *at = *text;
    int number = 0;
    if (*at >= '0' && *at <= '9') {
        for (; *at >= '0' && *at <= '9' && number <= most; at++)
            number = number * 10 + (*at - '0');
        *text = at;
        return number <= most ? number : -1;
    }
    if (!is_signal)
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
static bool next_span(const char **text, int most, bool is_signal, struct number_span *ret)
{
    const char *at = *text;
    if (!*at)
        return false;
    int first = take_number(&at, most, is_signal);
    int last = first;
    if (first >= 0 && *at == '-') {
        at++;
        last = take_number(&at, most, is_signal);
    }
    if (first < 0 || last < first || (*at && (*at != ',' || !at[1])))
        return false;
    *ret = (struct number_span){first, last};
    *text = *at ? at + 1 : at;
    return true;
}

static bool is_list(const char *text, int most, bool is_signal)
{
    struct number_span span;
    size_t count = 0;
    while (next_span(&text, most, is_signal, &span))
        count++;
    return count && !*text;
}

static bool is_listed(const char *text, int most, bool is_signal, int number)
{
    struct number_span span;
    while (next_span(&text, most, is_signal, &span)) {
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

static bool is_failure(const struct run *end)
{
    return end->state == RUN_FAILED;
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
    return end->state == RUN_FAILED && end->reason == REASON_NO_START;
}

static const struct {
    const char *word;
    bool (*matches)(const struct run *end);
} ends[] = {
    {"failed", is_failure},
    {"timed_out", is_timeout},
    {"lost", is_loss},
    {"no_start", is_no_start},
};

const char *retry_on_complaint(const char *text)
{
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (strcmp(text, ends[i].word) == 0)
            return NULL;
    const char *codes = after_word(text, "exit"), *signals = after_word(text, "signal");
    if (codes)
        return is_list(codes, EXIT_MOST, false) ? NULL : "must be exit codes, like exit 1,75-78";
    if (signals)
        return is_list(signals, SIGNAL_MOST, true) ? NULL
                                                   : "must be signals, like signal KILL,TERM";
    return "must be failed, timed_out, lost, no_start, exit CODES or signal NAMES";
}

static bool item_matches(const char *text, const struct run *end)
{
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (strcmp(text, ends[i].word) == 0)
            return ends[i].matches(end);
    const char *codes = after_word(text, "exit"), *signals = after_word(text, "signal");
    if (end->state != RUN_FAILED)
        return false;
    if (codes)
        return end->exit_code >= 0 && is_listed(codes, EXIT_MOST, false, end->exit_code);
    return signals && end->term_signal > 0 &&
           is_listed(signals, SIGNAL_MOST, true, end->term_signal);
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
    if (end->state == RUN_LOST && wait_ms < window_ms)
        wait_ms = window_ms;
    int64_t at_ms = end->finished_ms + wait_ms;
    bool is_made_good = end->cause == CAUSE_CATCH_UP || end->cause == CAUSE_BACKFILL;
    bool is_late =
        retries->within_s && !is_made_good && at_ms - end->tick_ms > retries->within_s * 1000;
    return is_late ? -1 : at_ms;
}
