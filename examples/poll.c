/* Calls on the program's own thread, in its own loop, beside what else it waits for: here a line
 * from the terminal, which ends it. */
#include <peal.h>
#include <poll.h>
#include <stdio.h>

static int beat(peal_run *run, void *arg)
{
    int *beats = arg; /* no lock: this is the thread of main() */
    peal_log(run, "beat %d", ++*beats);
    return 0;
}

int main(void)
{
    int beats = 0;
    peal_node *peal = peal_open(.caller = PEAL_STEPS);
    if (!peal || peal_add(peal, "beat", "* * * * * *", beat, .arg = &beats) != PEAL_OK) {
        fprintf(stderr, "%s\n", peal_why());
        return 1;
    }
    struct pollfd fds[] = {{.fd = peal_fd(peal), .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    while (poll(fds, 2, peal_timeout(peal)) >= 0 && !fds[1].revents)
        peal_step(peal);
    printf("%d beats\n", beats);
    peal_close(peal);
    return 0;
}
