/* A descriptor that the loop watches, embedded in what it belongs to. */
#ifndef PEAL_SPAWNER_WATCH_H
#define PEAL_SPAWNER_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct spawner;

struct watch {
    int fd;
    void (*ready)(struct spawner *spawner, struct watch *watch, uint32_t events);
};

#define watch_owner(watch, type, member) ((type *)((char *)(watch)-offsetof(type, member)))

#endif
