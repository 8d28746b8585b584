/* The load of the machine, for heartbeats: how much its processes wait, by Linux' pressure stall
 * information, or the load average where the kernel has none; that average itself; and how much
 * memory is in use. */
#ifndef PEAL_AGENT_PRESSURE_H
#define PEAL_AGENT_PRESSURE_H

#include "ports.h"

struct agent_pressure {
    int cpu_fd, memory_fd;   /* of /proc/pressure; -1: not there */
    int load_fd, meminfo_fd; /* of /proc, likewise */
};

/* Opens the files: before the sandbox is entered. */
void agent_pressure_init(struct agent_pressure *pressure);
void agent_pressure_release(struct agent_pressure *pressure);

/* Valid as long as `pressure`. */
struct pressure_gauge agent_pressure_gauge(struct agent_pressure *pressure);

/* "some avg10=12.34 ..." -> 12; -1: it says something else. */
int pressure_parse(const char *text);

/* The share of time, in %, that a process waits for a processor when so many want one. */
int pressure_of_load(double load, double processors);

/* /proc/loadavg and /proc/meminfo. -1: they say something else. */
double load_parse(const char *text);
int memory_parse(const char *text);

#endif
