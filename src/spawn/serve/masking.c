#include "serve/masking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/mask_forms.h"
#include "serve/masker.h"
#include "spawn_message.h"

#define SAVED_MAGIC 0x6b73616du
#define SAVED_MAX   (16 << 20)

enum { STREAMS = 2 };

struct masking {
    struct masks *masks;
    struct masker streams[STREAMS];
    char *values; /* for masking_save: each a uint32_t length, and its bytes */
    size_t values_size;
    uint32_t value_count;
};

/* In front of what masking_save writes; the values follow, and what each stream holds. */
struct saved_masking {
    uint32_t magic;
    uint32_t value_count;
    uint32_t values_size;
    uint32_t held[STREAMS];
    uint32_t masked[STREAMS];
};

/* ---- making ---- */

static enum status keep_values(struct masking *masking, const struct masked_value *values,
                               size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += sizeof(uint32_t) + values[i].length;
    char *at = masking->values = malloc(size + 1);
    if (!at)
        return E_NOMEM;
    masking->values_size = size;
    masking->value_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        uint32_t length = (uint32_t)values[i].length;
        memcpy(at, &length, sizeof(length));
        memcpy(at + sizeof(length), values[i].bytes, length);
        at += sizeof(length) + length;
    }
    return OK;
}

static enum status make_masks(struct masking *masking, const struct masked_value *values,
                              size_t count)
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

enum status masking_new(const struct masked_value *values, size_t count, struct masking **ret)
{
    struct masking *masking = calloc(1, sizeof(*masking));
    if (!masking)
        return E_NOMEM;
    enum status st = keep_values(masking, values, count);
    if (st == OK)
        st = make_masks(masking, values, count);
    if (st == OK)
        *ret = masking;
    else
        masking_free(masking);
    return st;
}

struct masking *masking_free(struct masking *masking)
{
    if (!masking)
        return NULL;
    for (int i = 0; i < STREAMS; i++)
        masker_release(&masking->streams[i]);
    masks_free(masking->masks);
    if (masking->values)
        explicit_bzero(masking->values, masking->values_size);
    free(masking->values);
    free(masking);
    return NULL;
}

/* ---- output ---- */

/* Gathers the pieces that a masker hands on: each append is a record. */
struct gathered {
    const struct masking_target *target;
    enum spawn_stream stream;
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
    if (length > sizeof(gathered->bytes) - gathered->length)
        flush(gathered);
    memcpy(gathered->bytes + gathered->length, bytes, length);
    gathered->length += length;
}

void masking_append(struct masking *masking, const struct masking_target *target,
                    enum spawn_stream stream, const char *bytes, size_t length)
{
    struct gathered gathered;
    gathered.target = target;
    gathered.stream = stream;
    gathered.length = 0;
    masker_feed(&masking->streams[stream - SPAWN_STDOUT], bytes, length, gather, &gathered);
    flush(&gathered);
}

void masking_end(struct masking *masking, const struct masking_target *target,
                 enum spawn_stream stream, bool is_over)
{
    struct gathered gathered;
    struct masker *masker = &masking->streams[stream - SPAWN_STDOUT];
    gathered.target = target;
    gathered.stream = stream;
    gathered.length = 0;
    if (is_over)
        masker_end(masker, gather, &gathered);
    else
        masker_cut(masker, gather, &gathered);
    flush(&gathered);
}

/* ---- for the next image ---- */

static size_t save_streams(const struct masking *masking, struct saved_masking *saved, char *ret)
{
    size_t length = 0;
    for (int i = 0; i < STREAMS; i++) {
        size_t masked, held = masker_save(&masking->streams[i], ret + length, &masked);
        saved->held[i] = (uint32_t)held;
        saved->masked[i] = (uint32_t)masked;
        length += held;
    }
    return length;
}

static bool write_all(int fd, const void *bytes, size_t length)
{
    return write(fd, bytes, length) == (ssize_t)length;
}

int masking_save(const struct masking *masking)
{
    struct saved_masking saved = {.magic = SAVED_MAGIC,
                                  .value_count = masking->value_count,
                                  .values_size = (uint32_t)masking->values_size};
    size_t room = STREAMS * masks_longest(masking->masks) + 1;
    char *held = malloc(room);
    int fd = held ? memfd_create("peal-spawn-masks", MFD_CLOEXEC) : -1;
    size_t length = held ? save_streams(masking, &saved, held) : 0;
    bool is_done = fd >= 0 && write_all(fd, &saved, sizeof(saved)) &&
                   write_all(fd, masking->values, masking->values_size) &&
                   write_all(fd, held, length);
    int error = errno;
    if (held)
        explicit_bzero(held, room);
    free(held);
    if (!is_done && fd >= 0)
        close(fd);
    errno = error;
    return is_done ? fd : -1;
}

static enum status restore_streams(struct masking *masking, const struct saved_masking *saved,
                                   const char *held)
{
    enum status st = OK;
    for (int i = 0; i < STREAMS && st == OK; i++) {
        st = masker_restore(&masking->streams[i], held, saved->held[i], saved->masked[i]);
        held += saved->held[i];
    }
    return st;
}

/* `bytes`: the values, and what the streams hold. */
static enum status restore(const struct saved_masking *saved, const char *bytes,
                           struct masking **ret)
{
    struct masked_value *values = calloc((size_t)saved->value_count + 1, sizeof(*values));
    const char *at = bytes, *end = bytes + saved->values_size;
    enum status st = values ? OK : E_NOMEM;
    for (uint32_t i = 0, length; i < saved->value_count && st == OK; i++) {
        if ((size_t)(end - at) < sizeof(length)) {
            st = E_CORRUPT;
            break;
        }
        memcpy(&length, at, sizeof(length));
        at += sizeof(length);
        if (length > (size_t)(end - at))
            st = E_CORRUPT;
        else
            values[i] = (struct masked_value){at, length};
        at += st == OK ? length : 0;
    }
    struct masking *masking = NULL;
    if (st == OK)
        st = masking_new(values, saved->value_count, &masking);
    if (st == OK)
        st = restore_streams(masking, saved, end);
    free(values);
    if (st == OK)
        *ret = masking;
    else
        masking_free(masking);
    return st;
}

/* Its parts are as long as the file has room for. */
static bool is_sound(const struct saved_masking *saved, off_t size)
{
    size_t sum = sizeof(*saved) + saved->values_size;
    if (saved->magic != SAVED_MAGIC || size > SAVED_MAX || saved->value_count > SPAWN_SECRETS_MAX)
        return false;
    for (int i = 0; i < STREAMS; i++)
        sum += saved->held[i];
    return sum == (size_t)size;
}

enum status masking_restore(int fd, struct masking **ret)
{
    struct saved_masking saved;
    struct stat st;
    if (fstat(fd, &st) < 0 || st.st_size < (off_t)sizeof(saved) ||
        pread(fd, &saved, sizeof(saved), 0) != (ssize_t)sizeof(saved) ||
        !is_sound(&saved, st.st_size))
        return E_CORRUPT;
    size_t length = (size_t)st.st_size - sizeof(saved);
    char *bytes = malloc(length + 1);
    if (!bytes)
        return E_NOMEM;
    enum status result = E_CORRUPT;
    if (pread(fd, bytes, length, sizeof(saved)) == (ssize_t)length)
        result = restore(&saved, bytes, ret);
    explicit_bzero(bytes, length);
    free(bytes);
    return result;
}
