/* Every zone of the system, compared with what the C library makes of the same file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hash.h"
#include "zone/zone_db.h"
#include "zone/zone_file.h"

#define ZONEINFO "/usr/share/zoneinfo"

enum {
    NAMES_MAX = 2000,
    STEP_S = 40 * 86400, /* finds every stretch of summer or winter time */
    RANDOM_INSTANTS = 300,
};
#define FROM_S INT64_C(-2208988800) /* 1900 */
#define TO_S   INT64_C(13569465600) /* 2400 */

struct names {
    char *name[NAMES_MAX];
    int count;
};

/* nftw() passes no argument through. */
static struct names names;

static int collect(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    const char *name = path + strlen(ZONEINFO) + 1;
    if (place->level == 1 && (!strcmp(name, "posix") || !strcmp(name, "right")))
        return FTW_SKIP_SUBTREE;
    if (kind == FTW_F && zone_name_is_safe(name) && zone_file_exists(ZONEINFO, name) &&
        names.count < NAMES_MAX)
        names.name[names.count++] = strdup(name);
    return FTW_CONTINUE;
}

static void check_instant(const struct zone *zone, int64_t utc_s)
{
    time_t time = utc_s;
    struct tm local;
    assert_non_null(localtime_r(&time, &local));
    int32_t offset_s = zone_span_at(zone, utc_s).offset_s;
    if (offset_s != local.tm_gmtoff)
        fail_msg("%s at %lld: %d, but the C library says %ld", zone_name(zone), (long long)utc_s,
                 offset_s, local.tm_gmtoff);
}

static void check_zone(const struct zone *zone)
{
    setenv("TZ", zone_name(zone), 1);
    tzset();
    for (int64_t at_s = FROM_S; at_s < TO_S; at_s += STEP_S)
        check_instant(zone, at_s);
    for (struct zone_span span = zone_span_at(zone, FROM_S); span.end_s < TO_S;) {
        struct zone_span next = zone_span_at(zone, span.end_s);
        if (next.start_s != span.end_s || next.previous_offset_s != span.offset_s)
            fail_msg("%s: a seam at %lld", zone_name(zone), (long long)span.end_s);
        check_instant(zone, span.end_s - 1);
        check_instant(zone, span.end_s);
        span = next;
    }
    uint64_t hash = hash_text(0, zone_name(zone));
    for (int i = 0; i < RANDOM_INSTANTS; i++) {
        hash = hash_bytes(hash, &i, sizeof(i));
        check_instant(zone, FROM_S + (int64_t)hash_below(hash, TO_S - FROM_S));
        /* and the next ten thousand years */
        check_instant(zone, TO_S + (int64_t)hash_below(hash, 10000 * INT64_C(31556952)));
    }
}

static void agrees_with_the_c_library(void **state)
{
    (void)state;
    struct zone_db *db;
    nftw(ZONEINFO, collect, 16, FTW_ACTIONRETVAL);
    if (names.count == 0) {
        print_message("there are no time zones here\n");
        skip();
    }
    assert_int_equal(zone_db_new(NULL, &db), OK);
    for (int i = 0; i < names.count; i++) {
        const struct zone *zone;
        struct parse_error error;
        if (zone_db_get(db, names.name[i], &zone, &error) != OK)
            fail_msg("%s", error.message);
        check_zone(zone);
        free(names.name[i]);
    }
    print_message("%d zones\n", names.count);
    zone_db_free(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
