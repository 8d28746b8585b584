/* The smallest program, whose memory is measured: one function, once an hour. */
#include <peal.h>

static int nothing(peal_run *run, void *arg)
{
    (void)run;
    (void)arg;
    return 0;
}

int main(void)
{
    peal_every("nothing", "@hourly", nothing);
    return peal_run_forever();
}
