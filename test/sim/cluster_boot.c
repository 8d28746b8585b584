/* The oracle of boots. A node that notices a boot marks it as due for each job with @reboot that it
 * may run, and each mark has exactly one end: a run on that node and in that boot, or an entry. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "definition/selector.h"

enum { HEARD_MS = MINUTE }; /* by then a node that talks to the store knows a definition */

/* A boot of a node, for a job. */
struct known_boot {
    struct id id; /* of the run or of the entry that is its end */
    size_t job;
    char node[64];
    struct boot_mark mark;
    int64_t seen_ms; /* the stage's time of the mark */
    bool is_undone;  /* a backup was restored since: nobody knows what became of it */
    int ends;
};

void boots_oracle_init(struct cluster *cluster)
{
    static const struct table_type boots = {.key_at = offsetof(struct known_boot, id),
                                            .key_size = sizeof(struct id)};
    table_init(&cluster->boots, &boots);
}

static struct known_boot *find_boot(const struct cluster *cluster, const struct id *id)
{
    return table_find(&cluster->boots, id);
}

bool is_end_of_boot(const struct cluster *cluster, const struct id *id)
{
    return find_boot(cluster, id) != NULL;
}

static const char *job_name(const struct cluster *cluster, const struct known_boot *boot)
{
    return cluster->jobs[boot->job].name;
}

/* ---- marks ---- */

/* Jobs that come after it was noticed are not due for it. */
static void check_in_time(struct cluster *cluster, const struct known_boot *new)
{
    for (int i = 0; i < cluster->node_count; i++) {
        const struct node *node = &cluster->nodes[i];
        if (strcmp(node->config.node, new->node) == 0 &&
            node->noticed == atoi(strrchr(new->mark.boot_id, '-') + 1) && !cluster->has_twin &&
            !cluster->restored_ms)
            stage_fail(&cluster->stage, "%s: boot %s of %s was noticed before, and is due",
                       job_name(cluster, new), new->mark.boot_id, new->node);
    }
}

/* All that is known of the job and of the node's boots, but for this one. */
static void check_others(struct cluster *cluster, const struct known_boot *new)
{
    const struct known_boot *boot;
    for (size_t at = 0; (boot = table_next(&cluster->boots, &at));) {
        if (boot == new || boot->is_undone || boot->job != new->job ||
            strcmp(boot->node, new->node) != 0)
            continue;
        if (boot->mark.is_due)
            stage_fail(&cluster->stage, "%s: boot %s of %s is due, and gives way to the next",
                       job_name(cluster, boot), boot->mark.boot_id, boot->node);
        bool is_same = strcmp(boot->mark.boot_id, new->mark.boot_id) == 0;
        if (is_same && !cluster->has_twin) /* one of the two may have been in between */
            stage_fail(&cluster->stage, "%s: boot %s of %s is noticed twice",
                       job_name(cluster, boot), boot->mark.boot_id, boot->node);
    }
}

static void add_boot(struct cluster *cluster, const struct known_boot *read)
{
    struct known_boot *boot = malloc(sizeof(*boot));
    if (!boot)
        abort();
    *boot = *read;
    boot->seen_ms = cluster->stage.now_ms;
    boot->is_undone = cluster->is_restoring;
    if (table_insert(&cluster->boots, boot) != OK)
        abort();
    if (!boot->mark.is_due && !cluster->is_restored)
        stage_fail(&cluster->stage, "%s: boot %s of %s is decided, and was never due",
                   job_name(cluster, boot), boot->mark.boot_id, boot->node);
    if (cluster->is_restoring)
        return;
    check_others(cluster, boot);
    check_in_time(cluster, boot);
}

/* A purged job has no marks. */
static void see_removed(struct cluster *cluster, const struct known_boot *read)
{
    if (cluster->jobs[read->job].revision && !cluster->is_restored)
        stage_fail(&cluster->stage, "%s: what is known of the boots of %s is removed",
                   job_name(cluster, read), read->node);
    struct known_boot *boot;
    for (size_t at = 0; (boot = table_next(&cluster->boots, &at));)
        boot->is_undone |= boot->job == read->job && strcmp(boot->node, read->node) == 0;
}

void oracle_see_boot(struct cluster *cluster, const char *name, const char *json)
{
    const char *slash = strrchr(name, '/');
    struct id uid;
    struct known_boot read = {.ends = 0};
    if (!slash || id_parse(slash + 1, &uid) != OK)
        stage_fail(&cluster->stage, "a boot has the name %s", name);
    snprintf(read.node, sizeof(read.node), "%.*s", (int)(slash - name), name);
    read.job = (size_t)(find_job(cluster, &uid) - cluster->jobs);
    if (!json) {
        see_removed(cluster, &read);
        return;
    }
    if (boot_mark_decode(json, &read.mark) != OK)
        stage_fail(&cluster->stage, "a boot can't be read: %s", json);
    read.id = boot_run_id(&read.mark, read.node, &uid);
    stage_log(&cluster->stage, "store: %s boot %s of %s %s", job_name(cluster, &read),
              read.mark.boot_id, read.node, read.mark.is_due ? "is due" : "is decided");
    struct known_boot *boot = find_boot(cluster, &read.id);
    if (!boot) {
        add_boot(cluster, &read);
        return;
    }
    if (read.mark.is_due && !boot->mark.is_due && !cluster->is_restoring)
        stage_fail(&cluster->stage, "%s: boot %s of %s is due again", job_name(cluster, boot),
                   boot->mark.boot_id, boot->node);
    boot->mark.is_due = read.mark.is_due;
}

void boots_begin_restore(struct cluster *cluster)
{
    struct known_boot *boot;
    for (size_t at = 0; (boot = table_next(&cluster->boots, &at));)
        boot->is_undone = true;
}

/* ---- a boot is noticed ---- */

static bool has_reboot(const struct known_job *job)
{
    const struct ledger_epoch *epoch = &job->epochs[job->epoch_count - 1];
    for (size_t i = 0; i < epoch->schedules.count; i++)
        if (schedule_kind(epoch->schedules.items[i]) == SCHEDULE_REBOOT)
            return true;
    return false;
}

static bool is_marked(const struct cluster *cluster, size_t job, const struct node *node)
{
    const struct known_boot *boot;
    for (size_t at = 0; (boot = table_next(&cluster->boots, &at));)
        if (boot->job == job && strcmp(boot->node, node->config.node) == 0 &&
            strcmp(boot->mark.boot_id, node->config.boot_id) == 0)
            return true;
    return false;
}

/* It has marked all jobs that it knows. */
static void check_marked(struct cluster *cluster, const struct node *node)
{
    for (size_t i = 0; i < cluster->job_count; i++) {
        const struct known_job *job = &cluster->jobs[i];
        if (!job->revision || job->deleted || !job->epoch_count ||
            job->defined_ms > cluster->stage.now_ms - HEARD_MS || !has_reboot(job))
            continue;
        const char *where = job->definition->where;
        if ((!where || selector_matches(where, node->config.self.labels)) &&
            !is_marked(cluster, i, node))
            stage_fail(&cluster->stage, "%s: boot %s of %s is noticed, and not marked as due",
                       job->name, node->config.boot_id, node->name);
    }
}

void oracle_see_notice(struct cluster *cluster, const char *name, const char *boot_id)
{
    for (int i = 0; i < cluster->node_count && !cluster->is_restoring; i++) {
        struct node *node = &cluster->nodes[i];
        if (strcmp(node->config.node, name) != 0 || strcmp(node->config.boot_id, boot_id) != 0)
            continue;
        stage_log(&cluster->stage, "store: boot %s of %s is noticed", boot_id, node->name);
        int number = atoi(strrchr(boot_id, '-') + 1); /* as on_start has it */
        bool is_again = node->noticed == number;      /* a twin was in between */
        node->noticed = number;
        if (!is_again && !cluster->restored_ms) /* else jobs may be younger than they seem */
            check_marked(cluster, node);
    }
}

/* ---- ends ---- */

static void see_end(struct cluster *cluster, struct known_boot *boot)
{
    if (++boot->ends > 1 && !boot->is_undone)
        stage_fail(&cluster->stage, "%s: boot %s of %s has two ends", job_name(cluster, boot),
                   boot->mark.boot_id, boot->node);
    if (boot->mark.is_due)
        stage_fail(&cluster->stage, "%s: boot %s of %s has an end, and is due still",
                   job_name(cluster, boot), boot->mark.boot_id, boot->node);
}

void boots_see_run(struct cluster *cluster, const struct run *run)
{
    struct known_boot *boot = find_boot(cluster, &run->id);
    if ((run->cause == CAUSE_REBOOT) != (boot != NULL))
        stage_fail(&cluster->stage, "a run of %s is of a boot that is not known", run->job_name);
    if (!boot)
        return;
    if (strcmp(run->by, boot->node) != 0 || (run->node[0] && strcmp(run->node, boot->node) != 0))
        stage_fail(&cluster->stage, "%s: boot %s of %s is claimed by %s", run->job_name,
                   boot->mark.boot_id, boot->node, run->node);
    see_end(cluster, boot);
}

void boots_see_entry(struct cluster *cluster, const struct ledger_entry *entry)
{
    struct known_boot *boot = find_boot(cluster, &entry->id);
    if (boot)
        see_end(cluster, boot);
}

void boots_see_start(struct cluster *cluster, const struct child *child)
{
    const struct known_boot *boot = find_boot(cluster, &child->run_id);
    const struct engine_config *config = &child->node->config;
    const struct run *run = &find_run(cluster, &child->run_id)->run;
    if (run->cause == CAUSE_REBOOT && run->by[0] && strcmp(run->by, config->node) != 0)
        stage_fail(&cluster->stage, "attempt %d at a boot of %s is started by %s", run->attempt,
                   run->by, child->node->name);
    if (boot && (strcmp(boot->node, config->node) != 0 ||
                 (strcmp(boot->mark.boot_id, config->boot_id) != 0)))
        stage_fail(&cluster->stage, "%s: boot %s of %s is started by %s in its boot %s",
                   job_name(cluster, boot), boot->mark.boot_id, boot->node, child->node->name,
                   config->boot_id);
}

/* ---- all is well since a while, and at the end ---- */

static bool is_up(const struct cluster *cluster, const char *name)
{
    for (int i = 0; i < cluster->node_count; i++)
        if (strcmp(cluster->nodes[i].config.node, name) == 0 && cluster->peers[i].is_there &&
            node_is_up(&cluster->nodes[i]))
            return true;
    return false;
}

static bool is_early(const struct cluster *cluster, const struct known_boot *boot)
{
    const struct known_job *job = &cluster->jobs[boot->job];
    const struct ledger_epoch *epoch = &job->epochs[job->epoch_count - 1];
    int64_t right_ms = cluster->wall_ms + cluster->stage.now_ms;
    int64_t jitter_ms = epoch->schedules.count ? schedule_jitter_ms(epoch->schedules.items[0]) : 0;
    return boot->mark.tick_ms + jitter_ms + 3 * SECOND > right_ms;
}

void check_boots_caught_up(struct cluster *cluster, bool is_limited)
{
    const struct known_boot *boot;
    for (int i = 0; i < cluster->node_count; i++) {
        const struct node *node = &cluster->nodes[i];
        if (node_is_up(node) && cluster->peers[i].is_there && node->noticed != node->boots &&
            !peer_is_program(&node->config.self) &&
            cluster->stage.now_ms - cluster->peers[i].since_ms > MINUTE && !cluster->restored_ms)
            stage_fail(&cluster->stage, "boot %s of %s is not noticed", node->config.boot_id,
                       node->name);
    }
    for (size_t at = 0; (boot = table_next(&cluster->boots, &at));)
        if (boot->mark.is_due && !boot->is_undone && !is_limited && is_up(cluster, boot->node) &&
            boot->seen_ms < cluster->stage.now_ms - MINUTE && !is_early(cluster, boot))
            stage_fail(&cluster->stage, "%s: boot %s of %s is due, and nobody cares",
                       job_name(cluster, boot), boot->mark.boot_id, boot->node);
}

static bool is_gone(const struct cluster *cluster, const char *name)
{
    for (int i = 0; i < cluster->node_count; i++)
        if (strcmp(cluster->nodes[i].config.node, name) == 0 && !cluster->nodes[i].is_gone)
            return false;
    return true;
}

void check_boots_end(struct cluster *cluster)
{
    const struct known_boot *boot;
    for (size_t at = 0; (boot = table_next(&cluster->boots, &at));) {
        if (boot->is_undone || (boot->mark.is_due && is_gone(cluster, boot->node)))
            continue;
        if (boot->mark.is_due || boot->ends != 1 || !find_record(cluster, &boot->id))
            stage_fail(&cluster->stage, "%s: boot %s of %s has no end on record",
                       job_name(cluster, boot), boot->mark.boot_id, boot->node);
    }
}
