#include "failures.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHRUNK_MAX = 4, LINE = 4096, LIST_LINES = 24 };

/* ---- in which words ---- */

/* "FAILED with seed 20 at 248.240 s: words"; NULL: it says something else. */
static const char *words_of(const char *line)
{
    static const char head[] = "FAILED with seed ";
    if (strncmp(line, head, strlen(head)) != 0)
        return NULL;
    line += strlen(head);
    line += strspn(line, "0123456789");
    return line + strspn(line, " ,:");
}

static bool is_grave(const char *line)
{
    return strstr(line, "Assertion") || strstr(line, "ERROR: ") || strstr(line, "runtime error: ");
}

/* The last words of the simulation, else the first of a sanitizer or an assertion. */
static void find_words(struct failure *failure, int status, const char *why)
{
    char line[LINE];
    char *words = failure->words;
    FILE *log = fopen(failure->log, "r");
    while (log && fgets(line, sizeof(line), log)) {
        line[strcspn(line, "\n")] = '\0';
        const char *said = words_of(line);
        if (said || (!*words && is_grave(line)))
            snprintf(words, FAILURE_WORDS, "%.*s", FAILURE_WORDS - 1, said ? said : line);
    }
    if (log)
        fclose(log);
    if (why)
        snprintf(words, FAILURE_WORDS, "%s", why);
    else if (!*words && WIFSIGNALED(status))
        snprintf(words, FAILURE_WORDS, "ended by a signal: %s", strsignal(WTERMSIG(status)));
    else if (!*words)
        snprintf(words, FAILURE_WORDS, "ended with status %d", WEXITSTATUS(status));
}

void failures_add(struct failures *failures, const char *world, const char *program,
                  const struct worker *worker, int status, const char *why)
{
    if (failures->count == FAILURES_MAX)
        return;
    struct failure *failure = &failures->items[failures->count++];
    *failure = (struct failure){
        .world = world, .program = program, .seed = worker->life.seed, .kind = worker->life.kind};
    memcpy(failure->mix, worker->life.mix, sizeof(failure->mix));
    snprintf(failure->log, sizeof(failure->log), "%s/%s-%llu.txt", failures->folder, world,
             (unsigned long long)failure->seed);
    if (rename(worker->log, failure->log) != 0)
        perror(failure->log);
    find_words(failure, status, why);
}

/* ---- the shortest list of what it takes ---- */

/* But for their numbers. */
static bool are_same_words(const char *one, const char *other)
{
    for (;; one++, other++) {
        while (isdigit((unsigned char)*one))
            one++;
        while (isdigit((unsigned char)*other))
            other++;
        if (*one != *other || !*one)
            return *one == *other;
    }
}

static bool is_first_of_its_words(const struct failures *failures, size_t index)
{
    const struct failure *failure = &failures->items[index];
    for (size_t i = 0; i < index; i++)
        if (strcmp(failures->items[i].world, failure->world) == 0 &&
            are_same_words(failures->items[i].words, failure->words))
            return false;
    return true;
}

static void shrink_some(struct failures *failures, int at_a_time, double shrink_s)
{
    int running = 0, shrunk = 0;
    for (size_t i = 0; i < failures->count && shrunk < SHRUNK_MAX; i++) {
        struct failure *failure = &failures->items[i];
        if (!is_first_of_its_words(failures, i))
            continue;
        if (running == at_a_time && wait(NULL) > 0)
            running--;
        failure->shrinks = worker_explain(failure->program, failure->seed, shrink_s, failure->log);
        running++;
        shrunk++;
    }
    while (running > 0 && wait(NULL) > 0)
        running--;
}

/* ---- in print ---- */

/* A long list is not the shortest, and is read in the log. */
static void print_shrunk(const struct failure *failure)
{
    char line[LINE];
    int lines = 0;
    FILE *log = fopen(failure->log, "r");
    while (log && lines < LIST_LINES && fgets(line, sizeof(line), log)) {
        if (lines || strncmp(line, "It takes ", strlen("It takes ")) == 0)
            lines += printf("    %s", line) > 0;
    }
    if (lines == LIST_LINES)
        printf("    ...\n");
    if (log)
        fclose(log);
}

static void print_failure(const struct failure *failure)
{
    const char *mix = getenv("PEAL_SIM_MIX");
    printf("\n%s, seed %llu (%s, %s): %s\n", failure->world, (unsigned long long)failure->seed,
           life_kind_name(failure->kind), failure->mix, failure->words);
    printf("    again: PEAL_SIM_FIRST_SEED=%llu PEAL_SIM_SEEDS=1%s%s %s\n",
           (unsigned long long)failure->seed, mix ? " PEAL_SIM_MIX=" : "", mix ? mix : "",
           failure->program);
    printf("    its last events: %s\n", failure->log);
    if (failure->shrinks)
        print_shrunk(failure);
}

void failures_explain(struct failures *failures, int at_a_time, double shrink_s)
{
    if (failures->count && shrink_s > 0) {
        printf("looking for the shortest lists of what it takes to fail, %.0f s each\n", shrink_s);
        shrink_some(failures, at_a_time, shrink_s);
    }
    for (size_t i = 0; i < failures->count; i++)
        print_failure(&failures->items[i]);
    if (failures->count)
        printf("\nlives that failed: %zu%s\n", failures->count,
               failures->count == FAILURES_MAX ? ", and no more were tried" : "");
}
