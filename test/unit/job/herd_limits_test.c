/* Limits of groups beside what starts in one second: the room on the nodes that there are, for all
 * jobs and for those of some nodes, and what of a job counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "herd/herd.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

enum { DAY = 86400, FROM = 1795000000, NODES = 4, MANY_TICKS = 1000000 };

static struct zone_db *zones;

/* Two in eu, one in us, one without a zone. */
static char nodes[NODES][512] = {"disk=ssd,zone=eu", "zone=eu", "zone=us", "disk=ssd"};

static const char *const jobs_text =
    "[{name: a, schedule: 0 6 * * *, timezone: UTC, command: [x], groups: [g]},\n"
    " {name: b, schedule: 0 6 * * *, timezone: UTC, command: [x], groups: [g], where: zone=eu},\n"
    " {name: c, schedule: 0 7 * * *, timezone: UTC, command: [x], groups: [g, h], spread: all},\n"
    " {name: d, schedule: 0 6 * * *, timezone: UTC, command: [x]},\n"
    " {name: r, schedule: \"@manual\", command: [x], groups: [g]},\n"
    " {name: s/flow, schedule: 0 6 * * *, timezone: UTC, steps: [\n"
    "  {name: one, command: [x], groups: [g]}, {name: two, job: r}, {name: gone, job: nowhere},\n"
    "  {name: many, command: [x], groups: [g], each: {items: [a, b, c], at_once: 2}},\n"
    "  {name: later, command: [x], groups: [g], after: [one]}]},\n"
    " {name: s/outer, schedule: 0 8 * * *, timezone: UTC, steps: [{name: in, workflow: s/flow}]}]";

static const struct job *find(void *context, const char *name)
{
    const struct job_list *jobs = context;
    for (size_t i = 0; i < jobs->count; i++)
        if (strcmp(jobs->items[i]->name, name) == 0)
            return jobs->items[i];
    return NULL;
}

static void read_jobs(struct job_list *jobs)
{
    struct job_error error;
    if (jobs_decode_text(jobs_text, strlen(jobs_text), "UTC", zones, jobs, &error) != OK)
        fail_msg("%d:%d: %s", error.line, error.column, error.message);
}

/* "all: 3, zone=eu: 1" */
static void print_items(const struct herd_limits *limits, char *ret, size_t size)
{
    size_t length = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < limits->count; i++) {
        const char *where = limits->nodes[limits->items[i].nodes].where;
        length += (size_t)snprintf(ret + length, size - length, "%s%s: %d", i ? ", " : "",
                                   *where ? where : "all", limits->items[i].most);
    }
}

static void the_room_is_that_of_the_nodes(void **state)
{
    (void)state;
    static const struct {
        int line;
        size_t node_count;
        struct group_limits limits;
        const char *items;
    } cases[] = {
        {__LINE__, NODES, {.cluster = 3}, "all: 3"},
        {__LINE__, NODES, {.node = 1}, "all: 4, zone=eu: 2"},
        {__LINE__, NODES, {.node = 2, .cluster = 5}, "all: 5, zone=eu: 4"},
        {__LINE__, NODES, {.labels = {{"zone", 2}}, .label_count = 1}, "all: 6, zone=eu: 2"},
        {__LINE__, NODES, {.labels = {{"zone=eu", 1}}, .label_count = 1}, "zone=eu: 1"},
        {__LINE__, NODES, {.labels = {{"disk", 1}, {"zone", 5}}, .label_count = 2}, "all: 2"},
        {__LINE__, 0, {.node = 1}, ""}, /* nobody knows how many there are */
        {__LINE__, 0, {.node = 1, .cluster = 7}, "all: 7"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct herd_limits limits;
        struct herd herd;
        struct job_list jobs;
        char items[200];
        read_jobs(&jobs);
        herd_limits_init(&limits);
        limits.labels = nodes;
        limits.node_count = cases[i].node_count;
        assert_int_equal(herd_limits_add_group(&limits, "g", &cases[i].limits), OK);
        herd_init(&herd, zones, FROM, FROM + DAY, MANY_TICKS);
        herd.limits = &limits;
        for (size_t j = 0; j < jobs.count; j++)
            assert_int_equal(herd_add(&herd, jobs.items[j], &(struct calendars){0}, false), OK);
        assert_int_equal(herd_limits_settle(&limits), OK);
        print_items(&limits, items, sizeof(items));
        if (strcmp(items, cases[i].items) != 0)
            fail_msg("line %d: %s, not %s", cases[i].line, items, cases[i].items);
        herd_release(&herd);
        herd_limits_release(&limits);
        job_list_release(&jobs);
    }
}

static void what_begins_at_the_tick_counts(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *group, *job;
        int starts;
    } cases[] = {
        {__LINE__, "g", "a", 1},       {__LINE__, "g", "c", NODES}, {__LINE__, "h", "c", NODES},
        {__LINE__, "h", "a", 0},       {__LINE__, "g", "d", 0},     {__LINE__, "g", "s/flow", 4},
        {__LINE__, "s/", "s/flow", 4}, {__LINE__, "s/", "a", 0},    {__LINE__, "g", "s/outer", 4},
    };
    struct job_list jobs;
    read_jobs(&jobs);
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct herd_limits limits;
        int starts = -1;
        herd_limits_init(&limits);
        limits.labels = nodes;
        limits.node_count = NODES;
        limits.find = find;
        limits.context = &jobs;
        assert_int_equal(
            herd_limits_add_group(&limits, cases[i].group, &(struct group_limits){.cluster = 1}),
            OK);
        const struct herd_limit limit = {.group = &limits.groups[0], .most = 1};
        assert_int_equal(herd_limit_starts(&limit, &limits, find(&jobs, cases[i].job), &starts),
                         OK);
        if (starts != cases[i].starts)
            fail_msg("line %d: %d starts", cases[i].line, starts);
        herd_limits_release(&limits);
    }
    job_list_release(&jobs);
}

static void what_is_too_much_is_counted(void **state)
{
    (void)state;
    struct herd_limits limits;
    struct herd herd;
    struct job_list jobs;
    read_jobs(&jobs);
    herd_limits_init(&limits);
    limits.labels = nodes;
    limits.node_count = NODES;
    limits.find = find;
    limits.context = &jobs;
    assert_int_equal(herd_limits_add_group(&limits, "g", &(struct group_limits){.cluster = 3}), OK);
    herd_init(&herd, zones, FROM, FROM + DAY, MANY_TICKS);
    herd.limits = &limits;
    for (size_t i = 0; i < jobs.count; i++)
        assert_int_equal(herd_add(&herd, jobs.items[i], &(struct calendars){0}, false), OK);
    assert_int_equal(herd_limits_settle(&limits), OK);
    assert_int_equal(limits.count, 1);
    assert_int_equal(herd_limit_count(&limits.items[0], &limits, FROM, FROM + DAY), OK);
    /* at six: a, b and four of the flow; at seven c on each node; at eight the flow in the other
     * one */
    const struct herd_excess *excess = &limits.items[0].excess;
    assert_int_equal(excess->worst.starts, 6);
    assert_int_equal(excess->seconds, 3);
    assert_int_equal(excess->waiting, 3 + 1 + 1);
    herd_limits_clear(&limits);
    assert_int_equal(limits.groups[0].count, 0);
    herd_release(&herd);
    herd_limits_release(&limits);
    job_list_release(&jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_room_is_that_of_the_nodes),
        cmocka_unit_test(what_begins_at_the_tick_counts),
        cmocka_unit_test(what_is_too_much_is_counted),
    };
    if (zone_db_new(NULL, &zones) != OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    zone_db_free(zones);
    return failed;
}
