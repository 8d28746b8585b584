/* The items of a field: stars, ranges, steps, draws, last and nth days. */
#include "cron/cron_field.h"

#include <ctype.h>

#include "cron/cron_scan.h"
#include "hash.h"

/* From, from + step, ... up to `to`, in the field's own numbering; `to` may be below `from`: then
 * it wraps around. */
struct range {
    int from, to, step;
};

static void add_value(struct scanner *p, int value)
{
    if (p->source->field == CRON_YEAR)
        cron_years_add(p->set->years, value);
    else
        p->set->bits |= UINT64_C(1) << (p->source->field == CRON_WEEKDAY ? value % 7 : value);
}

static void add_range(struct scanner *p, struct range range)
{
    int min = cron_field_min(p->source->field), size = cron_field_size(p->source->field);
    int length = range.to >= range.from ? range.to - range.from : range.to - range.from + size;
    for (int i = 0; i <= length; i += range.step)
        add_value(p, min + (range.from - min + i) % size);
}

/* Everything that the field can hold; what `*` stands for. */
static struct range whole_field(const struct scanner *p)
{
    int min = cron_field_min(p->source->field);
    return (struct range){min, min + cron_field_size(p->source->field) - 1, 1};
}

/* What a bare `H`, `~` or `R` is drawn from: only days that every month has. */
static struct range drawable_field(const struct scanner *p)
{
    struct range range = whole_field(p);
    if (p->source->field == CRON_DAY)
        range.to = 28;
    return range;
}

/* Draws from a range: one value of it, or with a step the offset that the steps start at. */
static void add_drawn(struct scanner *p, struct range range, uint64_t hash)
{
    int size = range.to - range.from + 1;
    bool stepped = range.step > 0;
    int choices = stepped && range.step < size ? range.step : size;
    int drawn = range.from + (int)hash_below(hash, (uint64_t)choices);
    add_range(p, (struct range){drawn, stepped ? range.to : drawn, stepped ? range.step : 1});
}

static uint64_t hash_of_name(const struct scanner *p)
{
    const char *name =
        p->source->seed && p->source->seed->job_name ? p->source->seed->job_name : "";
    p->set->notes |= CRON_NOTE_SEEDED_NAME;
    return hash_text(hash_text(0, name), cron_field_name(p->source->field));
}

static uint64_t hash_of_uid(const struct scanner *p)
{
    const char *uid = p->source->seed && p->source->seed->job_uid ? p->source->seed->job_uid : "";
    uint64_t hash = hash_text(hash_text(0, uid), cron_field_name(p->source->field));
    p->set->notes |= CRON_NOTE_SEEDED_UID;
    return hash_bytes(hash, p->source->text + p->item, (size_t)(p->at - p->item));
}

static enum status refuse_drawn_year(const struct scanner *p, const char *what)
{
    return FAIL(p, p->item, "%s can't choose a year", what);
}

/* `H`, `H(a-b)`, `H/n`, `H(a-b)/n`; p->at is behind the H. */
static enum status parse_hash(struct scanner *p)
{
    enum status st;
    if (!scan_has(p, CRON_HAS_HASH))
        return scan_not_in_dialect(p, p->item, "H");
    if (p->source->field == CRON_YEAR)
        return refuse_drawn_year(p, "H");
    struct range range = drawable_field(p);
    range.step = 0;
    p->had = "H";
    if (scan_take(p, '(')) {
        bool named;
        int begin = p->at;
        p->had = "'('";
        if ((st = scan_value(p, &range.from, &named)) != OK)
            return st;
        if (!scan_take(p, '-'))
            return scan_unexpected(p);
        p->had = "'-'";
        if ((st = scan_range_end(p, &range.to)) != OK)
            return st;
        if (range.from > range.to)
            return FAIL(p, begin, "a range inside H(...) goes from low to high");
        if (p->at == p->source->end)
            return FAIL(p, p->at, "')' is missing");
        if (!scan_take(p, ')'))
            return scan_unexpected(p);
        p->had = "H(...)";
    }
    if ((st = scan_step(p, &range.step)) != OK)
        return st;
    add_drawn(p, range, hash_of_name(p));
    return OK;
}

/* `~`, `a~b`, `~/n`, `a~b/n`; p->at is behind the tilde, `from` is the value before it. */
static enum status parse_random(struct scanner *p, const int *from)
{
    enum status st;
    if (!scan_has(p, CRON_HAS_RANDOM))
        return scan_not_in_dialect(p, p->item, "'~'");
    if (p->source->field == CRON_YEAR)
        return refuse_drawn_year(p, "'~'");
    struct range range = from ? whole_field(p) : drawable_field(p);
    range.step = 0;
    if (from)
        range.from = *from;
    p->had = "'~'";
    if (isalnum((unsigned char)scan_peek(p))) {
        if ((st = scan_range_end(p, &range.to)) != OK)
            return st;
        p->had = "a range";
    }
    if (range.from > range.to)
        return FAIL(p, p->item, "a range around '~' goes from low to high");
    if ((st = scan_step(p, &range.step)) != OK)
        return st;
    add_drawn(p, range, hash_of_uid(p));
    return OK;
}

/* `L`, `L-n`, `LW` in the day of month; p->at is at the word. */
static enum status parse_last_day(struct scanner *p, int length)
{
    if (!scan_has(p, CRON_HAS_LAST))
        return scan_not_in_dialect(p, p->at, "L");
    p->at += length;
    p->had = "L";
    if (length == 2) {
        p->had = "LW";
        p->set->last_workday = true;
        return OK;
    }
    int before = 0;
    if (scan_take(p, '-')) {
        int begin = p->at;
        p->had = "L-";
        enum status st = scan_number(p, &before);
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
static enum status parse_ordinal(struct scanner *p, int weekday)
{
    int begin = p->at;
    uint8_t bit = (uint8_t)(1 << weekday % 7);
    if (!scan_has(p, CRON_HAS_LAST))
        return scan_not_in_dialect(p, begin - 1, "'#'");
    p->had = "an ordinal";
    if (scan_word_is(p, scan_word_length(p), "L")) {
        p->at++;
        p->set->nth_last[0] |= bit;
        return OK;
    }
    bool from_end = scan_take(p, '-');
    int ordinal;
    if (!isdigit((unsigned char)scan_peek(p)) || scan_number(p, &ordinal) != OK || ordinal < 1 ||
        ordinal > 5)
        return FAIL(p, begin, "ordinal is 1..5, -1..-5 or L");
    (from_end ? p->set->nth_last : p->set->nth)[ordinal - 1] |= bit;
    return OK;
}

/* Items that are a single letter-word, not a name. *ret_done: it was one, and is read. */
static enum status parse_special_word(struct scanner *p, bool *ret_done)
{
    int length = scan_word_length(p);
    *ret_done = true;
    if (scan_word_is(p, length, "H")) {
        p->at++;
        return parse_hash(p);
    }
    if (scan_word_is(p, length, "R")) {
        if (!scan_has(p, CRON_HAS_RANDOM))
            return scan_not_in_dialect(p, p->at, "R");
        if (p->source->field == CRON_YEAR)
            return refuse_drawn_year(p, "R");
        p->at++;
        p->had = "R";
        struct range range = drawable_field(p);
        range.step = 0;
        add_drawn(p, range, hash_of_uid(p));
        return OK;
    }
    if (p->source->field == CRON_DAY &&
        (scan_word_is(p, length, "L") || scan_word_is(p, length, "LW")))
        return parse_last_day(p, length);
    if (p->source->field == CRON_WEEKDAY && scan_word_is(p, length, "L")) {
        if (!scan_has(p, CRON_BARE_LAST_IS_SATURDAY))
            return FAIL(p, p->at, "L alone does not say which day; 6L is the last Saturday");
        p->at++;
        p->had = "L";
        add_value(p, 6);
        return OK;
    }
    *ret_done = false;
    return OK;
}

static enum status parse_star(struct scanner *p)
{
    struct range range = whole_field(p);
    bool day_field = p->source->field == CRON_DAY || p->source->field == CRON_WEEKDAY;
    p->had = "'*'";
    enum status st = scan_step(p, &range.step);
    if (st != OK)
        return st;
    if (range.step == 1 || !day_field || scan_has(p, CRON_STEP_IS_STAR))
        p->set->star = true;
    add_range(p, range);
    return OK;
}

static enum status parse_question(struct scanner *p)
{
    enum cron_field field = p->source->field;
    if (!scan_has(p, CRON_HAS_QUESTION))
        return scan_not_in_dialect(p, p->item, "'?'");
    bool day_field = field == CRON_DAY || field == CRON_WEEKDAY;
    if (!day_field && !scan_has(p, CRON_QUESTION_ANYWHERE))
        return FAIL(p, p->item, "'?' is for the two day fields%s",
                    field != CRON_YEAR && scan_has(p, CRON_HAS_HASH)
                        ? "; use H to spread jobs by their names"
                        : "");
    if (p->item != p->source->begin || p->at != p->source->end)
        return FAIL(p, p->item, "'?' stands alone in its field");
    p->set->star = p->set->question = true;
    add_range(p, whole_field(p));
    return OK;
}

/* `a/n`: from a to the end of the field. p->at is at the '/'. */
static enum status parse_open_step(struct scanner *p, int from)
{
    struct range range = whole_field(p);
    range.from = p->source->field == CRON_WEEKDAY ? from % 7 : from;
    if (!scan_has(p, CRON_HAS_OPEN_STEP))
        return FAIL(p, p->at, "a step after a single value is not part of %s; write %d-%d/n",
                    p->source->dialect->title, from, whole_field(p).to);
    enum status st = scan_step(p, &range.step);
    if (st != OK)
        return st;
    p->set->notes |= CRON_NOTE_OPEN_STEP;
    add_range(p, range);
    return OK;
}

/* `a-b` and `a-b/n`; p->at is behind the '-'. */
static enum status parse_range(struct scanner *p, int from)
{
    struct range range = {.from = from, .step = 1};
    p->had = "'-'";
    enum status st = scan_range_end(p, &range.to);
    if (st != OK)
        return st;
    if (range.from > range.to && (p->source->field == CRON_YEAR || !scan_has(p, CRON_HAS_WRAP)))
        return FAIL(p, p->item, "ranges go from low to high in the %s field",
                    cron_field_name(p->source->field));
    p->had = "a range";
    if ((st = scan_step(p, &range.step)) != OK)
        return st;
    add_range(p, range);
    return OK;
}

static enum status parse_item(struct scanner *p)
{
    enum status st;
    bool done, named;
    int value;
    p->item = p->at;
    p->had = NULL;
    if (scan_take(p, '*'))
        return parse_star(p);
    if (scan_take(p, '?'))
        return parse_question(p);
    if (scan_take(p, '~'))
        return parse_random(p, NULL);
    if ((st = parse_special_word(p, &done)) != OK || done)
        return st;
    if ((st = scan_value(p, &value, &named)) != OK)
        return st;
    if (p->source->field == CRON_DAY && toupper((unsigned char)scan_peek(p)) == 'W') {
        if (!scan_has(p, CRON_HAS_LAST))
            return scan_not_in_dialect(p, p->at, "W");
        p->at++;
        p->had = "W";
        p->set->workdays |= UINT32_C(1) << value;
        return OK;
    }
    if (p->source->field == CRON_WEEKDAY && toupper((unsigned char)scan_peek(p)) == 'L') {
        if (!scan_has(p, CRON_HAS_LAST))
            return scan_not_in_dialect(p, p->at, "L");
        p->at++;
        p->had = "L";
        p->set->nth_last[0] |= (uint8_t)(1 << value % 7);
        return OK;
    }
    if (p->source->field == CRON_WEEKDAY && scan_take(p, '#'))
        return parse_ordinal(p, value);
    if (scan_take(p, '-'))
        return parse_range(p, value);
    if (scan_take(p, '~'))
        return parse_random(p, &value);
    if (scan_peek(p) == '/')
        return parse_open_step(p, value);
    add_value(p, value);
    return OK;
}

enum status cron_field_parse(const struct cron_field_source *source, struct cron_field_set *set,
                             struct parse_error *reterr)
{
    struct scanner p = {.source = source, .set = set, .err = reterr, .at = source->begin};
    do {
        if (p.at == source->end || source->text[p.at] == ',')
            return FAIL(&p, p.at, "empty list element");
        enum status st = parse_item(&p);
        if (st != OK)
            return st;
        if (p.at < source->end && source->text[p.at] != ',')
            return scan_unexpected(&p);
    } while (scan_take(&p, ','));
    return OK;
}
