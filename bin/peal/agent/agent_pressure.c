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
}

void agent_pressure_release(struct agent_pressure *pressure)
{
    if (pressure->cpu_fd >= 0)
        close(pressure->cpu_fd);
    if (pressure->memory_fd >= 0)
        close(pressure->memory_fd);
    pressure->cpu_fd = pressure->memory_fd = -1;
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

static int read_some(int fd)
{
    char text[256];
    ssize_t length = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
    if (length <= 0)
        return -1;
    text[length] = '\0';
    return pressure_parse(text);
}

static void read_all(void *context, struct peer *ret)
{
    const struct agent_pressure *pressure = context;
    double load;
    ret->cpu_pressure = read_some(pressure->cpu_fd);
    ret->memory_pressure = read_some(pressure->memory_fd);
    if (ret->cpu_pressure < 0 && getloadavg(&load, 1) == 1)
        ret->cpu_pressure = pressure_of_load(load, (double)sysconf(_SC_NPROCESSORS_ONLN));
}

struct pressure_gauge agent_pressure_gauge(struct agent_pressure *pressure)
{
    return (struct pressure_gauge){read_all, pressure};
}
