/* A program with functions that are due each second: each call adds a line to a file, so that the
 * file says who was called for which tick.
 *
 *     ticker FILE COUNT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <peal.h>

static int tick(peal_run *run, void *arg)
{
    char line[128];
    int fd = open(arg, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    int length = snprintf(line, sizeof(line), "%s %lld %d\n", peal_run_job(run),
                          (long long)peal_run_tick(run) / 1000, peal_run_attempt(run));
    ssize_t written = fd < 0 ? -1 : write(fd, line, (size_t)length);
    close(fd);
    peal_log(run, "called in process %d", (int)getpid());
    return written == length ? 0 : 1;
}

int main(int argc, char **argv)
{
    char name[32];
    if (argc != 3)
        return 2;
    for (int i = 0; i < atoi(argv[2]); i++) {
        snprintf(name, sizeof(name), "tick-%d", i);
        if (peal_every(name, "* * * * * *", tick, argv[1]) != PEAL_OK)
            return 2;
    }
    return peal_run_forever();
}
