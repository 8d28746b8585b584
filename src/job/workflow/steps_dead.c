/* Steps that can never run. What a step needs is what all steps that it waits for need, and their
 * ends; one that needs two different ends of the same step is skipped in every instance. */
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "workflow/steps.h"

static const struct table_type names_type = {.key_at = offsetof(struct job_step, name),
                                             .is_pointer = true};

struct needs {
    const struct job *job;
    struct table names;
    size_t words;
    uint64_t *success, *failure; /* by step: a bit for each step whose end it needs */
};

static uint64_t *row(const struct needs *needs, uint64_t *bits, size_t step)
{
    return bits + step * needs->words;
}

static size_t number_of(const struct needs *needs, const char *name)
{
    const struct job_step *step = table_find(&needs->names, name);
    return step ? (size_t)(step - needs->job->steps) : needs->job->step_count;
}

/* True: it has grown. */
static bool add_bits(const struct needs *needs, uint64_t *to, const uint64_t *from)
{
    bool has_grown = false;
    for (size_t i = 0; i < needs->words; i++) {
        has_grown |= (from[i] & ~to[i]) != 0;
        to[i] |= from[i];
    }
    return has_grown;
}

static bool add_bit(uint64_t *to, size_t step)
{
    uint64_t bit = UINT64_C(1) << step % 64;
    bool has_grown = !(to[step / 64] & bit);
    to[step / 64] |= bit;
    return has_grown;
}

/* A step with `join` needs none of those that it waits for in particular. True: it has grown. */
static bool add_needs(const struct needs *needs, size_t number)
{
    const struct job_step *step = &needs->job->steps[number];
    uint64_t *success = row(needs, needs->success, number);
    uint64_t *failure = row(needs, needs->failure, number);
    bool has_grown = false;
    for (size_t i = 0; i < step->after_count; i++) {
        size_t other = number_of(needs, step->after[i].step);
        enum after_on on = step->after[i].on;
        bool is_needed = !step->join || (size_t)step->join == step->after_count;
        if (other == needs->job->step_count || on == AFTER_ALWAYS || !is_needed)
            continue;
        has_grown |= add_bits(needs, success, row(needs, needs->success, other));
        has_grown |= add_bits(needs, failure, row(needs, needs->failure, other));
        has_grown |= add_bit(on == AFTER_SUCCESS ? success : failure, other);
    }
    return has_grown;
}

/* The step of which it needs both ends; step_count: none. */
static size_t find_contradiction(const struct needs *needs, size_t number)
{
    const uint64_t *success = row(needs, needs->success, number);
    const uint64_t *failure = row(needs, needs->failure, number);
    for (size_t other = 0; other < needs->job->step_count; other++) {
        if (success[other / 64] & failure[other / 64] & UINT64_C(1) << other % 64)
            return other;
    }
    return needs->job->step_count;
}

/* Is it only because a step that it waits for never runs? */
static bool is_inherited(const struct needs *needs, const struct job_step *step)
{
    for (size_t i = 0; i < step->after_count; i++) {
        size_t other = number_of(needs, step->after[i].step);
        if (step->after[i].on != AFTER_ALWAYS && other < needs->job->step_count &&
            find_contradiction(needs, other) < needs->job->step_count)
            return true;
    }
    return false;
}

static void find_all(const struct needs *needs, steps_dead_found *found, void *context)
{
    const struct job *job = needs->job;
    bool has_grown = true;
    while (has_grown) { /* once, if each step stands behind those that it waits for */
        has_grown = false;
        for (size_t i = 0; i < job->step_count; i++)
            has_grown |= add_needs(needs, i);
    }
    for (size_t i = 0; i < job->step_count; i++) {
        size_t other = find_contradiction(needs, i);
        if (other < job->step_count && !is_inherited(needs, &job->steps[i]))
            found(context, &job->steps[i], &job->steps[other]);
    }
}

enum status steps_find_dead(const struct job *job, steps_dead_found *found, void *context)
{
    struct needs needs = {.job = job, .words = (job->step_count + 63) / 64};
    size_t size = job->step_count * needs.words + 1;
    table_init(&needs.names, &names_type);
    needs.success = calloc(size, sizeof(*needs.success));
    needs.failure = calloc(size, sizeof(*needs.failure));
    enum status st = needs.success && needs.failure ? OK : E_NOMEM;
    for (size_t i = 0; i < job->step_count && st == OK; i++)
        st = table_insert(&needs.names, &job->steps[i]);
    if (st == OK)
        find_all(&needs, found, context);
    table_release(&needs.names);
    free(needs.success);
    free(needs.failure);
    return st;
}
