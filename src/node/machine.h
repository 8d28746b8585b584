/* What a node knows of the machine that it runs on. */
#ifndef PEAL_MACHINE_H
#define PEAL_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* Of the machine's current boot. */
void machine_boot_id(char boot_id[40]);

/* The processors that this process may use: fewer than the machine's in a container. */
int machine_processors(void);

/* The kernel's random bytes; `context` is not used. */
void machine_random(void *context, void *bytes, size_t length);

/* The same for ids and nonces, of which a burst needs thousands: taken from a block, which is the
 * context. What was used is wiped. One thread. */
struct random_block {
    uint8_t bytes[4096];
    size_t left; /* unused, from the beginning */
};
void random_from_block(void *context, void *bytes, size_t length);

#endif
