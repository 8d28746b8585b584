#include "cron_scan.h"

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

int scan_lowest(const struct scanner *p)
{
    return p->source->field == CRON_WEEKDAY && scan_has(p, CRON_SUNDAY_IS_1)
               ? 1
               : fields[p->source->field].min;
}

int scan_highest(const struct scanner *p)
{
    if (p->source->field == CRON_WEEKDAY)
        return p->source->dialect->weekday_max;
    if (p->source->field == CRON_YEAR)
        return p->source->dialect->year_max;
    return fields[p->source->field].max;
}

/* A character as it can be shown in a message. */
static const char *shown(const struct scanner *p, int at, char buffer[8])
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

enum status scan_unexpected(const struct scanner *p)
{
    char buffer[8];
    if (p->at >= p->source->end)
        return FAIL(p, p->at, "the %s field ends too early", fields[p->source->field].name);
    if (p->had)
        return FAIL(p, p->at, "unexpected %s after %s", shown(p, p->at, buffer), p->had);
    return FAIL(p, p->at, "unexpected %s in the %s field; %d-%d is allowed",
                shown(p, p->at, buffer), fields[p->source->field].name, scan_lowest(p),
                scan_highest(p));
}

enum status scan_not_in_dialect(const struct scanner *p, int at, const char *what)
{
    return FAIL(p, at, "%s is not part of %s cron expressions", what, p->source->dialect->title);
}

/* Digits as a number of at most 9 places. */
enum status scan_number(struct scanner *p, int *ret)
{
    int begin = p->at;
    int value = 0;
    if (!isdigit((unsigned char)scan_peek(p)))
        return scan_unexpected(p);
    while (isdigit((unsigned char)scan_peek(p))) {
        if (p->at - begin >= 9)
            return FAIL(p, begin, "number too large");
        value = value * 10 + (p->source->text[p->at++] - '0');
    }
    *ret = value;
    return OK;
}

static enum status check_value(const struct scanner *p, int at, int value)
{
    enum cron_field field = p->source->field;
    if (value >= scan_lowest(p) && value <= scan_highest(p))
        return OK;
    if (field == CRON_WEEKDAY && p->source->field_count == 6 && value >= YEAR_MIN &&
        value <= YEAR_MAX)
        return FAIL(p, at, "day of week %d; six fields are seconds-first, a year needs seven",
                    value);
    return FAIL(p, at, "%s %d is out of range %d-%d", fields[field].name, value, scan_lowest(p),
                scan_highest(p));
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

static enum status unknown_word(const struct scanner *p, int length)
{
    enum cron_field field = p->source->field;
    const char *word = p->source->text + p->at;
    int shown_length = length > 20 ? 20 : length;
    if (!fields[field].names)
        return FAIL(p, p->at, "unexpected \"%.*s\"; %s is a number %d-%d", shown_length, word,
                    fields[field].name, scan_lowest(p), scan_highest(p));
    const char *near = nearest_name(p, length);
    if (near)
        return FAIL(p, p->at, "unknown %s \"%.*s\"; did you mean %s?", fields[field].names_are,
                    shown_length, word, near);
    return FAIL(p, p->at, "unknown %s \"%.*s\"", fields[field].names_are, shown_length, word);
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
    if (!isdigit((unsigned char)scan_peek(p)))
        return FAIL(p, begin, "a step is missing after '/'");
    enum status st = scan_number(p, &value);
    if (st != OK)
        return st;
    if (value < 1)
        return FAIL(p, begin, "a step is 1 or more");
    if (value > fields[p->source->field].size)
        return FAIL(p, begin, "step %d is larger than the field (%d-%d)", value, scan_lowest(p),
                    scan_highest(p));
    p->had = "a step";
    *step = value;
    return OK;
}
