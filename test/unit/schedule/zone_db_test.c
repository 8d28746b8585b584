#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tzif_build.h"
#include "zone/zone_db.h"
#include "zone/zone_local.h"

/* A temporary directory with a small database in zoneinfo/ and a place for links in etc/. */
struct fixture {
    char dir[64], zoneinfo[96], etc[96];
    struct zone_db *db;
};

static void put_bytes(const char *dir, const char *name, const void *bytes, size_t length)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    for (char *slash = strchr(path + strlen(dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void put_text(const char *dir, const char *name, const char *text)
{
    put_bytes(dir, name, text, strlen(text));
}

static void put_zone(const struct fixture *fix, const char *name, const char *rule)
{
    unsigned char bytes[TZIF_BUILD_SIZE];
    size_t length = tzif_build(&(struct tzif_build){.footer = rule}, bytes);
    put_bytes(fix->zoneinfo, name, bytes, length);
}

static void put_link(const char *dir, const char *name, const char *target)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
}

static void remove_file(const char *dir, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    unlink(path);
}

static int set_up(void **state)
{
    static const char *const zones[] = {"America/New_York",    "America/Argentina/Buenos_Aires",
                                        "America/Denver",      "Asia/Calcutta",
                                        "Europe/Berlin",       "Europe/Busingen",
                                        "Europe/Dublin",       "Europe/London",
                                        "Etc/GMT+5",           "EST",
                                        "Etc/GMT+8",           "Etc/GMT+7",
                                        "Etc/GMT+6",           "EST5EDT",
                                        "posix/Europe/Berlin", "right/Europe/Berlin"};
    struct fixture *fix = calloc(1, sizeof(*fix));
    assert_non_null(fix);
    snprintf(fix->dir, sizeof(fix->dir), "/tmp/peal-zone-db-XXXXXX");
    assert_non_null(mkdtemp(fix->dir));
    snprintf(fix->zoneinfo, sizeof(fix->zoneinfo), "%s/zoneinfo", fix->dir);
    snprintf(fix->etc, sizeof(fix->etc), "%s/etc", fix->dir);
    mkdir(fix->zoneinfo, 0755);
    mkdir(fix->etc, 0755);
    for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++)
        put_zone(fix, zones[i], "EST5EDT,M3.2.0,M11.1.0");
    put_text(fix->zoneinfo, "zone.tab", "# a table");
    put_text(fix->zoneinfo, "leapseconds", "# a table");
    put_text(fix->zoneinfo, "Europe/Dubln", "# a note");
    assert_int_equal(zone_db_new(fix->zoneinfo, &fix->db), OK);
    *state = fix;
    return 0;
}

static int remove_path(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;
    zone_db_free(fix->db);
    nftw(fix->dir, remove_path, 16, FTW_DEPTH | FTW_PHYS);
    free(fix);
    return 0;
}

static const struct zone *get(struct fixture *fix, const char *name)
{
    struct parse_error error;
    const struct zone *zone;
    if (zone_db_get(fix->db, name, &zone, &error) != OK)
        fail_msg("%s", error.message);
    return zone;
}

static void loads_once_and_shares(void **state)
{
    struct fixture *fix = *state;
    static const char *const names[] = {"Europe/Berlin", "America/New_York", "Etc/GMT+5",
                                        "America/Argentina/Buenos_Aires", "EST"};
    const struct zone *zones[5];
    for (int i = 0; i < 5; i++)
        zones[i] = get(fix, names[i]);
    for (int i = 0; i < 5; i++) {
        assert_ptr_equal(get(fix, names[i]), zones[i]);
        assert_string_equal(zone_name(zones[i]), names[i]);
    }
}

static void says_what_is_unknown_and_what_is_near(void **state)
{
    struct fixture *fix = *state;
    static const struct {
        int line;
        const char *name, *message;
    } cases[] = {
        {__LINE__, "Mars/X", "unknown time zone \"Mars/X\""},
        {__LINE__, "", "unknown time zone \"\""},
        {__LINE__, "europe/BERLIN",
         "unknown time zone \"europe/BERLIN\"; did you mean \"Europe/Berlin\"?"},
        {__LINE__, "New_York",
         "unknown time zone \"New_York\"; did you mean \"America/New_York\"?"},
        {__LINE__, "new york",
         "unknown time zone \"new york\"; did you mean \"America/New_York\"?"},
        {__LINE__, "Europe/Calcutta",
         "unknown time zone \"Europe/Calcutta\"; did you mean \"Asia/Calcutta\"?"},
        {__LINE__, "Europe/Berln",
         "unknown time zone \"Europe/Berln\"; did you mean \"Europe/Berlin\"?"},
        {__LINE__, "Europe/Bublin",
         "unknown time zone \"Europe/Bublin\"; did you mean \"Europe/Dublin\", \"Europe/Berlin\"?"},
        {__LINE__, "Etc/GMT+99",
         "unknown time zone \"Etc/GMT+99\"; did you mean \"Etc/GMT+5\", \"Etc/GMT+6\", "
         "\"Etc/GMT+7\"?"},
        {__LINE__, "Dublinn", "unknown time zone \"Dublinn\"; did you mean \"Europe/Dublin\"?"},
        {__LINE__, "US/NewYork",
         "unknown time zone \"US/NewYork\"; did you mean \"America/New_York\"?"},
        {__LINE__, "PST", "unknown time zone \"PST\""},
        /* paths that lead elsewhere, or to what is no zone */
        {__LINE__, "../etc/passwd", "unknown time zone \"../etc/passwd\""},
        {__LINE__, "America/../EST", "unknown time zone \"America/../EST\"; did you mean \"EST\"?"},
        {__LINE__, "Europe//Berlin",
         "unknown time zone \"Europe//Berlin\"; did you mean \"Europe/Berlin\"?"},
        {__LINE__, "/Europe/Berlin",
         "unknown time zone \"/Europe/Berlin\"; did you mean \"Europe/Berlin\"?"},
        {__LINE__, "Europe/Berlin/",
         "unknown time zone \"Europe/Berlin/\"; did you mean \"Europe/Berlin\"?"},
        {__LINE__, "zone.tab", "unknown time zone \"zone.tab\""},
        {__LINE__, "leapseconds", "unknown time zone \"leapseconds\""},
        {__LINE__, "America", "unknown time zone \"America\""},
        {__LINE__, "Europe/Berlin/Mitte", "unknown time zone \"Europe/Berlin/Mitte\""},
        {__LINE__, "EST\n\x1b[31m", "unknown time zone \"EST??[31m\""},
        {__LINE__,
         "A123456789B123456789C123456789D123456789E123456789F123456789G123456789H123456789",
         "unknown time zone "
         "\"A123456789B123456789C123456789D123456789E123456789F123456789G123...\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct parse_error error = {.column = -1};
        const struct zone *zone;
        enum status st = zone_db_get(fix->db, cases[i].name, &zone, &error);
        if (st != E_INVALID || error.column != 0 || strcmp(error.message, cases[i].message) != 0)
            fail_msg("line %d: %s: %s", cases[i].line, status_text(st), error.message);
    }
}

static void names_the_damaged_file(void **state)
{
    struct fixture *fix = *state;
    struct parse_error error;
    const struct zone *zone;
    char want[256];
    put_text(fix->zoneinfo, "Europe/Rome", "TZif2 and no more");
    snprintf(want, sizeof(want), "%s/Europe/Rome: the file ends within a header", fix->zoneinfo);
    assert_int_equal(zone_db_get(fix->db, "Europe/Rome", &zone, &error), E_CORRUPT);
    assert_string_equal(error.message, want);
}

static void only_utc_needs_no_tzdata(void **state)
{
    struct fixture *fix = *state;
    static const char *const dirs[] = {"etc", "nowhere"}; /* empty, and missing */
    for (int i = 0; i < 2; i++) {
        struct parse_error error;
        struct zone_db *db;
        const struct zone *zone;
        char dir[128], want[256];
        int changed;
        snprintf(dir, sizeof(dir), "%s/%s", fix->dir, dirs[i]);
        assert_int_equal(zone_db_new(dir, &db), OK);
        assert_int_equal(zone_db_get(db, "UTC", &zone, &error), OK);
        assert_ptr_equal(zone, zone_utc());
        assert_int_equal(zone_db_get(db, "Etc/UTC", &zone, &error), OK);
        assert_ptr_equal(zone, zone_utc());
        assert_int_equal(zone_db_get(db, "Europe/Berlin", &zone, &error), E_IO);
        snprintf(want, sizeof(want),
                 "time zone \"Europe/Berlin\" cannot be looked up: no time zone data in %s; "
                 "install the package tzdata",
                 dir);
        assert_string_equal(error.message, want);
        assert_int_equal(zone_db_refresh(db, &changed, NULL), OK);
        assert_int_equal(changed, 0);
        zone_db_free(db);
    }
}

/* 2023-11-05T06:00Z, when the zones of set_up() go back. */
static const int64_t autumn_s = 1699164000;

static void check_refresh(struct fixture *fix, int line, int want_changed, const char *want_problem)
{
    struct strbuf problems;
    char want[256] = "";
    int changed = -1;
    strbuf_init(&problems);
    assert_int_equal(zone_db_refresh(fix->db, &changed, &problems), OK);
    if (want_problem)
        snprintf(want, sizeof(want), "%s/%s; its old rules stay in force\n", fix->zoneinfo,
                 want_problem);
    if (changed != want_changed || strcmp(problems.text, want) != 0)
        fail_msg("line %d: %d changed, problems: %s", line, changed, problems.text);
    strbuf_release(&problems);
}

static void refresh_takes_over_what_is_new(void **state)
{
    struct fixture *fix = *state;
    const struct zone *berlin = get(fix, "Europe/Berlin"), *est = get(fix, "EST");
    check_refresh(fix, __LINE__, 0, NULL);
    put_zone(fix, "Europe/Berlin", "EST5EDT,M3.2.0,M11.2.0/2");
    check_refresh(fix, __LINE__, 1, NULL);
    assert_int_equal(zone_span_at(berlin, autumn_s).offset_s, -14400);
    assert_int_equal(zone_span_at(est, autumn_s).offset_s, -18000);
    assert_string_equal(zone_name(berlin), "Europe/Berlin");
    assert_ptr_equal(get(fix, "Europe/Berlin"), berlin);
    check_refresh(fix, __LINE__, 0, NULL);
    /* another spelling of the same rules is no change */
    put_zone(fix, "Europe/Berlin", "NYC5NYD,M3.2.0/2:00,M11.2.0");
    check_refresh(fix, __LINE__, 0, NULL);
    put_zone(fix, "Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3");
    put_zone(fix, "EST", "EST5");
    check_refresh(fix, __LINE__, 2, NULL);
    assert_int_equal(zone_span_at(berlin, autumn_s).offset_s, 3600);
    assert_int_equal(zone_span_at(est, 0).end_s, INT64_MAX);
}

/* Written over in place with as many bytes: only its time tells. */
static void refresh_sees_a_file_of_the_same_size(void **state)
{
    struct fixture *fix = *state;
    const struct timespec times[2] = {{.tv_sec = 2000000000}, {.tv_sec = 2000000000, .tv_nsec = 1}};
    const struct zone *berlin = get(fix, "Europe/Berlin");
    char path[PATH_MAX];
    put_zone(fix, "Europe/Berlin", "EST5EDT,M3.2.0,M11.2.0");
    snprintf(path, sizeof(path), "%s/Europe/Berlin", fix->zoneinfo);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    check_refresh(fix, __LINE__, 1, NULL);
    assert_int_equal(zone_span_at(berlin, autumn_s).offset_s, -14400);
}

static void refresh_keeps_old_rules_when_in_doubt(void **state)
{
    struct fixture *fix = *state;
    const struct zone *berlin = get(fix, "Europe/Berlin");
    put_text(fix->zoneinfo, "Europe/Berlin", "TZif2 and no more");
    check_refresh(fix, __LINE__, 0, "Europe/Berlin: the file ends within a header");
    put_text(fix->zoneinfo, "Europe/Berlin", "garbage");
    check_refresh(fix, __LINE__, 0, "Europe/Berlin: gone, or not a time zone any more");
    remove_file(fix->zoneinfo, "Europe/Berlin");
    check_refresh(fix, __LINE__, 0, "Europe/Berlin: gone, or not a time zone any more");
    check_refresh(fix, __LINE__, 0, "Europe/Berlin: gone, or not a time zone any more");
    assert_int_equal(zone_span_at(berlin, autumn_s).offset_s, -18000);
    put_zone(fix, "Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3");
    check_refresh(fix, __LINE__, 1, NULL);
    assert_int_equal(zone_span_at(berlin, autumn_s).offset_s, 3600);
}

/* Of those below. */
static bool is_passed_over(const char *tz)
{
    return tz && (strchr(tz, ',') || strstr(tz, "/etc/"));
}

static void check_local(const struct fixture *fix, int line, const char *tz, const char *want)
{
    struct strbuf name;
    strbuf_init(&name);
    bool is_known = zone_local_name(fix->zoneinfo, tz, fix->etc, &name);
    if (strcmp(name.text, want) != 0 || !is_known != is_passed_over(tz))
        fail_msg("line %d: \"%s\", not \"%s\"; %s", line, name.text, want,
                 is_known ? "known" : "passed over");
    strbuf_release(&name);
}

static void finds_the_local_zone(void **state)
{
    struct fixture *fix = *state;
    char path[256];
    check_local(fix, __LINE__, NULL, "UTC"); /* nothing is said anywhere */

    put_text(fix->etc, "timezone", "Europe/London\n");
    check_local(fix, __LINE__, NULL, "Europe/London");
    put_text(fix->etc, "localtime", "a copy has no name");
    check_local(fix, __LINE__, NULL, "Europe/London");
    put_text(fix->etc, "timezone", "Europe/Nowhere\n");
    check_local(fix, __LINE__, NULL, "UTC");

    put_link(fix->etc, "localtime", "../zoneinfo/Europe/Dublin");
    check_local(fix, __LINE__, NULL, "Europe/Dublin");
    snprintf(path, sizeof(path), "%s/America/Denver", fix->zoneinfo);
    put_link(fix->etc, "localtime", path);
    check_local(fix, __LINE__, NULL, "America/Denver");
    put_link(fix->etc, "local", path);
    put_link(fix->etc, "localtime", "local");
    check_local(fix, __LINE__, NULL, "America/Denver");

    check_local(fix, __LINE__, "Europe/Berlin", "Europe/Berlin");
    check_local(fix, __LINE__, ":Europe/Berlin", "Europe/Berlin");
    snprintf(path, sizeof(path), ":%s/Europe/Berlin", fix->zoneinfo);
    check_local(fix, __LINE__, path, "Europe/Berlin");
    check_local(fix, __LINE__, path + 1, "Europe/Berlin");
    check_local(fix, __LINE__, "EST5EDT", "EST5EDT"); /* a rule, and also a name */
    check_local(fix, __LINE__, "UTC", "UTC");
    check_local(fix, __LINE__, "", "UTC");
    check_local(fix, __LINE__, "CET-1CEST,M3.5.0,M10.5.0/3", "America/Denver");
    check_local(fix, __LINE__, "../etc/localtime", "America/Denver");
    check_local(fix, __LINE__, "/etc/passwd", "America/Denver");
}

static void local_name_asks_the_environment(void **state)
{
    struct fixture *fix = *state;
    struct strbuf name;
    strbuf_init(&name);
    setenv("TZ", "Europe/Dublin", 1);
    zone_db_local_name(fix->db, &name);
    unsetenv("TZ");
    assert_string_equal(name.text, "Europe/Dublin");
    strbuf_release(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loads_once_and_shares, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_what_is_unknown_and_what_is_near, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_the_damaged_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_utc_needs_no_tzdata, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refresh_takes_over_what_is_new, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refresh_sees_a_file_of_the_same_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refresh_keeps_old_rules_when_in_doubt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_the_local_zone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(local_name_asks_the_environment, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
