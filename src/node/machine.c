#include "machine.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

void machine_boot_id(char boot_id[40])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file || !fgets(boot_id, 40, file))
        snprintf(boot_id, 40, "unknown");
    boot_id[strcspn(boot_id, "\n")] = '\0';
    if (file)
        fclose(file);
}

int machine_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
    if (count < 1)
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count;
}

void machine_random(void *context, void *bytes, size_t length)
{
    (void)context;
    for (size_t done = 0; done < length;) {
        ssize_t got = getrandom((char *)bytes + done, length - done, 0);
        if (got > 0)
            done += (size_t)got;
    }
}

void random_from_block(void *context, void *bytes, size_t length)
{
    struct random_block *block = context;
    if (length > sizeof(block->bytes)) {
        machine_random(NULL, bytes, length);
        return;
    }
    if (length > block->left) {
        machine_random(NULL, block->bytes, sizeof(block->bytes));
        block->left = sizeof(block->bytes);
    }
    block->left -= length;
    memcpy(bytes, block->bytes + block->left, length);
    explicit_bzero(block->bytes + block->left, length);
}
