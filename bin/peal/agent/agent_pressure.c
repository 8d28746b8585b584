#include "agent_pressure.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void agent_pressure_init(struct agent_pressure *pressure)
{
    pressure->cpu_fd = open("/proc/pressure/cpu", O_RDONLY | O_CLOEXEC);
    pressure->memory_fd = open("/proc/pressure/memory", O_RDONLY | O_CLOEXEC);
    pressure->load_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    pressure->meminfo_fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
}

void agent_pressure_release(struct agent_pressure *pressure)
{
    int *const fds[] = {&pressure->cpu_fd, &pressure->memory_fd, &pressure->load_fd,
                        &pressure->meminfo_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

int pressure_parse(const char *text)
{
    static const char sign[] = "some avg10=";
    char *end;
    if (strncmp(text, sign, sizeof(sign) - 1) != 0)
        return -1;
    double percent = strtod(text + sizeof(sign) - 1, &end);
    if (end == text + sizeof(sign) - 1 || !(percent >= 0 && percent <= 100))
        return -1;
    return (int)(percent + 0.5);
}

/* While there are as many processors as processes, none waits; of two for each, half of the time.
 */
int pressure_of_load(double load, double processors)
{
    if (!(load >= 0) || !(processors > 0))
        return -1;
    return load <= processors ? 0 : (int)(100 * (1 - processors / load) + 0.5);
}

double load_parse(const char *text)
{
    char *end;
    double load = strtod(text, &end);
    return end == text || !(load >= 0) ? -1 : load;
}

/* "MemTotal:  1024 kB" in a line of its own; 0: it is not there. */
static double memory_line(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

int memory_parse(const char *text)
{
    double total = memory_line(text, "MemTotal:"), available = memory_line(text, "MemAvailable:");
    if (!(total > 0) || !(available > 0) || available > total)
        return -1;
    return (int)(100 * (1 - available / total) + 0.5);
}

enum { TEXT_SIZE = 256 };

/* The beginning of a file; empty: it can't be read. */
static const char *read_text(int fd, char text[TEXT_SIZE])
{
    ssize_t length = fd < 0 ? -1 : pread(fd, text, TEXT_SIZE - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

static void read_all(void *context, struct peer *ret)
{
    const struct agent_pressure *pressure = context;
    char text[TEXT_SIZE];
    double processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    double load = load_parse(read_text(pressure->load_fd, text));
    ret->cpu_pressure = pressure_parse(read_text(pressure->cpu_fd, text));
    ret->memory_pressure = pressure_parse(read_text(pressure->memory_fd, text));
    ret->memory_used = memory_parse(read_text(pressure->meminfo_fd, text));
    ret->cpu_load = load < 0 || processors < 1 ? -1 : (int)(100 * load / processors + 0.5);
    if (ret->cpu_pressure < 0)
        ret->cpu_pressure = pressure_of_load(load, processors);
}

struct pressure_gauge agent_pressure_gauge(struct agent_pressure *pressure)
{
    return (struct pressure_gauge){read_all, pressure};
}
