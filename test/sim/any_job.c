#include "any_job.h"

#include <string.h>
#include <time.h>

#include "hash.h"

enum { HOUR_MS = 3600 * 1000 };

uint64_t any_random(uint64_t *random)
{
    uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t any_below(uint64_t *random, int64_t limit)
{
    return (int64_t)hash_below(any_random(random), (uint64_t)limit);
}

bool any_chance(uint64_t *random, int percent)
{
    return any_below(random, 100) < percent;
}

/* As in life: minutes, hours, nights. */
static const char *const schedules[] = {
    "* * * * *",    "*/5 * * * *",  "*/5 * * * *",    "*/7 * * * *",         "*/10 1-3 * * *",
    "H/15 * * * *", "H/15 * * * *", "*/30 * * * *",   "~ * * * *",           "15 */2 * * *",
    "30 1 * * *",   "30 2 * * *",   "0 0 29 2 *",     "@every 7m",           "@every 1h",
    "@hourly",      "@manual",      "0 30 0-6 * * *", "0 */3 * * * SUN-SAT", "5 4 * * 1-5",
};
static const char *const dense[] = {"*/5 * * * * *", "*/10 * * * * *", "*/20 * * * * *",
                                    "7 * * * * *",   "* * * * *",      "@every 15s",
                                    "@every 45s",    "*/3 */2 * * * *"};
static const char *const own_time[] = {"@after 20s", "@after 3m", "@reboot"};
static const char *const zones[] = {"UTC", "America/New_York", "Europe/Berlin",
                                    "Australia/Lord_Howe", "Asia/Kathmandu"};
static const char *const overlaps[] = {"skip",
                                       "allow",
                                       "queue",
                                       "replace",
                                       "{policy: queue, queue: 2}",
                                       "{policy: allow, at_once: 2}"};
static const char *const catch_ups[] = {"last",
                                        "skip",
                                        "all",
                                        "{policy: all, limit: 3}",
                                        "{policy: all, window: 4m}",
                                        "{policy: last, window: 2m}"};

#define PICK(random, list) (list)[any_below((random), sizeof(list) / sizeof((list)[0]))]

static void add_time(struct strbuf *yaml, const char *prefix, int64_t at_ms, const char *suffix)
{
    char text[40];
    struct tm tm;
    time_t at = (time_t)(at_ms / 1000);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
    strbuf_addf(yaml, "%s%s%s", prefix, text, suffix);
}

static void add_schedule(uint64_t *random, int64_t now_ms, bool is_dense, bool has_boots,
                         struct strbuf *yaml)
{
    if (has_boots && any_chance(random, 50))
        strbuf_adds(yaml, "'@reboot'");
    else if (any_chance(random, 5))
        add_time(yaml, "'@at ", now_ms + any_below(random, HOUR_MS), "'");
    else if (any_chance(random, 15))
        strbuf_addf(yaml, "'%s'", PICK(random, own_time));
    else if (any_chance(random, is_dense ? 70 : 3))
        strbuf_addf(yaml, "'%s'", PICK(random, dense));
    else
        strbuf_addf(yaml, "'%s'", PICK(random, schedules));
}

static void add_retries(uint64_t *random, struct strbuf *yaml)
{
    static const char *const ends[] = {"", ", on: [failed, lost]", ", on: [lost]", ", on: failed"};
    strbuf_addf(yaml, "retries: {count: %d, wait: %ds, backoff: %s, jitter: %d%s}\n",
                1 + (int)any_below(random, 3), (int)any_below(random, 20),
                any_chance(random, 50) ? "fixed" : "exponential", any_chance(random, 50) ? 0 : 50,
                PICK(random, ends));
}

static void add_spread(uint64_t *random, struct strbuf *yaml)
{
    static const char *const spreads[] = {"all", "all", "2", "shards 3", "shards 1", "one"};
    if (!any_chance(random, 25))
        return;
    const char *spread = PICK(random, spreads);
    strbuf_addf(yaml, "spread: %s\n", spread);
    if (strcmp(spread, "one") != 0 && any_chance(random, 50))
        strbuf_addf(yaml, "rolling: {at_once: %d, stop_on_failure: %s}\n",
                    any_chance(random, 70) ? 1 : 2, any_chance(random, 50) ? "true" : "false");
}

void any_place_write(uint64_t *random, struct strbuf *yaml)
{
    static const char *const places[] = {"sticky", "least_loaded", "least_loaded", "even"};
    if (any_chance(random, 40))
        strbuf_addf(yaml, "place: %s\n", PICK(random, places));
}

void any_groups_write(uint64_t *random, const char *indent, struct strbuf *yaml)
{
    static const char *const lists[] = {"[two]", "[one-each]", "[two, one-each]", "[by-zone]",
                                        "[by-zone, two]"};
    if (!any_chance(random, 40))
        return;
    strbuf_addf(yaml, "%sgroups: %s\n", indent, PICK(random, lists));
    if (any_chance(random, 40))
        strbuf_addf(yaml, "%spriority: %d\n", indent, (int)any_below(random, 3) - 1);
}

static void add_schedules(uint64_t *random, int64_t now_ms, bool is_dense, bool has_boots,
                          struct strbuf *yaml)
{
    strbuf_adds(yaml, "schedules: [");
    for (int64_t more = any_chance(random, 25) ? 1 + any_below(random, 2) : 0; more >= 0; more--) {
        add_schedule(random, now_ms, is_dense, has_boots, yaml);
        strbuf_adds(yaml, more ? ", " : "]\n");
    }
}

/* ---- workflows ---- */

/* The steps before this one that it waits for; the last of them is `*ret_last`, -1: none. */
static void add_step_after(uint64_t *random, int step, struct strbuf *yaml, int *ret_last)
{
    static const char *const ends[] = {"success", "success", "success", "failure", "always"};
    int count = 0, last = -1;
    for (int i = 0; i < step; i++) {
        if (!any_chance(random, 45))
            continue;
        strbuf_addf(yaml, "%s{step: s%d, on: %s}", count++ ? ", " : "    after: [", i,
                    PICK(random, ends));
        last = i;
    }
    if (count)
        strbuf_adds(yaml, "]\n");
    if (count > 1 && any_chance(random, 40))
        strbuf_addf(yaml, "    join: %s\n", any_chance(random, 60) ? "any" : "2");
    *ret_last = last;
}

static void add_each(uint64_t *random, int before, struct strbuf *yaml)
{
    int at_once = 1 + (int)any_below(random, 3);
    if (before >= 0 && any_chance(random, 50))
        strbuf_addf(yaml, "    each: {of: steps.s%d.list, at_once: %d}\n", before, at_once);
    else
        strbuf_addf(yaml, "    each: {shards: %d, at_once: %d}\n", 1 + (int)any_below(random, 5),
                    at_once);
}

static void add_step(uint64_t *random, const char *prefix, int step, int version, bool has_groups,
                     struct strbuf *yaml)
{
    int before = -1;
    strbuf_addf(yaml, "  - name: %s%d\n", prefix, step);
    if (prefix[0] == 's')
        add_step_after(random, step, yaml, &before);
    if (before >= 0)
        strbuf_addf(yaml, "    command: [/bin/true, '%d', '${steps.s%d.v}', s%d]\n", version,
                    before, before);
    else
        strbuf_addf(yaml, "    command: [/bin/true, '%d']\n", version);
    if (before >= 0 && any_chance(random, 25))
        strbuf_addf(yaml, "    when: 'steps.s%d.coin == \"1\"'\n", before);
    if (any_chance(random, 25))
        add_each(random, before, yaml);
    if (any_chance(random, 30)) {
        strbuf_adds(yaml, "    ");
        add_retries(random, yaml);
    }
    if (has_groups)
        any_groups_write(random, "    ", yaml);
}

void any_workflow_write(uint64_t *random, int64_t now_ms, const char *name, int version,
                        bool is_dense, bool has_groups, struct strbuf *yaml)
{
    strbuf_addf(yaml, "name: %s\n", name);
    add_schedules(random, now_ms, is_dense, false, yaml);
    if (strstr(yaml->text, "@reboot")) {
        strbuf_reset(yaml);
        strbuf_addf(yaml, "name: %s\nschedules: ['@every 45s']\n", name);
    }
    const char *overlap = PICK(random, overlaps);
    if (is_dense && strcmp(overlap, "allow") == 0) /* hundreds of instances would be open */
        overlap = "skip";
    strbuf_addf(yaml, "overlap: %s\n", overlap);
    strbuf_addf(yaml, "catch_up: %s\n", PICK(random, catch_ups));
    if (any_chance(random, 20))
        strbuf_addf(yaml, "timeout: %ds\n", 20 + (int)any_below(random, 300));
    strbuf_adds(yaml, "steps:\n");
    int steps = 1 + (int)any_below(random, 6);
    for (int i = 0; i < steps; i++)
        add_step(random, "s", i, version, has_groups, yaml);
    if (!any_chance(random, 30))
        return;
    strbuf_adds(yaml, "finally:\n");
    int finals = 1 + (int)any_below(random, 2);
    for (int i = 0; i < finals; i++)
        add_step(random, "f", i, version, has_groups, yaml);
}

/* ---- jobs ---- */

void any_job_write(uint64_t *random, int64_t now_ms, const char *name, int version, bool is_dense,
                   bool has_boots, struct strbuf *yaml)
{
    strbuf_addf(yaml, "name: %s\ncommand: [/bin/true, '%d']\n", name, version);
    add_schedules(random, now_ms, is_dense, has_boots, yaml);
    strbuf_addf(yaml, "timezone: %s\n", PICK(random, zones));
    strbuf_addf(yaml, "overlap: %s\n", PICK(random, overlaps));
    strbuf_addf(yaml, "catch_up: %s\n", PICK(random, catch_ups));
    int64_t jitter_s = any_chance(random, 2)    ? 4 * 3600
                       : any_chance(random, 15) ? any_below(random, 90)
                                                : 0;
    strbuf_addf(yaml, "jitter: %llds\n", (long long)jitter_s);
    if (any_chance(random, 15))
        strbuf_addf(yaml, "deadline: %llds\n", (long long)(1 + any_below(random, 300)));
    if (any_chance(random, 10))
        add_time(yaml, "start: ", now_ms + any_below(random, HOUR_MS), "\n");
    if (any_chance(random, 10))
        add_time(yaml, "end: ", now_ms + HOUR_MS + any_below(random, 3 * HOUR_MS), "\n");
    if (any_chance(random, 10))
        strbuf_adds(yaml, any_chance(random, 50) ? "dst: skip\n" : "dst: both\n");
    if (!strstr(yaml->text, "@reboot") && any_chance(random, 30))
        add_retries(random, yaml);
    add_spread(random, yaml);
}

void any_after_write(uint64_t *random, const char *name, int version, const char *const others[2],
                     struct strbuf *yaml)
{
    static const char *const ends[] = {"success", "success", "failure", "always"};
    strbuf_addf(yaml, "name: %s\ncommand: [/bin/true, '%d']\n", name, version);
    strbuf_addf(yaml, "after: [{job: %s, on: %s}", others[0], PICK(random, ends));
    if (others[1])
        strbuf_addf(yaml, ", {job: %s, on: %s}", others[1], PICK(random, ends));
    strbuf_addf(yaml, "]\noverlap: %s\n", PICK(random, overlaps));
    if (any_chance(random, 30))
        add_retries(random, yaml);
    add_spread(random, yaml);
}
