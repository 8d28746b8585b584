#include "process/cause.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define RECORD_MAX   8192
#define FIRST_PID_NS                                                                               \
    0xEFFFFFFCu            /* the inode of the first pid namespace, whose pids the log has         \
                            */
#define LOG_MARGIN_MS 1000 /* between the clocks of the log and of the run's start */

/* The log's clock stops while the machine sleeps; that of runs does not. */
static int64_t slept_ms(void)
{
    struct timespec boot, awake;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_MONOTONIC, &awake);
    return ((int64_t)boot.tv_sec - awake.tv_sec) * 1000 + (boot.tv_nsec - awake.tv_nsec) / 1000000;
}

void causes_init(struct causes *causes)
{
    struct stat st;
    *causes = (struct causes){.log_fd = -1};
    if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino != FIRST_PID_NS)
        return;
    causes->log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (causes->log_fd >= 0 && lseek(causes->log_fd, 0, SEEK_END) < 0)
        causes_release(causes);
}

void causes_release(struct causes *causes)
{
    if (causes->log_fd >= 0)
        close(causes->log_fd);
    causes->log_fd = -1;
}

/* "3,1234,5678901,-;Out of memory: Killed process 42 (python3) total-vm:..., UID:0 ...": level and
 * facility, number, microseconds; the kernel's own facility is 0. */
bool cause_read_record(const char *record, struct oom_kill *ret)
{
    static const char *const beginnings[] = {
        "Out of memory: Killed process ",
        "Memory cgroup out of memory: Killed process ",
        "Out of memory (oom_kill_allocating_task): Killed process ",
    };
    char *end;
    unsigned long level = strtoul(record, &end, 10);
    if (*end != ',' || level >> 3)
        return false;
    strtoull(end + 1, &end, 10);
    if (*end != ',')
        return false;
    unsigned long long at_us = strtoull(end + 1, &end, 10);
    const char *text = strchr(end, ';');
    for (size_t i = 0; text && i < COUNT(beginnings); i++) {
        size_t length = strlen(beginnings[i]);
        if (strncmp(text + 1, beginnings[i], length) != 0)
            continue;
        long pid = strtol(text + 1 + length, &end, 10);
        if (pid <= 0 || strncmp(end, " (", 2) != 0)
            return false;
        *ret = (struct oom_kill){.pid = (pid_t)pid, .at_boot_ms = (int64_t)(at_us / 1000)};
        return true;
    }
    return false;
}

static void read_log(struct causes *causes)
{
    char record[RECORD_MAX + 1];
    int64_t slept = slept_ms();
    while (causes->log_fd >= 0) {
        struct oom_kill kill;
        ssize_t length = read(causes->log_fd, record, RECORD_MAX);
        if (length < 0 && (errno == EPIPE || errno == EINTR)) /* some were overwritten */
            continue;
        if (length <= 0)
            return;
        record[length] = '\0';
        if (!cause_read_record(record, &kill))
            continue;
        kill.at_boot_ms += slept;
        causes->kills[causes->next++ % COUNT(causes->kills)] = kill;
    }
}

bool cause_cgroup_has_oom(const struct cgroups *groups, uint32_t cgroup, const char *id)
{
    char text[512] = "";
    int fd = cgroup_open_file(groups, cgroup, id, "memory.events", O_RDONLY);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    const char *at = length > 0 ? strstr(text, "oom_kill ") : NULL;
    return at && atoll(at + strlen("oom_kill ")) > 0;
}

bool cause_is_oom(struct causes *causes, pid_t pid, int64_t started_boot_ms)
{
    read_log(causes);
    for (size_t i = 0; i < COUNT(causes->kills); i++)
        if (causes->kills[i].pid == pid &&
            causes->kills[i].at_boot_ms + LOG_MARGIN_MS >= started_boot_ms)
            return true;
    return false;
}
