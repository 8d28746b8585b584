#include "workflow/steps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_fields.h"
#include "run.h"

void job_steps_free(struct job_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct job_step *step = &steps[i];
        for (size_t k = 0; k < step->after_count; k++)
            free(step->after[k].step);
        free(step->after);
        fields_release(step_fields, step);
        job_free(step->job);
    }
    free(steps);
}

bool step_is_fan_out(const struct job_step *step)
{
    return step->each.items || step->each.by || step->each.of || step->each.shards;
}

bool step_has_variable(const char *name, size_t length)
{
    static const char *const names[] = {"PEAL_WORKFLOW", "PEAL_INSTANCE", "PEAL_STEP", "PEAL_ITEM",
                                        "PEAL_INDEX"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return true;
    }
    return false;
}

const char *step_name_complaint(const char *name)
{
    size_t length = strlen(name);
    if (length < 1 || length > STEP_NAME_MAX)
        return "is not a name of 1 to 63 characters";
    if (!isalpha((unsigned char)*name))
        return "does not begin with a letter";
    for (const char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            return "holds more than letters, digits, - and _";
    }
    return NULL;
}
