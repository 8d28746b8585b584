/* Many lives, each from a number; and of one that fails, the shortest list of what it takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "life.h"

enum { SHRINK_S = 60, QUICK_S = 20 };

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
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
    const char *mix = life->is_drill && mix_wanted() != MIX_COUNT ? fault_mix_name(life->mix) : "";
    printf("PEAL_SIM_FIRST_SEED=%llu PEAL_SIM_SEEDS=1%s%s", (unsigned long long)life->seed,
           *mix ? " PEAL_SIM_MIX=" : "", mix);
}

static void failed(void *context, const char *what)
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

static void print_tally(const struct tally *tally, long done, long first, double took_s)
{
    double hours = (double)tally->node_ms / HOUR;
    printf("%s: %ld seeds from %ld in %.1f s: %.0f node-hours (%.0f/s), %zu turns, %zu starts, "
           "%zu faults, %zu lost, %zu amended, %zu taken over, %zu messages\n",
           world_name(), done, first, took_s, hours, hours / took_s, tally->turns, tally->starts,
           tally->faults, tally->losses, tally->amended, tally->takeovers, tally->messages);
}

int main(void)
{
    static struct life life;
    long first = number_of("PEAL_SIM_FIRST_SEED", 1), seeds = number_of("PEAL_SIM_SEEDS", 0);
    const char *only = getenv("PEAL_SIM_ONLY");
    double began = seconds(), limit = seeds ? 1e9 : QUICK_S;
    struct tally tally = {0};
    long done = 0;
    for (; seconds() - began < limit && (!seeds || done < seeds); done++) {
        life_lay_down(&life, (uint64_t)(first + done), mix_wanted());
        if (only && !life_set_only(&life, only)) {
            printf("PEAL_SIM_ONLY is a number of jobs and of steps, like 5j 0,7,12: %s\n", only);
            return 2;
        }
        uint64_t hash = life_live(&life, &tally, false, failed);
        if (done % 16 == 0 && life_live(&life, NULL, false, failed) != hash) {
            printf("FAILED: seed %ld gives two different lives\n", first + done);
            return 1;
        }
    }
    print_tally(&tally, done, first, seconds() - began);
    return 0;
}
