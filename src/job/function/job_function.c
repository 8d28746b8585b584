#include "function/job_function.h"

#include <string.h>

#include "definition/job_decode.h"

const char *program_complaint(const char *program)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strlen(program);
    if (length < 1 || length > PROGRAM_MAX)
        return "the name of a program has 1 to 63 characters";
    if (program[strspn(program, letters)])
        return "the name of a program may hold letters, digits and . _ - only";
    return NULL;
}

const char *job_function_name(const struct job *job)
{
    return job->function.name ? job->function.name : job->name;
}

/* A function has the environment, the user and the limits of its program. */
static enum status check_others(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    for (const struct field *field = job_fields; field->name; field++) {
        struct spot spot = {root, field->name, 0, node_get(root->node, field->name)};
        bool is_harmless = field->kind == FIELD_CHOICE && job->output == OUTPUT_SEPARATE;
        bool is_variable = (field->offset == offsetof(struct job, env) ||
                            field->offset == offsetof(struct job, secrets)) &&
                           !field->meta;
        if ((field->of_process || is_variable) && spot.node && !is_harmless)
            return spot_fail(d->err, &spot,
                             "is for jobs with a process of their own; a function has none");
    }
    return OK;
}

/* Each process of a program starts by itself whatever it wants to do at its start. */
static enum status check_boot(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    for (size_t i = 0; i < job->schedule_count; i++) {
        if (!strstr(job->schedules[i], "@reboot"))
            continue;
        const char *field = node_get(root->node, "schedule") ? "schedule" : "schedules";
        struct spot spot = {root, field, 0, node_get(root->node, field)};
        return spot_fail(d->err, &spot,
                         "@reboot is not for functions; the program can call it when it starts");
    }
    return OK;
}

enum status check_function(const struct decoder *d, const struct spot *root)
{
    struct spot function = {root, "function", 0, node_get(root->node, "function")};
    if (!d->job->function.program)
        return spot_fail(d->err, &function, "needs a \"program\"");
    enum status st = check_others(d, root);
    return st == OK ? check_boot(d, root) : st;
}
