/* The words never lie by omission: two expressions that are due at different times are never said
 * in the same words. All sentences of a run are kept side by side; where two are the same, their
 * expressions must have the same matches. Expressions are drawn from fields that are easily taken
 * for each other, and from all that differ by one value from one of these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "civil.h"
#include "hash.h"
#include "words/explain.h"

enum {
    SLOTS = 1 << 18, /* a power of two, well above the number of sentences */
    RANDOM_ROUNDS = 6000,
    NEIGHBOUR_ROUNDS = 40,
    PROBES = 120,
};

static const char *const second_fields[] = {
    "0",    "30",    "59",    "*",       "*/10", "*/7",    "*/30",
    "5-20", "15,45", "50-10", "0,1,2,7", "1-2",  "1-59/2", "0,5,10",
};
static const char *const minute_fields[] = {
    "*",     "0",       "15",   "59",     "*/5",    "*/7",           "*/20", "*/30",  "5-20",
    "50-10", "5,20,35", "0,30", "1-59/2", "2-59/5", "0-10,20,30-40", "0-58", "57-56", "0,15,30,45",
};
static const char *const hour_fields[] = {
    "*",      "0",     "9",    "23",         "9-17", "22-2",       "*/2",  "*/5",
    "1-23/2", "3,5,9", "0,12", "9-12,14-18", "*/6",  "8,12,14,18", "1-23", "0-22",
};
static const char *const day_fields[] = {
    "*",      "?",          "13",       "1",    "31",     "1,15",      "1-7",         "28-3",
    "*/2",    "*/10",       "L",        "L-1",  "L-3",    "L,L-2,L-5", "LW",          "15W",
    "1W,15W", "1,15W,L,LW", "10-20,25", "1-31", "2-30/2", "1-30",      "L-1,L-2,L-3", "31W",
};
static const char *const month_fields[] = {
    "*", "1", "2", "1,7", "1-3", "11-2", "*/3", "*/5", "2-12/2", "1-11", "1,2,3,7", "4,6,9,11",
};
static const char *const weekday_fields[] = {
    "*",       "5",       "0",      "1-5",  "FRI-MON",
    "6,0",     "1,3,5",   "*/2",    "*/7",  "5#3",
    "5L",      "1#1,1#3", "1,5#3",  "0-6",  "+5",
    "+1-5",    "+5#3",    "+1,5#2", "5#5",  "5#1,5#2,5#3,5#4,5#5",
    "1#-2,5L", "1-6",     "+0,6",   "5#-5", "1-5,6#1",
};
static const char *const year_fields[] = {
    "*", "*", "*", "2027", "2027,2028", "2027-2030", "2027/2", "2027-2035/2", "2020-2099", "2028",
};
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* A sentence, and the first expression that was said so. */
struct entry {
    char *sentence, *text;
};

struct book {
    struct zone_db *zones;
    struct entry *slots[2]; /* by language */
    int said;
};

static struct schedule *parse(struct book *book, const char *text)
{
    struct schedule_options options = schedule_options_default();
    struct parse_error err = {0};
    struct schedule *schedule = NULL;
    if (schedule_parse(text, &options, book->zones, &schedule, &err) != OK)
        fail_msg("%s: column %d: %s", text, err.column, err.message);
    return schedule;
}

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return hash_bytes(*state, state, sizeof(*state));
}

/* Looks at both from many instants over 130 years: the next match is the same each time, and so are
 * the ones that follow it. */
static bool same_matches(const struct cron_expr *a, const struct cron_expr *b)
{
    const uint64_t range_s = UINT64_C(130) * 365 * DAY_S;
    uint64_t state = 7;
    for (int i = 0; i < PROBES; i++) {
        int64_t at_s = (int64_t)(next_random(&state) % range_s);
        for (int k = 0; k < 5 && at_s != NEVER; k++) {
            int64_t next_s = cron_expr_next(a, at_s);
            if (next_s != cron_expr_next(b, at_s))
                return false;
            at_s = next_s;
        }
    }
    return true;
}

static void check_form(const char *text, const char *sentence, const char *stop)
{
    size_t length = strlen(sentence), stop_length = strlen(stop);
    static const char *const wrong[] = {
        "  ",   "%",    " ,",   ",,",   ", and",  " .",       "..",     "、、",    "的的",
        "，，", "，。", "和、", "（）", "内的内", " and and", " of of", "the the",
    };
    if (length <= stop_length || strcmp(sentence + length - stop_length, stop) != 0)
        fail_msg("%s: does not end well: \"%s\"", text, sentence);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (strstr(sentence, wrong[i]))
            fail_msg("%s: has \"%s\": \"%s\"", text, wrong[i], sentence);
    }
    if (strstr(sentence, stop) != sentence + length - stop_length)
        fail_msg("%s: more than one sentence: \"%s\"", text, sentence);
}

static void check_unique(struct book *book, enum language language, const struct schedule *schedule,
                         const char *text, const char *sentence)
{
    struct entry *slots = book->slots[language];
    size_t at = hash_text(0, sentence) & (SLOTS - 1);
    while (slots[at].sentence && strcmp(slots[at].sentence, sentence) != 0)
        at = (at + 1) & (SLOTS - 1);
    if (!slots[at].sentence) {
        slots[at] = (struct entry){strdup(sentence), strdup(text)};
        return;
    }
    if (strcmp(slots[at].text, text) == 0)
        return;
    struct schedule *other = parse(book, slots[at].text);
    if (!same_matches(schedule_cron(schedule), schedule_cron(other)))
        fail_msg("\"%s\" is said of both %s and %s", sentence, text, slots[at].text);
    schedule_free(other);
}

static void say(struct book *book, const char *text)
{
    static const char *const stops[] = {[LANGUAGE_EN] = ".", [LANGUAGE_ZH] = "。"};
    struct schedule *schedule = parse(book, text);
    struct strbuf sentence;
    strbuf_init(&sentence);
    for (enum language language = LANGUAGE_EN; language <= LANGUAGE_ZH; language++) {
        strbuf_reset(&sentence);
        schedule_explain(schedule, language, &sentence);
        assert_int_equal(strbuf_status(&sentence), OK);
        check_form(text, sentence.text, stops[language]);
        check_unique(book, language, schedule, text, sentence.text);
    }
    book->said++;
    strbuf_release(&sentence);
    schedule_free(schedule);
}

static void say_fields(struct book *book, const char *const fields[7])
{
    struct strbuf text;
    strbuf_init(&text);
    bool any_year = strcmp(fields[6], "*") == 0; /* quicker to read without the field */
    for (int i = 0; i < (any_year ? 6 : 7); i++)
        strbuf_addf(&text, i ? " %s" : "%s", fields[i]);
    say(book, text.text);
    strbuf_release(&text);
}

static int set_up(void **state)
{
    struct book *book = calloc(1, sizeof(*book));
    assert_non_null(book);
    for (int i = 0; i < 2; i++) {
        book->slots[i] = calloc(SLOTS, sizeof(struct entry));
        assert_non_null(book->slots[i]);
    }
    assert_int_equal(zone_db_new(NULL, &book->zones), OK);
    *state = book;
    return 0;
}

static int tear_down(void **state)
{
    struct book *book = *state;
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < SLOTS; k++) {
            free(book->slots[i][k].sentence);
            free(book->slots[i][k].text);
        }
        free(book->slots[i]);
    }
    zone_db_free(book->zones);
    free(book);
    return 0;
}

static void all_times_of_day_differ(void **state)
{
    for (size_t s = 0; s < COUNT(second_fields); s++) {
        for (size_t m = 0; m < COUNT(minute_fields); m++) {
            for (size_t h = 0; h < COUNT(hour_fields); h++)
                say_fields(*state, (const char *const[]){second_fields[s], minute_fields[m],
                                                         hour_fields[h], "*", "*", "*", "*"});
        }
    }
}

static void all_dates_differ(void **state)
{
    for (size_t d = 0; d < COUNT(day_fields); d++) {
        for (size_t m = 0; m < COUNT(month_fields); m++) {
            for (size_t w = 0; w < COUNT(weekday_fields); w++)
                say_fields(*state, (const char *const[]){"0", "0", "12", day_fields[d],
                                                         month_fields[m], weekday_fields[w], "*"});
        }
    }
}

#define DRAW(table) (table)[next_random(seed) % COUNT(table)]

static void draw(uint64_t *seed, const char *fields[7])
{
    fields[0] = DRAW(second_fields);
    fields[1] = DRAW(minute_fields);
    fields[2] = DRAW(hour_fields);
    fields[3] = DRAW(day_fields);
    fields[4] = DRAW(month_fields);
    fields[5] = DRAW(weekday_fields);
    fields[6] = DRAW(year_fields);
}

static void random_mixtures_differ(void **state)
{
    uint64_t seed = 20270314;
    for (int i = 0; i < RANDOM_ROUNDS; i++) {
        const char *fields[7];
        draw(&seed, fields);
        say_fields(*state, fields);
    }
}

/* One more item in one field, every one that there is. */
static const struct {
    int field;
    const char *prefix;
    int low, high;
    const char *suffix;
} items[] = {
    {0, "", 0, 59, ""},   {1, "", 0, 59, ""},   {2, "", 0, 23, ""},      {3, "", 1, 31, ""},
    {3, "L-", 1, 30, ""}, {3, "", 1, 31, "W"},  {4, "", 1, 12, ""},      {5, "", 0, 6, ""},
    {5, "", 0, 6, "#3"},  {5, "", 0, 6, "#-2"}, {6, "", 2025, 2040, ""},
};

static void say_neighbours(struct book *book, const char *const fields[7])
{
    for (size_t i = 0; i < COUNT(items); i++) {
        const char *changed[7];
        char list[80];
        memcpy(changed, fields, sizeof(changed));
        changed[items[i].field] = list;
        if (strcmp(fields[items[i].field], "*") == 0 || strcmp(fields[items[i].field], "?") == 0)
            continue; /* nothing to add */
        for (int value = items[i].low; value <= items[i].high; value++) {
            snprintf(list, sizeof(list), "%s,%s%d%s", fields[items[i].field], items[i].prefix,
                     value, items[i].suffix);
            say_fields(book, changed);
        }
    }
}

static void neighbours_differ(void **state)
{
    uint64_t seed = 20261101;
    for (int i = 0; i < NEIGHBOUR_ROUNDS; i++) {
        const char *fields[7];
        draw(&seed, fields);
        say_fields(*state, fields);
        say_neighbours(*state, fields);
    }
}

static void enough_was_said(void **state)
{
    struct book *book = *state;
    assert_true(book->said > 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_times_of_day_differ), cmocka_unit_test(all_dates_differ),
        cmocka_unit_test(random_mixtures_differ),  cmocka_unit_test(neighbours_differ),
        cmocka_unit_test(enough_was_said),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
