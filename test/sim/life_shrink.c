/* The shortest list of steps with which a life still fails, in the same words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "life.h"

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* But for their numbers. */
static bool are_same_words(const char *one, const char *other)
{
    static const char digits[] = "0123456789";
    for (;;) {
        one += strspn(one, digits);
        other += strspn(other, digits);
        if (*one != *other || !*one)
            return *one == *other;
        one++;
        other++;
    }
}

static void end_quietly(void *context, const char *what)
{
    const struct life *life = context;
    _Exit(are_same_words(life->expected, what) ? 1 : 0);
}

/* In a process of its own, which a failure ends. */
static bool fails(const struct life *life)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        life_live(life, NULL, true, end_quietly);
        _Exit(0);
    }
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status != 0;
}

/* ---- leaving out ---- */

static bool leave_out(struct life *life, size_t first, size_t count)
{
    struct life *fewer = malloc(sizeof(*fewer));
    if (!fewer)
        abort();
    *fewer = *life;
    for (size_t i = first; i < first + count && i < life->step_count; i++)
        fewer->steps[i].is_left_out = true;
    bool is_less = life_steps_left(fewer) < life_steps_left(life) && fails(fewer);
    if (is_less)
        *life = *fewer;
    free(fewer);
    return is_less;
}

/* First many steps at a time, at last one by one, until none can be left out any more. */
static void leave_out_steps(struct life *life, double until)
{
    for (size_t part = life->step_count / 2; part > 0; part /= 2) {
        bool again = true;
        while (again && seconds() < until) {
            again = false;
            for (size_t i = 0; i < life->step_count && seconds() < until; i += part)
                again |= leave_out(life, i, part) && part == 1;
        }
    }
}

static void lower_jobs(struct life *life, double until)
{
    while (life->job_count > 1 && seconds() < until) {
        life->job_count--;
        if (!fails(life)) {
            life->job_count++;
            return;
        }
    }
}

void life_shrink(struct life *life, const char *what, double limit_s)
{
    double until = seconds() + limit_s;
    snprintf(life->expected, sizeof(life->expected), "%s", what);
    leave_out_steps(life, until);
    lower_jobs(life, until);
}

/* ---- in words ---- */

void life_print(const struct life *life)
{
    static const char *const kinds[] = {"person: ", "fault: ", "rest: "};
    struct cluster shape = {.node_count = life->node_count};
    printf("It takes %d nodes, %d jobs and these %zu to fail:\n", life->node_count, life->job_count,
           life_steps_left(life));
    for (size_t i = 0; i < life->step_count; i++) {
        const struct step *step = &life->steps[i];
        if (step->is_left_out)
            continue;
        struct strbuf words;
        strbuf_init(&words);
        strbuf_adds(&words, kinds[step->kind]);
        if (step->kind == STEP_FAULT)
            fault_describe(&shape, life->mix, step->random, &words);
        else if (step->kind == STEP_PERSON)
            people_describe(step->random, &words);
        else
            strbuf_adds(&words,
                        "all is mended for two minutes and looked over, an agent is killed");
        printf("  %6lld.%03d s  %s\n", (long long)step->at_ms / 1000, (int)(step->at_ms % 1000),
               words.text);
        strbuf_release(&words);
    }
}

void life_print_only(const struct life *life)
{
    const char *comma = "";
    printf(" PEAL_SIM_ONLY='%dj ", life->job_count);
    for (size_t i = 0; i < life->step_count; i++) {
        if (life->steps[i].is_left_out)
            continue;
        printf("%s%zu", comma, i);
        comma = ",";
    }
    printf("'\n");
}

bool life_set_only(struct life *life, const char *only)
{
    char *rest;
    long jobs = strtol(only, &rest, 10);
    if (rest == only || *rest != 'j' || jobs < 1 || jobs > JOBS_MAX)
        return false;
    life->job_count = (int)jobs;
    for (size_t i = 0; i < life->step_count; i++)
        life->steps[i].is_left_out = true;
    for (rest++; *rest;) {
        char *after;
        unsigned long index = strtoul(rest, &after, 10);
        if (after == rest || index >= life->step_count)
            return rest[strspn(rest, " ")] == '\0';
        life->steps[index].is_left_out = false;
        rest = *after == ',' ? after + 1 : after;
    }
    return true;
}
