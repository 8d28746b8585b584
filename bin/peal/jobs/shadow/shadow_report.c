#include "jobs/shadow/shadow_report.h"

#include <string.h>
#include <time.h>

#include "array.h"
#include "jobs/input_file.h"
#include "text/tr.h"
#include "timestamp.h"

enum exit_code shadow_read_jobs(struct client *client, const struct reading *reading,
                                const char *label, struct job_list *jobs)
{
    json_t *found = NULL;
    const json_t *each;
    size_t i;
    enum exit_code code = client_list(client, "/jobs?", 0, &found);
    json_array_foreach (found, i, each) {
        struct job *job = NULL;
        if (code != EXIT_OK)
            break;
        const char *value =
            json_string_value(json_object_get(json_object_get(each, "labels"), SHADOW_LABEL));
        if (!value || strcmp(value, label) != 0)
            continue;
        code = cli_fail(definition_decode(reading, each, &job));
        if (code == EXIT_OK)
            code = cli_fail(array_grow(&jobs->items, jobs->count, sizeof(job)));
        if (code == EXIT_OK)
            jobs->items[jobs->count++] = job;
        else
            job_free(job);
    }
    json_decref(found);
    return code;
}

/* ---- the log ---- */

enum exit_code shadow_read_log(const char *place, const char *zone_name,
                               const struct reading *reading, struct cron_log *log)
{
    struct strbuf text;
    const struct zone *zone = zone_utc();
    strbuf_init(&text);
    if (zone_db_get(reading->zones, zone_name, &zone, NULL) != OK)
        zone = zone_utc();
    enum exit_code code = input_file_read(place, &text);
    if (code == EXIT_OK)
        code = cli_fail(cron_log_read(text.text, text.length, zone, time(NULL), log));
    cron_log_sort(log);
    strbuf_release(&text);
    return code;
}

static bool when_seconds(const struct when_text *when, int64_t *inout_s)
{
    int64_t at_ms;
    if (!*when->text || !when_parse(when->text, &at_ms))
        return false;
    *inout_s = at_ms / 1000;
    return true;
}

struct shadow_span shadow_span_of(const struct cron_log *log, const struct when_text *since,
                                  const struct when_text *until)
{
    enum { MINUTE = 60 };
    struct shadow_span span = {log->first_s - log->first_s % MINUTE, log->last_s};
    (void)when_seconds(since, &span.from_s);
    (void)when_seconds(until, &span.until_s);
    return span;
}

/* ---- a job ---- */

static const char *why_word(const struct shadow_difference *difference)
{
    static const char *const words[] = {
        [SHADOW_NO_TICK] = TR("not a tick of the job's schedule"),
        [SHADOW_REBOOT] = TR("a boot, which peal counts by itself"),
        [SHADOW_SILENT] = TR("cron has logged nothing then"),
        [SHADOW_OTHERS] = TR("cron has logged other commands then"),
        [SHADOW_CLOCK] = TR("the clock is set forward or back there"),
    };
    return words[difference->why];
}

static json_t *differences_json(const struct job *job, const struct shadow_report *report,
                                bool is_table)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < report->count; i++) {
        const struct shadow_difference *each = &report->items[i];
        struct strbuf at;
        strbuf_init(&at);
        timestamp_print_utc(each->at_s, &at);
        const char *why = why_word(each);
        json_t *item = json_pack("{s:s, s:s, s:s}", "at", at.text, "only",
                                 each->is_cron ? "cron" : "peal", "why", is_table ? tr(why) : why);
        if (is_table)
            json_object_set_new(item, "job", json_string(job->name));
        json_array_append_new(list, item);
        strbuf_release(&at);
    }
    return list;
}

enum exit_code shadow_compare_job(const struct reading *reading, const struct job *job,
                                  const struct cron_log *log, struct shadow_span span,
                                  bool is_table, json_t **ret_row, json_t **ret_differences)
{
    struct schedule_set schedules;
    struct shadow_report report = {.equal = 0};
    schedule_set_init(&schedules);
    enum status st = job_schedules(job, reading->zones, &schedules, NULL);
    if (st == OK) {
        shadow_compare(job, &schedules, log, NULL, span.from_s, span.until_s, &report);
        *ret_differences = differences_json(job, &report, is_table);
        *ret_row = json_pack("{s:s, s:I, s:I, s:I}", "job", job->name, "equal",
                             (json_int_t)report.equal, "only_cron", (json_int_t)report.only_cron,
                             "only_peal", (json_int_t)report.only_peal);
        st = *ret_row && *ret_differences ? OK : E_NOMEM;
    }
    schedule_set_release(&schedules);
    return cli_fail(st);
}
