#include "agent_memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LOOK_AFTER_MS = 2000, /* after a turn; store and history have rested by then */
    QUIET_MS = 50,        /* without a due run: as long as a trim of a large heap takes */
    ONE_BLOCK = 1 << 20,
    KEPT_TOP = 8 << 20,
    WORTH_BYTES = 2 << 20,
};

struct agent_memory {
    int statm_fd;
    struct loop_timer *timer; /* NULL: not started */
    const struct engine *engine;
    bool is_armed;
    bool has_turned;    /* since it was armed */
    int64_t left_bytes; /* excess that the last trim left */
};

/* Blocks of this size and above get a mapping of their own, and go back when they are freed; by
 * default the first large one that is freed makes malloc keep all later ones. Smaller ones stay
 * until the next trim: batches of jobs have lists of half a megabyte, one after the other, whose
 * pages would else be given back and faulted in again each time. */
static void set_up_malloc(void)
{
    mallopt(M_MMAP_THRESHOLD, ONE_BLOCK);
    mallopt(M_TRIM_THRESHOLD, KEPT_TOP);
}

struct agent_memory *agent_memory_new(void)
{
    struct agent_memory *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return NULL;
    set_up_malloc();
    memory->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (memory->statm_fd >= 0)
        return memory;
    free(memory);
    return NULL;
}

/* Resident bytes that are of no file; 0: unknown. */
static int64_t resident_bytes(const struct agent_memory *memory)
{
    char text[128];
    long resident, shared;
    ssize_t length = pread(memory->statm_fd, text, sizeof(text) - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    if (sscanf(text, "%*s %ld %ld", &resident, &shared) != 2)
        return 0;
    return (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
}

/* Resident bytes that are not in use: free blocks of the heap, mostly. */
static int64_t excess_bytes(const struct agent_memory *memory, int64_t *ret_used)
{
    struct mallinfo2 heap = mallinfo2();
    *ret_used = (int64_t)(heap.uordblks + heap.hblkhd);
    return resident_bytes(memory) - *ret_used;
}

static bool is_worth_it(const struct agent_memory *memory)
{
    int64_t used, excess = excess_bytes(memory, &used);
    int64_t worth = used / 16 > WORTH_BYTES ? used / 16 : WORTH_BYTES;
    return excess > memory->left_bytes + worth;
}

static bool is_quiet(const struct agent_memory *memory)
{
    return engine_wake_at(memory->engine).ms - clock_now().wall.ms >= QUIET_MS;
}

static void arm(struct agent_memory *memory)
{
    memory->is_armed = true;
    memory->has_turned = false;
    loop_timer_set(memory->timer, LOOK_AFTER_MS);
}

/* Looks until there was no turn between two looks. */
static void on_timer(void *context)
{
    struct agent_memory *memory = context;
    int64_t used;
    memory->is_armed = false;
    if (memory->has_turned)
        arm(memory);
    if (!is_quiet(memory) || !is_worth_it(memory))
        return;
    malloc_trim(0);
    memory->left_bytes = excess_bytes(memory, &used);
}

enum status agent_memory_start(struct agent_memory *memory, struct loop *loop,
                               const struct engine *engine)
{
    if (!memory)
        return OK;
    memory->engine = engine;
    return loop_timer_new_patient(loop, on_timer, memory, &memory->timer);
}

void agent_memory_turned(struct agent_memory *memory)
{
    if (!memory)
        return;
    memory->has_turned = true;
    if (!memory->is_armed)
        arm(memory);
}

struct agent_memory *agent_memory_free(struct agent_memory *memory)
{
    if (!memory)
        return NULL;
    loop_timer_free(memory->timer);
    close(memory->statm_fd);
    free(memory);
    return NULL;
}
