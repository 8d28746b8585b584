#include "random_cron.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_seed(void)
{
    const char *text = getenv("PEAL_SEED");
    return text ? strtoull(text, NULL, 0) : 20260308;
}

int random_rounds(void)
{
    const char *text = getenv("PEAL_ROUNDS");
    return text ? atoi(text) : 1;
}

struct random random_new(uint64_t seed)
{
    return (struct random){seed};
}

uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int random_between(struct random *random, int low, int high)
{
    return low + (int)(random_next(random) % ((uint64_t)high - (uint64_t)low + 1));
}

bool random_chance(struct random *random, int percent)
{
    return random_between(random, 1, 100) <= percent;
}

/* ---- Writing ---- */

static const int lows[] = {0, 0, 0, 1, 1, 0, 1970};
static const int highs[] = {59, 59, 23, 31, 12, 7, 9999};
static const int sizes[] = {60, 60, 24, 31, 12, 7, 8030};

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                     "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const weekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct writer {
    struct random *random;
    char *at, *end;
};

static void put(struct writer *w, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(w->end - w->at) <= length)
        abort();
    memcpy(w->at, text, length + 1);
    w->at += length;
}

/* A value as a number, with a leading zero now and then, or as a name in any case. */
static void put_value(struct writer *w, int field, int value)
{
    char text[16];
    const char *name = field == FIELD_MONTH                  ? months[value - 1]
                       : field == FIELD_WEEKDAY && value < 7 ? weekdays[value]
                                                             : NULL;
    if (name && random_chance(w->random, 40)) {
        snprintf(text, sizeof(text), "%s", name);
        for (char *c = text; *c; c++) {
            if (random_chance(w->random, 50))
                *c = (char)toupper((unsigned char)*c);
        }
    } else {
        snprintf(text, sizeof(text), random_chance(w->random, 5) ? "%02d" : "%d", value);
    }
    put(w, text);
}

static void put_number(struct writer *w, const char *format, int value)
{
    char text[16];
    snprintf(text, sizeof(text),
             format[0] == '/'   ? "/%d"
             : format[0] == '#' ? "#%d"
             : format[0] == '-' ? "-%d"
                                : "%d",
             value);
    put(w, text);
}

static int random_value(struct random *random, int field)
{
    if (field == FIELD_YEAR)
        return random_chance(random, 90) ? random_between(random, 2020, 2060)
                                         : random_between(random, 1970, 9999);
    return random_between(random, lows[field], highs[field]);
}

static int random_step(struct random *random, int field)
{
    if (field == FIELD_YEAR)
        return random_between(random, 1, 9);
    return random_between(random, 1, random_chance(random, 70) ? 7 : sizes[field]);
}

static struct model_item make_special_day(struct random *random)
{
    struct model_item item = {.kind = MODEL_LAST_WORKDAY, .step = 1};
    if (random_chance(random, 40)) {
        item.kind = MODEL_LAST_DAY;
        item.a = random_chance(random, 50) ? 0 : random_between(random, 1, 30);
    } else if (random_chance(random, 75)) {
        item.kind = MODEL_WORKDAY;
        item.a = random_between(random, 1, 31);
    }
    return item;
}

static struct model_item make_item(struct random *random, int field)
{
    struct model_item item = {.kind = MODEL_VALUE, .step = 1};
    int dice = random_between(random, 1, 100);
    if (field == FIELD_DAY && dice <= 30)
        return make_special_day(random);
    item.a = random_value(random, field);
    if (field == FIELD_WEEKDAY && dice <= 30) {
        item.kind = MODEL_NTH;
        item.b = random_between(random, 1, 5) * (random_chance(random, 50) ? 1 : -1);
    } else if (dice <= 40) {
        item.kind = MODEL_STAR;
        item.step = random_chance(random, 30) ? 1 : random_step(random, field);
    } else if (dice <= 70) {
        item.kind = MODEL_RANGE;
        item.b = random_value(random, field);
        if (field == FIELD_YEAR && item.b < item.a)
            item.b = item.a + 3 <= 9999 ? item.a + 3 : 9999;
        item.step = random_chance(random, 50) ? 1 : random_step(random, field);
    } else if (dice <= 78) {
        item.kind = MODEL_OPEN;
        item.step = random_step(random, field);
    }
    return item;
}

static void put_nth(struct writer *w, const struct model_item *item)
{
    put_value(w, FIELD_WEEKDAY, item->a);
    if (item->b == -1 && random_chance(w->random, 40))
        put(w, random_chance(w->random, 50) ? "L" : "#L");
    else
        put_number(w, "#", item->b);
}

static void put_item(struct writer *w, int field, struct model_item *item)
{
    switch (item->kind) {
    case MODEL_STAR:
        put(w, "*");
        break;
    case MODEL_QUESTION:
        put(w, "?");
        return;
    case MODEL_VALUE:
    case MODEL_OPEN:
        put_value(w, field, item->a);
        break;
    case MODEL_RANGE: {
        put_value(w, field, item->a);
        put(w, "-");
        const char *end = w->at;
        put_value(w, field, item->b);
        if (field == FIELD_WEEKDAY && item->b == 0 && isalpha((unsigned char)*end))
            item->b = 7; /* x-SUN is x-7 */
        break;
    }
    case MODEL_LAST_DAY:
        put(w, random_chance(w->random, 80) ? "L" : "l");
        if (item->a)
            put_number(w, "-", item->a);
        return;
    case MODEL_LAST_WORKDAY:
        put(w, random_chance(w->random, 80) ? "LW" : "lw");
        return;
    case MODEL_WORKDAY:
        put_number(w, "", item->a);
        put(w, random_chance(w->random, 80) ? "W" : "w");
        return;
    case MODEL_NTH:
        put_nth(w, item);
        return;
    }
    if (item->step > 1 || item->kind == MODEL_OPEN ||
        (item->kind != MODEL_VALUE && random_chance(w->random, 5)))
        put_number(w, "/", item->step);
}

static void make_field(struct random *random, unsigned flags, int field, struct model_field *ret)
{
    bool date = field >= FIELD_DAY;
    int star_percent = (flags & RANDOM_CRON_DENSE) && date ? 70 : field == FIELD_MONTH ? 40 : 25;
    ret->count = 1;
    if (random_chance(random, star_percent)) {
        bool question = (field == FIELD_DAY || field == FIELD_WEEKDAY) && random_chance(random, 20);
        ret->items[0] = (struct model_item){question ? MODEL_QUESTION : MODEL_STAR, 0, 0, 1};
        return;
    }
    if (random_chance(random, 35))
        ret->count = random_between(random, 2, 4);
    for (int i = 0; i < ret->count; i++)
        ret->items[i] = make_item(random, field);
}

void random_cron_make(struct random *random, unsigned flags, struct random_cron *ret)
{
    struct writer w = {random, ret->text, ret->text + sizeof(ret->text)};
    bool second = !(flags & RANDOM_CRON_MINUTE) && random_chance(random, 50);
    bool year = second && random_chance(random, 40);
    memset(ret, 0, sizeof(*ret));
    ret->both_days = random_chance(random, 25);
    for (int field = second ? FIELD_SECOND : FIELD_MINUTE; field <= FIELD_WEEKDAY + year; field++) {
        struct model_field *model = &ret->fields[field];
        make_field(random, flags, field, model);
        if (w.at > ret->text)
            put(&w, random_chance(random, 95) ? " " : " \t ");
        if (field == FIELD_WEEKDAY && ret->both_days)
            put(&w, "+");
        for (int i = 0; i < model->count; i++) {
            if (i > 0)
                put(&w, ",");
            put_item(&w, field, &model->items[i]);
        }
    }
}

/* ---- Matching ---- */

static int month_length(int64_t year, int month)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return lengths[month - 1] + (month == 2 && leap);
}

/* 0 = Sunday; by Zeller's congruence, for years from 1 on. */
static int weekday_of(int64_t year, int month, int day)
{
    int64_t y = month < 3 ? year - 1 : year;
    int64_t m = month < 3 ? month + 12 : month;
    int64_t h = (day + 13 * (m + 1) / 5 + y + y / 4 - y / 100 + y / 400) % 7;
    return (int)((h + 6) % 7);
}

/* A range whose end is below its start runs on into the next turn of the field. */
static bool range_has(int field, const struct model_item *item, int value)
{
    int last = item->a <= item->b ? item->b : item->b + sizes[field];
    for (int at = item->a; at <= last; at += item->step) {
        if ((at - value) % sizes[field] == 0)
            return true;
    }
    return false;
}

static bool simple_item_has(int field, const struct model_item *item, int value)
{
    switch (item->kind) {
    case MODEL_QUESTION:
        return true;
    case MODEL_STAR:
        return (value - lows[field]) % item->step == 0;
    case MODEL_VALUE:
        return field == FIELD_WEEKDAY ? item->a % 7 == value : item->a == value;
    case MODEL_OPEN: {
        int from = field == FIELD_WEEKDAY ? item->a % 7 : item->a;
        return value >= from && (value - from) % item->step == 0;
    }
    case MODEL_RANGE:
        return range_has(field, item, value);
    case MODEL_LAST_DAY:
    case MODEL_LAST_WORKDAY:
    case MODEL_WORKDAY:
    case MODEL_NTH:
        break;
    }
    return false;
}

static bool is_workday(int64_t year, int month, int day)
{
    int weekday = weekday_of(year, month, day);
    return weekday >= 1 && weekday <= 5;
}

/* Looks around `day` for the nearest Monday-Friday inside the month. */
static bool is_nearest_workday(int64_t year, int month, int day, int wanted)
{
    int length = month_length(year, month);
    if (wanted > length)
        return false;
    for (int distance = 0; distance <= 2; distance++) {
        int before = wanted - distance, after = wanted + distance;
        if (before >= 1 && is_workday(year, month, before))
            return day == before;
        if (after <= length && is_workday(year, month, after))
            return day == after;
    }
    return false;
}

static bool date_item_has(const struct model_item *item, int64_t year, int month, int day)
{
    int length = month_length(year, month);
    switch (item->kind) {
    case MODEL_LAST_DAY:
        return day == length - item->a;
    case MODEL_WORKDAY:
        return is_nearest_workday(year, month, day, item->a);
    case MODEL_LAST_WORKDAY: {
        int last = length;
        while (!is_workday(year, month, last))
            last--;
        return day == last;
    }
    case MODEL_NTH:
        if (weekday_of(year, month, day) != item->a % 7)
            return false;
        return item->b > 0 ? (day + 6) / 7 == item->b : (length - day) / 7 + 1 == -item->b;
    case MODEL_STAR:
    case MODEL_QUESTION:
    case MODEL_VALUE:
    case MODEL_RANGE:
    case MODEL_OPEN:
        break;
    }
    return false;
}

static bool field_has(const struct random_cron *cron, int field, int value)
{
    const struct model_field *model = &cron->fields[field];
    for (int i = 0; i < model->count; i++) {
        if (simple_item_has(field, &model->items[i], value))
            return true;
    }
    return model->count == 0 && (field == FIELD_YEAR || value == 0);
}

static bool has_star(const struct random_cron *cron, int field)
{
    const struct model_field *model = &cron->fields[field];
    for (int i = 0; i < model->count; i++) {
        if (model->items[i].kind == MODEL_STAR || model->items[i].kind == MODEL_QUESTION)
            return true;
    }
    return false;
}

static bool day_field_has(const struct random_cron *cron, int field, int64_t year, int month,
                          int day)
{
    const struct model_field *model = &cron->fields[field];
    int value = field == FIELD_DAY ? day : weekday_of(year, month, day);
    for (int i = 0; i < model->count; i++) {
        if (simple_item_has(field, &model->items[i], value) ||
            date_item_has(&model->items[i], year, month, day))
            return true;
    }
    return false;
}

bool random_cron_date_matches(const struct random_cron *cron, int64_t year, int month, int day)
{
    if (!field_has(cron, FIELD_YEAR, (int)year) || !field_has(cron, FIELD_MONTH, month))
        return false;
    bool by_day = day_field_has(cron, FIELD_DAY, year, month, day);
    bool by_weekday = day_field_has(cron, FIELD_WEEKDAY, year, month, day);
    bool either = !cron->both_days && !has_star(cron, FIELD_DAY) && !has_star(cron, FIELD_WEEKDAY);
    return either ? by_day || by_weekday : by_day && by_weekday;
}

bool random_cron_minute_matches(const struct random_cron *cron, int hour, int minute)
{
    return field_has(cron, FIELD_HOUR, hour) && field_has(cron, FIELD_MINUTE, minute);
}

bool random_cron_time_matches(const struct random_cron *cron, int hour, int minute, int second)
{
    return random_cron_minute_matches(cron, hour, minute) && field_has(cron, FIELD_SECOND, second);
}

bool random_cron_is_fixed(const struct random_cron *cron)
{
    for (int field = FIELD_SECOND; field <= FIELD_HOUR; field++) {
        bool full = true;
        for (int value = 0; value <= highs[field]; value++)
            full = full && field_has(cron, field, value);
        if (full || has_star(cron, field))
            return false;
    }
    return true;
}
