/* From text to a schedule: zone prefix, macros, intervals, AWS wrappers, cron fields. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cron/cron_memo.h"
#include "cron/cron_profile.h"
#include "duration.h"
#include "hash.h"
#include "schedule_internal.h"
#include "timestamp.h"

enum { JITTER_MAX_S = 86400 };

struct source {
    const char *text; /* the whole, for columns */
    const struct schedule_options *options;
    const struct cron_dialect *dialect;
    struct zone_db *zones;
    struct parse_error *err;
};

static int column_of(const struct source *src, const char *at)
{
    return (int)(at - src->text) + 1;
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static size_t word_length(const char *at)
{
    return strcspn(at, " \t\r\n");
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The zone of the given name, an error at the given column. */
static enum status find_zone(const struct source *src, const char *name, size_t length, int column,
                             const struct zone **ret)
{
    char *copy = name[length] ? strndup(name, length) : NULL;
    if (name[length] && !copy)
        return E_NOMEM;
    enum status st = zone_db_get(src->zones, copy ? copy : name, ret, src->err);
    if (st != OK && src->err)
        src->err->column = column;
    free(copy);
    return st;
}

/* A second prefix, or one in small letters, would be read as a field and draw a strange message. */
static enum status check_no_prefix(const struct source *src, const char *at, bool second)
{
    if (strncasecmp(at, "TZ=", 3) != 0 && strncasecmp(at, "CRON_TZ=", 8) != 0)
        return OK;
    return parse_fail(src->err, column_of(src, at),
                      second ? "time zone given twice"
                             : "TZ= and CRON_TZ= are written in capital letters");
}

/* Reads `TZ=...` or `CRON_TZ=...` if it is there; *at is then behind it. */
static enum status parse_zone(const struct source *src, const char **at, const struct zone **ret)
{
    const struct schedule_options *options = src->options;
    const char *prefix = has_prefix(*at, "CRON_TZ=") ? "CRON_TZ="
                         : has_prefix(*at, "TZ=")    ? "TZ="
                                                     : NULL;
    if (!prefix) {
        const char *name = options->tz ? options->tz : options->default_tz;
        if (!name)
            name = "UTC";
        enum status st = check_no_prefix(src, *at, false);
        return st == OK ? find_zone(src, name, strlen(name), 0, ret) : st;
    }
    if (!(src->dialect->features & CRON_HAS_ZONE))
        return parse_fail(src->err, column_of(src, *at),
                          "a time zone prefix is not part of %s schedules", src->dialect->title);
    if (options->tz)
        return parse_fail(src->err, column_of(src, *at),
                          "time zone given twice: in the schedule and as \"%s\" beside it",
                          options->tz);
    const char *name = *at + strlen(prefix);
    size_t length = word_length(name);
    if (!length)
        return parse_fail(src->err, column_of(src, name), "a time zone is missing after '='");
    enum status st = find_zone(src, name, length, column_of(src, name), ret);
    if (st != OK)
        return st;
    const char *end = name + length;
    *at = skip_space(end);
    if (!**at)
        return parse_fail(src->err, column_of(src, end), "schedule missing after the time zone");
    return check_no_prefix(src, *at, true);
}

static enum status parse_cron(const struct source *src, const char *fields, int column,
                              enum cron_profile profile, struct schedule *schedule)
{
    struct cron_seed seed = {src->options->job_name, src->options->job_uid};
    enum status st =
        profile == CRON_PEAL
            ? cron_memo_parse(zone_db_memo(src->zones), &schedule->cron, fields, &seed, src->err)
            : cron_expr_parse(&schedule->cron, fields, profile, &seed, src->err);
    if (st == E_INVALID && src->err)
        src->err->column += column - 1;
    schedule->kind = SCHEDULE_CRON;
    return st;
}

/* The one argument of @every, @after, @at: the rest of the text without the space around it. Given
 * back as a copy; *ret_column is where it starts. */
static enum status argument(const struct source *src, const char *at, char **ret, int *ret_column)
{
    const char *begin = skip_space(at);
    size_t length = strlen(begin);
    while (length && isspace((unsigned char)begin[length - 1]))
        length--;
    *ret_column = column_of(src, begin);
    *ret = strndup(begin, length);
    return *ret ? OK : E_NOMEM;
}

static enum status parse_interval(const struct source *src, const char *at, enum schedule_kind kind,
                                  struct schedule *schedule)
{
    char *text;
    int column;
    int64_t seconds = 0;
    enum status st = argument(src, at, &text, &column);
    if (st != OK)
        return st;
    if (text[0] != '-')
        st = duration_parse(text, column, &seconds, src->err);
    if (st == OK && seconds < 1)
        st = parse_fail(src->err, column, "an interval is 1s or more");
    free(text);
    schedule->kind = kind;
    schedule->value_s = seconds;
    return st;
}

static enum status parse_at(const struct source *src, const char *at, struct schedule *schedule)
{
    char *text;
    int column;
    enum status st = argument(src, at, &text, &column);
    if (st != OK)
        return st;
    st = timestamp_parse(text, column, schedule->zone, &schedule->value_s, src->err);
    free(text);
    schedule->kind = SCHEDULE_AT;
    return st;
}

/* Macros are rewritten and parsed as what they stand for. Jenkins spreads its macros by job. */
static const struct macro {
    const char *name;
    const char *fields;
    const char *spread;
    unsigned feature;
} macros[] = {
    {"@yearly", "0 0 1 1 *", "H H H H *", CRON_HAS_MACROS},
    {"@annually", "0 0 1 1 *", "H H H H *", CRON_HAS_MACROS},
    {"@monthly", "0 0 1 * *", "H H H * *", CRON_HAS_MACROS},
    {"@weekly", "0 0 * * 0", "H H * * H", CRON_HAS_MACROS},
    {"@daily", "0 0 * * *", "H H * * *", CRON_HAS_MACROS},
    {"@midnight", "0 0 * * *", "H H(0-2) * * *", CRON_HAS_MACROS},
    {"@hourly", "0 * * * *", "H * * * *", CRON_HAS_MACROS},
    {"@minutely", "* * * * *", NULL, CRON_HAS_OWN_MACROS},
    {"@secondly", "* * * * * *", NULL, CRON_HAS_OWN_MACROS},
};

/* Words with an argument or a meaning of their own. */
static const struct {
    const char *name;
    enum schedule_kind kind;
    unsigned feature;
} own_words[] = {
    {"@every", SCHEDULE_EVERY, CRON_HAS_INTERVALS},
    {"@after", SCHEDULE_AFTER, CRON_HAS_OWN_MACROS},
    {"@at", SCHEDULE_AT, CRON_HAS_OWN_MACROS},
    {"@reboot", SCHEDULE_REBOOT, CRON_HAS_OWN_MACROS},
    {"@manual", SCHEDULE_MANUAL, CRON_HAS_OWN_MACROS},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool word_is(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(at, word, length) == 0;
}

/* How many single-letter edits lie between a typed word and a known one, ignoring case. */
static unsigned edits_between(const char *typed, size_t length, const char *word)
{
    unsigned row[32];
    size_t columns = strlen(word);
    if (length > 30 || columns > 30)
        return 99;
    for (unsigned j = 0; j <= columns; j++)
        row[j] = j;
    for (unsigned i = 1; i <= length; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= columns; j++) {
            unsigned replaced =
                diagonal + (tolower((unsigned char)typed[i - 1]) != (unsigned char)word[j - 1]);
            unsigned least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = replaced < least ? replaced : least;
        }
    }
    return row[columns];
}

static enum status unknown_macro(const struct source *src, const char *at, size_t length)
{
    const char *best = NULL;
    unsigned best_edits = length < 5 ? 2 : 3; /* more edits are no likely typo */
    for (size_t i = 0; i < COUNT(macros) + COUNT(own_words); i++) {
        const char *name = i < COUNT(macros) ? macros[i].name : own_words[i - COUNT(macros)].name;
        unsigned edits = edits_between(at, length, name);
        if (edits < best_edits) {
            best_edits = edits;
            best = name;
        }
    }
    if (best)
        return parse_fail(src->err, column_of(src, at), "unknown macro; did you mean %s?", best);
    return parse_fail(src->err, column_of(src, at),
                      "unknown macro; @hourly, @daily, @weekly, @monthly, @yearly, @every 90s and "
                      "others are known");
}

static enum status macro_not_here(const struct source *src, const char *at, size_t length)
{
    return parse_fail(src->err, column_of(src, at), "%.*s is not part of %s schedules", (int)length,
                      at, src->dialect->title);
}

/* Nothing but white space may follow a macro without an argument. */
static enum status check_end(const struct source *src, const char *at, const char *word)
{
    const char *rest = skip_space(at);
    if (*rest)
        return parse_fail(src->err, column_of(src, rest), "unexpected text after %s", word);
    return OK;
}

static enum status parse_own_word(const struct source *src, const char *argument_at,
                                  enum schedule_kind kind, const char *word,
                                  struct schedule *schedule)
{
    if (kind == SCHEDULE_EVERY || kind == SCHEDULE_AFTER)
        return parse_interval(src, argument_at, kind, schedule);
    if (kind == SCHEDULE_AT)
        return parse_at(src, argument_at, schedule);
    schedule->kind = kind;
    return check_end(src, argument_at, word);
}

static enum status parse_macro(const struct source *src, const char *at, struct schedule *schedule)
{
    size_t length = word_length(at);
    for (size_t i = 0; i < COUNT(own_words); i++) {
        if (!word_is(at, length, own_words[i].name))
            continue;
        if (!(src->dialect->features & own_words[i].feature))
            return macro_not_here(src, at, length);
        return parse_own_word(src, at + length, own_words[i].kind, own_words[i].name, schedule);
    }
    for (size_t i = 0; i < COUNT(macros); i++) {
        if (!word_is(at, length, macros[i].name))
            continue;
        if (!(src->dialect->features & macros[i].feature))
            return macro_not_here(src, at, length);
        enum status st = check_end(src, at + length, macros[i].name);
        if (st != OK)
            return st;
        bool spread = src->options->profile == CRON_JENKINS;
        return parse_cron(src, spread ? macros[i].spread : macros[i].fields, 1,
                          src->options->profile == CRON_OCPS_STRICT ? CRON_PEAL
                                                                    : src->options->profile,
                          schedule);
    }
    return unknown_macro(src, at, length);
}

/* `5 minutes` as AWS writes it. */
static enum status parse_rate(const struct source *src, const char *inside, int column,
                              struct schedule *schedule)
{
    static const struct {
        const char *one, *many;
        int64_t seconds;
    } rates[] = {{"minute", "minutes", 60}, {"hour", "hours", 3600}, {"day", "days", 86400}};
    char *end;
    long count = strtol(inside, &end, 10);
    const char *unit = skip_space(end);
    size_t length = strlen(unit);
    while (length && isspace((unsigned char)unit[length - 1]))
        length--;
    for (size_t i = 0; i < COUNT(rates); i++) {
        if (end == inside || count < 1 || count > 1000000)
            break;
        if (!word_is(unit, length, rates[i].one) && !word_is(unit, length, rates[i].many))
            continue;
        schedule->kind = SCHEDULE_EVERY;
        schedule->value_s = count * rates[i].seconds;
        return OK;
    }
    return parse_fail(src->err, column,
                      "a rate is a number and minutes, hours or days: rate(5 minutes)");
}

/* `cron(...)`, `rate(...)`, `at(...)`: the AWS spellings. *ret_done: it was one of them. */
static enum status parse_wrapped(const struct source *src, const char *at,
                                 struct schedule *schedule, bool *ret_done)
{
    static const char *const wrappers[] = {"cron(", "rate(", "at("};
    size_t which = 0;
    while (which < COUNT(wrappers) && !has_prefix(at, wrappers[which]))
        which++;
    bool allowed = src->options->profile == CRON_PEAL || src->options->profile == CRON_AWS;
    *ret_done = which < COUNT(wrappers) && allowed;
    if (!*ret_done)
        return OK;
    const char *begin = at + strlen(wrappers[which]);
    const char *close = strchr(begin, ')');
    int column = column_of(src, begin);
    if (!close)
        return parse_fail(src->err, column_of(src, begin + strlen(begin)), "')' is missing");
    enum status st = check_end(src, close + 1, "')'");
    if (st != OK)
        return st;
    char *inside = strndup(begin, (size_t)(close - begin));
    if (!inside)
        return E_NOMEM;
    if (which == 0)
        st = parse_cron(src, inside, column, CRON_AWS, schedule);
    else if (which == 1)
        st = parse_rate(src, inside, column, schedule);
    else
        st = timestamp_parse(inside, column, schedule->zone, &schedule->value_s, src->err);
    if (which == 2)
        schedule->kind = SCHEDULE_AT;
    free(inside);
    return st;
}

/* Unset, or an instant of the years 1 to 9999. */
static bool is_bound(int64_t utc_s)
{
    return utc_s == TIME_UNSET || (utc_s >= TIME_FIRST_S && utc_s <= TIME_END_S);
}

static enum status check_options(const struct source *src)
{
    const struct schedule_options *o = src->options;
    if (!is_bound(o->start_s) || !is_bound(o->end_s))
        return parse_fail(src->err, 0, "start and end are in the years 1 to 9999");
    if (o->start_s != TIME_UNSET && o->end_s != TIME_UNSET && o->start_s >= o->end_s)
        return parse_fail(src->err, 0, "the window is empty: its end is not after its start");
    if (o->jitter_s < 0 || o->jitter_s > JITTER_MAX_S)
        return parse_fail(src->err, 0, "jitter is 0s to 1d");
    return OK;
}

static uint32_t jitter_ms(const struct schedule_options *options)
{
    uint64_t hash = hash_text(hash_text(0, options->job_uid ? options->job_uid : ""), "jitter");
    return (uint32_t)hash_below(hash, (uint64_t)options->jitter_s * 1000);
}

struct schedule_options schedule_options_default(void)
{
    return (struct schedule_options){.start_s = TIME_UNSET, .end_s = TIME_UNSET};
}

enum status schedule_parse(const char *text, const struct schedule_options *options,
                           struct zone_db *zones, struct schedule **ret, struct parse_error *reterr)
{
    struct source src = {text, options, cron_dialect(options->profile), zones, reterr};
    enum status st = check_options(&src);
    if (st != OK)
        return st;
    struct schedule *schedule = calloc(1, sizeof(*schedule));
    if (!schedule)
        return E_NOMEM;
    schedule->start_s = options->start_s;
    schedule->end_s = options->end_s;
    schedule->dst = options->dst;
    schedule->jitter_s = options->jitter_s;
    if (options->jitter_s)
        schedule->jitter_ms = jitter_ms(options);
    const char *at = skip_space(text);
    bool done = false;
    st = parse_zone(&src, &at, &schedule->zone);
    if (st == OK)
        st = parse_wrapped(&src, at, schedule, &done);
    if (st == OK && !done)
        st = *at == '@' ? parse_macro(&src, at, schedule)
                        : parse_cron(&src, at, column_of(&src, at), options->profile, schedule);
    if (st != OK)
        goto out;
    *ret = schedule;
    schedule = NULL;
out:
    schedule_free(schedule);
    return st;
}
