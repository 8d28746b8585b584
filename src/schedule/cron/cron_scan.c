#include "cron/cron_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

int cron_field_size(enum cron_field field)
{
    return fields[field].size;
}

uint64_t cron_field_all(enum cron_field field)
{
    return ((UINT64_C(1) << fields[field].size) - 1) << fields[field].min;
}

const char *cron_field_name(enum cron_field field)
{
    return fields[field].name;
}

bool scan_has(const struct scanner *p, unsigned feature)
{
    return p->source->dialect->features & feature;
}

char scan_peek(const struct scanner *p)
{
    return p->at < p->source->end ? p->source->text[p->at] : '\0';
}

bool scan_take(struct scanner *p, char c)
{
    if (scan_peek(p) != c)
        return false;
    p->at++;
    return true;
}

/* The numbers that the dialect allows here. */
static int lowest(const struct scanner *p)
{
    return p->source->field == CRON_WEEKDAY && scan_has(p, CRON_SUNDAY_IS_1)
               ? 1
               : fields[p->source->field].min;
}

static int highest(const struct scanner *p)
{
    if (p->source->field == CRON_WEEKDAY)
        return p->source->dialect->weekday_max;
    if (p->source->field == CRON_YEAR)
        return p->source->dialect->year_max;
    return fields[p->source->field].max;
}

/* Bytes of the UTF-8 character at `text`; 0: it is none, and must not get into a message. */
static int utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    int length = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    if (c[0] > 0xf4 || (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
        return 0; /* too large, spelt too long, or half of a pair */
    for (int i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

/* A character as it can be shown in a message. */
static const char *shown(const struct scanner *p, int at, char buffer[8])
{
    const char *text = p->source->text + at;
    int length = utf8_length(text);
    bool control = (unsigned char)*text < ' ' || *text == '\x7f';
    if (length && !control)
        snprintf(buffer, 8, "'%.*s'", length, text);
    else
        snprintf(buffer, 8, "\\x%02x", (unsigned char)*text);
    return buffer;
}

/* The field that a letter belongs to, when it is not this one; NULL: none. */
static const char *home_of(enum cron_field field, char c)
{
    if (toupper((unsigned char)c) == 'W' && field != CRON_DAY)
        return fields[CRON_DAY].name;
    if ((c == '#' || c == '+' || toupper((unsigned char)c) == 'L') && field != CRON_WEEKDAY)
        return fields[CRON_WEEKDAY].name;
    return NULL;
}

enum status scan_unexpected(const struct scanner *p)
{
    char buffer[8];
    char c = scan_peek(p);
    if (p->had && (!c || c == ','))
        return FAIL(p, p->at, "a value is missing after %s", p->had);
    const char *home = home_of(p->source->field, c);
    if (home)
        return FAIL(p, p->at, "unexpected '%c' in the %s field; it is for the %s", c,
                    fields[p->source->field].name, home);
    if (c == '+' && !scan_has(p, CRON_HAS_AND))
        return scan_not_in_dialect(p, p->at, "'+'");
    if (c == '+')
        return FAIL(p, p->at, "'+' stands once, first in the day of week field");
    if (p->had)
        return FAIL(p, p->at, "unexpected %s after %s", shown(p, p->at, buffer), p->had);
    return FAIL(p, p->at, "unexpected %s in the %s field; %d-%d is allowed",
                shown(p, p->at, buffer), fields[p->source->field].name, lowest(p), highest(p));
}

enum status scan_not_in_dialect(const struct scanner *p, int at, const char *what)
{
    return FAIL(p, at, "%s is not part of %s cron expressions", what, p->source->dialect->title);
}

enum status scan_number(struct scanner *p, int *ret)
{
    int begin = p->at;
    int value = 0;
    if (!isdigit((unsigned char)scan_peek(p)))
        return scan_unexpected(p);
    while (isdigit((unsigned char)scan_peek(p))) {
        if (value > 99999999)
            return FAIL(p, begin, "number too large");
        value = value * 10 + (p->source->text[p->at++] - '0');
    }
    *ret = value;
    return OK;
}

static enum status check_value(const struct scanner *p, int at, int value)
{
    enum cron_field field = p->source->field;
    if (value >= lowest(p) && value <= highest(p))
        return OK;
    if (field == CRON_WEEKDAY && p->source->field_count == 6 && value >= YEAR_MIN &&
        value <= YEAR_MAX)
        return FAIL(p, at, "day of week %d; six fields are seconds-first, a year needs seven",
                    value);
    return FAIL(p, at, "%s %d is out of range %d-%d", fields[field].name, value, lowest(p),
                highest(p));
}

static enum status parse_checked_number(struct scanner *p, int *ret)
{
    int begin = p->at;
    int value;
    enum status st = scan_number(p, &value);
    if (st == OK)
        st = check_value(p, begin, value);
    if (st != OK)
        return st;
    p->had = "a number";
    if (p->source->field == CRON_WEEKDAY && scan_has(p, CRON_SUNDAY_IS_1))
        value--;
    *ret = value;
    return OK;
}

/* Length of the run of letters at p->at. */
int scan_word_length(const struct scanner *p)
{
    int length = 0;
    while (p->at + length < p->source->end &&
           isalpha((unsigned char)p->source->text[p->at + length]))
        length++;
    return length;
}

bool scan_word_is(const struct scanner *p, int length, const char *word)
{
    return (size_t)length == strlen(word) &&
           strncasecmp(p->source->text + p->at, word, (size_t)length) == 0;
}

static int name_count(enum cron_field field)
{
    return field == CRON_MONTH ? 12 : 7;
}

/* The index of the name that these three letters spell; -1: none. */
static int name_index(const struct scanner *p, const char *letters)
{
    for (int i = 0; i < name_count(p->source->field); i++) {
        if (strncasecmp(letters, fields[p->source->field].names[i], 3) == 0)
            return i;
    }
    return -1;
}

/* The name that was probably meant: its first letters fit, or all but one of three; NULL: none. */
static const char *nearest_name(const struct scanner *p, int length)
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

/* The other field that has the word for a name; NULL: none. */
static const char *named_elsewhere(const struct scanner *p, int length)
{
    for (int i = 0; i < 12; i++) {
        if (scan_word_is(p, length, month_names[i]))
            return fields[CRON_MONTH].names_are;
        if (i < 7 && scan_word_is(p, length, weekday_names[i]))
            return fields[CRON_WEEKDAY].names_are;
    }
    return NULL;
}

static enum status unknown_word(const struct scanner *p, int length)
{
    enum cron_field field = p->source->field;
    const char *word = p->source->text + p->at;
    int shown_length = length > 20 ? 20 : length;
    const char *elsewhere = named_elsewhere(p, length);
    if (elsewhere)
        return FAIL(p, p->at, "\"%.*s\" is a %s; this is the %s field", length, word, elsewhere,
                    fields[field].name);
    if (field == CRON_DAY && scan_word_is(p, length, "W"))
        return FAIL(p, p->at, "W needs a day before it: 15W is the workday nearest to the 15th");
    if (!fields[field].names)
        return FAIL(p, p->at, "unexpected \"%.*s\"; %s is a number %d-%d", shown_length, word,
                    fields[field].name, lowest(p), highest(p));
    const char *near = nearest_name(p, length);
    if (near)
        return FAIL(p, p->at, "unknown %s \"%.*s\"; did you mean %s?", fields[field].names_are,
                    shown_length, word, near);
    return FAIL(p, p->at, "unknown %s \"%.*s\"", fields[field].names_are, shown_length, word);
}

enum status scan_range_end(struct scanner *p, int *ret)
{
    bool named;
    enum status st = scan_value(p, ret, &named);
    if (st == OK && p->source->field == CRON_WEEKDAY && named && *ret == 0)
        *ret = 7;
    return st;
}

/* A number or a name. *ret_named tells which. */
enum status scan_value(struct scanner *p, int *ret, bool *ret_named)
{
    int length = scan_word_length(p);
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
enum status scan_step(struct scanner *p, int *step)
{
    if (!scan_take(p, '/'))
        return OK;
    p->had = "'/'";
    int begin = p->at;
    int value;
    if (scan_peek(p) == '-')
        return FAIL(p, begin, "a step is 1 or more");
    if (p->at == p->source->end || scan_peek(p) == ',')
        return FAIL(p, begin, "a step is missing after '/'");
    if (!isdigit((unsigned char)scan_peek(p)))
        return FAIL(p, begin, "a step is a number, 1 or more");
    enum status st = scan_number(p, &value);
    if (st != OK)
        return st;
    if (value < 1)
        return FAIL(p, begin, "a step is 1 or more");
    if (value > fields[p->source->field].size)
        return FAIL(p, begin, "step %d is larger than the field (%d-%d)", value, lowest(p),
                    highest(p));
    p->had = "a step";
    *step = value;
    return OK;
}
