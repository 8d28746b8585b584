/* Decodes one value by the kind of its field. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "byte_size.h"
#include "calendar_codec.h"
#include "definition/job_decode.h"
#include "definition/job_internal.h"
#include "definition/selector.h"
#include "duration.h"
#include "timestamp.h"

static void *member(const struct decoder *d, const struct field *field)
{
    return (char *)d->object + field->offset;
}

static enum status expected(const struct decoder *d, const struct spot *spot, const char *what)
{
    return spot_fail(d->err, spot, "expected %s, found %s", what, node_describe(spot->node));
}

/* Any scalar, also one that YAML reads as a number or a boolean. */
static enum status get_scalar(const struct decoder *d, const struct spot *spot, const char *what,
                              const char **ret)
{
    if (spot->node->kind != NODE_SCALAR)
        return expected(d, spot, what);
    *ret = spot->node->text;
    return OK;
}

enum status get_text(const struct decoder *d, const struct spot *spot, bool number_is_text,
                     const char **ret)
{
    const char *text;
    enum status st = get_scalar(d, spot, "a text", &text);
    if (st != OK)
        return st;
    enum plain_kind kind = spot->node->plain ? plain_kind(text) : PLAIN_TEXT;
    if (kind == PLAIN_BOOL)
        return spot_fail(d->err, spot,
                         "%s means true or false in YAML; for a text put it in quotes: \"%s\"",
                         text, text);
    if (kind == PLAIN_NUMBER && !number_is_text)
        return spot_fail(d->err, spot,
                         "%.60s is a number in YAML; for a text put it in quotes: \"%.60s\"", text,
                         text);
    *ret = text;
    return OK;
}

static enum status decode_text(struct decoder *d, const struct field *field,
                               const struct spot *spot)
{
    const char *text;
    enum status st = get_text(d, spot, field->numbers, &text);
    if (st != OK)
        return st;
    int64_t length = (int64_t)spot->node->length;
    if (length < field->min)
        return spot_fail(d->err, spot, "is empty");
    if (length > field->max)
        return spot_fail(d->err, spot, "is longer than %lld bytes", (long long)field->max);
    const char *complaint = field->complain ? field->complain(text) : NULL;
    if (complaint)
        return spot_fail(d->err, spot, "\"%.60s\" %s", text, complaint);
    return job_set_text(member(d, field), text);
}

static enum status decode_script(struct decoder *d, const struct field *field,
                                 const struct spot *spot)
{
    if (spot->node->kind == NODE_LIST)
        return spot_fail(d->err, spot,
                         "expected a script as one text, found a list; a list is a \"command\"");
    d->job->kind = JOB_SHELL;
    return decode_text(d, field, spot);
}

static enum status decode_argument(const struct decoder *d, const struct spot *spot, char **ret)
{
    enum { ARGUMENT_MAX = 128 * 1024 - 1 }; /* limit of Linux's execve */
    const char *text;
    enum status st = get_text(d, spot, true, &text);
    if (st != OK)
        return st;
    if (spot->node->length > ARGUMENT_MAX)
        return spot_fail(d->err, spot, "is longer than %d bytes", ARGUMENT_MAX);
    if (spot->index == 0 && !*text)
        return spot_fail(d->err, spot, "the program to run is empty");
    *ret = strdup(text);
    return *ret ? OK : E_NOMEM;
}

static enum status decode_argv(struct decoder *d, const struct field *field,
                               const struct spot *spot)
{
    const struct node *list = spot->node;
    if (list->kind == NODE_SCALAR)
        return spot_fail(d->err, spot,
                         "expected a list like [backup, --full]; for a line of shell use "
                         "\"shell\" instead of \"command\"");
    if (list->kind != NODE_LIST)
        return expected(d, spot, "a list like [backup, --full]");
    if (list->count < 1 || (int64_t)list->count > field->max)
        return spot_fail(d->err, spot, "expected a list of 1 to %lld words, found %zu",
                         (long long)field->max, list->count);
    char **argv = calloc(list->count + 1, sizeof(*argv));
    if (!argv)
        return E_NOMEM;
    *(char ***)member(d, field) = argv; /* owned by the job from here on */
    struct spot item = {.up = spot};
    for (const struct entry *entry = list->entries; entry; entry = entry->next, item.index++) {
        item.node = entry->value;
        enum status st = decode_argument(d, &item, &argv[item.index]);
        if (st != OK)
            return st;
    }
    return OK;
}

static enum status decode_schedule(struct decoder *d, const struct field *field,
                                   const struct spot *spot)
{
    (void)field;
    const char *text;
    if (spot->node->kind == NODE_LIST)
        return spot_fail(d->err, spot, "%s",
                         spot->name ? "expected one schedule, found a list; a list is \"schedules\""
                                    : "expected a schedule, found a list");
    enum status st = get_scalar(d, spot, "a schedule like \"0 3 * * *\"", &text);
    return st == OK ? job_schedules_add(d->job, text) : st;
}

static enum status decode_schedules(struct decoder *d, const struct field *field,
                                    const struct spot *spot)
{
    const struct node *list = spot->node;
    if (list->kind != NODE_LIST)
        return expected(d, spot, "a list of schedules");
    if ((int64_t)list->count < field->min || (int64_t)list->count > field->max)
        return spot_fail(d->err, spot, "expected 1 to %lld schedules, found %zu",
                         (long long)field->max, list->count);
    struct spot item = {.up = spot};
    for (const struct entry *entry = list->entries; entry; entry = entry->next, item.index++) {
        item.node = entry->value;
        enum status st = decode_schedule(d, field, &item);
        if (st != OK)
            return st;
    }
    return OK;
}

static enum status decode_calendar(struct decoder *d, const struct spot *spot)
{
    const char *name;
    enum status st = get_text(d, spot, true, &name);
    if (st != OK)
        return st;
    const char *complaint = calendar_name_complaint(name);
    if (complaint)
        return spot_fail(d->err, spot, "\"%.60s\" %s", name, complaint);
    for (size_t i = 0; i < d->job->calendar_count; i++) {
        if (strcmp(d->job->calendars[i], name) == 0)
            return spot_fail(d->err, spot, "\"%s\" is named twice", name);
    }
    return job_calendars_add(d->job, name);
}

static enum status decode_calendars(struct decoder *d, const struct field *field,
                                    const struct spot *spot)
{
    const struct node *list = spot->node;
    if (list->kind != NODE_LIST)
        return expected(d, spot, "a list of calendars like [holidays]");
    if ((int64_t)list->count > field->max)
        return spot_fail(d->err, spot, "expected at most %lld calendars, found %zu",
                         (long long)field->max, list->count);
    struct spot item = {.up = spot};
    for (const struct entry *entry = list->entries; entry; entry = entry->next, item.index++) {
        item.node = entry->value;
        enum status st = decode_calendar(d, &item);
        if (st != OK)
            return st;
    }
    return OK;
}

/* The job's zone. Without a database it is UTC: stored definitions, which were checked before, have
 * times with an offset. */
static enum status find_zone(const struct decoder *d, const struct zone **ret,
                             struct parse_error *reterr)
{
    if (d->zones)
        return zone_db_get(d->zones, d->job->timezone, ret, reterr);
    *ret = zone_utc();
    return OK;
}

static enum status decode_zone(struct decoder *d, const struct field *field,
                               const struct spot *spot)
{
    const struct zone *zone;
    struct parse_error inside = {0};
    enum status st = decode_text(d, field, spot);
    if (st != OK)
        return st;
    d->zone_is_given = true;
    st = find_zone(d, &zone, &inside);
    if (st != OK && st != E_NOMEM)
        spot_set_inside(d->err, spot, &inside);
    return st;
}

static enum status decode_time(struct decoder *d, const struct field *field,
                               const struct spot *spot)
{
    const char *text;
    const struct zone *zone;
    struct parse_error inside = {0};
    enum status st = get_scalar(d, spot, "a time like 2027-01-31T08:00:00Z", &text);
    if (st == OK)
        st = settle_zone(d);
    if (st != OK)
        return st;
    st = find_zone(d, &zone, &inside);
    if (st == OK)
        st = timestamp_parse(text, 1, zone, member(d, field), &inside);
    if (st != OK && st != E_NOMEM)
        spot_set_inside(d->err, spot, &inside);
    return st;
}

static enum status out_of_range(const struct decoder *d, const struct field *field,
                                const struct spot *spot)
{
    return spot_fail(d->err, spot, "%.40s is out of range %lld to %lld", spot->node->text,
                     (long long)field->min, (long long)field->max);
}

static enum status decode_duration(struct decoder *d, const struct field *field,
                                   const struct spot *spot)
{
    const char *text;
    int64_t seconds;
    struct parse_error inside = {0};
    enum status st = get_scalar(d, spot, "a duration like 90s", &text);
    if (st != OK)
        return st;
    if ((st = duration_parse(text, 1, &seconds, &inside)) != OK) {
        spot_set_inside(d->err, spot, &inside);
        return st;
    }
    if (seconds < field->min || seconds > field->max) {
        struct strbuf range;
        strbuf_init(&range);
        duration_print(field->min, &range);
        strbuf_adds(&range, " to ");
        duration_print(field->max, &range);
        spot_set(d->err, spot, "%.40s is out of range %s", text, range.text);
        strbuf_release(&range);
        return E_INVALID;
    }
    *(int64_t *)member(d, field) = seconds;
    return OK;
}

/* Reads digits up to *ret_end, without a sign. False: no digits, or out of range. */
static bool read_digits(const char *text, int64_t *ret, const char **ret_end)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *ret = strtoll(text, &end, 10);
    *ret_end = end;
    return errno == 0;
}

static enum status decode_size(struct decoder *d, const struct field *field,
                               const struct spot *spot)
{
    const char *text;
    struct parse_error inside = {0};
    enum status st = get_scalar(d, spot, BYTE_SIZE_LIKE, &text);
    if (st != OK)
        return st;
    if (byte_size_parse(text, field->min, field->max, member(d, field), &inside) != OK)
        return spot_fail(d->err, spot, "%s", inside.message);
    return OK;
}

static enum status get_integer(const struct decoder *d, const struct field *field,
                               const struct spot *spot, int64_t *ret)
{
    const char *text, *end;
    enum status st = get_scalar(d, spot, "a number", &text);
    if (st != OK)
        return st;
    bool negative = *text == '-';
    const char *digits = text + negative;
    if (digits[strspn(digits, "0123456789")] || !*digits)
        return spot_fail(d->err, spot, "\"%.40s\" is not a whole number", text);
    if (!spot->node->plain)
        return spot_fail(d->err, spot, "expected a number, found a text; leave out the quotes");
    if (digits[0] == '0' && digits[1])
        return spot_fail(d->err, spot, "%.40s is octal to some readers; leave out the leading 0",
                         text);
    int64_t value;
    if (!read_digits(digits, &value, &end))
        return out_of_range(d, field, spot);
    value = negative ? -value : value;
    if (value < field->min || value > field->max)
        return out_of_range(d, field, spot);
    *ret = value;
    return OK;
}

static enum status decode_int(struct decoder *d, const struct field *field, const struct spot *spot)
{
    int64_t value;
    enum status st = get_integer(d, field, spot, &value);
    if (st == OK)
        *(int *)member(d, field) = (int)value;
    return st;
}

static enum status decode_int64(struct decoder *d, const struct field *field,
                                const struct spot *spot)
{
    return get_integer(d, field, spot, member(d, field));
}

static enum status decode_bool(struct decoder *d, const struct field *field,
                               const struct spot *spot)
{
    const char *text;
    enum status st = get_scalar(d, spot, "true or false", &text);
    if (st != OK)
        return st;
    bool is_true = strcasecmp(text, "true") == 0;
    if (spot->node->plain && (is_true || strcasecmp(text, "false") == 0)) {
        *(bool *)member(d, field) = is_true;
        return OK;
    }
    if (!spot->node->plain)
        return spot_fail(d->err, spot, "expected true or false without quotes, found a text");
    return spot_fail(d->err, spot, "write true or false, not \"%.40s\"%s", text,
                     plain_kind(text) == PLAIN_BOOL ? ", which readers of YAML take differently"
                                                    : "");
}

enum status find_word(const struct decoder *d, const struct field *field, const struct spot *spot,
                      int *ret)
{
    char words[120];
    const char *text = spot->node->kind == NODE_SCALAR ? spot->node->text : NULL;
    for (int i = 0; text && field->words[i]; i++) {
        if (strcmp(field->words[i], text) == 0) {
            *ret = i;
            return OK;
        }
    }
    field_words(field, words, sizeof(words));
    if (!text)
        return expected(d, spot, words);
    const char *nearest = word_nearest(field->words, text);
    if (nearest)
        return spot_fail(d->err, spot, "\"%.40s\" is not one of %s; did you mean \"%s\"?", text,
                         words, nearest);
    return spot_fail(d->err, spot, "\"%.40s\" is not one of %s", text, words);
}

static enum status decode_choice(struct decoder *d, const struct field *field,
                                 const struct spot *spot)
{
    return find_word(d, field, spot, member(d, field));
}

/* Only checked: the other fields tell. */
static enum status decode_kind(struct decoder *d, const struct field *field,
                               const struct spot *spot)
{
    int word;
    return find_word(d, field, spot, &word);
}

static enum status decode_umask(struct decoder *d, const struct field *field,
                                const struct spot *spot)
{
    const char *text;
    enum status st = get_scalar(d, spot, "an octal text like \"022\"", &text);
    if (st != OK)
        return st;
    if (spot->node->plain)
        return spot_fail(d->err, spot,
                         "put it in quotes: \"%.20s\"; without them, 022 is the number 18 to some "
                         "readers of YAML and 22 to others",
                         text);
    size_t length = strlen(text);
    if (length < 1 || length > 4 || strspn(text, "01234567") != length)
        return spot_fail(d->err, spot, "\"%.20s\" is not an octal number like \"022\"", text);
    long value = strtol(text, NULL, 8);
    if (value > field->max)
        return spot_fail(d->err, spot, "\"%.20s\" is larger than \"0777\"", text);
    *(int *)member(d, field) = (int)value;
    return OK;
}

static enum status decode_pairs(struct decoder *d, const struct field *field,
                                const struct spot *spot)
{
    if (spot->node->kind != NODE_MAP)
        return expected(d, spot, "a map of names and values");
    for (const struct entry *entry = spot->node->entries; entry; entry = entry->next) {
        const char *value;
        struct spot key = {spot, entry->key->text, 0, entry->key};
        const char *complaint = field->complain(entry->key->text);
        if (complaint)
            return spot_fail(d->err, &key, "%s", complaint);
        struct spot item = {spot, entry->key->text, 0, entry->value};
        if (entry->value->kind == NODE_NULL)
            return spot_fail(d->err, &item, "has no value; for an empty text write \"\"");
        enum status st = field->numbers ? get_scalar(d, &item, "a value", &value)
                                        : get_text(d, &item, true, &value);
        if (st != OK)
            return st;
        if ((int64_t)entry->value->length > field->max)
            return spot_fail(d->err, &item, "is longer than %lld bytes", (long long)field->max);
        if ((st = job_pairs_add(member(d, field), entry->key->text, value)) != OK)
            return st;
    }
    return OK;
}

/* The first item of a list, or *single for a value that is given without a list. */
static const struct entry *first_of(const struct spot *spot, struct entry *single)
{
    *single = (struct entry){.value = spot->node};
    return spot->node->kind == NODE_LIST ? spot->node->entries : single;
}

static struct spot element(const struct spot *spot, const struct entry *entry, size_t index)
{
    return spot->node->kind == NODE_LIST ? (struct spot){spot, NULL, index, entry->value} : *spot;
}

static enum status decode_name(const struct decoder *d, const struct field *field,
                               const struct spot *spot, char **ret)
{
    const char *text;
    enum status st = get_text(d, spot, field->numbers, &text);
    if (st != OK)
        return st;
    const char *complaint = field->complain(text);
    if (complaint)
        return spot_fail(d->err, spot, "\"%.60s\" %s", text, complaint);
    *ret = strdup(text);
    return *ret ? OK : E_NOMEM;
}

static enum status decode_names(struct decoder *d, const struct field *field,
                                const struct spot *spot)
{
    struct entry single;
    size_t count = spot->node->kind == NODE_LIST ? spot->node->count : 1, index = 0;
    if (spot->node->kind != NODE_LIST && spot->node->kind != NODE_SCALAR)
        return expected(d, spot, "a name, or a list of them");
    if ((int64_t)count > field->max)
        return spot_fail(d->err, spot, "expected at most %lld names, found %zu",
                         (long long)field->max, count);
    char **names = calloc(count + 1, sizeof(*names));
    if (!names)
        return E_NOMEM;
    job_names_free(*(char ***)member(d, field));
    *(char ***)member(d, field) = names; /* owned by the object from here on */
    for (const struct entry *entry = first_of(spot, &single); entry; entry = entry->next) {
        struct spot item = element(spot, entry, index);
        enum status st = decode_name(d, field, &item, &names[index++]);
        if (st != OK)
            return st;
    }
    return OK;
}

static enum status decode_set(struct decoder *d, const struct field *field, const struct spot *spot)
{
    struct entry single;
    size_t index = 0;
    unsigned set = 0;
    for (const struct entry *entry = first_of(spot, &single); entry; entry = entry->next) {
        struct spot item = element(spot, entry, index++);
        int word;
        enum status st = find_word(d, field, &item, &word);
        if (st != OK)
            return st;
        set |= 1U << word;
    }
    *(unsigned *)member(d, field) = set;
    return OK;
}

static enum status decode_id(struct decoder *d, const struct field *field, const struct spot *spot)
{
    const char *text;
    enum status st = get_scalar(d, spot, "an id", &text);
    if (st == OK && id_parse(text, member(d, field)) != OK)
        st = spot_fail(d->err, spot, "\"%.40s\" is not an id", text);
    return st;
}

static enum status decode_selector(struct decoder *d, const struct field *field,
                                   const struct spot *spot)
{
    struct parse_error inside;
    enum status st = decode_text(d, field, spot);
    if (st == OK && selector_check(spot->node->text, &inside) != OK) {
        spot_set_inside(d->err, spot, &inside);
        return E_INVALID;
    }
    return st;
}

static enum status decode_group(struct decoder *d, const struct field *field,
                                const struct spot *spot)
{
    if (spot->node->kind == NODE_MAP)
        return fields_decode(d, field->fields, spot);
    return field->fields->alone ? field_decode(d, field->fields, spot)
                                : expected(d, spot, "a map of fields");
}

enum status field_decode(struct decoder *d, const struct field *field, const struct spot *spot)
{
    static enum status (*const decoders[])(struct decoder *, const struct field *,
                                           const struct spot *) = {
        [FIELD_TEXT] = decode_text,
        [FIELD_SCRIPT] = decode_script,
        [FIELD_ARGV] = decode_argv,
        [FIELD_SCHEDULE] = decode_schedule,
        [FIELD_SCHEDULES] = decode_schedules,
        [FIELD_ZONE] = decode_zone,
        [FIELD_TIME] = decode_time,
        [FIELD_DURATION] = decode_duration,
        [FIELD_SIZE] = decode_size,
        [FIELD_INT] = decode_int,
        [FIELD_INT64] = decode_int64,
        [FIELD_BOOL] = decode_bool,
        [FIELD_CHOICE] = decode_choice,
        [FIELD_UMASK] = decode_umask,
        [FIELD_PAIRS] = decode_pairs,
        [FIELD_PARAMS] = decode_params,
        [FIELD_ID] = decode_id,
        [FIELD_GROUP] = decode_group,
        [FIELD_SELECTOR] = decode_selector,
        [FIELD_CALENDARS] = decode_calendars,
        [FIELD_NAMES] = decode_names,
        [FIELD_SET] = decode_set,
        [FIELD_AFTER] = decode_after,
        [FIELD_KIND] = decode_kind,
        [FIELD_STEPS] = decode_steps,
        [FIELD_FINALLY] = decode_steps,
        [FIELD_STEP_AFTER] = decode_step_after,
        [FIELD_JOIN] = decode_join,
        [FIELD_ITEMS] = decode_items,
    };
    return decoders[field->kind](d, field, spot);
}
