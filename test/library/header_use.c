/* All macros of the header, as a strict C compiler sees them. Only compiled. */
#include <peal.h>

int main(void);

static int call(peal_run *run, void *arg)
{
    peal_log(run, "%s of %s", (const char *)arg, peal_run_job(run));
    return peal_cancelled(run) ? 1 : 0;
}

static void tell(void *context, enum peal_level level, const char *message)
{
    (void)context;
    (void)level;
    (void)message;
}

int main(void)
{
    static char name[] = "x";
    peal_node *plain = peal_open();
    peal_node *other = peal_open(.program = "p", .threads = 2, .caller = PEAL_STEPS, .log = tell);
    int error = peal_every("a", "* * * * *", call);
    if (error == PEAL_OK)
        error = peal_every("b", "@daily", call, .arg = name, .tz = "UTC", .overlap = PEAL_QUEUE);
    if (error == PEAL_OK)
        error =
            peal_add(plain, "c", NULL, call, .interval_ms = 1000, .start_ms = PEAL_FROM_NOW(5000));
    if (error == PEAL_OK)
        error = peal_add(other, .name = "d", .function = call);
    peal_close(other);
    return peal_close(plain) || error != PEAL_OK;
}
