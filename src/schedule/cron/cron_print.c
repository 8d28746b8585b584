/* The canonical spelling of an expression. */
#include "cron/cron_expr.h"
#include "cron/cron_field.h"

/* What has been written of a list so far. */
struct list {
    struct strbuf *out;
    bool empty;
};

static void comma(struct list *list)
{
    if (!list->empty)
        strbuf_addc(list->out, ',');
    list->empty = false;
}

static uint64_t progression(int from, int to, int step)
{
    uint64_t bits = 0;
    for (int i = from; i <= to; i += step)
        bits |= UINT64_C(1) << i;
    return bits;
}

/* The whole set as from-to/step with at least three members; 0: it is none. */
static int common_step(uint64_t bits)
{
    uint64_t rest = bits & (bits - 1);
    if (!rest || !(rest & (rest - 1)))
        return 0;
    int first = __builtin_ctzll(bits), last = 63 - __builtin_clzll(bits);
    int step = __builtin_ctzll(rest) - first;
    return progression(first, last, step) == bits ? step : 0;
}

/* A set of numbers without a star: runs of three or more as a-b. */
static void print_numbers(struct list *list, uint64_t bits)
{
    int step = common_step(bits);
    if (step > 1) {
        comma(list);
        strbuf_addf(list->out, "%d-%d/%d", __builtin_ctzll(bits), 63 - __builtin_clzll(bits), step);
        return;
    }
    while (bits) {
        int from = __builtin_ctzll(bits), to = from;
        while (to < 63 && bits >> (to + 1) & 1)
            to++;
        if (to - from < 2)
            to = from;
        comma(list);
        strbuf_addf(list->out, to > from ? "%d-%d" : "%d", from, to);
        bits &= ~progression(from, to, 1);
    }
}

/* A set that was written with a star: the widest `* /n` inside it, then the rest. */
static void print_starred(struct list *list, uint64_t bits, int min, int max)
{
    for (int step = 1; step <= max - min + 1; step++) {
        uint64_t stepped = progression(min, max, step);
        if ((bits & stepped) != stepped)
            continue;
        comma(list);
        strbuf_addf(list->out, step > 1 ? "*/%d" : "*", step);
        print_numbers(list, bits & ~stepped);
        return;
    }
    print_numbers(list, bits);
}

static struct list print_field(const struct cron_expr *expr, enum cron_field field, uint64_t bits,
                               struct strbuf *out)
{
    struct list list = {out, true};
    int max = field == CRON_WEEKDAY ? 6 : cron_field_max(field);
    if (expr->stars >> field & 1)
        print_starred(&list, bits, cron_field_min(field), max);
    else
        print_numbers(&list, bits);
    return list;
}

static void print_day(const struct cron_expr *expr, struct strbuf *out)
{
    struct list list = print_field(expr, CRON_DAY, expr->days, out);
    for (uint32_t rest = expr->workdays; rest; rest &= rest - 1) {
        comma(&list);
        strbuf_addf(out, "%dW", __builtin_ctz(rest));
    }
    for (uint32_t rest = expr->days_to_last; rest; rest &= rest - 1) {
        comma(&list);
        int before = __builtin_ctz(rest);
        strbuf_addf(out, before ? "L-%d" : "L", before);
    }
    if (expr->last_workday) {
        comma(&list);
        strbuf_adds(out, "LW");
    }
}

static void print_weekday(const struct cron_expr *expr, struct strbuf *out)
{
    const unsigned day_stars = 1 << CRON_DAY | 1 << CRON_WEEKDAY;
    if (!expr->either_day && !(expr->stars & day_stars))
        strbuf_addc(out, '+');
    struct list list = print_field(expr, CRON_WEEKDAY, expr->weekdays, out);
    for (int i = 0; i < 5; i++) {
        for (unsigned rest = expr->nth[i]; rest; rest &= rest - 1) {
            comma(&list);
            strbuf_addf(out, "%d#%d", __builtin_ctz(rest), i + 1);
        }
    }
    for (int i = 0; i < 5; i++) {
        for (unsigned rest = expr->nth_last[i]; rest; rest &= rest - 1) {
            comma(&list);
            strbuf_addf(out, i ? "%d#-%d" : "%dL", __builtin_ctz(rest), i + 1);
        }
    }
}

/* The last year of the longest run from..to of the given step. */
static int64_t year_run_end(const struct cron_expr *expr, int64_t from, int64_t step)
{
    int64_t to = from;
    while (cron_expr_year_from(expr, to + 1) == to + step)
        to += step;
    return to;
}

/* Runs of three or more as a-b, a-b/n: leap years are many. */
static void print_years(const struct cron_expr *expr, struct strbuf *out)
{
    struct list list = {out, true};
    int64_t from = cron_expr_year_from(expr, YEAR_MIN);
    while (from != INT64_MAX) {
        int64_t second = cron_expr_year_from(expr, from + 1);
        int64_t step = second == INT64_MAX ? 1 : second - from;
        int64_t to = year_run_end(expr, from, step);
        if (to - from < 2 * step)
            to = from;
        comma(&list);
        strbuf_addf(out, to > from ? "%d-%d" : "%d", (int)from, (int)to);
        if (to > from && step > 1)
            strbuf_addf(out, "/%d", (int)step);
        from = cron_expr_year_from(expr, to + 1);
    }
}

void cron_expr_print(const struct cron_expr *expr, struct strbuf *out)
{
    if (expr->seconds != 1 || expr->stars >> CRON_SECOND & 1 || expr->years) {
        print_field(expr, CRON_SECOND, expr->seconds, out);
        strbuf_addc(out, ' ');
    }
    print_field(expr, CRON_MINUTE, expr->minutes, out);
    strbuf_addc(out, ' ');
    print_field(expr, CRON_HOUR, expr->hours, out);
    strbuf_addc(out, ' ');
    print_day(expr, out);
    strbuf_addc(out, ' ');
    print_field(expr, CRON_MONTH, expr->months, out);
    strbuf_addc(out, ' ');
    print_weekday(expr, out);
    if (expr->years) {
        strbuf_addc(out, ' ');
        print_years(expr, out);
    }
}
