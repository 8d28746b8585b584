/* Programs that embed the library: nodes whose functions are jobs, and who run nothing else. What
 * runs in such a process ends with it, and the next one knows nothing of it. */
#include <stdlib.h>
#include <string.h>

#include "any_job.h"
#include "cluster.h"
#include "function/job_function.h"
#include "hash.h"

static const char program[] = "billing";

/* In a quarter of all lives; those have agents too, at least two, but for one in five. In half of
 * them processes register a function and remove it, as they go. */
void programs_init(struct cluster *cluster, uint64_t seed)
{
    uint64_t random = seed ^ UINT64_C(0x9d5c0fb1a7e3642d);
    int own = cluster->node_count - cluster->has_twin;
    cluster->first_program = cluster->node_count;
    if (!any_chance(&random, 25))
        return;
    cluster->book_seed = random;
    if (any_chance(&random, 50))
        cluster->book_ms = 5 * MINUTE + any_below(&random, 10 * MINUTE);
    if (!cluster->has_twin && any_chance(&random, 20))
        cluster->first_program = 0;
    else if (own > 2)
        cluster->first_program = 2 + (int)any_below(&random, own - 2);
}

static bool has_programs(const struct cluster *cluster)
{
    return cluster->first_program < cluster->node_count;
}

static bool is_program(const struct node *node)
{
    return node->config.self.program[0] != '\0';
}

void program_init(struct node *node, int number)
{
    struct peer *self = &node->config.self;
    if (number < node->cluster->first_program || node->is_twin)
        return;
    self->roles = 0;
    self->program_version = 1 + number % 2;
    memcpy(self->program, program, sizeof(program));
}

/* Half of the processes are of an older build, which does not have all functions; or it is as
 * chance has it, and for a while. `ago`: so many of those times ago. */
static bool had_function(const struct node *node, const char *function, int64_t ago)
{
    const struct cluster *cluster = node->cluster;
    if (strcmp(function, "new") != 0)
        return true;
    if (!cluster->book_ms)
        return node->config.self.program_version > 1;
    int64_t now[2] = {node->machine.number, cluster->stage.now_ms / cluster->book_ms - ago};
    return hash_bytes(cluster->book_seed, now, sizeof(now)) & 1;
}

static bool has_function(void *context, const char *function)
{
    return had_function(context, function, 0);
}

struct function_book program_book(struct node *node)
{
    return (struct function_book){is_program(node) ? has_function : NULL, node};
}

int version_of(const struct job *definition)
{
    return ledger_version(definition);
}

static void drop_boots(struct job *definition)
{
    for (size_t i = 0; i < definition->schedule_count; i++)
        if (strstr(definition->schedules[i], "@reboot") &&
            job_set_text(&definition->schedules[i], "@every 45s") != OK)
            abort();
}

void program_define(const struct cluster *cluster, struct job *definition, uint64_t *random)
{
    bool is_only = cluster->first_program == 0;
    if (definition->kind == JOB_WORKFLOW || !has_programs(cluster) ||
        (!is_only && !any_chance(random, 50)))
        return;
    drop_boots(definition);
    definition->function.version = version_of(definition);
    job_names_free(definition->command);
    definition->command = NULL;
    definition->kind = JOB_FUNCTION;
    if (job_set_text(&definition->function.program, program) != OK ||
        job_set_text(&definition->function.name, any_chance(random, 30) ? "new" : "old") != OK)
        abort();
}

static bool could_run(const struct job *definition, const struct node *node, int64_t ago)
{
    return (definition->kind == JOB_FUNCTION) == is_program(node) &&
           (!is_program(node) || had_function(node, job_function_name(definition), ago));
}

bool program_is_for(const struct job *definition, const struct node *node)
{
    return could_run(definition, node, 0) && could_run(definition, node, 1);
}

bool job_is_picky(const struct job *definition)
{
    return definition->where || definition->kind == JOB_FUNCTION;
}

/* Where a process has the function, no tick of it is missed for want of one. */
void program_see_entry(struct cluster *cluster, const struct known_job *job,
                       const struct ledger_entry *entry)
{
    bool is_nobodys = entry->state == RUN_MISSED && entry->reason == REASON_NO_NODE;
    if (is_nobodys && job->definition && job->definition->kind == JOB_FUNCTION &&
        !cluster->restored_ms && who_is_there(cluster, job))
        stage_fail(&cluster->stage, "tick %lld of %s is missed, and there is a process that has it",
                   (long long)entry->to_ms / 1000, job->name);
}

/* A claim is made from the definition that the store has, by a process that has, or had when it
 * asked for it, the function. Other claims are takes, also of what is only to be ended. */
void program_see_claim(struct cluster *cluster, const struct known_job *job, const struct run *run)
{
    if (run->state != RUN_CLAIMED || cluster->is_restored || !job->definition)
        return;
    const struct node *node = node_of_home(cluster, &run->owner);
    if (!could_run(job->definition, node, 0) && !could_run(job->definition, node, 1))
        stage_fail(&cluster->stage, "tick %lld of %s is claimed by %s, which can't run it",
                   (long long)run->tick_ms / 1000, job->name, node->name);
}

void program_see_start(struct cluster *cluster, const struct job *definition,
                       const struct node *node)
{
    if (!could_run(definition, node, 0))
        stage_fail(&cluster->stage, "%s is started by %s, which can't run it", definition->name,
                   node->name);
}
