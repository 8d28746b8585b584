#include "function/run_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_decode.h"
#include "workflow/steps.h"

enum { CPUS_MAX = 1024 };

static const char *const labels[CONTROLLERS] = {
    [CONTROLLER_MEMORY] = "cgroup/memory",
    [CONTROLLER_CPU] = "cgroup/cpu",
    [CONTROLLER_PIDS] = "cgroup/pids",
    [CONTROLLER_IO] = "cgroup/io",
};

const char *controller_label(enum run_controller controller)
{
    return labels[controller];
}

enum run_controller controller_of_label(const char *label, size_t length)
{
    int i = 0;
    while (i < CONTROLLERS &&
           (strlen(labels[i]) != length || strncmp(labels[i], label, length) != 0))
        i++;
    return (enum run_controller)i;
}

unsigned limits_need(const struct job_limits *limits)
{
    return (limits->total_memory_bytes >= 0 ? 1u << CONTROLLER_MEMORY : 0) |
           (limits->cpus ? 1u << CONTROLLER_CPU : 0) |
           (limits->total_processes >= 0 ? 1u << CONTROLLER_PIDS : 0) |
           (limits->io_weight >= 0 ? 1u << CONTROLLER_IO : 0);
}

unsigned job_needs(const struct job *job)
{
    unsigned needs = limits_need(&job->limits);
    for (size_t i = 0; i < job->step_count; i++)
        needs |= job->steps[i].job ? limits_need(&job->steps[i].job->limits) : 0;
    return needs;
}

const char *controller_limit(enum run_controller controller)
{
    static const char *const limits[CONTROLLERS] = {
        [CONTROLLER_MEMORY] = "limits.total_memory",
        [CONTROLLER_CPU] = "limits.cpus",
        [CONTROLLER_PIDS] = "limits.total_processes",
        [CONTROLLER_IO] = "limits.io_weight",
    };
    return limits[controller];
}

/* In hundredths. A number of JSON comes with seventeen digits, the last of which are its rounding.
 * False: it is none, or has more than two decimals. */
static bool read_cpus(const char *text, int64_t *ret)
{
    char *end;
    if (!*text || text[strspn(text, "0123456789.")])
        return false;
    double number = strtod(text, &end) * 100;
    if (*end || number < 1 - 1e-6 || number > 100.0 * CPUS_MAX)
        return false;
    int64_t hundredths = (int64_t)(number + 0.5);
    double rest = number - (double)hundredths;
    *ret = hundredths;
    return rest < 1e-6 && rest > -1e-6;
}

const char *limit_cpus_complaint(const char *cpus)
{
    int64_t hundredths;
    return read_cpus(cpus, &hundredths)
               ? NULL
               : "is not a number of processors from 0.01 to 1024, like 1.5";
}

int64_t limit_cpu_milli(const struct job_limits *limits)
{
    int64_t hundredths = 0;
    return limits->cpus && read_cpus(limits->cpus, &hundredths) ? hundredths * 10 : 0;
}

/* "1.50" and "1.5000000000000000" become "1.5". */
static enum status settle_cpus(struct job_limits *limits)
{
    char text[32];
    int64_t hundredths;
    if (!limits->cpus || !read_cpus(limits->cpus, &hundredths))
        return OK;
    int length = snprintf(text, sizeof(text), "%lld.%02d", (long long)(hundredths / 100),
                          (int)(hundredths % 100));
    while (text[length - 1] == '0')
        text[--length] = '\0';
    if (text[length - 1] == '.')
        text[--length] = '\0';
    return strcmp(text, limits->cpus) == 0 ? OK : job_set_text(&limits->cpus, text);
}

enum status check_run_limits(const struct decoder *d, const struct spot *root)
{
    const struct job_ionice *ionice = &d->job->ionice;
    struct spot group = {root, "ionice", 0, node_get(root->node, "ionice")};
    struct spot level = {&group, "level", 0, group.node ? node_get(group.node, "level") : NULL};
    if (level.node && ionice->class != IONICE_BEST_EFFORT)
        return spot_fail(d->err, &level, "is for the class best-effort");
    return settle_cpus(&d->job->limits);
}
