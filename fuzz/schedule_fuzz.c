/* Any text is either refused with a place and a reason, or it is a schedule that survives being
 * printed, whose ticks only grow, and whose way back meets the same ticks. The first byte picks
 * the dialect ('0' is peal's own, '1' the next, ...), the second the zone and the DST policy. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../test/support/cron_check.h"
#include "schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const zone_names[] = {
    NULL,           "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll",
    "Pacific/Apia", "Asia/Beirut",      "Africa/Casablanca",   "Asia/Kathmandu",
};
enum { ZONE_NAMES = sizeof(zone_names) / sizeof(zone_names[0]) };

/* Loaded once: a zone is a file. */
static struct zone_db *zones(void)
{
    static struct zone_db *db;
    if (!db && zone_db_new(NULL, &db) != OK)
        abort();
    return db;
}

/* Whether the zone that the text names, if any, is one that is found at once. For an unknown name
 * the whole database is searched for similar ones, which would be all that the fuzzer does. */
static bool zone_is_cheap(const char *text)
{
    const char *name = strstr(text, "TZ=");
    if (!name)
        return true;
    name += strlen("TZ=");
    size_t length = strcspn(name, " \t\r\n");
    for (size_t i = 1; i < ZONE_NAMES; i++) {
        if (strlen(zone_names[i]) == length && strncmp(name, zone_names[i], length) == 0)
            return true;
    }
    return length == 0 || (length == 3 && strncmp(name, "UTC", 3) == 0);
}

static void check_error(const struct parse_error *err, const char *text)
{
    assert(err->column >= 0 && (size_t)err->column <= strlen(text) + 1);
    assert(err->message[0] && memchr(err->message, '\0', sizeof(err->message)));
}

static void check_print(const struct schedule *schedule, struct schedule_options options)
{
    struct strbuf first, second;
    struct schedule *again = NULL;
    strbuf_init(&first);
    strbuf_init(&second);
    schedule_print(schedule, &first);
    options.tz = NULL; /* the printed text names its zone */
    options.profile = CRON_PEAL;
    assert(schedule_parse(first.text, &options, zones(), &again, NULL) == OK);
    schedule_print(again, &second);
    assert(strcmp(first.text, second.text) == 0);
    assert(schedule_kind(schedule) == schedule_kind(again));
    assert(schedule_interval(schedule) == schedule_interval(again));
    if (schedule_cron(schedule)) {
        assert(schedule_zone(schedule) == schedule_zone(again));
        assert(cron_expr_equal(schedule_cron(schedule), schedule_cron(again)));
    }
    schedule_free(again);
    strbuf_release(&first);
    strbuf_release(&second);
}

/* A few ticks on from here: strictly growing, found again from just before, and on the way back. */
static void check_ticks(const struct schedule *schedule, int64_t now_s)
{
    for (int i = 0; i < 5; i++) {
        int64_t next_s = schedule_next(schedule, now_s);
        assert(next_s > now_s || next_s == NEVER);
        if (next_s == NEVER)
            return;
        assert(schedule_next(schedule, next_s - 1) == next_s);
        assert(schedule_next(schedule, now_s + (next_s - 1 - now_s) / 2) == next_s);
        assert(schedule_prev(schedule, next_s + 1) == next_s);
        int64_t prev_s = schedule_prev(schedule, next_s);
        assert(prev_s <= now_s);
        assert(prev_s == NEVER_BEFORE || schedule_next(schedule, prev_s) == next_s);
        (void)schedule_tick_note(schedule, next_s);
        now_s = next_s;
    }
}

static void check_schedule(const struct schedule *schedule)
{
    /* Around 1970, a gap, a fold, a missing day, the years without a leap day, the last year. */
    static const int64_t instants[] = {0,          1772953100, 1793512700,
                                       1325239100, 3981000000, INT64_C(253370764800)};
    for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++)
        check_ticks(schedule, instants[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 400)
        return 0;
    struct schedule_options options = schedule_options_default();
    struct schedule *schedule = NULL;
    struct parse_error err = {0};
    options.profile =
        (enum cron_profile)(data[0] % (CRON_OCPS_STRICT + 1)); /* '0' is 48, a multiple */
    options.tz = zone_names[data[1] % ZONE_NAMES];
    options.dst = (enum dst_policy)(data[1] / ZONE_NAMES % 3);
    options.job_name = "backup";
    options.job_uid = "01HZX4";
    char *text = strndup((const char *)data + 2, size - 2);
    if (!text)
        return 0;
    enum status st = zone_is_cheap(text) ? schedule_parse(text, &options, zones(), &schedule, &err)
                                         : E_NOT_FOUND;
    if (st == OK) {
        check_print(schedule, options);
        check_schedule(schedule);
        schedule_free(schedule);
    } else if (st == E_INVALID) {
        assert(!schedule);
        check_error(&err, text);
    }
    free(text);
    return 0;
}
