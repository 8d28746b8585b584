#include "function/eligible.h"

#include <string.h>

#include "definition/selector.h"
#include "function/run_limits.h"

/* A node that can enforce a limit has a label for it. */
static void print_limits(const struct job *job, struct strbuf *out)
{
    unsigned need = limits_need(&job->limits);
    for (int i = 0; i < CONTROLLERS; i++)
        if (need & 1u << i)
            strbuf_addf(out, "%s%s", out->length ? "," : "",
                        controller_label((enum run_controller)i));
}

void eligible_print(const struct job *job, struct strbuf *out)
{
    if (job->kind == JOB_FUNCTION)
        strbuf_addf(out, "@%s%s", job->function.program, job->where ? "," : "");
    if (job->where)
        strbuf_adds(out, job->where);
    if (job->kind != JOB_FUNCTION)
        print_limits(job, out);
}

const char *eligible_program(const char *eligible, size_t *ret_length)
{
    bool is_program = eligible_is_program(eligible);
    *ret_length = is_program ? strcspn(eligible + 1, ",") : 0;
    return is_program ? eligible + 1 : "";
}

const char *eligible_where(const char *eligible)
{
    if (!eligible_is_program(eligible))
        return eligible;
    const char *comma = strchr(eligible, ',');
    return comma ? comma + 1 : NULL;
}

bool eligible_has_limits(const char *eligible)
{
    const char *at = eligible_where(eligible);
    for (size_t length; at && *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        if (controller_of_label(at, length) < CONTROLLERS)
            return true;
    }
    return false;
}

bool eligible_is_kind(const char *eligible, const char *program)
{
    size_t length;
    const char *wanted = eligible_program(eligible, &length);
    return strlen(program) == length && strncmp(wanted, program, length) == 0;
}

bool eligible_matches(const char *eligible, const char *program, const char *labels)
{
    const char *where = eligible_where(eligible);
    return eligible_is_kind(eligible, program) && (!where || selector_matches(where, labels));
}
