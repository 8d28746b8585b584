#include "cli/when.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/client.h"
#include "clock.h"
#include "duration.h"
#include "fires.h"
#include "text/tr.h"
#include "text/tr_parsed.h"
#include "timestamp.h"

int64_t now_ms(void)
{
    return clock_now().wall.ms;
}

bool when_parse(const char *text, int64_t *ret_ms)
{
    struct tm tm = {0};
    int used = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec, &used) != 6)
        return false;
    int64_t ms = 0;
    const char *rest = text + used;
    if (*rest == '.') {
        char *end;
        double fraction = strtod(rest, &end);
        ms = (int64_t)(fraction * 1000 + 0.5);
        rest = end;
    }
    if (strcmp(rest, "Z") != 0)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *ret_ms = (int64_t)timegm(&tm) * 1000 + ms;
    return true;
}

/* Seconds rounded down, also before 1970. */
static int64_t floor_s(int64_t ms)
{
    return ms / 1000 - (ms % 1000 < 0);
}

void when_print_api(int64_t at_ms, struct strbuf *out)
{
    int64_t seconds = floor_s(at_ms);
    timestamp_print_utc(seconds, out);
    if (out->length > 0)
        strbuf_truncate(out, out->length - 1);
    strbuf_addf(out, ".%03dZ", (int)(at_ms - seconds * 1000));
}

static const char *const weekdays[] = {TR("Sun"), TR("Mon"), TR("Tue"), TR("Wed"),
                                       TR("Thu"), TR("Fri"), TR("Sat")};

void when_print_local(int64_t at_ms, struct strbuf *out)
{
    time_t seconds = (time_t)floor_s(at_ms);
    struct tm tm;
    char text[64];
    if (at_ms == NO_TIME || !localtime_r(&seconds, &tm)) {
        strbuf_adds(out, "-");
        return;
    }
    strftime(text, sizeof(text), " %Y-%m-%d %H:%M:%S", &tm);
    strbuf_addf(out, "%s%s", tr(weekdays[tm.tm_wday]), text);
}

/* "5s ago", "in 5s". */
static void add_span(int64_t seconds, struct strbuf *out)
{
    struct strbuf span;
    strbuf_init(&span);
    span_print(seconds < 0 ? -seconds : seconds, &span);
    strbuf_addf(out, seconds < 0 ? tr("%s ago") : tr("in %s"), span.text);
    strbuf_release(&span);
}

void when_print_left(int64_t at_ms, int64_t from_ms, struct strbuf *out)
{
    if (at_ms == NO_TIME) {
        strbuf_adds(out, "-");
        return;
    }
    int64_t seconds = (at_ms - from_ms) / 1000;
    if (seconds == 0) {
        strbuf_adds(out, tr("now"));
        return;
    }
    if (seconds > 0)
        span_print(seconds, out);
    else
        add_span(seconds, out);
}

void when_print_in(int64_t at_ms, int64_t from_ms, struct strbuf *out)
{
    if (at_ms != NO_TIME && at_ms - from_ms >= 1000)
        add_span((at_ms - from_ms) / 1000, out);
    else
        when_print_left(at_ms, from_ms, out);
}

void when_print_full(int64_t at_ms, struct strbuf *out)
{
    struct strbuf in;
    strbuf_init(&in);
    when_print_local(at_ms, out);
    when_print_in(at_ms, now_ms(), &in);
    strbuf_addf(out, tr(" (%s)"), in.text);
    strbuf_release(&in);
}

void when_print_taken(int64_t from_ms, int64_t to_ms, struct strbuf *out)
{
    bool known = from_ms != NO_TIME && to_ms != NO_TIME && to_ms >= from_ms;
    int64_t taken = known ? to_ms - from_ms : 0;
    if (!known)
        strbuf_adds(out, "-");
    else if (taken < 60000)
        strbuf_addf(out, "%" PRId64 ".%03" PRId64 "s", taken / 1000, taken % 1000);
    else
        span_print(taken / 1000, out);
}

/* In the zone of this machine. */
static enum status parse_local(const char *text, int64_t *ret_s, struct parse_error *reterr)
{
    struct zone_db *zones;
    const struct zone *zone;
    struct strbuf name;
    const char *dir = getenv("TZDIR");
    enum status st = zone_db_new(dir && *dir ? dir : NULL, &zones);
    if (st != OK)
        return st;
    strbuf_init(&name);
    zone_db_local_name(zones, &name);
    st = zone_db_get(zones, name.text, &zone, reterr);
    if (st == OK)
        st = timestamp_parse(text, 1, zone, ret_s, reterr);
    strbuf_release(&name);
    zone_db_free(zones);
    return st;
}

bool take_when(const struct option_use *use)
{
    struct when_text *when = use->place;
    struct parse_error err = {.message = "out of memory"};
    struct strbuf text;
    int64_t seconds, at_ms = now_ms();
    bool is_known = strcmp(use->text, "now") == 0 || when_parse(use->text, &at_ms);
    if (!is_known && duration_parse(use->text, 1, &seconds, &err) == OK)
        at_ms -= seconds * 1000;
    else if (!is_known && parse_local(use->text, &seconds, &err) == OK)
        at_ms = seconds * 1000;
    else if (!is_known) {
        bool is_form = strstr(err.message, "write it like") != NULL;
        tr_parsed(err.message, sizeof(err.message));
        return is_form ? option_wrong(use, ": %s, or like 2h: that long ago", err.message)
                       : option_wrong(use, ": %s", err.message);
    }
    strbuf_init(&text);
    when_print_api(at_ms, &text);
    snprintf(when->text, sizeof(when->text), "%s", text.text);
    strbuf_release(&text);
    return true;
}

bool take_duration(const struct option_use *use)
{
    struct parse_error err;
    if (duration_parse(use->text, 1, use->place, &err) == OK)
        return true;
    tr_parsed(err.message, sizeof(err.message));
    return option_wrong(use, ": %s", err.message);
}

const char *answer_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

int64_t answer_int(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

int64_t answer_time(const json_t *object, const char *key)
{
    int64_t at_ms;
    return when_parse(answer_text(object, key), &at_ms) ? at_ms : NO_TIME;
}
