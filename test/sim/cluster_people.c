/* What people do, each time through one of the agents, which may fail them: then they look what
 * became of it, and act on what they see. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_job.h"
#include "calendar_codec.h"
#include "cluster.h"
#include "definition/job_codec.h"

/* A request, until it is answered. */
struct wish {
    struct store_request request;
    struct cluster *cluster;
    struct known_job *job;
    struct node *node;
    int64_t made_ms;
    int version;
    char *json;
    char name[JOB_NAME_SIZE];
    struct store_want *wants; /* of a put */
    bool is_rename;           /* that is completed: the dependents get the new name, too */
    char delivery[32];        /* of a webhook's run */
    union {
        struct store_put_job put;
        struct store_add_run add;
        struct store_order order;
        struct store_drain drain;
        struct store_put_doc doc;
    } item;
};

/* ---- through which agent ---- */

static struct node *any_node(struct cluster *cluster, uint64_t *random)
{
    int first = (int)any_below(random, cluster->node_count);
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[(first + i) % cluster->node_count];
        if (node_is_up(node) && !node->machine.is_paused)
            return node;
    }
    return NULL;
}

static void wish_free(struct wish *wish)
{
    if (wish->job)
        wish->job->is_busy = false;
    free(wish->json);
    free(wish->wants);
    if (wish->request.op == STORE_PUT_JOB)
        free(wish->item.put.passed);
    free(wish);
}

/* An acknowledged change is in the store, whatever has changed since. */
static void check_put(const struct wish *wish)
{
    const struct store_put_job *put = &wish->item.put;
    const struct known_job *job = wish->job;
    if (put->purge || put->result != PUT_OK || wish->made_ms < wish->cluster->restored_ms)
        return;
    for (size_t i = 0; i < job->epoch_count; i++) {
        if (job->epochs[i].revision == put->revision && job->epochs[i].version == wish->version)
            return;
    }
    stage_fail(&wish->cluster->stage, "a change of %s was acknowledged and is nowhere", job->name);
}

static void rewrite_dependents(struct node *node, const struct known_job *job);

static void on_answer(struct store_request *request, enum status st)
{
    struct wish *wish = request->context;
    struct cluster *cluster = wish->cluster;
    if (st == OK && request->op == STORE_PUT_JOB)
        check_put(wish);
    if (st == OK && request->op == STORE_PUT_DOC && wish->made_ms >= cluster->restored_ms) {
        cluster->has_calendar |= strcmp(wish->item.doc.kind, CALENDAR_DOC) == 0;
        for (size_t i = 0; i < SIM_GROUPS; i++)
            if (strcmp(wish->item.doc.name, sim_groups[i].name) == 0)
                cluster->groups_there |= 1U << i;
    }
    if (st == OK && request->op == STORE_ADD_RUN && wish->item.add.added &&
        !find_run(cluster, &wish->item.add.run.id))
        stage_fail(&cluster->stage, "a run of %s was promised and is nowhere",
                   wish->item.add.run.job_name);
    bool is_renamed = st == OK && wish->is_rename && wish->item.put.result == PUT_OK;
    struct node *node = wish->node;
    const struct known_job *job = wish->job;
    wish_free(wish);
    if (is_renamed && node_is_up(node))
        rewrite_dependents(node, job);
}

static struct wish *wish_new(struct cluster *cluster, enum store_op op, struct known_job *job)
{
    struct wish *wish = calloc(1, sizeof(*wish));
    if (!wish)
        abort();
    wish->cluster = cluster;
    wish->made_ms = cluster->stage.now_ms;
    wish->job = job;
    wish->request = (struct store_request){
        .op = op, .count = 1, .items.puts = &wish->item.put, .done = on_answer, .context = wish};
    if (job)
        job->is_busy = true;
    return wish;
}

static void submit(struct node *node, struct wish *wish)
{
    struct loop *before = machine_enter(&node->machine);
    wish->node = node;
    store_submit(node->store, &wish->request);
    machine_leave(before);
}

/* ---- jobs ---- */

static struct id new_id(struct cluster *cluster)
{
    uint8_t random[10];
    for (size_t i = 0; i < sizeof(random); i++)
        random[i] = (uint8_t)any_random(&cluster->names);
    return id_make((struct wall_ms){cluster->wall_ms + cluster->stage.now_ms}, random);
}

/* As it is in the store. */
static const char *name_now(const struct known_job *job)
{
    return job->definition ? job->definition->name : job->name;
}

/* It waits for jobs that were there before it, so that there is no circle. */
static void write_after(struct cluster *cluster, struct known_job *job, uint64_t *random,
                        struct strbuf *yaml)
{
    int64_t before = job - cluster->jobs;
    size_t one = (size_t)any_below(random, before), two = (size_t)any_below(random, before);
    const char *others[2] = {name_now(&cluster->jobs[one]), NULL};
    if (one != two && any_chance(random, 40))
        others[1] = name_now(&cluster->jobs[two]);
    any_after_write(random, name_now(job), ++job->versions, others, yaml);
}

static void write_job(struct cluster *cluster, struct known_job *job, uint64_t *random,
                      int64_t now_ms, struct strbuf *yaml)
{
    if (cluster->has_workflows && any_chance(random, 50)) {
        any_workflow_write(random, now_ms, name_now(job), ++job->versions, cluster->is_dense,
                           groups_are_there(cluster), yaml);
    } else if (job != cluster->jobs && any_chance(random, 20)) {
        write_after(cluster, job, random, yaml);
    } else {
        any_job_write(random, now_ms, name_now(job), ++job->versions, cluster->is_dense,
                      cluster->has_boots, yaml);
        if (cluster->has_calendar && any_chance(random, 25))
            strbuf_adds(yaml, "calendars: [" LEDGER_CALENDAR "]\n");
    }
    if (cluster->has_places && !strstr(yaml->text, "steps:"))
        any_place_write(random, yaml);
    if (groups_are_there(cluster) && !strstr(yaml->text, "steps:"))
        any_groups_write(random, "", yaml);
}

/* A copy of the job as it is in the store. */
static struct job *copy_of(struct cluster *cluster, const struct known_job *job)
{
    char *json = job_encode_text(job->definition);
    struct job *copy = NULL;
    struct job_error error;
    if (!json || job_decode_stored(json, cluster->zones, &copy, &error) != OK)
        abort();
    free(json);
    return copy;
}

/* The names that it had stay with the job. */
static void inherit(struct cluster *cluster, const struct known_job *job, struct job *definition)
{
    if (!job->definition)
        return;
    struct job *old = copy_of(cluster, job);
    definition->former_names = old->former_names;
    definition->hash_name = old->hash_name;
    old->former_names = (struct job_pairs){0};
    old->hash_name = NULL;
    job_free(old);
}

static struct job *new_definition(struct cluster *cluster, struct known_job *job, uint64_t *random,
                                  int64_t now_ms)
{
    struct strbuf yaml;
    struct job_list list;
    struct job_error error = {0};
    strbuf_init(&yaml);
    job_list_init(&list);
    write_job(cluster, job, random, now_ms, &yaml);
    if (any_chance(random, cluster->picky) && !strstr(yaml.text, "steps:"))
        strbuf_addf(&yaml, "where: zone=%s\n", any_chance(random, 50) ? "a" : "b");
    if (jobs_decode_text(yaml.text, yaml.length, "UTC", cluster->zones, &list, &error) != OK ||
        list.count != 1)
        stage_fail(&cluster->stage, "%d:%d %s in\n%s", error.line, error.column, error.message,
                   yaml.text);
    struct job *definition = list.items[0];
    list.count = 0;
    job_list_release(&list);
    strbuf_release(&yaml);
    program_define(cluster, definition, random);
    definition->uid = job->uid;
    definition->created_ms = now_ms;
    inherit(cluster, job, definition);
    return definition;
}

/* A change of times is made from what the agent knows: from there on it says what becomes of the
 * ticks before. False: it does not know the job. */
static bool pass_ticks(struct node *node, const struct known_job *job, struct store_put_job *put)
{
    struct catalog_job *known = catalog_by_uid(engine_catalog(node->engine), &job->uid);
    if (!known)
        return false;
    put->expected_revision = known->revision;
    put->seen_cursor_ms = known->cursor_ms;
    if (engine_pass(node->engine, known, put->cursor_ms,
                    put->deleted ? REASON_DELETED : REASON_EDITED, &put->passed,
                    &put->passed_count) != OK)
        abort();
    return true;
}

/* The jobs that its `after` names must still have these names. */
static void want(struct cluster *cluster, const struct job *definition, struct wish *wish)
{
    struct store_put_job *put = &wish->item.put;
    wish->wants = calloc(definition->after_count + 1, sizeof(*wish->wants));
    if (!wish->wants)
        abort();
    put->wants = wish->wants;
    for (size_t i = 0; i < definition->after_count; i++) {
        for (size_t k = 0; k < cluster->job_count; k++) {
            const struct known_job *other = &cluster->jobs[k];
            if (!other->revision || other->deleted ||
                strcmp(other->definition->name, definition->after[i].job) != 0)
                continue;
            wish->wants[put->want_count].job_uid = other->uid;
            snprintf(wish->wants[put->want_count].name, JOB_NAME_SIZE, "%s",
                     definition->after[i].job);
            put->want_count++;
        }
    }
}

/* NULL: the agent does not know the job. */
static struct wish *put_wish(struct node *node, struct known_job *job, const struct job *definition,
                             int64_t cursor_ms, uint64_t *random)
{
    struct wish *wish = wish_new(node->cluster, STORE_PUT_JOB, job);
    wish->json = job_encode_text(definition);
    snprintf(wish->name, sizeof(wish->name), "%s", definition->name);
    wish->version = version_of(definition);
    wish->item.put = (struct store_put_job){.uid = job->uid,
                                            .name = wish->name,
                                            .json = wish->json,
                                            .deleted = definition->deleted_ms != 0,
                                            .paused = definition->paused,
                                            .expected_revision = job->revision,
                                            .cursor_ms = cursor_ms};
    want(node->cluster, definition, wish);
    /* Whoever does not look at the revision would undo a rename that is under way. */
    bool at_any_revision = job->revision && any_chance(random, 50) && !job->is_renamed;
    if (job->revision && cursor_ms != -1) {
        if (!pass_ticks(node, job, &wish->item.put)) {
            wish_free(wish);
            return NULL;
        }
    } else if (at_any_revision) {
        wish->item.put.expected_revision = -1;
    }
    return wish;
}

static void put(struct node *node, struct known_job *job, const struct job *definition,
                int64_t cursor_ms, uint64_t *random)
{
    struct wish *wish = put_wish(node, job, definition, cursor_ms, random);
    if (wish)
        submit(node, wish);
}

static int64_t wall_of(const struct node *node)
{
    return machine_now(&node->machine).wall.ms;
}

/* Jobs name it only once it is there: whoever hears of them has heard of it. */
static void make_calendar(struct node *node)
{
    if (node->cluster->has_calendar)
        return;
    struct wish *wish = wish_new(node->cluster, STORE_PUT_DOC, NULL);
    wish->item.doc = (struct store_put_doc){.kind = CALENDAR_DOC,
                                            .name = LEDGER_CALENDAR,
                                            .json = LEDGER_CALENDAR_JSON,
                                            .expected_revision = -1};
    submit(node, wish);
}

static void make_groups(struct node *node)
{
    for (size_t i = 0; i < SIM_GROUPS && node->cluster->wants_groups; i++) {
        if (node->cluster->groups_there >> i & 1)
            continue;
        struct wish *wish = wish_new(node->cluster, STORE_PUT_DOC, NULL);
        wish->item.doc = (struct store_put_doc){
            .kind = GROUP_DOC, .json = sim_groups[i].json, .expected_revision = 0};
        snprintf(wish->item.doc.name, sizeof(wish->item.doc.name), "%s", sim_groups[i].name);
        submit(node, wish);
    }
}

static void edit(struct node *node, struct known_job *job, uint64_t *random)
{
    make_calendar(node);
    make_groups(node);
    stage_log(node->machine.stage, "edit %s", job->name);
    struct job *definition = new_definition(node->cluster, job, random, wall_of(node));
    put(node, job, definition, wall_of(node), random);
    job_free(definition);
}

void people_add_job(struct cluster *cluster)
{
    uint64_t random = any_random(&cluster->names);
    struct node *node = any_node(cluster, &random);
    if (!node || cluster->job_count == JOBS_MAX)
        return;
    struct known_job *job = &cluster->jobs[cluster->job_count++];
    *job = (struct known_job){.uid = new_id(cluster)};
    snprintf(job->name, sizeof(job->name), "%sjob-%d",
             cluster->wants_groups && any_chance(&random, 40) ? "team/" : "", ++cluster->job_names);
    edit(node, job, &random);
}

static void pause_or_resume(struct node *node, struct known_job *job, uint64_t *random)
{
    struct job *definition = job->definition;
    bool was_paused = definition->paused;
    int64_t paused_ms = definition->paused_ms, resumed_ms = definition->resumed_ms;
    definition->paused = !was_paused;
    *(was_paused ? &definition->resumed_ms : &definition->paused_ms) = wall_of(node);
    stage_log(node->machine.stage, "%s %s", was_paused ? "resume" : "pause", job->name);
    put(node, job, definition, -1, random);
    definition->paused = was_paused; /* until it is seen in the store */
    definition->paused_ms = paused_ms;
    definition->resumed_ms = resumed_ms;
}

static void skip_next(struct node *node, struct known_job *job, uint64_t *random)
{
    int64_t before_ms = job->definition->skip_until_ms;
    job->definition->skip_until_ms = wall_of(node) + any_below(random, 10 * MINUTE);
    stage_log(node->machine.stage, "skip the next of %s", job->name);
    put(node, job, job->definition, -1, random);
    job->definition->skip_until_ms = before_ms;
}

/* ---- renames ---- */

bool people_know_as(const struct known_job *job, const char *name)
{
    const struct job_pairs *former = &job->definition->former_names;
    bool is_known = strcmp(job->definition->name, name) == 0;
    for (size_t i = 0; i < former->count; i++)
        is_known |= strcmp(former->items[i].name, name) == 0;
    return is_known;
}

/* To a name that no job has had, or back to one that it had itself. Who does it may die before the
 * dependents are rewritten, or leave them. */
static void rename_job(struct node *node, struct known_job *job, uint64_t *random)
{
    struct cluster *cluster = node->cluster;
    struct job *definition = copy_of(cluster, job);
    const struct job_pairs *former = &definition->former_names;
    char name[JOB_NAME_SIZE];
    if (former->count && any_chance(random, 30))
        snprintf(name, sizeof(name), "%s",
                 former->items[any_below(random, (int64_t)former->count)].name);
    else
        snprintf(name, sizeof(name), "%s.%d", job->name, ++cluster->new_names);
    stage_log(node->machine.stage, "rename %s from %s to %s", job->name, definition->name, name);
    if (job_rename(definition, name, wall_of(node)) != OK)
        abort();
    job->is_renamed = true;
    struct wish *wish = put_wish(node, job, definition, -1, random);
    job_free(definition);
    if (!wish)
        return;
    wish->is_rename = any_chance(random, 60);
    submit(node, wish);
}

static void rewrite_dependents(struct node *node, const struct known_job *job)
{
    struct cluster *cluster = node->cluster;
    for (size_t i = 0; i < cluster->job_count && job->revision; i++) {
        struct known_job *other = &cluster->jobs[i];
        bool is_found = false;
        if (other->is_busy || other->is_purged || !other->revision || other->deleted)
            continue;
        struct job *definition = copy_of(cluster, other);
        for (size_t k = 0; k < definition->after_count; k++) {
            struct job_after *after = &definition->after[k];
            if (!people_know_as(job, after->job) || strcmp(after->job, job->definition->name) == 0)
                continue;
            snprintf(after->job, sizeof(after->job), "%s", job->definition->name);
            is_found = true;
        }
        uint64_t random = cluster->names;
        if (is_found) {
            stage_log(node->machine.stage, "rewrite %s, which waits for %s", other->name,
                      job->name);
            other->is_renamed = true; /* nor is this to be undone */
            put(node, other, definition, -1, &random);
        }
        job_free(definition);
    }
}

static void delete_or_restore(struct node *node, struct known_job *job, uint64_t *random)
{
    int64_t before_ms = job->definition->deleted_ms;
    job->definition->deleted_ms = before_ms ? 0 : wall_of(node);
    stage_log(node->machine.stage, "%s %s", before_ms ? "restore" : "delete", job->name);
    put(node, job, job->definition, wall_of(node), random);
    job->definition->deleted_ms = before_ms;
}

/* For good: its place is taken by another one. */
static void purge(struct node *node, struct known_job *job)
{
    struct wish *wish = wish_new(node->cluster, STORE_PUT_JOB, job);
    wish->item.put = (struct store_put_job){
        .uid = job->uid, .purge = true, .expected_revision = -1, .cursor_ms = -1};
    stage_log(node->machine.stage, "purge %s", job->name);
    job->is_purged = true;
    submit(node, wish);
    people_add_job(node->cluster);
}

/* ---- runs and nodes ---- */

/* By a webhook, which sends some of its deliveries again, through other nodes. */
static void fill_delivery(const struct cluster *cluster, struct wish *wish)
{
    struct store_add_run *add = &wish->item.add;
    snprintf(wish->delivery, sizeof(wish->delivery), "delivery.%lld",
             (long long)cluster->requests / 8);
    snprintf(add->run.by, sizeof(add->run.by), "%s", wish->delivery);
    add->run.cause = CAUSE_WEBHOOK;
    add->delivery = wish->delivery;
    add->delivery_json = "{}";
}

/* By hand, or for a tick of the past that was never one of the job's. */
static void trigger(struct node *node, const struct known_job *job, uint64_t *random)
{
    struct cluster *cluster = node->cluster;
    bool is_backfill = any_chance(random, 30);
    struct wish *wish = wish_new(cluster, STORE_ADD_RUN, NULL);
    wish->item.add =
        (struct store_add_run){.run = {.id = new_id(cluster),
                                       .job_uid = job->uid,
                                       .tick_ms = wall_of(node) / SECOND * SECOND + RUN_NAMES_MS +
                                                  (int64_t)cluster->requests % 899,
                                       .attempt = 1,
                                       .cause = is_backfill ? CAUSE_BACKFILL : CAUSE_MANUAL,
                                       .exit_code = -1},
                               .overlap = job->definition->overlap,
                               .queue_limit = job->definition->queue_limit,
                               .at_once = job->definition->overlap_at_once};
    groups_join(job->definition->groups, wish->item.add.run.groups);
    if (job->definition->kind != JOB_WORKFLOW)
        known_groups_add_spaces(&engine_catalog(node->engine)->groups, name_now(job),
                                wish->item.add.run.groups);
    if (is_backfill)
        wish->item.add.run.tick_ms -= 10 * (int64_t)HOUR;
    wish->item.add.run.not_before_ms = is_backfill ? wish->item.add.run.tick_ms : wall_of(node);
    snprintf(wish->item.add.run.job_name, sizeof(wish->item.add.run.job_name), "%s", name_now(job));
    if (!is_backfill &&
        wish->item.add.run.id.bytes[sizeof(struct id) - 1] & 1) { /* with something in hand */
        wish->item.add.run.input = wish->item.add.run.id;
        wish->item.add.input = "{\"timeout_s\":0}";
        fill_delivery(cluster, wish);
    }
    stage_log(node->machine.stage, "%s %s", is_backfill ? "backfill" : "trigger", job->name);
    submit(node, wish);
}

static void kill_any(struct node *node, uint64_t *random)
{
    struct cluster *cluster = node->cluster;
    const struct known_run *chosen = NULL, *known;
    int64_t seen = 0;
    for (size_t at = 0; (known = table_next(&cluster->runs, &at));)
        if (known->is_stored && !run_state_is_end(known->run.state) &&
            any_below(random, ++seen) == 0)
            chosen = known;
    if (!chosen)
        return;
    struct wish *wish = wish_new(cluster, STORE_ORDER, NULL);
    wish->item.order =
        (struct store_order){.run_id = chosen->id, .reason = REASON_USER, .by = "person"};
    stage_log(node->machine.stage, "kill a run of %s", cluster->jobs[chosen->job].name);
    submit(node, wish);
}

static void drain(struct node *through, const struct node *node, bool is_drained)
{
    struct wish *wish = wish_new(through->cluster, STORE_DRAIN, NULL);
    wish->item.drain = (struct store_drain){.drained = is_drained, .by = "person"};
    snprintf(wish->item.drain.node, sizeof(wish->item.drain.node), "%s", node->config.node);
    stage_log(through->machine.stage, "%s %s", is_drained ? "drain" : "undrain", node->name);
    submit(through, wish);
}

/* Of all jobs, soon: it is over before somebody asks what became of the ticks. */
static void plan_maintenance(struct node *node, uint64_t *random)
{
    struct cluster *cluster = node->cluster;
    struct id id = new_id(cluster);
    struct maintenance item = {.from_ms = wall_of(node) + any_below(random, 30 * SECOND)};
    struct wish *wish = wish_new(cluster, STORE_PUT_DOC, NULL);
    item.to_ms = item.from_ms + 50 * SECOND + any_below(random, 40 * SECOND);
    wish->json = maintenance_encode(&item);
    wish->item.doc = (struct store_put_doc){
        .kind = MAINTENANCE_DOC, .json = wish->json, .expected_revision = -1};
    id_format(&id, wish->item.doc.name);
    stage_log(node->machine.stage, "maintenance from %lld to %lld", (long long)item.from_ms / 1000,
              (long long)item.to_ms / 1000);
    submit(node, wish);
}

enum deed {
    DEED_KILL,
    DEED_DRAIN,
    DEED_TRIGGER,
    DEED_PAUSE,
    DEED_SKIP,
    DEED_RENAME,
    DEED_EDIT,
    DEED_DELETE,
    DEED_MAINTENANCE,
};

static const struct {
    int percent; /* and all before */
    const char *name;
} deeds[] = {
    [DEED_KILL] = {15, "a run is killed"},
    [DEED_DRAIN] = {22, "a node is drained, or undrained"},
    [DEED_TRIGGER] = {45, "a job is triggered"},
    [DEED_PAUSE] = {65, "a job is paused, or resumed"},
    [DEED_SKIP] = {73, "the next tick of a job is skipped"},
    [DEED_RENAME] = {81, "a job is renamed"},
    [DEED_EDIT] = {92, "a job is edited"},
    [DEED_DELETE] = {97, "a job is deleted, or restored, or purged"},
    [DEED_MAINTENANCE] = {100, "maintenance is planned for a minute or two"},
};

static enum deed any_deed(uint64_t *random)
{
    int64_t what = any_below(random, 100);
    enum deed deed = DEED_KILL;
    while (what >= deeds[deed].percent)
        deed++;
    return deed;
}

void people_describe(uint64_t random, struct strbuf *ret)
{
    strbuf_adds(ret, deeds[any_deed(&random)].name);
}

/* A job that is paused or deleted is brought back first. */
static void act_on(struct node *node, struct known_job *job, enum deed deed, uint64_t *random)
{
    if (job->is_busy || job->is_purged)
        return;
    if (!job->revision)
        edit(node, job, random);
    else if (job->definition->deleted_ms && any_chance(random, 20))
        purge(node, job);
    else if (job->definition->deleted_ms)
        delete_or_restore(node, job, random);
    else if (deed == DEED_TRIGGER)
        trigger(node, job, random);
    else if (deed == DEED_PAUSE || job->definition->paused)
        pause_or_resume(node, job, random);
    else if (deed == DEED_SKIP)
        skip_next(node, job, random);
    else if (deed == DEED_RENAME)
        rename_job(node, job, random);
    else if (deed == DEED_EDIT)
        edit(node, job, random);
    else
        delete_or_restore(node, job, random);
}

void people_act(struct cluster *cluster, uint64_t seed)
{
    cluster->undrained_ms = 0;
    uint64_t random = seed;
    enum deed deed = any_deed(&random);
    struct known_job *job = &cluster->jobs[any_below(&random, (int64_t)cluster->job_count)];
    struct node *node = any_node(cluster, &random);
    cluster->requests++;
    if (!node)
        return;
    if (deed == DEED_KILL)
        kill_any(node, &random);
    else if (deed == DEED_DRAIN)
        drain(node, &cluster->nodes[any_below(&random, cluster->node_count)],
              any_chance(&random, 40));
    else if (deed == DEED_MAINTENANCE)
        plan_maintenance(node, &random);
    else
        act_on(node, job, deed, &random);
}

void people_delete_all(struct cluster *cluster)
{
    uint64_t random = cluster->stage.seed;
    for (size_t i = 0; i < cluster->job_count; i++) {
        struct known_job *job = &cluster->jobs[i];
        struct node *node = any_node(cluster, &random);
        if (node && !job->is_busy && job->revision && !job->deleted)
            delete_or_restore(node, job, &random);
    }
}

void people_undrain_all(struct cluster *cluster)
{
    cluster->undrained_ms = cluster->stage.now_ms;
    uint64_t random = cluster->stage.seed;
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = any_node(cluster, &random);
        if (node)
            drain(node, &cluster->nodes[i], false);
    }
}
