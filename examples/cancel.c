/* A call is never ended from outside: it is told that its time is up, or that somebody has killed
 * it, and returns. */
#include <peal.h>

static int work(peal_run *run, void *arg)
{
    (void)arg;
    for (int row = 1; row <= 100; row++) {
        if (peal_sleep(run, 50) != PEAL_OK) { /* the work on a row; else ask peal_cancelled(run) */
            peal_log(run, "stopped at row %d", row);
            return 1;
        }
    }
    return 0;
}

int main(void)
{
    peal_every("work", "*/3 * * * * *", work, .timeout_ms = 1000);
    return peal_run_forever();
}
