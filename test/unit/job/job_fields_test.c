/* The table of a job's fields: complete in both languages, and what a change of each field means.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "definition/job_fields.h"

/* A sentence ends like one. */
static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static void check_about(const struct field *field)
{
    const struct field_about *about = field->about;
    if (!about || !about->label[0] || !about->label[1] || !about->help[0] || !about->help[1])
        fail_msg("%s: label or help is missing", field->name);
    if (!ends_with(about->help[0], ".") || !ends_with(about->help[1], "。"))
        fail_msg("%s: the help is no sentence", field->name);
    json_t *value = job_field_default(field);
    if (!value == !about->unset)
        fail_msg("%s: the default is a value, or told in words", field->name);
    json_decref(value);
}

static void every_field_is_told(void **state)
{
    (void)state;
    for (const struct field *field = job_fields; field->name; field++) {
        if (field->kind != FIELD_GROUP && !field->meta)
            check_about(field);
        for (const struct field *inner = field->fields; inner && inner->name; inner++)
            check_about(inner);
    }
}

/* What the console shows as an example, as it would send it. */
static json_t *sample_value(const struct field *field)
{
    const char *sample = field->about->sample;
    bool is_number = !sample[strspn(sample, "0123456789")];
    const char *equals = strchr(sample, '=');
    if (field->kind == FIELD_PAIRS && equals)
        return json_pack("{s#:s}", sample, (int)(equals - sample), equals + 1);
    if (field->kind == FIELD_PARAMS)
        return json_pack("{s:{s:s}}", sample, "default", "today");
    if (field->kind == FIELD_ARGV || field->kind == FIELD_CALENDARS)
        return json_pack("[s]", sample);
    if (field->kind == FIELD_NAMES || field->kind == FIELD_SET)
        return json_stringn(sample, strcspn(sample, ","));
    return is_number && field->kind != FIELD_UMASK ? json_integer(atoi(sample))
                                                   : json_string(sample);
}

/* The group with the sample. One of a call needs its URL, one of a function its program, the age
 * of a file that file, a key its certificate, and a maximum the policy that it is for. */
static json_t *sample_group(const struct field *field)
{
    json_t *map = json_pack("{s:o}", field->name, sample_value(field));
    if (field->about->section == SECTION_HTTP && !field->alone)
        json_object_set_new(map, "url", json_string("https://example.org"));
    if (field->about->section == SECTION_FUNCTION && !field->alone)
        json_object_set_new(map, "program", json_string("billing"));
    if (strcmp(field->name, "newer_than") == 0)
        json_object_set_new(map, "file", json_string("/srv/dump"));
    if (strcmp(field->name, "key") == 0)
        json_object_set_new(map, "cert", json_string("/cert.pem"));
    if (field->about->option && strcmp(field->about->option, "at-once") == 0)
        json_object_set_new(map, "policy", json_string("allow"));
    return map;
}

/* A job with the sample is taken, and has it when it is written again. */
static void check_sample(struct zone_db *zones, const struct field *field,
                         const struct field *group)
{
    const char *name = group ? group->name : field->name;
    struct job_error err = {0};
    struct job *job = NULL;
    json_t *definition = json_pack("{s:s}", "name", "a");
    if (field->kind != FIELD_AFTER && field->kind != FIELD_SCHEDULE)
        json_object_set_new(definition, "schedule", json_string("@daily"));
    if (field->kind != FIELD_ARGV && field->about->section != SECTION_HTTP &&
        field->about->section != SECTION_FUNCTION)
        json_object_set_new(definition, "command", json_pack("[s]", "true"));
    if (strcmp(name, "rolling") == 0)
        json_object_set_new(definition, "spread", json_string("all"));
    json_object_set_new(definition, name, group ? sample_group(field) : sample_value(field));
    if (job_decode_json(definition, false, "UTC", zones, &job, &err) != OK)
        fail_msg("the sample of %s: %s", field->name, err.message);
    json_t *written = job_encode_json(job, false);
    if (!json_object_get(written, name))
        fail_msg("%s is not written", field->name);
    json_decref(written);
    json_decref(definition);
    job_free(job);
}

static void samples_are_taken(void **state)
{
    struct zone_db *zones;
    (void)state;
    assert_int_equal(zone_db_new(NULL, &zones), OK);
    for (const struct field *field = job_fields; field->name; field++) {
        if (field->about && field->about->sample)
            check_sample(zones, field, NULL);
        for (const struct field *inner = field->fields; inner && inner->name; inner++) {
            if (inner->about->sample)
                check_sample(zones, inner, field);
        }
    }
    zone_db_free(zones);
}

static void names_are_found(void **state)
{
    (void)state;
    for (const struct field *field = job_fields; field->name; field++) {
        const struct field *from_start = job_fields, *from_end = field + 1;
        size_t length = strlen(field->name);
        assert_ptr_equal(field_find(job_fields, &from_start, field->name, length), field);
        assert_ptr_equal(field_find(job_fields, &from_end, field->name, length), field);
        assert_ptr_equal(from_end, field + 1);
        assert_ptr_not_equal(field_find(job_fields, &from_start, field->name, length - 1), field);
    }
    const struct field *next = job_fields;
    assert_null(field_find(job_fields, &next, "", 0));
}

static void synonyms_are_known(void **state)
{
    static const struct {
        int line;
        const char *typed, *meant;
    } cases[] = {
        {__LINE__, "cron", "schedule"},       {__LINE__, "when", "schedule"},
        {__LINE__, "tz", "timezone"},         {__LINE__, "dir", "cwd"},
        {__LINE__, "exclude", "calendars"},   {__LINE__, "suspend", "paused"},
        {__LINE__, "on_failure", "notify"},   {__LINE__, "parent_job", "after"},
        {__LINE__, "concurrency", "overlap"}, {__LINE__, "xyzzy", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = field_nearest(job_fields, false, cases[i].typed);
        if (!found != !cases[i].meant || (found && strcmp(found, cases[i].meant) != 0))
            fail_msg("line %d: %s", cases[i].line, found ? found : "none");
    }
}

static void changes_are_judged(void **state)
{
    enum { NOTHING, ANY = 1, TICKS = 2, RUNS = 4, AFTER = 8 };
    static const struct {
        int line;
        const char *from, *to;
        unsigned want;
    } cases[] = {
        {__LINE__, "{}", "{}", NOTHING},
        {__LINE__, "{'command':['a'],'nice':1}", "{'nice':1,'command':['a']}", NOTHING},
        {__LINE__, "{'schedule':'@daily'}", "{'schedule':'@hourly'}", ANY | TICKS},
        {__LINE__, "{'schedule':'@daily'}", "{'schedules':['@daily','@hourly']}", ANY | TICKS},
        {__LINE__, "{}", "{'timezone':'UTC'}", ANY | TICKS},
        {__LINE__, "{'start':'2027-01-01T00:00:00Z'}", "{}", ANY | TICKS},
        {__LINE__, "{}", "{'end':'2027-01-01T00:00:00Z'}", ANY | TICKS},
        {__LINE__, "{}", "{'dst':'both'}", ANY | TICKS},
        {__LINE__, "{}", "{'jitter':'5s'}", ANY},
        {__LINE__, "{}", "{'calendars':['a']}", ANY},
        {__LINE__, "{'schedule':'@daily'}", "{'after':[{'job':'a'}]}", ANY | TICKS | AFTER},
        {__LINE__, "{'after':[{'job':'a'}]}", "{'after':[{'job':'a','on':'always'}]}",
         ANY | TICKS | AFTER},
        {__LINE__, "{'command':['a']}", "{'shell':'a'}", ANY | RUNS},
        {__LINE__, "{}", "{'cwd':'/'}", ANY | RUNS},
        {__LINE__, "{}", "{'user':'a'}", ANY | RUNS},
        {__LINE__, "{'env':{'A':'1'}}", "{'env':{'A':'2'}}", ANY | RUNS},
        {__LINE__, "{}", "{'stdin':'a'}", ANY | RUNS},
        {__LINE__, "{}", "{'umask':'027'}", ANY | RUNS},
        {__LINE__, "{}", "{'nice':1}", ANY | RUNS},
        {__LINE__, "{'limits':{'core':0}}", "{'limits':{'core':1}}", ANY | RUNS},
        {__LINE__, "{}", "{'timeout':'5s'}", ANY},
        {__LINE__, "{}", "{'expect':{'file':'/etc/shadow'}}", ANY | RUNS},
        {__LINE__, "{}", "{'overlap':'allow'}", ANY},
        {__LINE__, "{}", "{'paused':true}", ANY},
        {__LINE__, "{}", "{'labels':{'a':'b'}}", ANY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char from_text[100], to_text[100];
        const char *texts[] = {cases[i].from, cases[i].to};
        char *copies[] = {from_text, to_text};
        for (size_t side = 0; side < 2; side++) {
            size_t length = strlen(texts[side]);
            for (size_t at = 0; at <= length; at++)
                copies[side][at] = (char)(texts[side][at] == '\'' ? '"' : texts[side][at]);
        }
        json_t *from = json_loads(from_text, 0, NULL), *to = json_loads(to_text, 0, NULL);
        assert_non_null(from);
        assert_non_null(to);
        struct job_changes changes = job_changes_find(from, to);
        unsigned found = (changes.any ? ANY : 0) | (changes.ticks ? TICKS : 0) |
                         (changes.runs ? RUNS : 0) | (changes.after ? AFTER : 0);
        if (found != cases[i].want)
            fail_msg("line %d: %u", cases[i].line, found);
        json_decref(from);
        json_decref(to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_told), cmocka_unit_test(samples_are_taken),
        cmocka_unit_test(names_are_found),     cmocka_unit_test(synonyms_are_known),
        cmocka_unit_test(changes_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
