#include "auth/hasher.h"

#include <argon2.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

enum { PASSES = 3, MEMORY_KIB = 32 * 1024, LANES = 1, SALT = 16, KEY = 32 };

/* A hash that matches no password. */
static const char nobody[] = "$argon2id$v=19$m=32768,t=3,p=1$cGVhbCBrbm93cyBub2JvZA$"
                             "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

struct work_list {
    struct hash_work *first, **end;
    size_t count;
};

struct hasher {
    struct loop_fd *watch;
    int wake_fd;
    pthread_t thread;
    bool has_thread; /* started with the first work */

    /* Under the mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t work;
    struct work_list waiting, strangers, answered;
    bool stopping;
};

static void list_init(struct work_list *list)
{
    *list = (struct work_list){.end = &list->first};
}

static void list_add(struct work_list *list, struct hash_work *work)
{
    work->next = NULL;
    *list->end = work;
    list->end = &work->next;
    list->count++;
}

static struct hash_work *list_take(struct work_list *list)
{
    struct hash_work *work = list->first;
    if (!work)
        return NULL;
    list->first = work->next;
    list->count--;
    if (!list->first)
        list->end = &list->first;
    return work;
}

/* ---- the thread ---- */

static bool make_hash(struct hash_work *work)
{
    unsigned char salt[SALT];
    return getrandom(salt, sizeof(salt), 0) == (ssize_t)sizeof(salt) &&
           argon2id_hash_encoded(PASSES, MEMORY_KIB, LANES, work->password, strlen(work->password),
                                 salt, sizeof(salt), KEY, work->hash,
                                 sizeof(work->hash)) == ARGON2_OK;
}

static void do_work(struct hash_work *work)
{
    bool is_known = work->hash[0];
    if (work->is_check)
        work->matches = argon2id_verify(is_known ? work->hash : nobody, work->password,
                                        strlen(work->password)) == ARGON2_OK &&
                        is_known;
    else if (!make_hash(work))
        work->hash[0] = '\0';
    OPENSSL_cleanse(work->password, strlen(work->password));
}

static void *hash_main(void *context)
{
    struct hasher *hasher = context;
    uint64_t one = 1;
    pthread_mutex_lock(&hasher->mutex);
    while (!hasher->stopping) {
        struct hash_work *work = list_take(&hasher->waiting);
        if (!work)
            work = list_take(&hasher->strangers);
        if (!work) {
            pthread_cond_wait(&hasher->work, &hasher->mutex);
            continue;
        }
        pthread_mutex_unlock(&hasher->mutex);
        do_work(work);
        pthread_mutex_lock(&hasher->mutex);
        list_add(&hasher->answered, work);
        if (write(hasher->wake_fd, &one, sizeof(one)) < 0)
            continue; /* EAGAIN: a wake is pending already */
    }
    pthread_mutex_unlock(&hasher->mutex);
    return NULL;
}

/* ---- the loop ---- */

static struct hash_work *take_answered(struct hasher *hasher)
{
    pthread_mutex_lock(&hasher->mutex);
    struct hash_work *work = list_take(&hasher->answered);
    pthread_mutex_unlock(&hasher->mutex);
    return work;
}

static void on_answer(void *context, unsigned events)
{
    struct hasher *hasher = context;
    uint64_t count;
    (void)events;
    if (read(hasher->wake_fd, &count, sizeof(count)) < 0)
        return;
    for (struct hash_work *work; (work = take_answered(hasher));)
        work->done(work->context, work->is_check || work->hash[0] ? OK : E_NOMEM);
}

/* Signals go to the loop's thread. */
static enum status start_thread(struct hasher *hasher)
{
    sigset_t all, before;
    if (hasher->has_thread)
        return OK;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    hasher->has_thread = pthread_create(&hasher->thread, NULL, hash_main, hasher) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return hasher->has_thread ? OK : E_NOMEM;
}

enum status hasher_submit(struct hasher *hasher, struct hash_work *work)
{
    enum status st = start_thread(hasher);
    if (st != OK)
        return st;
    pthread_mutex_lock(&hasher->mutex);
    struct work_list *list = work->is_stranger ? &hasher->strangers : &hasher->waiting;
    if (list->count < (work->is_stranger ? HASHER_STRANGERS : HASHER_QUEUE))
        list_add(list, work);
    else
        st = E_BUSY;
    pthread_cond_signal(&hasher->work);
    pthread_mutex_unlock(&hasher->mutex);
    return st;
}

enum status hasher_new(struct loop *loop, struct hasher **ret)
{
    struct hasher *hasher = calloc(1, sizeof(*hasher));
    if (!hasher)
        return E_NOMEM;
    pthread_mutex_init(&hasher->mutex, NULL);
    pthread_cond_init(&hasher->work, NULL);
    list_init(&hasher->waiting);
    list_init(&hasher->strangers);
    list_init(&hasher->answered);
    hasher->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum status st = hasher->wake_fd >= 0
                         ? loop_fd_new(loop, hasher->wake_fd, on_answer, hasher, &hasher->watch)
                         : E_IO;
    if (st != OK) {
        hasher_free(hasher);
        return st;
    }
    loop_fd_want(hasher->watch, LOOP_READ);
    *ret = hasher;
    return OK;
}

struct hasher *hasher_free(struct hasher *hasher)
{
    if (!hasher)
        return NULL;
    pthread_mutex_lock(&hasher->mutex);
    hasher->stopping = true;
    pthread_cond_signal(&hasher->work);
    pthread_mutex_unlock(&hasher->mutex);
    if (hasher->has_thread)
        pthread_join(hasher->thread, NULL);
    loop_fd_free(hasher->watch);
    if (hasher->wake_fd >= 0)
        close(hasher->wake_fd);
    pthread_cond_destroy(&hasher->work);
    pthread_mutex_destroy(&hasher->mutex);
    free(hasher);
    return NULL;
}
