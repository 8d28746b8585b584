#include "cron_field.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hash.h"

static const char *const month_names[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                          "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
static const char *const weekday_names[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

static const struct {
    const char *name;
    int min, max;
    int size; /* of different values; weekdays 0 and 7 are the same */
    const char *const *names;
    const char *names_are;
} fields[] = {
    [CRON_SECOND] = {"second", 0, 59, 60, NULL, NULL},
    [CRON_MINUTE] = {"minute", 0, 59, 60, NULL, NULL},
    [CRON_HOUR] = {"hour", 0, 23, 24, NULL, NULL},
    [CRON_DAY] = {"day of month", 1, 31, 31, NULL, NULL},
    [CRON_MONTH] = {"month", 1, 12, 12, month_names, "month"},
    [CRON_WEEKDAY] = {"day of week", 0, 7, 7, weekday_names, "weekday"},
    [CRON_YEAR] = {"year", YEAR_MIN, YEAR_MAX, YEAR_MAX - YEAR_MIN + 1, NULL, NULL},
};

int cron_field_min(enum cron_field field)
{
    return fields[field].min;
}

int cron_field_max(enum cron_field field)
{
    return fields[field].max;
}

uint64_t cron_field_all(enum cron_field field)
{
    return ((UINT64_C(1) << fields[field].size) - 1) << fields[field].min;
}

const char *cron_field_name(enum cron_field field)
{
    return fields[field].name;
}

struct parser {
    const struct cron_field_source *source;
    struct cron_field_set *set;
    struct parse_error *err;
    int at;          /* next byte to read */
    int item;        /* first byte of the item under way */
    const char *had; /* what was read last, for "unexpected ... after ..." */
};

/* Half-open steps: from, from + step, ... up to `to`, in the field's own numbering; `to` may be
 * below `from`: then it wraps around. */
struct range {
    int from, to, step;
};

#define FAIL(parser, at, ...) parse_fail((parser)->err, (at) + 1, __VA_ARGS__)

static bool has(const struct parser *p, unsigned feature)
{
    return p->source->dialect->features & feature;
}

static char peek(const struct parser *p)
{
    return p->at < p->source->end ? p->source->text[p->at] : '\0';
}

static bool take(struct parser *p, char c)
{
    if (peek(p) != c)
        return false;
    p->at++;
    return true;
}

static int lowest_value(const struct parser *p)
{
    return p->source->field == CRON_WEEKDAY && has(p, CRON_SUNDAY_IS_1)
               ? 1
               : fields[p->source->field].min;
}

static int highest_value(const struct parser *p)
{
    if (p->source->field == CRON_WEEKDAY)
        return p->source->dialect->weekday_max;
    if (p->source->field == CRON_YEAR)
        return p->source->dialect->year_max;
    return fields[p->source->field].max;
}

/* A character as it can be shown in a message. */
static const char *shown(const struct parser *p, int at, char buffer[8])
{
    unsigned char c = (unsigned char)p->source->text[at];
    if (isprint(c)) {
        snprintf(buffer, 8, "'%c'", c);
    } else if (c >= 0xc0) { /* a whole UTF-8 character, if it is one */
        int length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        for (int i = 1; i < length; i++) {
            if ((p->source->text[at + i] & 0xc0) != 0x80) {
                snprintf(buffer, 8, "\\x%02x", c);
                return buffer;
            }
        }
        snprintf(buffer, 8, "'%.*s'", length, p->source->text + at);
    } else {
        snprintf(buffer, 8, "\\x%02x", c);
    }
    return buffer;
}

static enum status unexpected(const struct parser *p)
{
    char buffer[8];
    if (p->at >= p->source->end)
        return FAIL(p, p->at, "the %s field ends too early", fields[p->source->field].name);
    if (p->had)
        return FAIL(p, p->at, "unexpected %s after %s", shown(p, p->at, buffer), p->had);
    return FAIL(p, p->at, "unexpected %s in the %s field; %d-%d is allowed",
                shown(p, p->at, buffer), fields[p->source->field].name, lowest_value(p),
                highest_value(p));
}

static enum status not_in_dialect(const struct parser *p, int at, const char *what)
{
    return FAIL(p, at, "%s is not part of %s cron expressions", what, p->source->dialect->title);
}

/* Digits as a number of at most 9 places. */
static enum status parse_number(struct parser *p, int *ret)
{
    int begin = p->at;
    int value = 0;
    if (!isdigit((unsigned char)peek(p)))
        return unexpected(p);
    while (isdigit((unsigned char)peek(p))) {
        if (p->at - begin >= 9)
            return FAIL(p, begin, "number too large");
        value = value * 10 + (p->source->text[p->at++] - '0');
    }
    *ret = value;
    return OK;
}

static enum status check_value(const struct parser *p, int at, int value)
{
    enum cron_field field = p->source->field;
    if (value >= lowest_value(p) && value <= highest_value(p))
        return OK;
    if (field == CRON_WEEKDAY && p->source->field_count == 6 && value >= YEAR_MIN &&
        value <= YEAR_MAX)
        return FAIL(p, at, "day of week %d; six fields are seconds-first, a year needs seven",
                    value);
    return FAIL(p, at, "%s %d is out of range %d-%d", fields[field].name, value, lowest_value(p),
                highest_value(p));
}

static enum status parse_checked_number(struct parser *p, int *ret)
{
    int begin = p->at;
    int value;
    enum status st = parse_number(p, &value);
    if (st == OK)
        st = check_value(p, begin, value);
    if (st != OK)
        return st;
    p->had = "a number";
    if (p->source->field == CRON_WEEKDAY && has(p, CRON_SUNDAY_IS_1))
        value--;
    *ret = value;
    return OK;
}

/* Length of the run of letters at p->at. */
static int word_length(const struct parser *p)
{
    int length = 0;
    while (p->at + length < p->source->end &&
           isalpha((unsigned char)p->source->text[p->at + length]))
        length++;
    return length;
}

static bool word_is(const struct parser *p, int length, const char *word)
{
    return (size_t)length == strlen(word) &&
           strncasecmp(p->source->text + p->at, word, (size_t)length) == 0;
}

static int name_count(enum cron_field field)
{
    return field == CRON_MONTH ? 12 : 7;
}

/* The index of the name that these three letters spell; -1: none. */
static int name_index(const struct parser *p, const char *letters)
{
    for (int i = 0; i < name_count(p->source->field); i++) {
        if (strncasecmp(letters, fields[p->source->field].names[i], 3) == 0)
            return i;
    }
    return -1;
}

/* The name that was probably meant: its first letters fit, or all but one of three; NULL: none. */
static const char *nearest_name(const struct parser *p, int length)
{
    const char *word = p->source->text + p->at;
    const char *const *names = fields[p->source->field].names;
    for (int i = 0; i < name_count(p->source->field) && length >= 2; i++) {
        if (strncasecmp(word, names[i], length < 3 ? (size_t)length : 3) == 0)
            return names[i];
    }
    for (int i = 0; i < name_count(p->source->field) && length == 3; i++) {
        int same = 0;
        for (int k = 0; k < 3; k++)
            same += toupper((unsigned char)word[k]) == names[i][k];
        if (same == 2)
            return names[i];
    }
    return NULL;
}

static enum status unknown_word(const struct parser *p, int length)
{
    enum cron_field field = p->source->field;
    const char *word = p->source->text + p->at;
    int shown_length = length > 20 ? 20 : length;
    if (!fields[field].names)
        return FAIL(p, p->at, "unexpected \"%.*s\"; %s is a number %d-%d", shown_length, word,
                    fields[field].name, lowest_value(p), highest_value(p));
    const char *near = nearest_name(p, length);
    if (near)
        return FAIL(p, p->at, "unknown %s \"%.*s\"; did you mean %s?", fields[field].names_are,
                    shown_length, word, near);
    return FAIL(p, p->at, "unknown %s \"%.*s\"", fields[field].names_are, shown_length, word);
}

/* A number or a name. *ret_named tells which. */
static enum status parse_value(struct parser *p, int *ret, bool *ret_named)
{
    int length = word_length(p);
    *ret_named = length > 0;
    if (!length)
        return parse_checked_number(p, ret);
    /* FRIL is Friday and L; the caller reads the L. */
    bool with_last = p->source->field == CRON_WEEKDAY && length == 4 &&
                     toupper((unsigned char)p->source->text[p->at + 3]) == 'L';
    int index = fields[p->source->field].names && (length == 3 || with_last)
                    ? name_index(p, p->source->text + p->at)
                    : -1;
    if (index < 0)
        return unknown_word(p, length);
    p->at += 3;
    p->had = "a name";
    *ret = index + (p->source->field == CRON_MONTH ? 1 : 0);
    return OK;
}

/* `/n` if there is one. */
static enum status parse_step(struct parser *p, int *step)
{
    if (!take(p, '/'))
        return OK;
    p->had = "'/'";
    int begin = p->at;
    int value;
    if (peek(p) == '-')
        return FAIL(p, begin, "a step is 1 or more");
    if (!isdigit((unsigned char)peek(p)))
        return FAIL(p, begin, "a step is missing after '/'");
    enum status st = parse_number(p, &value);
    if (st != OK)
        return st;
    if (value < 1)
        return FAIL(p, begin, "a step is 1 or more");
    if (value > fields[p->source->field].size)
        return FAIL(p, begin, "step %d is larger than the field (%d-%d)", value, lowest_value(p),
                    highest_value(p));
    p->had = "a step";
    *step = value;
    return OK;
}

static void add_value(struct parser *p, int value)
{
    if (p->source->field == CRON_YEAR)
        cron_years_add(p->set->years, value);
    else
        p->set->bits |= UINT64_C(1) << (p->source->field == CRON_WEEKDAY ? value % 7 : value);
}

static void add_range(struct parser *p, struct range range)
{
    int min = fields[p->source->field].min, size = fields[p->source->field].size;
    int length = range.to >= range.from ? range.to - range.from : range.to - range.from + size;
    for (int i = 0; i <= length; i += range.step)
        add_value(p, min + (range.from - min + i) % size);
}

/* Everything that the field can hold; what `*` stands for. */
static struct range whole_field(const struct parser *p)
{
    enum cron_field field = p->source->field;
    int last = field == CRON_YEAR ? p->source->dialect->year_max
                                  : fields[field].min + fields[field].size - 1;
    return (struct range){fields[field].min, last, 1};
}

/* What a bare `H`, `~` or `R` is drawn from: only days that every month has. */
static struct range drawable_field(const struct parser *p)
{
    struct range range = whole_field(p);
    if (p->source->field == CRON_DAY)
        range.to = 28;
    return range;
}

/* Draws from a range: one value of it, or with a step the offset that the steps start at. */
static void add_drawn(struct parser *p, struct range range, uint64_t hash)
{
    int size = range.to - range.from + 1;
    bool stepped = range.step > 0;
    int choices = stepped && range.step < size ? range.step : size;
    int drawn = range.from + (int)hash_below(hash, (uint64_t)choices);
    add_range(p, (struct range){drawn, stepped ? range.to : drawn, stepped ? range.step : 1});
}

static uint64_t hash_of_name(const struct parser *p)
{
    const char *name =
        p->source->seed && p->source->seed->job_name ? p->source->seed->job_name : "";
    p->set->notes |= CRON_NOTE_SEEDED_NAME;
    return hash_text(hash_text(0, name), fields[p->source->field].name);
}

static uint64_t hash_of_uid(const struct parser *p)
{
    const char *uid = p->source->seed && p->source->seed->job_uid ? p->source->seed->job_uid : "";
    uint64_t hash = hash_text(hash_text(0, uid), fields[p->source->field].name);
    p->set->notes |= CRON_NOTE_SEEDED_UID;
    return hash_bytes(hash, p->source->text + p->item, (size_t)(p->at - p->item));
}

static enum status refuse_drawn_year(const struct parser *p, const char *what)
{
    return FAIL(p, p->item, "%s can't choose a year", what);
}

/* `H`, `H(a-b)`, `H/n`, `H(a-b)/n`; p->at is behind the H. */
static enum status parse_hash(struct parser *p)
{
    enum status st;
    if (!has(p, CRON_HAS_HASH))
        return not_in_dialect(p, p->item, "H");
    if (p->source->field == CRON_YEAR)
        return refuse_drawn_year(p, "H");
    struct range range = drawable_field(p);
    range.step = 0;
    p->had = "H";
    if (take(p, '(')) {
        bool named;
        int begin = p->at;
        p->had = "'('";
        if ((st = parse_value(p, &range.from, &named)) != OK)
            return st;
        if (!take(p, '-'))
            return unexpected(p);
        if ((st = parse_value(p, &range.to, &named)) != OK)
            return st;
        if (range.from > range.to)
            return FAIL(p, begin, "a range inside H(...) goes from low to high");
        if (!take(p, ')'))
            return unexpected(p);
        p->had = "H(...)";
    }
    if ((st = parse_step(p, &range.step)) != OK)
        return st;
    add_drawn(p, range, hash_of_name(p));
    return OK;
}

/* `~`, `a~b`, `~/n`, `a~b/n`; p->at is behind the tilde, `from` is the value before it. */
static enum status parse_random(struct parser *p, const int *from)
{
    enum status st;
    bool named;
    if (!has(p, CRON_HAS_RANDOM))
        return not_in_dialect(p, p->item, "'~'");
    if (p->source->field == CRON_YEAR)
        return refuse_drawn_year(p, "'~'");
    struct range range = from ? whole_field(p) : drawable_field(p);
    range.step = 0;
    if (from)
        range.from = *from;
    p->had = "'~'";
    if (isalnum((unsigned char)peek(p))) {
        if ((st = parse_value(p, &range.to, &named)) != OK)
            return st;
        p->had = "a range";
    }
    if (range.from > range.to)
        return FAIL(p, p->item, "a range around '~' goes from low to high");
    if ((st = parse_step(p, &range.step)) != OK)
        return st;
    add_drawn(p, range, hash_of_uid(p));
    return OK;
}

/* `L`, `L-n`, `LW` in the day of month; p->at is at the word. */
static enum status parse_last_day(struct parser *p, int length)
{
    if (!has(p, CRON_HAS_LAST))
        return not_in_dialect(p, p->at, "L");
    p->at += length;
    p->had = "L";
    if (length == 2) {
        p->had = "LW";
        p->set->last_workday = true;
        return OK;
    }
    int before = 0;
    if (take(p, '-')) {
        int begin = p->at;
        enum status st = parse_number(p, &before);
        if (st != OK)
            return st;
        if (before < 1 || before > 30)
            return FAIL(p, begin, "L-%d is out of range: L-1 to L-30 count back from the last day",
                        before);
        p->had = "L-n";
    }
    p->set->days_to_last |= UINT32_C(1) << before;
    return OK;
}

/* `#n`, `#-n`, `#L`; p->at is behind the '#'. */
static enum status parse_ordinal(struct parser *p, int weekday)
{
    int begin = p->at;
    uint8_t bit = (uint8_t)(1 << weekday % 7);
    if (!has(p, CRON_HAS_LAST))
        return not_in_dialect(p, begin - 1, "'#'");
    p->had = "an ordinal";
    if (word_is(p, word_length(p), "L")) {
        p->at++;
        p->set->nth_last[0] |= bit;
        return OK;
    }
    bool from_end = take(p, '-');
    int ordinal;
    if (!isdigit((unsigned char)peek(p)) || parse_number(p, &ordinal) != OK || ordinal < 1 ||
        ordinal > 5)
        return FAIL(p, begin, "ordinal is 1..5, -1..-5 or L");
    (from_end ? p->set->nth_last : p->set->nth)[ordinal - 1] |= bit;
    return OK;
}

/* Items that are a single letter-word, not a name. *ret_done: it was one, and is read. */
static enum status parse_special_word(struct parser *p, bool *ret_done)
{
    int length = word_length(p);
    *ret_done = true;
    if (word_is(p, length, "H")) {
        p->at++;
        return parse_hash(p);
    }
    if (word_is(p, length, "R")) {
        if (!has(p, CRON_HAS_RANDOM))
            return not_in_dialect(p, p->at, "R");
        if (p->source->field == CRON_YEAR)
            return refuse_drawn_year(p, "R");
        p->at++;
        p->had = "R";
        struct range range = drawable_field(p);
        range.step = 0;
        add_drawn(p, range, hash_of_uid(p));
        return OK;
    }
    if (p->source->field == CRON_DAY && (word_is(p, length, "L") || word_is(p, length, "LW")))
        return parse_last_day(p, length);
    if (p->source->field == CRON_WEEKDAY && word_is(p, length, "L")) {
        if (!has(p, CRON_BARE_LAST_IS_SATURDAY))
            return FAIL(p, p->at, "L alone does not say which day; 6L is the last Saturday");
        p->at++;
        p->had = "L";
        add_value(p, 6);
        return OK;
    }
    *ret_done = false;
    return OK;
}

static enum status parse_star(struct parser *p)
{
    struct range range = whole_field(p);
    bool day_field = p->source->field == CRON_DAY || p->source->field == CRON_WEEKDAY;
    p->had = "'*'";
    enum status st = parse_step(p, &range.step);
    if (st != OK)
        return st;
    if (range.step == 1 || !day_field || has(p, CRON_STEP_IS_STAR))
        p->set->star = true;
    add_range(p, range);
    return OK;
}

static enum status parse_question(struct parser *p)
{
    enum cron_field field = p->source->field;
    if (!has(p, CRON_HAS_QUESTION))
        return not_in_dialect(p, p->item, "'?'");
    if (field != CRON_DAY && field != CRON_WEEKDAY)
        return FAIL(p, p->item, "'?' is for the two day fields; for a %s spread by job name use H",
                    fields[field].name);
    if (p->item != p->source->begin || p->at != p->source->end)
        return FAIL(p, p->item, "'?' stands alone in its field");
    p->set->star = p->set->question = true;
    add_range(p, whole_field(p));
    return OK;
}

/* `a/n`: from a to the end of the field. p->at is at the '/'. */
static enum status parse_open_step(struct parser *p, int from)
{
    struct range range = whole_field(p);
    range.from = p->source->field == CRON_WEEKDAY ? from % 7 : from;
    if (!has(p, CRON_HAS_OPEN_STEP))
        return FAIL(p, p->at, "a step after a single value is not part of %s; write %d-%d/n",
                    p->source->dialect->title, from, highest_value(p));
    enum status st = parse_step(p, &range.step);
    if (st != OK)
        return st;
    p->set->notes |= CRON_NOTE_OPEN_STEP;
    add_range(p, range);
    return OK;
}

/* `a-b` and `a-b/n`; p->at is behind the '-'. */
static enum status parse_range(struct parser *p, int from)
{
    struct range range = {.from = from, .step = 1};
    bool named;
    p->had = "'-'";
    enum status st = parse_value(p, &range.to, &named);
    if (st != OK)
        return st;
    if (p->source->field == CRON_WEEKDAY && named && range.to == 0)
        range.to = 7; /* x-SUN ends the week */
    if (range.from > range.to && (p->source->field == CRON_YEAR || !has(p, CRON_HAS_WRAP)))
        return FAIL(p, p->item, "a range of %ss goes from low to high",
                    fields[p->source->field].name);
    p->had = "a range";
    if ((st = parse_step(p, &range.step)) != OK)
        return st;
    add_range(p, range);
    return OK;
}

static enum status parse_item(struct parser *p)
{
    enum status st;
    bool done, named;
    int value;
    p->item = p->at;
    p->had = NULL;
    if (take(p, '*'))
        return parse_star(p);
    if (take(p, '?'))
        return parse_question(p);
    if (take(p, '~'))
        return parse_random(p, NULL);
    if ((st = parse_special_word(p, &done)) != OK || done)
        return st;
    if ((st = parse_value(p, &value, &named)) != OK)
        return st;
    if (p->source->field == CRON_DAY && toupper((unsigned char)peek(p)) == 'W') {
        if (!has(p, CRON_HAS_LAST))
            return not_in_dialect(p, p->at, "W");
        p->at++;
        p->had = "W";
        p->set->workdays |= UINT32_C(1) << value;
        return OK;
    }
    if (p->source->field == CRON_WEEKDAY && toupper((unsigned char)peek(p)) == 'L') {
        if (!has(p, CRON_HAS_LAST))
            return not_in_dialect(p, p->at, "L");
        p->at++;
        p->had = "L";
        p->set->nth_last[0] |= (uint8_t)(1 << value % 7);
        return OK;
    }
    if (p->source->field == CRON_WEEKDAY && take(p, '#'))
        return parse_ordinal(p, value);
    if (take(p, '-'))
        return parse_range(p, value);
    if (take(p, '~'))
        return parse_random(p, &value);
    if (peek(p) == '/')
        return parse_open_step(p, value);
    add_value(p, value);
    return OK;
}

enum status cron_field_parse(const struct cron_field_source *source, struct cron_field_set *set,
                             struct parse_error *reterr)
{
    struct parser p = {.source = source, .set = set, .err = reterr, .at = source->begin};
    do {
        if (p.at == source->end || source->text[p.at] == ',')
            return FAIL(&p, p.at, "empty list element");
        enum status st = parse_item(&p);
        if (st != OK)
            return st;
        if (p.at < source->end && source->text[p.at] != ',')
            return unexpected(&p);
    } while (take(&p, ','));
    return OK;
}
