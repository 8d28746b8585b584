/* Random jobs: what is written is read back the same, as YAML, as JSON and as the store's text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "definition/job_internal.h"
#include "hash.h"

static struct zone_db *zones;

static int open_zones(void **state)
{
    (void)state;
    return zone_db_new(NULL, &zones) == OK ? 0 : -1;
}

static int close_zones(void **state)
{
    (void)state;
    zones = zone_db_free(zones);
    return 0;
}

struct dice {
    uint64_t seed;
};

static uint64_t roll(struct dice *dice, uint64_t limit)
{
    dice->seed = hash_bytes(dice->seed, "roll", 4);
    return hash_below(dice->seed, limit);
}

/* Pieces that YAML readers and writers trip over. */
static char *random_text(struct dice *dice)
{
    static const char *const pieces[] = {
        "a",      "yes",    "no",   "null",  "~",    "0",  "07",   "1e3",  "0x1F",     ":",
        ": ",     " #",     "#",    "'",     "\"",   "\\", "\n",   "\n\n", "\t",       " ",
        "  ",     "- ",     "-",    "?",     "? ",   "*",  "&",    "!",    "%",        "@",
        "`",      "|",      ">",    "[",     "]",    "{",  "}",    ",",    "---",      "...",
        "<<",     "=",      "\r",   "\x01",  "\x7F", "é",  "世界", "😀",    "\xC2\x85", "\u2028",
        "\uFEFF", "TZ=UTC", "true", "12:30", "/",
    };
    struct strbuf text;
    strbuf_init(&text);
    for (uint64_t n = roll(dice, 6); n > 0; n--)
        strbuf_adds(&text, pieces[roll(dice, sizeof(pieces) / sizeof(pieces[0]))]);
    return strbuf_detach(&text);
}

static char *some_text(struct dice *dice)
{
    char *text = random_text(dice);
    if (*text)
        return text;
    free(text);
    return strdup("x");
}

static void random_notify(struct dice *dice, struct job_notify *notify)
{
    static const char *const names[] = {"ops", "on", "7", "team.a"};
    size_t count = roll(dice, 4);
    if (roll(dice, 2)) {
        notify->to = calloc(count + 1, sizeof(*notify->to));
        assert_non_null(notify->to);
        for (size_t i = 0; i < count; i++)
            notify->to[i] = strdup(names[i]);
    }
    notify->on = (unsigned)roll(dice, 1 << NOTIFY_EVENTS);
    notify->late_s = (int64_t)roll(dice, 3) * 45;
}

static void random_pairs(struct dice *dice, struct job_pairs *pairs, bool labels)
{
    for (uint64_t n = roll(dice, 4); n > 0; n--) {
        char name[32];
        snprintf(name, sizeof(name), labels ? "%d" : ": k%d ", (int)pairs->count);
        char *value = random_text(dice);
        assert_int_equal(job_pairs_add(pairs, name, value), OK);
        free(value);
    }
}

static void random_call(struct dice *dice, struct job_http *http)
{
    http->url = strdup(roll(dice, 2) ? "https://example.org/a?b=${PEAL_TICK}" : "http://[::1]:80");
    http->method = roll(dice, 2) ? strdup("PUT") : NULL;
    if (roll(dice, 2))
        assert_int_equal(job_pairs_add(&http->headers, "X-Run", "${PEAL_RUN_ID}: #1"), OK);
    http->body = roll(dice, 2) ? strdup("{\"a\": \"$${\", b: no}\n") : NULL;
    if (roll(dice, 2)) {
        http->status = calloc(3, sizeof(*http->status));
        http->status[0] = strdup("200-299");
        http->status[1] = roll(dice, 2) ? strdup("404") : NULL;
    }
    http->match = roll(dice, 2) ? strdup("yes") : NULL;
    http->no_match = roll(dice, 2) ? strdup("12:30") : NULL;
    http->redirects = (int)roll(dice, 21);
    http->connect_s = 1 + (int64_t)roll(dice, 600);
    http->ca = roll(dice, 2) ? strdup("/etc/ca: #.pem") : NULL;
    http->cert = roll(dice, 2) ? strdup("/etc/cert.pem") : NULL;
    http->key = http->cert && roll(dice, 2) ? strdup("/etc/key.pem") : NULL;
}

/* What only processes have. */
static void random_process(struct dice *dice, struct job *job)
{
    if (roll(dice, 2)) {
        job->cwd = strdup("/srv/with blank: #");
        job->user = strdup("1000");
        job->stdin_text = random_text(dice);
    }
    job->umask_bits = (int)roll(dice, 513) - 1;
    job->nice = (int)roll(dice, 40) - 20;
    job->limits.memory_bytes = (int64_t)roll(dice, 3) * 1024 * 1024 - 1;
    job->limits.core_bytes = (int64_t)roll(dice, 5000) - 1;
    job->limits.cpu_s = roll(dice, 2) ? -1 : 1 + (int64_t)roll(dice, 100000);
}

static struct job *random_job(struct dice *dice)
{
    static const char *const schedules[] = {"0 3 * * *", "*/5 * * * *",  "@daily",    "@every 90s",
                                            "@after 1h", "  0 0 L * ? ", "H H * * *", "@manual"};
    struct job *job = job_new();
    job->name = strdup(roll(dice, 2) ? "1" : "no/yes.x");
    bool own_zone = roll(dice, 3) == 0;
    for (uint64_t n = 1 + roll(dice, 3); n > 0; n--) {
        char text[64];
        snprintf(text, sizeof(text), "%s%s", own_zone ? "CRON_TZ=Asia/Tokyo " : "",
                 schedules[roll(dice, sizeof(schedules) / sizeof(schedules[0]))]);
        assert_int_equal(job_schedules_add(job, text), OK);
    }
    job->timezone = strdup(own_zone ? "Asia/Tokyo" : "Europe/Berlin");
    job->start_s = roll(dice, 2) ? (int64_t)roll(dice, 2000000000) : TIME_UNSET;
    job->end_s = roll(dice, 2) ? 2000000000 + (int64_t)roll(dice, 2000000000) : TIME_UNSET;
    job->jitter_s = (int64_t)roll(dice, 86401);
    job->dst = (enum dst_policy)roll(dice, 3);
    for (uint64_t n = roll(dice, 3); n > 0; n--)
        assert_int_equal(job_calendars_add(job, n == 1 ? "cn-2026" : "1.10"), OK);
    job->kind = (enum job_kind)roll(dice, 3);
    if (job->kind == JOB_HTTP) {
        random_call(dice, &job->http);
    } else if (job->kind == JOB_SHELL) {
        job->script = some_text(dice);
    } else {
        job->command = calloc(4, sizeof(*job->command));
        job->command[0] = some_text(dice);
        for (uint64_t i = 1; i <= roll(dice, 3); i++)
            job->command[i] = random_text(dice);
    }
    random_pairs(dice, &job->env, false);
    random_notify(dice, &job->notify);
    random_pairs(dice, &job->labels, true);
    if (roll(dice, 2)) {
        job->where = strdup(roll(dice, 2) ? "!gpu, zone=eu" : "arch!=arm");
        job->owner = random_text(dice);
        job->notes = random_text(dice);
    }
    if (job->kind != JOB_HTTP)
        random_process(dice, job);
    job->overlap = (enum overlap_policy)roll(dice, 4);
    job->place = (enum place_choice)roll(dice, 3);
    job->queue_limit = 1 + (int)roll(dice, 12);
    job->catch_up = (enum catch_up_policy)roll(dice, 3);
    job->catch_up_window_s = (int64_t)roll(dice, 100000);
    job->timeout_s = (int64_t)roll(dice, 1000000);
    job->paused = roll(dice, 2);
    job->output_limit = (int64_t)roll(dice, 100) * 1024;
    job->keep_runs = (int64_t)roll(dice, 3);
    job->keep_bytes = (int64_t)roll(dice, 3) * 1000;
    return job;
}

static void check_round_trip(const struct job *job, uint64_t seed)
{
    struct job_list jobs;
    struct job *again;
    struct job_error err = {0};
    struct strbuf yaml;
    char *text = job_encode_text(job);

    strbuf_init(&yaml);
    assert_int_equal(job_encode_yaml(job, &yaml), OK);
    if (jobs_decode_text(yaml.text, yaml.length, "UTC", zones, &jobs, &err) != OK)
        fail_msg("seed %llu: %d:%d: %s\n%s", (unsigned long long)seed, err.line, err.column,
                 err.message, yaml.text);
    assert_int_equal(jobs.count, 1);
    char *from_yaml = job_encode_text(jobs.items[0]);
    if (strcmp(text, from_yaml) != 0)
        fail_msg("seed %llu:\n%s\nwas  %s\nis   %s", (unsigned long long)seed, yaml.text, text,
                 from_yaml);
    assert_string_equal(jobs.items[0]->timezone, job->timezone);
    job_list_release(&jobs);

    if (job_decode_stored(text, zones, &again, &err) != OK)
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, err.message, text);
    char *from_text = job_encode_text(again);
    assert_string_equal(text, from_text);
    assert_string_equal(again->timezone, job->timezone);
    job_free(again);
    free(from_text);
    free(from_yaml);
    free(text);
    strbuf_release(&yaml);
}

static void random_jobs_come_back_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct dice dice = {seed};
        struct job *job = random_job(&dice);
        check_round_trip(job, seed);
        job_free(job);
    }
}

/* What people see when a job is shown to them. */
static void yaml_reads_well(void **state)
{
    (void)state;
    static const char text[] = "name: nightly/backup\n"
                               "schedules:\n"
                               "  - \"30 2 * * *\"\n"
                               "  - \"@reboot\"\n"
                               "timezone: Europe/Berlin\n"
                               "command: [rsync, -a, \"--exclude=*.tmp\", /srv, \"5\", \"yes\"]\n"
                               "env:\n"
                               "  PATH: /usr/bin:/bin\n"
                               "  MODE: \"on\"\n"
                               "umask: \"027\"\n"
                               "limits:\n"
                               "  memory: 512MiB\n"
                               "overlap: replace\n"
                               "catch_up:\n"
                               "  policy: all\n"
                               "  limit: 5\n"
                               "timeout: 1h30m\n"
                               "labels:\n"
                               "  team: storage\n"
                               "notes: |\n"
                               "  First line.\n"
                               "\n"
                               "    Third, indented.\n";
    struct job_list jobs;
    struct job_error err;
    struct strbuf yaml;
    strbuf_init(&yaml);
    assert_int_equal(jobs_decode_text(text, strlen(text), "UTC", zones, &jobs, &err), OK);
    assert_int_equal(job_encode_yaml(jobs.items[0], &yaml), OK);
    assert_string_equal(yaml.text, text);
    job_list_release(&jobs);
    strbuf_release(&yaml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_jobs_come_back_the_same),
        cmocka_unit_test(yaml_reads_well),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
