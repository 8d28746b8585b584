/* Many jobs in one second: how they are counted, and what is proposed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "herd/herd.h"
#include "herd/herd_text.h"
#include "random_cron.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

enum { DAY = 86400, FROM = 1795000000, MANY_TICKS = 4000000 };

static const struct calendars no_calendars = {NULL, 0, 0};
static const struct herd_wish hourly_wish = {.at_most = 10, .within_s = 3600};

static void texts_get_an_h(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *schedule, *minute, *second; /* NULL: no such form */
    } cases[] = {
        {__LINE__, "0 3 * * *", "H 3 * * *", "H H 3 * * *"},
        {__LINE__, " 30  3 * * 1-5 ", "H 3 * * 1-5", "H H 3 * * 1-5"},
        {__LINE__, "0 0 3 * * *", "0 H 3 * * *", "H H 3 * * *"},
        {__LINE__, "0 0 3 * * * 2027", "0 H 3 * * * 2027", "H H 3 * * * 2027"},
        {__LINE__, "TZ=Europe/Berlin 0 3 * * *", "TZ=Europe/Berlin H 3 * * *",
         "TZ=Europe/Berlin H H 3 * * *"},
        {__LINE__, "*/15 * * * *", "H/15 * * * *", "H H/15 * * * *"},
        {__LINE__, "*/7 * * * *", NULL, NULL}, /* not as many in each hour */
        {__LINE__, "*/60 * * * *", NULL, NULL},
        {__LINE__, "* * * * *", NULL, NULL},
        {__LINE__, "0,30 * * * *", NULL, NULL},
        {__LINE__, "H 3 * * *", NULL, NULL},
        {__LINE__, "*/5 0 3 * * *", NULL, NULL},
        {__LINE__, "@hourly", "H * * * *", "H H * * * *"},
        {__LINE__, "@daily", "H 0 * * *", "H H 0 * * *"},
        {__LINE__, "CRON_TZ=UTC @weekly", "CRON_TZ=UTC H 0 * * 0", "CRON_TZ=UTC H H 0 * * 0"},
        {__LINE__, "@minutely", NULL, NULL},
        {__LINE__, "@every 5m", NULL, NULL},
        {__LINE__, "@at 2027-01-01T00:00:00Z", NULL, NULL},
        {__LINE__, "@manual", NULL, NULL},
        {__LINE__, "", NULL, NULL},
        {__LINE__, "0 3 * *", NULL, NULL},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        const char *const wanted[] = {cases[i].minute, cases[i].second};
        for (int form = 0; form < HERD_FORMS; form++) {
            struct strbuf text;
            strbuf_init(&text);
            bool is_there = herd_text(cases[i].schedule, (enum herd_form)form, &text);
            if (is_there != (wanted[form] != NULL) ||
                strcmp(text.text, wanted[form] ? wanted[form] : "") != 0)
                fail_msg("line %d: \"%s\"", cases[i].line, text.text);
            strbuf_release(&text);
        }
    }
}

/* A job made of its schedule; the caller frees it. */
static struct job *make(const char *name, const char *schedule, const char *tz)
{
    struct job *job = job_new();
    assert_non_null(job);
    job->schedules = calloc(1, sizeof(char *));
    assert_non_null(job->schedules);
    job->schedules[0] = strdup(schedule);
    job->schedule_count = 1;
    assert_int_equal(job_set_text(&job->name, name), OK);
    assert_int_equal(job_set_text(&job->timezone, tz), OK);
    return job;
}

static void add(struct herd *herd, struct job *job, bool is_awaited)
{
    assert_int_equal(herd_add(herd, job, &no_calendars, is_awaited), OK);
    job_free(job);
}

static void propose(struct herd *herd, const struct herd_wish *wish)
{
    bool is_done = false;
    assert_int_equal(herd_count(herd), OK);
    while (!is_done)
        assert_int_equal(herd_propose(herd, wish, 7, &is_done), OK);
}

static const struct herd_job *find(const struct herd *herd, const char *name)
{
    for (size_t i = 0; i < herd->count; i++) {
        if (strcmp(herd->jobs[i].name, name) == 0)
            return &herd->jobs[i];
    }
    fail_msg("no job %s", name);
    return NULL;
}

static void what_needs_its_time_keeps_it(void **state)
{
    struct zone_db *zones = *state;
    struct herd herd;
    char name[32];
    static const struct {
        int line;
        const char *name;
        enum herd_keep keep;
    } cases[] = {
        {__LINE__, "1-label", HERD_LABEL},     {__LINE__, "1-awaited", HERD_AWAITED},
        {__LINE__, "1-instant", HERD_INSTANT}, {__LINE__, "1-jitter", HERD_SPREAD},
        {__LINE__, "1-hash", HERD_SPREAD},     {__LINE__, "1-deadline", HERD_DEADLINE},
        {__LINE__, "1-each", HERD_NO_USE},
    };
    herd_init(&herd, zones, FROM, FROM + 7 * DAY, MANY_TICKS);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "many/%d", i);
        add(&herd, make(name, "0 3 * * *", "UTC"), false);
    }
    struct job *job = make("1-label", "0 3 * * *", "UTC");
    assert_int_equal(job_pairs_add(&job->labels, "herd", "keep"), OK);
    add(&herd, job, false);
    add(&herd, make("1-awaited", "0 3 * * *", "UTC"), true);
    add(&herd, make("1-instant", "@at 2026-11-20T03:00:00Z", "UTC"), false);
    job = make("1-jitter", "0 3 * * *", "UTC");
    job->jitter_s = 30;
    add(&herd, job, false);
    add(&herd, make("1-hash", "H 3 * * *", "UTC"), false);
    job = make("1-deadline", "0 3 * * *", "UTC");
    job->deadline_s = 3;
    add(&herd, job, false);
    add(&herd, make("1-each", "* * * * * *", "UTC"), false);
    job = make("1-paused", "0 3 * * *", "UTC");
    job->paused = true;
    add(&herd, job, false);
    propose(&herd, &hourly_wish);
    assert_int_equal(herd.count, 40 + ROWS(cases));
    for (size_t i = 0; i < ROWS(cases); i++) {
        const struct herd_job *found = find(&herd, cases[i].name);
        if (found->keep != cases[i].keep || found->new_ticks)
            fail_msg("line %d: %s", cases[i].line, herd_keep_name(found->keep));
    }
    const char *names[3];
    assert_int_equal(herd_names(&herd, crowd_worst(&herd.now).at_s, 3, names), 3);
    assert_string_equal(names[0], "1-awaited");
    assert_true(crowd_worst(&herd.then).starts <= 10);
    herd_release(&herd);
}

static void too_many_ticks_are_refused(void **state)
{
    struct herd herd;
    struct job *job = make("each", "* * * * * *", "UTC");
    herd_init(&herd, *state, FROM, FROM + DAY, 1000);
    assert_int_equal(herd_add(&herd, job, &no_calendars, false), E_TOO_LARGE);
    job_free(job);
    herd_release(&herd);
}

/* ---- any jobs ---- */

static struct job *random_job(struct random *random, int number)
{
    static const char *const zones[] = {"UTC", "Europe/Berlin", "America/New_York",
                                        "Australia/Lord_Howe"};
    char name[32], schedule[64];
    int hour = random_between(random, 0, 4);
    snprintf(name, sizeof(name), "job/%d", number);
    switch (random_between(random, 0, 5)) {
    case 0:
        snprintf(schedule, sizeof(schedule), "0 %d * * *", hour);
        break;
    case 1:
        snprintf(schedule, sizeof(schedule), "0 %d,%d * * %d", hour, hour + 1,
                 random_between(random, 0, 6));
        break;
    case 2:
        snprintf(schedule, sizeof(schedule), "*/%d * * * *", random_chance(random, 50) ? 15 : 30);
        break;
    case 3:
        snprintf(schedule, sizeof(schedule), "@hourly");
        break;
    case 4:
        snprintf(schedule, sizeof(schedule), "@every %dm", random_between(random, 1, 3) * 10);
        break;
    default:
        snprintf(schedule, sizeof(schedule), "0 0 %d * * *", hour);
    }
    return make(name, schedule, zones[random_between(random, 0, 3)]);
}

static void make_herd(struct herd *herd, struct zone_db *zones, uint64_t seed, int count,
                      bool is_backwards)
{
    struct random random = random_new(seed);
    struct job **jobs = calloc((size_t)count, sizeof(struct job *));
    assert_non_null(jobs);
    herd_init(herd, zones, FROM, FROM + 7 * DAY, MANY_TICKS);
    for (int i = 0; i < count; i++)
        jobs[i] = random_job(&random, i);
    for (int i = 0; i < count; i++)
        add(herd, jobs[is_backwards ? count - 1 - i : i], false);
    free(jobs);
    propose(herd, &hourly_wish);
}

/* Ticks of each local day of a year, of which the first and the last are there in part. */
static void count_days(struct zone_db *zones, const char *schedule, const char *name,
                       const char *tz, int days[370])
{
    struct schedule_options options = schedule_options_default();
    struct schedule *parsed;
    struct parse_error error;
    options.default_tz = tz;
    options.job_name = name;
    assert_int_equal(schedule_parse(schedule, &options, zones, &parsed, &error), OK);
    const struct zone *zone = schedule_zone(parsed);
    int64_t first = (FROM + zone_span_at(zone, FROM).offset_s) / DAY;
    memset(days, 0, 370 * sizeof(int));
    for (int64_t at_s = FROM; (at_s = schedule_next(parsed, at_s)) < FROM + 366 * (int64_t)DAY;)
        days[(at_s + zone_span_at(zone, at_s).offset_s) / DAY - first]++;
    schedule_free(parsed);
}

static void days_keep_their_ticks(void **state)
{
    struct zone_db *zones = *state;
    uint64_t seed = random_seed();
    for (int round = 0; round < 3 * random_rounds(); round++) {
        struct herd herd;
        int before[370], after[370];
        make_herd(&herd, zones, seed + (uint64_t)round, 150, false);
        for (size_t i = 0; i < herd.count; i++) {
            const struct herd_job *job = &herd.jobs[i];
            if (!job->schedule)
                continue;
            const char *tz = job->when.timezone;
            count_days(zones, job->when.schedule, job->name, tz, before);
            count_days(zones, job->schedule, job->name, tz, after);
            for (int day = 1; day < 365; day++) {
                if (before[day] != after[day])
                    fail_msg("seed %llu: \"%s\" %s to \"%s\": day %d has %d, then %d",
                             (unsigned long long)seed, job->when.schedule, tz, job->schedule, day,
                             before[day], after[day]);
            }
        }
        herd_release(&herd);
    }
}

/* The order in which jobs are added does not matter; the worst second gets better, and what the
 * proposals lead to is what was counted. */
static void proposals_spread(void **state)
{
    struct zone_db *zones = *state;
    uint64_t seed = random_seed();
    for (int round = 0; round < 3 * random_rounds(); round++) {
        struct herd herd, again;
        struct crowd crowd;
        make_herd(&herd, zones, seed + (uint64_t)round, 200, false);
        make_herd(&again, zones, seed + (uint64_t)round, 200, true);
        assert_int_equal(crowd_init(&crowd, FROM, FROM + 7 * DAY), OK);
        assert_int_equal(herd.proposed, again.proposed);
        for (size_t i = 0; i < herd.count; i++) {
            const struct herd_job *job = &herd.jobs[i], *other = &again.jobs[i];
            if ((job->new_ticks != NULL) != (other->new_ticks != NULL) ||
                job->jitter_s != other->jitter_s ||
                strcmp(job->schedule ? job->schedule : "",
                       other->schedule ? other->schedule : "") != 0)
                fail_msg("seed %llu: %s is not the same again", (unsigned long long)seed,
                         job->name);
            if (job->new_ticks)
                assert_true(job->new_worst < job->worst);
            crowd_add(&crowd, &(job->new_ticks ? job->new_ticks : job->ticks)->ticks,
                      job->new_ticks ? job->new_later_s : job->later_s, 1);
        }
        assert_memory_equal(crowd.starts, herd.then.starts, crowd.seconds * sizeof(uint32_t));
        assert_true(herd.proposed > 0);
        assert_true(crowd_worst(&herd.then).starts < crowd_worst(&herd.now).starts);
        crowd_release(&crowd);
        herd_release(&herd);
        herd_release(&again);
    }
}

static int set_up(void **state)
{
    struct zone_db *zones;
    if (zone_db_new(NULL, &zones) != OK)
        return -1;
    *state = zones;
    return 0;
}

static int tear_down(void **state)
{
    zone_db_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_get_an_h),
        cmocka_unit_test(what_needs_its_time_keeps_it),
        cmocka_unit_test(too_many_ticks_are_refused),
        cmocka_unit_test(days_keep_their_ticks),
        cmocka_unit_test(proposals_spread),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
