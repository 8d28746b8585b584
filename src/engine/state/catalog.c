#include "state/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "hash.h"
#include "heap.h"

static uint64_t uid_hash(const struct id *uid)
{
    return hash_bytes(0, uid->bytes, sizeof(uid->bytes));
}

static uint64_t job_uid_hash(const void *item)
{
    return uid_hash(&((const struct catalog_job *)item)->uid);
}

static bool job_has_uid(const void *item, const void *key)
{
    return id_compare(&((const struct catalog_job *)item)->uid, key) == 0;
}

static uint64_t job_name_hash(const void *item)
{
    return hash_text(0, ((const struct catalog_job *)item)->name);
}

static bool job_has_name(const void *item, const void *key)
{
    return strcmp(((const struct catalog_job *)item)->name, key) == 0;
}

static const struct table_type uid_type = {job_uid_hash, job_has_uid};
static const struct table_type name_type = {job_name_hash, job_has_name};

void catalog_init(struct catalog *catalog)
{
    *catalog = (struct catalog){0};
    table_init(&catalog->by_uid, &uid_type);
    table_init(&catalog->by_name, &name_type);
    known_calendars_init(&catalog->calendars);
    waits_init(&catalog->waits);
    namespaces_init(&catalog->namespaces);
}

static void free_schedules(struct catalog_job *job)
{
    for (uint32_t i = 0; i < job->schedule_count; i++)
        schedule_free(job->schedules[i]);
    if (job->schedules != &job->only)
        free(job->schedules);
    job->schedules = NULL;
    job->schedule_count = 0;
}

static void free_job(struct catalog *catalog, struct catalog_job *job)
{
    free_schedules(job);
    catalog->json_bytes -= job->json ? strlen(job->json) + 1 : 0;
    job_calendars_free(&catalog->calendars, job->calendars);
    free(job->waits);
    free(job->rewound);
    free(job->json);
    free(job);
}

void catalog_release(struct catalog *catalog)
{
    size_t at = 0;
    for (struct catalog_job *job; (job = table_next(&catalog->by_uid, &at));)
        free_job(catalog, job);
    table_release(&catalog->by_uid);
    table_release(&catalog->by_name);
    known_calendars_release(&catalog->calendars);
    name_order_release(&catalog->in_order);
    waits_release(&catalog->waits);
    namespaces_release(&catalog->namespaces);
    catalog_init(catalog);
}

/* The job's schedules, parsed; a single one without a list around it. */
static enum status read_schedules(struct catalog_job *job, const struct job *definition,
                                  struct zone_db *zones, struct parse_error *reterr)
{
    struct schedule_set set;
    schedule_set_init(&set);
    enum status st = job_schedules(definition, zones, &set, reterr);
    if (st != OK) {
        schedule_set_release(&set);
        return st;
    }
    free_schedules(job);
    job->schedule_count = (uint32_t)set.count;
    if (set.count == 1) {
        job->only = set.items[0];
        job->schedules = &job->only;
        free(set.items);
    } else {
        job->schedules = set.items;
    }
    return OK;
}

/* What was out stays so, also if the definition names no calendar any more; unless it starts anew,
 * with the cursor behind all that. */
static enum status read_calendars(struct catalog *catalog, struct catalog_job *job,
                                  const struct job *definition, int64_t cursor_ms)
{
    struct job_calendars *made = NULL;
    bool goes_on = job->calendars && cursor_ms <= job->cursor_ms;
    int64_t out_until_ms = goes_on ? job->calendars->out_until_ms : INT64_MIN;
    size_t count = definition ? definition->calendar_count : 0;
    if (count || out_until_ms > job->cursor_ms) {
        enum status st = job_calendars_new(&catalog->calendars, job,
                                           count ? definition->calendars : NULL, count, &made);
        if (st != OK)
            return st;
        made->out_until_ms = out_until_ms;
    }
    job_calendars_free(&catalog->calendars, job->calendars);
    job->calendars = made;
    return OK;
}

/* Copies what is kept as text into one block. */
static enum status keep_texts(struct catalog *catalog, struct catalog_job *job,
                              const struct store_change *change, const char *where)
{
    size_t json_size = strlen(change->job_json) + 1, name_size = strlen(change->job_name) + 1;
    size_t where_size = where ? strlen(where) + 1 : 0;
    char *block = malloc(json_size + name_size + where_size);
    if (!block)
        return E_NOMEM;
    memcpy(block, change->job_json, json_size);
    memcpy(block + json_size, change->job_name, name_size);
    if (where)
        memcpy(block + json_size + name_size, where, where_size);
    catalog->json_bytes += json_size - (job->json ? strlen(job->json) + 1 : 0);
    free(job->json);
    job->json = block;
    job->name = block + json_size;
    job->where = where ? block + json_size + name_size : NULL;
    return OK;
}

/* Takes over the definition: text, name and what planning needs of it. */
static enum status read_definition(struct catalog *catalog, struct catalog_job *job,
                                   const struct store_change *change, struct zone_db *zones,
                                   struct parse_error *reterr)
{
    struct job *definition = NULL;
    struct job_error error = {0};
    enum status read = job_decode_stored(change->job_json, NULL, &definition, &error);
    if (read == E_NOMEM)
        return read;
    enum status st = keep_texts(catalog, job, change, definition ? definition->where : NULL);
    if (st == OK)
        st = read_calendars(catalog, job, definition, change->cursor_ms);
    if (st == OK)
        st = waits_read(job, definition);
    if (st != OK)
        goto out;
    job->deleted = change->job_deleted;
    if (read == OK)
        read = read_schedules(job, definition, zones, reterr);
    else
        parse_fail(reterr, 0, "%s: %s", error.path, error.message);
    job->broken = read != OK;
    job->paused = definition && definition->paused;
    if (read == E_NOMEM)
        st = read;
out:
    job_free(definition);
    return st;
}

/* ---- the order of names ---- */

void catalog_sort(struct catalog *catalog)
{
    struct catalog_job **jobs =
        catalog->is_sorted ? NULL : calloc(catalog->by_uid.count + 1, sizeof(*jobs));
    size_t at = 0, count = 0;
    if (!jobs)
        return;
    for (struct catalog_job *job; (job = table_next(&catalog->by_uid, &at));)
        jobs[count++] = job;
    name_order_release(&catalog->in_order);
    catalog->is_sorted = name_order_make(jobs, count, &catalog->in_order) == OK;
    free(jobs);
}

/* ---- jobs in and out ---- */

static enum status index_name(struct catalog *catalog, struct catalog_job *job)
{
    if (catalog->is_sorted)
        catalog->is_sorted = name_order_insert(&catalog->in_order, job) == OK;
    if (job->deleted)
        return OK;
    enum status st = table_insert(&catalog->by_name, job);
    if (st == OK)
        st = namespaces_add(&catalog->namespaces, job->name, 1);
    return st == OK ? waits_link(&catalog->waits, job) : st;
}

static void unindex_name(struct catalog *catalog, struct catalog_job *job)
{
    if (catalog->is_sorted)
        name_order_remove(&catalog->in_order, job);
    if (table_find(&catalog->by_name, hash_text(0, job->name), job->name) == job) {
        table_remove(&catalog->by_name, job);
        namespaces_add(&catalog->namespaces, job->name, -1); /* takes no memory: it is counted */
    }
    waits_unlink(&catalog->waits, job);
}

enum status catalog_put(struct catalog *catalog, const struct store_change *change,
                        struct zone_db *zones, struct catalog_job **ret, struct parse_error *reterr)
{
    struct catalog_job *job = catalog_by_uid(catalog, &change->job_uid);
    bool is_new = !job;
    enum status st;
    if (is_new) {
        job = calloc(1, sizeof(*job));
        if (!job)
            return E_NOMEM;
        job->uid = change->job_uid;
        job->heap_place = HEAP_NONE;
        job->next_ms = NEVER_MS;
        job->cursor_ms = INT64_MIN;
    } else {
        unindex_name(catalog, job);
    }
    st = read_definition(catalog, job, change, zones, reterr);
    if (st != OK)
        goto out;
    job->revision = change->job_revision;
    catalog_job_move(job, change->cursor_ms, &change->rewinds);
    job->last = change->last;
    if (is_new && (st = table_insert(&catalog->by_uid, job)) != OK)
        goto out;
    is_new = false;
    st = index_name(catalog, job);
    if (st == OK)
        *ret = job;
out:
    if (st != OK && is_new)
        free_job(catalog, job);
    return st;
}

static void drop_rewound(struct catalog_job *job)
{
    free(job->rewound);
    job->rewound = NULL;
}

bool catalog_job_move(struct catalog_job *job, int64_t cursor_ms, const struct rewinds *rewinds)
{
    uint32_t count = (uint32_t)rewinds->count;
    if (count < job->rewinds || (count == job->rewinds && cursor_ms < job->cursor_ms))
        return false;
    job->cursor_ms = cursor_ms;
    job->rewinds = count;
    if (rewinds->high_ms <= cursor_ms) {
        drop_rewound(job);
        return true;
    }
    if (!job->rewound)
        job->rewound = calloc(1, sizeof(*job->rewound));
    if (job->rewound)
        *job->rewound = (struct rewound){.rewinds = *rewinds};
    else
        job->broken = true; /* or what has started would start again */
    return true;
}

void catalog_job_claimed(struct catalog_job *job, int64_t tick_ms)
{
    if (tick_ms <= job->cursor_ms)
        return;
    job->cursor_ms = tick_ms;
    if (job->rewound && tick_ms >= job->rewound->rewinds.high_ms)
        drop_rewound(job);
}

void catalog_remove(struct catalog *catalog, struct catalog_job *job)
{
    unindex_name(catalog, job);
    table_remove(&catalog->by_uid, job);
    free_job(catalog, job);
}

size_t catalog_count(const struct catalog *catalog)
{
    return catalog->by_name.count;
}

enum status catalog_watch_namespace(struct catalog *catalog, const char *namespace)
{
    size_t length = strlen(namespace), at = 0;
    int64_t count = 0;
    if (namespaces_watches(&catalog->namespaces, namespace))
        return OK;
    for (const struct catalog_job *job; (job = table_next(&catalog->by_name, &at));)
        count += namespace_has(namespace, length, job->name);
    return namespaces_watch(&catalog->namespaces, namespace, count);
}

struct catalog_job *catalog_by_name(const struct catalog *catalog, const char *name)
{
    return table_find(&catalog->by_name, hash_text(0, name), name);
}

struct catalog_job *catalog_by_uid(const struct catalog *catalog, const struct id *uid)
{
    return table_find(&catalog->by_uid, uid_hash(uid), uid);
}

void catalog_each(struct catalog *catalog, const char *after, bool with_deleted,
                  bool (*visit)(void *context, const struct catalog_job *job), void *context)
{
    catalog_sort(catalog);
    if (!catalog->is_sorted)
        return;
    struct name_place place = name_order_after(&catalog->in_order, after);
    for (const struct catalog_job *job; (job = name_order_next(&catalog->in_order, &place));) {
        if ((with_deleted || !job->deleted) && !visit(context, job))
            return;
    }
}

/* Whole seconds, towards the past and towards the future. */
static int64_t floor_s(int64_t ms)
{
    return ms / 1000 - (ms % 1000 < 0);
}

static int64_t ceil_s(int64_t ms)
{
    return floor_s(ms + 999);
}

static bool is_open(const struct catalog_job *job, int64_t tick_ms)
{
    return !job->rewound || rewinds_is_open(&job->rewound->rewinds, tick_ms);
}

/* The first that has not started yet. */
static int64_t next_open(const struct catalog_job *job, const struct schedule *schedule,
                         const struct calendars *calendars, int64_t after_ms)
{
    int64_t tick_s;
    while ((tick_s = schedule_next_free(schedule, calendars, floor_s(after_ms))) != NEVER &&
           !is_open(job, tick_s * 1000))
        after_ms = rewinds_next_open(&job->rewound->rewinds, tick_s * 1000) - 1;
    return tick_s == NEVER ? NEVER_MS : tick_s * 1000;
}

/* A tick of a rhythm has a name of its own each time that the clock comes by. */
static int64_t of_rhythm(const struct catalog_job *job, int64_t tick_s)
{
    if (tick_s == NEVER)
        return NEVER_MS;
    bool is_again = job->rewound && tick_s * 1000 <= job->rewound->rewinds.high_ms;
    return tick_s * 1000 + (is_again ? job->rewinds % RUN_NAMES_MS : 0);
}

/* Once the clock is past all that came again, a rhythm goes on from there. */
static int64_t every_next(const struct catalog_job *job, const struct schedule *schedule,
                          const struct calendars *calendars, int64_t after_ms)
{
    bool is_over = job->rewound && job->rewound->is_over;
    if (is_over && job->rewound->rewinds.high_ms > after_ms)
        after_ms = job->rewound->rewinds.high_ms;
    return schedule_next_free(schedule, calendars, floor_s(after_ms));
}

static int64_t after_next(const struct catalog_job *job, const struct schedule *schedule,
                          const struct calendars *calendars, int64_t after_ms)
{
    if (job->last.ended_ms > after_ms)
        after_ms = job->last.ended_ms;
    int64_t tick_s = schedule_next_after_free(schedule, calendars, ceil_s(after_ms));
    bool is_over = job->rewound && job->rewound->is_over;
    if (!is_over || tick_s == NEVER || tick_s * 1000 > job->rewound->rewinds.high_ms)
        return tick_s;
    after_ms = job->rewound->rewinds.high_ms - schedule_interval(schedule) * 1000;
    return schedule_next_after_free(schedule, calendars, floor_s(after_ms) + 1);
}

static int64_t next_of(const struct catalog_job *job, const struct schedule *schedule,
                       const struct calendars *calendars, int64_t after_ms)
{
    switch (schedule_kind(schedule)) {
    case SCHEDULE_CRON:
    case SCHEDULE_AT:
        return next_open(job, schedule, calendars, after_ms);
    case SCHEDULE_EVERY:
        return of_rhythm(job, every_next(job, schedule, calendars, after_ms));
    case SCHEDULE_AFTER:
        return job->open_runs ? NEVER_MS
                              : of_rhythm(job, after_next(job, schedule, calendars, after_ms));
    case SCHEDULE_REBOOT:
    case SCHEDULE_MANUAL:
        break;
    }
    return NEVER_MS;
}

static int64_t first_next(const struct catalog_job *job, const struct calendars *calendars,
                          int64_t after_ms)
{
    int64_t first = NEVER_MS;
    for (uint32_t i = 0; i < job->schedule_count; i++) {
        int64_t tick_ms = next_of(job, job->schedules[i], calendars, after_ms);
        if (tick_ms < first)
            first = tick_ms;
    }
    return first;
}

int64_t catalog_job_next(const struct catalog_job *job, int64_t after_ms)
{
    static const struct calendars none = {NULL, 0};
    return first_next(job, &none, after_ms);
}

/* ---- calendars ---- */

struct calendars catalog_job_calendars(const struct catalog_job *job)
{
    return job->calendars ? job->calendars->set : (struct calendars){NULL, 0};
}

int64_t catalog_job_next_run(const struct catalog_job *job, int64_t after_ms)
{
    struct calendars calendars = catalog_job_calendars(job);
    return first_next(job, &calendars, after_ms);
}

int64_t catalog_job_planned(const struct catalog_job *job)
{
    bool is_planned = job->next_ms != NEVER_MS;
    return is_planned && job->calendars ? job->calendars->next_run_ms : job->next_ms;
}

static int64_t planned_or(int64_t planned_ms, int64_t now_ms, int64_t next_ms)
{
    return planned_ms > now_ms && planned_ms < next_ms ? planned_ms : next_ms;
}

int64_t catalog_job_coming(const struct catalog_job *job, int64_t now_ms)
{
    return planned_or(job->next_ms, now_ms, catalog_job_next(job, now_ms));
}

int64_t catalog_job_coming_run(const struct catalog_job *job, int64_t now_ms)
{
    return planned_or(catalog_job_planned(job), now_ms, catalog_job_next_run(job, now_ms));
}

/* `@after` can be due at any time, and so can a boot come. */
static bool may_be_due(const struct schedule *schedule, int64_t at_s, bool is_boot)
{
    enum schedule_kind kind = schedule_kind(schedule);
    if (is_boot || kind == SCHEDULE_REBOOT)
        return is_boot && kind == SCHEDULE_REBOOT;
    return kind == SCHEDULE_AFTER || schedule_next(schedule, at_s - 1) == at_s;
}

static const char *which_out(const struct catalog_job *job, int64_t at_s, bool is_boot)
{
    struct calendars calendars = catalog_job_calendars(job);
    const char *name = NULL;
    for (uint32_t i = 0; calendars.count && i < job->schedule_count; i++) {
        const struct schedule *schedule = job->schedules[i];
        if (!may_be_due(schedule, at_s, is_boot))
            continue;
        size_t which = calendars_which(&calendars, schedule_zone(schedule), at_s);
        if (which == calendars.count)
            return NULL;
        name = name ? name : job->calendars->uses[which].known->name;
    }
    return name;
}

const char *catalog_job_out(const struct catalog_job *job, int64_t tick_ms)
{
    return which_out(job, floor_s(tick_ms), false);
}

const char *catalog_job_boot_out(const struct catalog_job *job, int64_t boot_ms)
{
    return which_out(job, floor_s(boot_ms), true);
}

bool catalog_job_has_reboot(const struct catalog_job *job)
{
    for (uint32_t i = 0; i < job->schedule_count; i++)
        if (schedule_kind(job->schedules[i]) == SCHEDULE_REBOOT)
            return true;
    return false;
}

const char *catalog_job_missing_calendar(const struct catalog_job *job)
{
    for (size_t i = 0; job->calendars && i < job->calendars->set.count; i++) {
        if (!job->calendars->uses[i].known->revision)
            return job->calendars->uses[i].known->name;
    }
    return NULL;
}

void catalog_job_keep_out(struct catalog_job *job, int64_t now_ms)
{
    struct job_calendars *calendars = job->calendars;
    if (!calendars || job->next_ms > now_ms || job->next_ms >= calendars->next_run_ms)
        return;
    calendars->out_until_ms = now_ms < calendars->next_run_ms ? now_ms : calendars->next_run_ms - 1;
}

void catalog_job_set_back(struct catalog_job *job, int64_t now_ms)
{
    if (job->caught_up_ms > now_ms)
        job->caught_up_ms = now_ms;
    if (job->calendars && job->calendars->out_until_ms > now_ms)
        job->calendars->out_until_ms = now_ms;
    if (job->rewound)
        job->rewound->is_over = false; /* the planner sees whether it is */
}

int64_t catalog_job_jitter_ms(const struct catalog_job *job)
{
    return job->schedule_count ? schedule_jitter_ms(job->schedules[0]) : 0;
}

/* One that was killed, or never started, says nothing: things are as they were. */
static bool is_bad(enum run_state state, bool was_bad)
{
    if (state == RUN_FAILED || state == RUN_TIMED_OUT || state == RUN_LOST)
        return true;
    return state == RUN_OK ? false : was_bad;
}

void catalog_job_ended(struct catalog_job *job, const struct last_run *last)
{
    enum run_state before = job->last.state;
    bool is_same = id_compare(&last->run_id, &job->last.run_id) == 0;
    bool is_amended = is_same && before == RUN_LOST && last->state != RUN_LOST;
    last_run_take(&job->last, last);
    bool is_last = id_compare(&last->run_id, &job->last.run_id) == 0;
    if ((!is_same && is_last) || is_amended)
        job->was_bad = is_bad(before, job->was_bad);
}
