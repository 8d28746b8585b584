#include "serve/masking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/low_fds.h"
#include "serve/mask_forms.h"
#include "serve/masker.h"

#define MAGIC     0x6b73616du
#define BYTES_MAX (64 << 20)
#define SEALS     (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

enum { STREAMS = 2, STATES = 2 };

enum operation {
    APPEND,
    END,
    CUT,
    OPERATIONS,
};

/* After an operation. */
struct state {
    uint32_t held[STREAMS];
    uint32_t masked[STREAMS]; /* see masker_save */
};

/* What the descriptor has. Behind it: the values, each a uint32_t length and its bytes; then what
 * is held of each stream in each state, with room for `longest` bytes. */
struct memory {
    uint32_t magic;
    uint32_t size;
    char id[SPAWN_ID_MAX + 8];
    uint32_t value_count;
    uint32_t values_size;
    uint32_t longest;
    uint32_t done;     /* operations; the state is that of its lowest bit */
    uint64_t begun;    /* begun_as of the one that was begun last; 0: none */
    uint64_t position; /* of the output, when that began */
    struct state states[STATES];
};

struct masking {
    struct memory *memory;
    size_t size;
    int fd;
    struct masks *masks;
    struct masker streams[STREAMS];
};

/* Another process may look at any moment: what comes first in the text is done first. */
static void in_this_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* The operation of that number, in one word. */
static uint64_t begun_as(uint32_t number, enum operation operation, size_t stream)
{
    return (uint64_t)number << 32 | (uint64_t)operation << 1 | stream;
}

static char *values_of(const struct memory *memory)
{
    return (char *)(memory + 1);
}

static char *held_of(const struct memory *memory, size_t state, size_t stream)
{
    return values_of(memory) + memory->values_size + (state * STREAMS + stream) * memory->longest;
}

static size_t size_of(uint32_t values_size, size_t longest)
{
    return sizeof(struct memory) + values_size + STATES * STREAMS * longest;
}

/* ---- making ---- */

struct value {
    const char *bytes;
    size_t length;
};

static void list_secrets(const struct spawn_request *request, struct value *ret)
{
    size_t count = 0;
    while (request->env[count])
        count++;
    for (uint32_t i = 0; i < request->secret_count; i++) {
        const char *variable = request->env[count - request->secret_count + i];
        const char *equals = strchr(variable, '=');
        const char *value = equals ? equals + 1 : variable;
        ret[i] = (struct value){value, strlen(value)};
    }
}

/* Neither core dumps nor children get it; that it is not swapped out is best effort: there is a
 * limit. */
static struct memory *map(int fd, size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, size, MADV_DONTDUMP);
    madvise(memory, size, MADV_DONTFORK);
    if (mlock(memory, size) < 0)
        errno = 0;
    return memory;
}

static enum status make_memory(struct masking *masking, size_t size)
{
    masking->fd = high_fd(memfd_create("peal-masks", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (masking->fd < 0 || size > BYTES_MAX || fchmod(masking->fd, 0600) < 0 ||
        ftruncate(masking->fd, (off_t)size) < 0 || fcntl(masking->fd, F_ADD_SEALS, SEALS) < 0)
        return E_IO;
    masking->size = size;
    masking->memory = map(masking->fd, size);
    return masking->memory ? OK : E_IO;
}

static void keep_values(struct memory *memory, const struct value *values, size_t count)
{
    char *at = values_of(memory);
    for (size_t i = 0; i < count; i++) {
        uint32_t length = (uint32_t)values[i].length;
        memcpy(at, &length, sizeof(length));
        memcpy(at + sizeof(length), values[i].bytes, length);
        at += sizeof(length) + length;
    }
}

static enum status make_masks(struct masking *masking, const struct value *values, size_t count)
{
    enum status st = masks_new(&masking->masks);
    for (size_t i = 0; i < count && st == OK; i++)
        st = mask_forms_add(masking->masks, values[i].bytes, values[i].length);
    if (st == OK)
        st = masks_finish(masking->masks);
    for (int i = 0; i < STREAMS && st == OK; i++)
        st = masker_init(&masking->streams[i], masking->masks);
    return st;
}

enum status masking_new(const struct spawn_request *request, struct masking **ret)
{
    struct value values[SPAWN_SECRETS_MAX];
    size_t values_size = 0, count = request->secret_count;
    struct masking *masking = calloc(1, sizeof(*masking));
    if (!masking)
        return E_NOMEM;
    masking->fd = -1;
    list_secrets(request, values);
    for (size_t i = 0; i < count; i++)
        values_size += sizeof(uint32_t) + values[i].length;
    enum status st = make_masks(masking, values, count);
    size_t longest = st == OK ? masks_longest(masking->masks) : 0;
    if (st == OK)
        st = make_memory(masking, size_of((uint32_t)values_size, longest));
    if (st != OK) {
        masking_free(masking);
        return st;
    }
    struct memory *memory = masking->memory;
    memory->size = (uint32_t)masking->size;
    memcpy(memory->id, request->id, strnlen(request->id, SPAWN_ID_MAX));
    memory->value_count = (uint32_t)count;
    memory->values_size = (uint32_t)values_size;
    memory->longest = (uint32_t)longest;
    keep_values(memory, values, count);
    in_this_order();
    memory->magic = MAGIC;
    *ret = masking;
    return OK;
}

struct masking *masking_free(struct masking *masking)
{
    if (!masking)
        return NULL;
    for (int i = 0; i < STREAMS; i++)
        masker_release(&masking->streams[i]);
    masks_free(masking->masks);
    if (masking->memory) {
        explicit_bzero(masking->memory, masking->size);
        munmap(masking->memory, masking->size);
    }
    if (masking->fd >= 0)
        close(masking->fd);
    free(masking);
    return NULL;
}

/* ---- output ---- */

/* Gathers the pieces that a masker hands on: each append is a record. */
struct gathered {
    const struct masking_target *target;
    enum spawn_stream stream;
    uint64_t skip; /* the files have so much of it */
    size_t length;
    char bytes[SPAWN_RECORD_MAX];
};

static void flush(struct gathered *gathered)
{
    const struct masking_target *target = gathered->target;
    if (gathered->length)
        output_append(target->output, target->folder_fd, target->id, gathered->stream,
                      gathered->bytes, gathered->length, target->wall_ms);
    gathered->length = 0;
}

static void gather(void *context, const char *bytes, size_t length)
{
    struct gathered *gathered = context;
    size_t skip = length < gathered->skip ? length : (size_t)gathered->skip;
    gathered->skip -= skip;
    bytes += skip;
    length -= skip;
    if (length > sizeof(gathered->bytes) - gathered->length)
        flush(gathered);
    memcpy(gathered->bytes + gathered->length, bytes, length);
    gathered->length += length;
}

static void begin(struct memory *memory, const struct masking_target *target,
                  enum operation operation, enum spawn_stream stream)
{
    memory->position = target->output->position;
    in_this_order();
    memory->begun = begun_as(memory->done + 1, operation, (size_t)(stream - SPAWN_STDOUT));
    in_this_order();
}

static void done(struct masking *masking)
{
    struct memory *memory = masking->memory;
    size_t next = (memory->done + 1) % STATES;
    struct state *state = &memory->states[next];
    in_this_order();
    for (size_t i = 0; i < STREAMS; i++) {
        size_t masked;
        state->held[i] =
            (uint32_t)masker_save(&masking->streams[i], held_of(memory, next, i), &masked);
        state->masked[i] = (uint32_t)masked;
    }
    in_this_order();
    memory->done++;
    in_this_order();
}

/* What was begun. */
static void operate(struct masking *masking, const struct masking_target *target, const char *bytes,
                    size_t length, uint64_t skip)
{
    uint64_t begun = masking->memory->begun;
    enum operation operation = (enum operation)((uint32_t)begun >> 1);
    struct masker *masker = &masking->streams[begun & 1];
    struct gathered gathered;
    gathered.target = target;
    gathered.stream = (enum spawn_stream)((begun & 1) + SPAWN_STDOUT);
    gathered.skip = skip;
    gathered.length = 0;
    if (operation == APPEND)
        masker_feed(masker, bytes, length, gather, &gathered);
    else if (operation == END)
        masker_end(masker, gather, &gathered);
    else
        masker_cut(masker, gather, &gathered);
    flush(&gathered);
    done(masking);
}

void masking_begin(struct masking *masking, const struct masking_target *target,
                   enum spawn_stream stream)
{
    begin(masking->memory, target, APPEND, stream);
}

void masking_append(struct masking *masking, const struct masking_target *target, const char *bytes,
                    size_t length)
{
    operate(masking, target, bytes, length, 0);
}

void masking_end(struct masking *masking, const struct masking_target *target,
                 enum spawn_stream stream, bool is_over)
{
    begin(masking->memory, target, is_over ? END : CUT, stream);
    operate(masking, target, NULL, 0, 0);
}

/* ---- for another process ---- */

int masking_fd(const struct masking *masking)
{
    return masking->fd;
}

/* Its parts are as long as there is room for. */
static bool is_sound(const struct memory *memory, off_t size)
{
    const struct state *state = &memory->states[memory->done % STATES];
    if (memory->magic != MAGIC || size > BYTES_MAX || memory->size != (uint64_t)size ||
        !memchr(memory->id, '\0', sizeof(memory->id)) || !spawn_id_valid(memory->id) ||
        memory->value_count > SPAWN_SECRETS_MAX || memory->values_size > size ||
        memory->longest > size || size_of(memory->values_size, memory->longest) != (size_t)size ||
        (uint32_t)memory->begun >> 1 >= OPERATIONS)
        return false;
    for (int i = 0; i < STREAMS; i++)
        if (state->held[i] > memory->longest)
            return false;
    return true;
}

/* A sealed file can't be written by others in between, who do not have it. */
static bool has_memory(int fd, struct stat *ret)
{
    return fd >= 0 && fstat(fd, ret) == 0 && S_ISREG(ret->st_mode) &&
           ret->st_size >= (off_t)sizeof(struct memory) && fcntl(fd, F_GET_SEALS) == SEALS;
}

bool masking_is_at(int fd, char ret_id[SPAWN_ID_MAX + 1])
{
    struct memory memory;
    struct stat st;
    if (!has_memory(fd, &st) || pread(fd, &memory, sizeof(memory), 0) != (ssize_t)sizeof(memory) ||
        !is_sound(&memory, st.st_size))
        return false;
    memcpy(ret_id, memory.id, SPAWN_ID_MAX + 1);
    return true;
}

/* False: they are longer than their room. */
static bool list_values(const struct memory *memory, struct value *ret)
{
    const char *at = values_of(memory), *end = at + memory->values_size;
    for (uint32_t i = 0, length; i < memory->value_count; i++) {
        if ((size_t)(end - at) < sizeof(length))
            return false;
        memcpy(&length, at, sizeof(length));
        at += sizeof(length);
        if (length > (size_t)(end - at))
            return false;
        ret[i] = (struct value){at, length};
        at += length;
    }
    return at == end;
}

static enum status restore(struct masking *masking)
{
    const struct memory *memory = masking->memory;
    size_t now = memory->done % STATES;
    const struct state *state = &memory->states[now];
    struct value values[SPAWN_SECRETS_MAX];
    if (!is_sound(memory, (off_t)masking->size) || !list_values(memory, values))
        return E_CORRUPT;
    enum status st = make_masks(masking, values, memory->value_count);
    if (st == OK && masks_longest(masking->masks) > memory->longest)
        st = E_CORRUPT; /* of a version with shorter forms: there is no room */
    for (size_t i = 0; i < STREAMS && st == OK; i++)
        st = masker_restore(&masking->streams[i], held_of(memory, now, i), state->held[i],
                            state->masked[i]);
    return st;
}

enum status masking_restore(int fd, struct masking **ret)
{
    struct stat about;
    if (!has_memory(fd, &about) || about.st_size > BYTES_MAX)
        return E_CORRUPT;
    struct masking *masking = calloc(1, sizeof(*masking));
    if (!masking)
        return E_NOMEM;
    masking->size = (size_t)about.st_size;
    masking->memory = map(fd, masking->size);
    masking->fd = fd;
    enum status st = masking->memory ? restore(masking) : E_IO;
    if (st == OK) {
        *ret = masking;
        return OK;
    }
    masking->fd = -1; /* the caller's */
    masking_free(masking);
    return st;
}

void masking_finish(struct masking *masking, const struct masking_target *target, const char *bytes,
                    size_t length)
{
    struct memory *memory = masking->memory;
    uint64_t position = target->output->position;
    bool is_append = (enum operation)((uint32_t)memory->begun >> 1) == APPEND;
    if (memory->begun >> 32 != (uint32_t)(memory->done + 1))
        return;
    if (is_append && !bytes) /* nothing was taken */
        memory->begun = 0;
    else
        operate(masking, target, bytes, length,
                position > memory->position ? position - memory->position : 0);
}
