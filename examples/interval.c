/* A start and an interval: the first call one second after the function became known, then one
 * every two seconds. Whoever registers it first fixes the start, so that all processes have the
 * same ticks. */
#include <peal.h>

static int report(peal_run *run, void *arg)
{
    const char *queue = arg;
    peal_log(run, "%s, as of %lld", queue, (long long)peal_run_tick(run));
    return 0;
}

int main(void)
{
    peal_every("report", NULL, report, .start_ms = PEAL_FROM_NOW(1000), .interval_ms = 2000,
               .arg = "orders");
    return peal_run_forever();
}
