#include "slots.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum status slots_init(struct slots *slots, int fd)
{
    size_t size = SLOT_COUNT * sizeof(struct slot);
    *slots = (struct slots){.fd = fd, .memory = MAP_FAILED, .first_free = SLOT_NONE};
    if (slots->fd < 0) {
        slots->fd = memfd_create("peal-spawn-slots", MFD_CLOEXEC);
        if (slots->fd < 0 || ftruncate(slots->fd, (off_t)size) < 0)
            return E_IO;
    }
    struct stat info;
    if (fstat(slots->fd, &info) < 0 || info.st_size < (off_t)size)
        return E_CORRUPT; /* what is beyond the end of a file can't be touched */
    slots->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, slots->fd, 0);
    if (slots->memory == MAP_FAILED)
        return E_IO;
    slots->next_free = calloc(SLOT_COUNT, sizeof(*slots->next_free));
    return slots->next_free ? OK : E_NOMEM;
}

void slots_release(struct slots *slots)
{
    if (slots->memory != MAP_FAILED)
        munmap(slots->memory, SLOT_COUNT * sizeof(struct slot));
    if (slots->fd >= 0)
        close(slots->fd);
    free(slots->next_free);
}

uint32_t slots_take(struct slots *slots)
{
    uint32_t index = slots->first_free;
    if (index != SLOT_NONE)
        slots->first_free = slots->next_free[index];
    else if (slots->touched < SLOT_COUNT)
        index = slots->touched++;
    else
        return SLOT_NONE;
    slots->memory[index] = (struct slot){0};
    return index;
}

void slots_give(struct slots *slots, uint32_t index)
{
    slots->next_free[index] = slots->first_free;
    slots->first_free = index;
}

void slots_rebuild(struct slots *slots, const uint8_t *used)
{
    uint32_t end = SLOT_COUNT;
    while (end > 0 && !used[end - 1])
        end--;
    slots->touched = end;
    slots->first_free = SLOT_NONE;
    while (end-- > 0)
        if (!used[end])
            slots_give(slots, end);
}
