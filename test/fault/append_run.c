/* What the jobs of the fault tests run: it leaves a trace of its own, outside of peal, which the
 * ledger is compared with (check.sh).
 *
 *     append_run FILE [MILLISECONDS|GO_FILE [EXIT_CODE]]
 *
 * With a GO_FILE, which begins with a slash, it runs until there is such a file.
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

static void pause_for(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static void wait_for_file(const char *path)
{
    while (access(path, F_OK) != 0)
        pause_for(20);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4) {
        fputs("usage: append_run FILE [MILLISECONDS|GO_FILE [EXIT_CODE]]\n", stderr);
        return EXIT_NO_TRACE;
    }
    leave_trace(argv[1], "begin");
    if (argc > 2 && argv[2][0] == '/')
        wait_for_file(argv[2]);
    else if (argc > 2)
        pause_for(strtol(argv[2], NULL, 10));
    leave_trace(argv[1], "end");
    return argc > 3 ? atoi(argv[3]) : 0;
}
