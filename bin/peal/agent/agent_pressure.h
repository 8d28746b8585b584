/* How much the machine's processes wait: Linux' pressure stall information, or the load average
 * where the kernel has none. */
#ifndef PEAL_AGENT_PRESSURE_H
#define PEAL_AGENT_PRESSURE_H

#include "ports.h"

struct agent_pressure {
    int cpu_fd, memory_fd; /* -1: not there */
};

/* Opens /proc/pressure: before the sandbox is entered. */
void agent_pressure_init(struct agent_pressure *pressure);
void agent_pressure_release(struct agent_pressure *pressure);

/* Valid as long as `pressure`. */
struct pressure_gauge agent_pressure_gauge(struct agent_pressure *pressure);

/* "some avg10=12.34 ..." -> 12; -1: it says something else. */
int pressure_parse(const char *text);

/* The share of time, in %, that a process waits for a processor when so many want one. */
int pressure_of_load(double load, double processors);

#endif
