/* Goes to work at once, whether the store is there yet or not; what the library does about it, it
 * tells the program's own log. */
#include <peal.h>
#include <signal.h>
#include <stdio.h>

static peal_node *peal;

static void tell(void *context, enum peal_level level, const char *message)
{
    static const char *const words[] = {"debug", "info", "warning", "error"};
    fprintf(context, "background: %s: %s\n", words[level], message);
}

static void stop(int signal_number)
{
    (void)signal_number;
    peal_stop(peal); /* may be called here */
}

static int sweep(peal_run *run, void *arg)
{
    (void)arg;
    peal_log(run, "swept, attempt %d", peal_run_attempt(run));
    return 0;
}

int main(void)
{
    peal = peal_open(.in_background = true, .log = tell, .context = stderr);
    if (!peal || peal_add(peal, "sweep", "*/2 * * * * *", sweep, .retries = 2) != PEAL_OK)
        return 1;
    signal(SIGTERM, stop);
    puts("at work");
    int error = peal_wait(peal);
    peal_close(peal);
    return error == PEAL_OK ? 0 : 1;
}
