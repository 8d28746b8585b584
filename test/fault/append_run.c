/* What the jobs of the fault tests run: it leaves a trace of its own, outside of peal, which the
 * ledger is compared with (check.sh).
 *
 *     append_run FILE [MILLISECONDS [EXIT_CODE]]
 *
 * One line when it begins, one when it ends, each by a single write in append mode, so that lines
 * of many processes never mix, and none is half there after a kill:
 *     begin JOB RUN_ID TICK ATTEMPT FENCE UNIX_MS NODE
 *     end   JOB RUN_ID TICK ATTEMPT FENCE UNIX_MS NODE
 * On stdout it says "begin" and "end", 10 bytes in all. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_NO_TRACE = 99 };

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : "-";
}

static void leave_trace(const char *path, const char *what)
{
    char line[512];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int length =
        snprintf(line, sizeof(line), "%s %s %s %s %s %s %lld %s\n", what, variable("PEAL_JOB"),
                 variable("PEAL_RUN_ID"), variable("PEAL_TICK"), variable("PEAL_ATTEMPT"),
                 variable("PEAL_FENCE"), (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000,
                 variable("PEAL_NODE"));
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || length >= (int)sizeof(line) || write(fd, line, (size_t)length) != length) {
        fprintf(stderr, "append_run: can't write %s: %s\n", path, strerror(errno));
        _exit(EXIT_NO_TRACE);
    }
    close(fd);
    dprintf(STDOUT_FILENO, "%s\n", what);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4) {
        fputs("usage: append_run FILE [MILLISECONDS [EXIT_CODE]]\n", stderr);
        return EXIT_NO_TRACE;
    }
    long ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    leave_trace(argv[1], "begin");
    while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
        ;
    leave_trace(argv[1], "end");
    return argc > 3 ? atoi(argv[3]) : 0;
}
