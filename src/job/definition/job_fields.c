#include "definition/job_fields.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "definition/job_internal.h"

#define AT(member)  .offset = offsetof(struct job, member)
#define DAY_S       INT64_C(86400)
#define LONG_S      (36500 * DAY_S)
#define SIZE_LIMIT  (INT64_C(1) << 50)
#define COUNT_LIMIT 1000000000

static const char name_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";

const char *job_name_complaint(const char *name)
{
    if (!*name)
        return "is empty";
    if (!isalnum((unsigned char)*name) || (unsigned char)*name > 0x7F)
        return "must start with a letter or a digit";
    if (name[strspn(name, name_letters)])
        return "may hold letters, digits and . _ / - only";
    if (strstr(name, "//") || name[strlen(name) - 1] == '/')
        return "has a slash with no name behind it";
    if (strlen(name) > JOB_NAME_MAX)
        return "is longer than 128 characters";
    return NULL;
}

const char *channel_name_complaint(const char *name)
{
    const char *complaint = job_name_complaint(name);
    if (complaint)
        return complaint;
    if (strchr(name, '/'))
        return "can't hold a slash";
    return strlen(name) > CHANNEL_NAME_MAX ? "is longer than 63 characters" : NULL;
}

static const char *label_complaint(const char *name)
{
    size_t length = strlen(name);
    if (length < 1 || length > 63)
        return "a label's name has 1 to 63 characters";
    if (name[strspn(name, name_letters)])
        return "a label's name may hold letters, digits and . _ / - only";
    return NULL;
}

static const char *variable_complaint(const char *name)
{
    if (!*name)
        return "the name of a variable is empty";
    return strchr(name, '=') ? "the name of a variable can't hold '='" : NULL;
}

static const char *path_complaint(const char *path)
{
    return *path == '/' ? NULL : "must be an absolute path, like /srv/app";
}

static const char *user_complaint(const char *user)
{
    return user[strcspn(user, ":/ \t\r\n")] ? "is not the name of a user" : NULL;
}

static const struct field limit_fields[] = {
    {"open_files", FIELD_INT64, AT(limits.open_files), 0, COUNT_LIMIT},
    {"processes", FIELD_INT64, AT(limits.processes), 0, COUNT_LIMIT},
    {"core", FIELD_SIZE, AT(limits.core_bytes), 0, SIZE_LIMIT},
    {"memory", FIELD_SIZE, AT(limits.memory_bytes), 0, SIZE_LIMIT},
    {"cpu_time", FIELD_DURATION, AT(limits.cpu_s), 1, LONG_S},
    {"file_size", FIELD_SIZE, AT(limits.file_bytes), 0, SIZE_LIMIT},
    {0},
};

static const struct field overlap_fields[] = {
    {"policy", FIELD_CHOICE, AT(overlap), .words = overlap_names, .alone = true},
    {"queue", FIELD_INT, AT(queue_limit), 1, 10000},
    {0},
};

static const struct field catch_up_fields[] = {
    {"policy", FIELD_CHOICE, AT(catch_up), .words = catch_up_names, .alone = true},
    {"window", FIELD_DURATION, AT(catch_up_window_s), 0, LONG_S},
    {"limit", FIELD_INT, AT(catch_up_limit), 1, 10000},
    {0},
};

static const struct field retention_fields[] = {
    {"runs", FIELD_INT64, AT(keep_runs), 0, COUNT_LIMIT},
    {"age", FIELD_DURATION, AT(keep_s), 0, LONG_S},
    {"bytes", FIELD_SIZE, AT(keep_bytes), 0, SIZE_LIMIT},
    {0},
};

static const struct field notify_fields[] = {
    {"to", FIELD_NAMES, AT(notify.to), 0, 20, .complain = channel_name_complaint, .alone = true},
    {"on", FIELD_SET, AT(notify.on), .words = notify_event_names},
    {"late", FIELD_DURATION, AT(notify.late_s), 1, LONG_S},
    {0},
};

const struct field job_fields[] = {
    {"uid", FIELD_ID, AT(uid), .meta = true},
    {"revision", FIELD_INT64, AT(revision), 0, INT64_MAX, .meta = true},
    {"name", FIELD_TEXT, AT(name), 0, INT64_MAX, .complain = job_name_complaint},
    {"schedule", FIELD_SCHEDULE, AT(schedules)},
    {"schedules", FIELD_SCHEDULES, AT(schedules), 1, JOB_SCHEDULES_MAX},
    {"after", FIELD_AFTER, AT(after)},
    {"timezone", FIELD_ZONE, AT(timezone), 1, 100},
    {"start", FIELD_TIME, AT(start_s)},
    {"end", FIELD_TIME, AT(end_s)},
    {"jitter", FIELD_DURATION, AT(jitter_s), 0, DAY_S},
    {"dst", FIELD_CHOICE, AT(dst), .words = dst_policy_names},
    {"calendars", FIELD_CALENDARS, AT(calendars), 1, JOB_CALENDARS_MAX},
    {"command", FIELD_ARGV, AT(command), 1, 4096},
    {"shell", FIELD_SCRIPT, AT(script), 1, 131071}, /* one argument, of which Linux takes no more */
    {"cwd", FIELD_TEXT, AT(cwd), 1, 4095, .complain = path_complaint},
    {"user", FIELD_TEXT, AT(user), 1, 255, .complain = user_complaint},
    {"env", FIELD_PAIRS, AT(env), 0, 128 * 1024 - 1, .complain = variable_complaint},
    {"stdin", FIELD_TEXT, AT(stdin_text), 0, 1024 * 1024},
    {"umask", FIELD_UMASK, AT(umask_bits), 0, 0777},
    {"nice", FIELD_INT, AT(nice), -20, 19},
    {"limits", FIELD_GROUP, .fields = limit_fields},
    {"overlap", FIELD_GROUP, .fields = overlap_fields},
    {"catch_up", FIELD_GROUP, .fields = catch_up_fields},
    {"timeout", FIELD_DURATION, AT(timeout_s), 0, LONG_S},
    {"grace", FIELD_DURATION, AT(grace_s), 0, DAY_S},
    {"deadline", FIELD_DURATION, AT(deadline_s), 0, LONG_S},
    {"where", FIELD_SELECTOR, AT(where), 1, 500},
    {"paused", FIELD_BOOL, AT(paused)},
    {"output_limit", FIELD_SIZE, AT(output_limit), 0, 1024 * 1024 * 1024},
    {"retention", FIELD_GROUP, .fields = retention_fields},
    {"notify", FIELD_GROUP, .fields = notify_fields},
    {"labels", FIELD_PAIRS, AT(labels), 0, 255, .complain = label_complaint},
    {"owner", FIELD_TEXT, AT(owner), 0, 255},
    {"notes", FIELD_TEXT, AT(notes), 0, 64 * 1024},
    {"created_ms", FIELD_INT64, AT(created_ms), 0, INT64_MAX, .meta = true},
    {"updated_ms", FIELD_INT64, AT(updated_ms), 0, INT64_MAX, .meta = true},
    {"paused_ms", FIELD_INT64, AT(paused_ms), 0, INT64_MAX, .meta = true},
    {"resumed_ms", FIELD_INT64, AT(resumed_ms), 0, INT64_MAX, .meta = true},
    {"skip_until_ms", FIELD_INT64, AT(skip_until_ms), 0, INT64_MAX, .meta = true},
    {"deleted_ms", FIELD_INT64, AT(deleted_ms), 0, INT64_MAX, .meta = true},
    {0},
};

void field_words(const struct field *field, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; field->words[i] && used < size; i++) {
        const char *before = i == 0 ? "" : field->words[i + 1] ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", before, field->words[i]);
    }
}

/* Letters to add, drop, change, or swap with their neighbour; any case. Words are short. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t rows[3][LONGEST + 1];
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > LONGEST || length_b > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= length_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            size_t best = above[j - 1] + (x != y);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && rows[(i - 2) % 3][j - 2] + 1 < best)
                best = rows[(i - 2) % 3][j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[length_a % 3][length_b];
}

/* Other words for a field, and spellings of other schedulers. */
static const struct {
    const char *typed, *meant;
} synonyms[] = {
    {"cron", "schedule"},         {"when", "schedule"},
    {"tz", "timezone"},           {"time_zone", "timezone"},
    {"cmd", "command"},           {"run", "command"},
    {"script", "shell"},          {"workdir", "cwd"},
    {"working_directory", "cwd"}, {"dir", "cwd"},
    {"environment", "env"},       {"concurrency", "overlap"},
    {"enabled", "paused"},        {"disabled", "paused"},
    {"suspend", "paused"},        {"tags", "labels"},
    {"description", "notes"},     {"misfire", "catch_up"},
    {"selector", "where"},        {"nodes", "where"},
    {"calendar", "calendars"},    {"holidays", "calendars"},
    {"exclude", "calendars"},     {"notification", "notify"},
    {"alert", "notify"},          {"mailto", "notify"},
    {"on_failure", "notify"},     {"depends_on", "after"},
    {"needs", "after"},           {"parent_job", "after"},
    {"dependencies", "after"},
};

/* Keeps the better of two candidates. A word that was cut short is one letter away. */
static void consider(const char *typed, const char *name, const char **best, size_t *best_distance)
{
    size_t length = strlen(typed);
    bool is_start = length >= 3 && strncmp(name, typed, length) == 0;
    size_t d = is_start ? 1 : distance(typed, name);
    if (d < *best_distance) {
        *best_distance = d;
        *best = name;
    }
}

/* A third of the letters may be wrong. */
static size_t worst_distance(const char *typed)
{
    return strlen(typed) / 3 + 1;
}

const char *field_nearest(const struct field *fields, bool with_meta, const char *typed)
{
    const char *best = NULL;
    size_t best_distance = worst_distance(typed);
    for (size_t i = 0; fields == job_fields && i < sizeof(synonyms) / sizeof(synonyms[0]); i++) {
        if (strcmp(typed, synonyms[i].typed) == 0)
            return synonyms[i].meant;
    }
    for (; fields->name; fields++) {
        if (with_meta || !fields->meta)
            consider(typed, fields->name, &best, &best_distance);
    }
    return best;
}

const char *word_nearest(const char *const *words, const char *typed)
{
    const char *best = NULL;
    size_t best_distance = worst_distance(typed);
    for (; *words; words++)
        consider(typed, *words, &best, &best_distance);
    return best;
}
