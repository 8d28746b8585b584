/* Many lives, each from a number; and of one that fails, the shortest list of what it takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "life.h"

enum { SHRINK_S = 60, QUICK_S = 20 };

static double seconds(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

/* PEAL_SIM_MIX names one, for drills; MIX_COUNT: none. */
static enum fault_mix mix_wanted(void)
{
    const char *name = getenv("PEAL_SIM_MIX");
    enum fault_mix mix = MIX_ANY;
    while (name && mix < MIX_COUNT && strcmp(fault_mix_name(mix), name) != 0)
        mix++;
    return name ? mix : MIX_COUNT;
}

static void print_seed(const struct life *life)
{
    const char *mix =
        life->kind == LIFE_DRILL && mix_wanted() != MIX_COUNT ? fault_mix_name(life->mix) : "";
    printf("PEAL_SIM_FIRST_SEED=%llu PEAL_SIM_SEEDS=1%s%s", (unsigned long long)life->seed,
           *mix ? " PEAL_SIM_MIX=" : "", mix);
}

static void explain(void *context, const char *what)
{
    static struct life fewer;
    fewer = *(const struct life *)context;
    printf("All of it again: ");
    print_seed(&fewer);
    printf(" (PEAL_SIM_LOG=1 shows it)\n");
    fflush(stdout);
    long limit_s = number_of("PEAL_SIM_SHRINK_S", SHRINK_S);
    if (limit_s > 0) {
        life_shrink(&fewer, what, (double)limit_s);
        life_print(&fewer);
        printf("Only these again: ");
        print_seed(&fewer);
        life_print_only(&fewer);
    }
    fflush(stdout);
    _Exit(1);
}

/* All of it again, and now it is written down. */
static void failed(void *context, const char *what)
{
    const struct life *life = context;
    life_live(life, NULL, false, explain);
    printf("FAILED with seed %llu, and not when it was lived again: %s\n",
           (unsigned long long)life->seed, what);
    fflush(stdout);
    _Exit(1);
}

/* ---- lives ---- */

static bool is_shown(void)
{
    return getenv("PEAL_SIM_LOG") != NULL;
}

static bool is_hashed(void)
{
    return getenv("PEAL_SIM_HASH") != NULL;
}

/* Every sixteenth is lived twice, and must be the same to the last message. */
static bool is_compared(const struct life *life)
{
    return life->seed % 16 == 0 && !is_shown() && !is_hashed();
}

static void live(const struct life *life, struct tally *tally)
{
    bool is_quiet = !is_compared(life) && !is_shown() && !is_hashed();
    double began = seconds(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t hash = life_live(life, tally, is_quiet, is_quiet ? failed : explain);
    tally->cpu_s += seconds(CLOCK_PROCESS_CPUTIME_ID) - began;
    if (is_hashed())
        printf("seed %llu hash %016llx\n", (unsigned long long)life->seed,
               (unsigned long long)hash);
    if (!is_compared(life) || life_live(life, NULL, false, explain) == hash)
        return;
    printf("FAILED with seed %llu: it gives two different lives\n", (unsigned long long)life->seed);
    exit(1);
}

/* By PEAL_SIM_FIRST_SEED, PEAL_SIM_SEEDS (or as many as fit into 20 s) and PEAL_SIM_ONLY. */
static int live_some(void)
{
    static struct life life;
    long first = number_of("PEAL_SIM_FIRST_SEED", 1), seeds = number_of("PEAL_SIM_SEEDS", 0);
    const char *only = getenv("PEAL_SIM_ONLY");
    double began = seconds(CLOCK_MONOTONIC), limit = seeds ? 1e9 : QUICK_S;
    struct tally kinds[LIFE_KINDS] = {0};
    for (long done = 0; seconds(CLOCK_MONOTONIC) - began < limit && (!seeds || done < seeds);
         done++) {
        life_lay_down(&life, (uint64_t)(first + done), mix_wanted());
        if (only && !life_set_only(&life, only)) {
            printf("PEAL_SIM_ONLY is a number of jobs and of steps, like 5j 0,7,12: %s\n", only);
            return 2;
        }
        live(&life, &kinds[life.kind]);
    }
    tally_print(kinds, world_name(), (uint64_t)first, seconds(CLOCK_MONOTONIC) - began);
    return 0;
}

static void report(int reports, const struct life_report *what)
{
    if (write(reports, what, sizeof(*what)) != (ssize_t)sizeof(*what))
        exit(1); /* the driver is gone */
}

/* Seeds come as lines, until there are no more. */
static int live_as_told(int reports)
{
    static struct life life;
    unsigned long long seed;
    while (scanf("%llu", &seed) == 1) {
        life_lay_down(&life, seed, mix_wanted());
        struct life_report what = {.seed = seed, .kind = life.kind};
        snprintf(what.mix, sizeof(what.mix), "%s", fault_mix_name(life.mix));
        report(reports, &what);
        live(&life, &what.tally);
        what.is_over = true;
        report(reports, &what);
    }
    return 0;
}

int main(void)
{
    int reports = (int)number_of("PEAL_SIM_REPORTS", -1);
    return reports >= 0 ? live_as_told(reports) : live_some();
}
