/* Calls a function every two seconds: once, however many processes of this program run. */
#include <peal.h>

static int cleanup(peal_run *run, void *arg)
{
    (void)arg;
    peal_log(run, "swept");
    return 0;
}

int main(void)
{
    peal_every("cleanup", "*/2 * * * * *", cleanup, .tz = "Asia/Shanghai");
    return peal_run_forever();
}
