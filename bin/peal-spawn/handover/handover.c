#include "handover/handover.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "PEAL_SPAWN_HANDOVER"
#define BYTES    sizeof(struct handover_memory) /* also tells other versions of it apart */
#define SEALS    (F_SEAL_SHRINK | F_SEAL_GROW)  /* what is beyond the end can't be touched */

/* -1 and errno. */
static int make(void)
{
    int fd = memfd_create("peal-handover", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, (off_t)BYTES) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool map(struct handover *handover, int fd)
{
    void *memory =
        fd >= 0 ? mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    *handover = (struct handover){.fd = fd, .memory = memory != MAP_FAILED ? memory : NULL};
    return handover->memory;
}

void handover_provide(struct handover *handover)
{
    char number[16];
    unsetenv(VARIABLE);
    if (!map(handover, make()))
        return;
    handover->memory->guard = getpid();
    snprintf(number, sizeof(number), "%d", handover->fd);
    fcntl(handover->fd, F_SETFD, 0);
    setenv(VARIABLE, number, 1);
}

/* The memory that this process has inherited, or -1. */
static int inherited(void)
{
    struct stat st;
    const char *number = getenv(VARIABLE);
    int fd = number ? atoi(number) : -1;
    bool is_it = fd > STDERR_FILENO && fstat(fd, &st) == 0 && st.st_size == (off_t)BYTES &&
                 (fcntl(fd, F_GET_SEALS) & SEALS) == SEALS;
    return is_it && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
}

bool handover_open(struct handover *handover)
{
    int fd = inherited();
    return map(handover, fd >= 0 ? fd : make());
}

void handover_close(struct handover *handover)
{
    if (handover->memory)
        munmap(handover->memory, BYTES);
    if (handover->fd >= 0)
        close(handover->fd);
    *handover = (struct handover){.fd = -1};
}

/* ---- what was read ---- */

/* Another process may look at any moment: what comes first in the text is done first. */
static void in_this_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

ssize_t chunk_read(struct chunk *chunk, int fd, const char *id, uint32_t stream, uint64_t position)
{
    chunk->stream = stream;
    chunk->position = position;
    memcpy(chunk->id, id, strlen(id) + 1);
    in_this_order();
    ssize_t length = read(fd, chunk->bytes, sizeof(chunk->bytes));
    chunk->length = length > 0 ? (uint32_t)length : 0;
    in_this_order();
    if (length <= 0)
        chunk_done(chunk);
    return length;
}

void chunk_done(struct chunk *chunk)
{
    in_this_order();
    chunk->id[0] = '\0';
    in_this_order();
    memset(chunk->bytes, 0, chunk->length);
    chunk->length = 0;
    in_this_order();
}

static size_t length_of(const struct chunk *chunk)
{
    size_t length = sizeof(chunk->bytes);
    if (chunk->length && chunk->length <= length)
        return chunk->length;
    while (length > 0 && !chunk->bytes[length - 1])
        length--;
    return length;
}

size_t chunk_missing(const struct chunk *chunk, const char *id, uint64_t position,
                     const char **ret_bytes)
{
    if (strncmp(chunk->id, id, sizeof(chunk->id)) != 0 || position < chunk->position)
        return 0;
    size_t length = length_of(chunk);
    uint64_t done = position - chunk->position;
    if (done >= length)
        return 0;
    *ret_bytes = chunk->bytes + done;
    return length - (size_t)done;
}
