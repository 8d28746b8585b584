/* A thread that reads ahead of the loader, and copies what it has read into blocks:
 *
 *     next() -> spare block -> [filled blocks] -> sqlite_ahead_next() -> spare block
 *
 * A million rows take as long to read as to take in; with a second processor both happen at
 * once. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite/store_sqlite.h"

enum { BLOCKS = 4, BLOCK_BYTES = 256 * 1024 };

struct block {
    struct block *next;
    size_t used, at; /* bytes that are filled, and that are taken */
    size_t room;
    max_align_t *bytes; /* each change, then its texts */
};

struct block_list {
    struct block *first, *last;
};

struct sqlite_ahead {
    int (*next)(void *context, struct store_change *ret);
    void *context;
    pthread_t thread;
    struct block blocks[BLOCKS];
    struct block *taken; /* the loader's: it holds the last change; NULL: none yet */

    /* Everybody's, under the mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    struct block_list spare, filled;
    bool stopping;
    int end; /* SQLite's result after the last row; SQLITE_ROW: not there yet */
};

static void append(struct block_list *list, struct block *block)
{
    block->next = NULL;
    if (list->last)
        list->last->next = block;
    else
        list->first = block;
    list->last = block;
}

static struct block *take_first(struct block_list *list)
{
    struct block *block = list->first;
    if (block)
        list->first = block->next;
    if (!list->first)
        list->last = NULL;
    return block;
}

/* ---- the reader's thread ---- */

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t packed_size(const struct store_change *change)
{
    const size_t align = sizeof(max_align_t);
    size_t size = sizeof(*change) + text_size(change->job_name) + text_size(change->job_json) +
                  text_size(change->aside.key);
    return (size + align - 1) / align * align;
}

static bool make_room(struct block *block, size_t size)
{
    if (block->room >= size)
        return true;
    max_align_t *bytes = realloc(block->bytes, size);
    if (!bytes)
        return false;
    block->bytes = bytes;
    block->room = size;
    return true;
}

static const char *pack_text(const char *text, char **at)
{
    size_t size = text_size(text);
    const char *copy = size ? memcpy(*at, text, size) : NULL;
    *at += size;
    return copy;
}

/* There is room for it. */
static void pack(struct block *block, const struct store_change *change)
{
    struct store_change *copy = (struct store_change *)(void *)((char *)block->bytes + block->used);
    char *texts = (char *)(copy + 1);
    *copy = *change;
    copy->job_name = pack_text(change->job_name, &texts);
    copy->job_json = pack_text(change->job_json, &texts);
    copy->aside.key = pack_text(change->aside.key, &texts);
    block->used += packed_size(change);
}

/* Fills the block. *change is the one that did not fit into the block before, if *waits, and then
 * the one that does not fit into this one. SQLite's last result. */
static int fill(struct sqlite_ahead *ahead, struct block *block, struct store_change *change,
                bool *waits)
{
    for (;;) {
        int rc = *waits ? SQLITE_ROW : ahead->next(ahead->context, change);
        *waits = rc == SQLITE_ROW;
        if (!*waits)
            return rc;
        size_t size = packed_size(change);
        if (block->used && block->room - block->used < size)
            return SQLITE_ROW;
        if (!make_room(block, size > BLOCK_BYTES ? size : BLOCK_BYTES))
            return SQLITE_NOMEM;
        pack(block, change);
        *waits = false;
    }
}

/* NULL: nobody wants more. */
static struct block *next_spare(struct sqlite_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    while (!ahead->spare.first && !ahead->stopping)
        pthread_cond_wait(&ahead->moved, &ahead->mutex);
    struct block *block = ahead->stopping ? NULL : take_first(&ahead->spare);
    pthread_mutex_unlock(&ahead->mutex);
    return block;
}

static void hand_over(struct sqlite_ahead *ahead, struct block *block, int rc)
{
    pthread_mutex_lock(&ahead->mutex);
    append(&ahead->filled, block);
    ahead->end = rc;
    pthread_cond_signal(&ahead->moved);
    pthread_mutex_unlock(&ahead->mutex);
}

static void *reader_main(void *context)
{
    struct sqlite_ahead *ahead = context;
    struct store_change change;
    bool waits = false;
    int rc = SQLITE_ROW;
    for (struct block *block; rc == SQLITE_ROW && (block = next_spare(ahead));) {
        rc = fill(ahead, block, &change, &waits);
        hand_over(ahead, block, rc);
    }
    return NULL;
}

/* ---- the loader's thread ---- */

/* Gives back the block that is taken, and waits for the next. False: there is none. */
static bool next_filled(struct sqlite_ahead *ahead, int *ret_end)
{
    pthread_mutex_lock(&ahead->mutex);
    if (ahead->taken) {
        ahead->taken->used = ahead->taken->at = 0;
        append(&ahead->spare, ahead->taken);
        pthread_cond_signal(&ahead->moved);
    }
    while (!ahead->filled.first && ahead->end == SQLITE_ROW)
        pthread_cond_wait(&ahead->moved, &ahead->mutex);
    ahead->taken = take_first(&ahead->filled);
    *ret_end = ahead->end;
    pthread_mutex_unlock(&ahead->mutex);
    return ahead->taken != NULL;
}

int sqlite_ahead_next(struct sqlite_ahead *ahead, struct store_change *ret)
{
    int end;
    while (!ahead->taken || ahead->taken->at == ahead->taken->used) {
        if (!next_filled(ahead, &end))
            return end;
    }
    struct block *block = ahead->taken;
    *ret = *(struct store_change *)(void *)((char *)block->bytes + block->at);
    block->at += packed_size(ret);
    return SQLITE_ROW;
}

static void release(struct sqlite_ahead *ahead)
{
    for (int i = 0; i < BLOCKS; i++)
        free(ahead->blocks[i].bytes);
    pthread_cond_destroy(&ahead->moved);
    pthread_mutex_destroy(&ahead->mutex);
    free(ahead);
}

struct sqlite_ahead *sqlite_ahead_new(int (*next)(void *context, struct store_change *ret),
                                      void *context)
{
    sigset_t all, before;
    struct sqlite_ahead *ahead = calloc(1, sizeof(*ahead));
    if (!ahead)
        return NULL;
    ahead->next = next;
    ahead->context = context;
    ahead->end = SQLITE_ROW;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->moved, NULL);
    for (int i = 0; i < BLOCKS; i++)
        append(&ahead->spare, &ahead->blocks[i]);
    sigfillset(&all); /* signals go to the loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&ahead->thread, NULL, reader_main, ahead);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        return ahead;
    release(ahead);
    return NULL;
}

struct sqlite_ahead *sqlite_ahead_free(struct sqlite_ahead *ahead)
{
    if (!ahead)
        return NULL;
    pthread_mutex_lock(&ahead->mutex);
    ahead->stopping = true;
    pthread_cond_signal(&ahead->moved);
    pthread_mutex_unlock(&ahead->mutex);
    pthread_join(ahead->thread, NULL);
    release(ahead);
    return NULL;
}
