#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame.h"

enum { FILE_HEAD = 8 };

static const char file_mark[FILE_HEAD] = {'P', 'E', 'A', 'L', 'N', 'Q', '0', '1'};

struct work {
    struct strbuf frames;
    bool replaces;
    journal_done *done; /* NULL: none */
    void *context;
    enum status st;
    TAILQ_ENTRY(work) link;
};

TAILQ_HEAD(work_list, work);

struct journal {
    char *folder, *path, *new_path;
    struct journal_wake wake;
    int64_t asked_size; /* after all queued requests; the owner's */

    /* The thread's. */
    int fd;
    int64_t size; /* of its whole frames: a failed append is written over */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t is_asked;
    struct work_list asked, answered;
    bool closing;
};

/* ---- the thread ---- */

static enum status append(struct journal *journal, const struct work *work)
{
    if (lseek(journal->fd, (off_t)journal->size, SEEK_SET) < 0)
        return E_IO;
    enum status st = file_write(journal->fd, work->frames.text, work->frames.length);
    if (st == OK && work->done && fdatasync(journal->fd) != 0)
        st = E_IO;
    if (st == OK)
        journal->size += (int64_t)work->frames.length;
    return st;
}

static enum status replace(struct journal *journal, const struct work *work)
{
    int fd = open(journal->new_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return E_IO;
    enum status st = file_write(fd, file_mark, FILE_HEAD);
    if (st == OK)
        st = file_write(fd, work->frames.text, work->frames.length);
    if (st == OK && (fsync(fd) != 0 || rename(journal->new_path, journal->path) != 0))
        st = E_IO;
    if (st != OK) {
        close(fd);
        unlink(journal->new_path);
        return st;
    }
    close(journal->fd);
    journal->fd = fd;
    journal->size = FILE_HEAD + (int64_t)work->frames.length;
    return folder_sync(journal->folder);
}

static void *run(void *context)
{
    struct journal *journal = context;
    pthread_mutex_lock(&journal->lock);
    for (;;) {
        struct work *work = TAILQ_FIRST(&journal->asked);
        if (!work && journal->closing)
            break;
        if (!work) {
            pthread_cond_wait(&journal->is_asked, &journal->lock);
            continue;
        }
        pthread_mutex_unlock(&journal->lock);
        enum status st = work->replaces ? replace(journal, work) : append(journal, work);
        pthread_mutex_lock(&journal->lock);
        work->st = st;
        TAILQ_REMOVE(&journal->asked, work, link);
        TAILQ_INSERT_TAIL(&journal->answered, work, link);
        if (work->done)
            journal->wake.wake(journal->wake.context);
    }
    pthread_mutex_unlock(&journal->lock);
    return NULL;
}

/* ---- the owner ---- */

static void free_work(struct work *work)
{
    strbuf_release(&work->frames);
    free(work);
}

static enum status ask(struct journal *journal, const struct work *asked, struct strbuf *frames)
{
    struct work *work = malloc(sizeof(*work));
    if (!work)
        return E_NOMEM;
    *work = *asked;
    work->frames = *frames;
    strbuf_init(frames);
    journal->asked_size =
        (work->replaces ? FILE_HEAD : journal->asked_size) + (int64_t)work->frames.length;
    pthread_mutex_lock(&journal->lock);
    TAILQ_INSERT_TAIL(&journal->asked, work, link);
    pthread_cond_signal(&journal->is_asked);
    pthread_mutex_unlock(&journal->lock);
    return OK;
}

enum status journal_append(struct journal *journal, struct strbuf *frames, journal_done *done,
                           void *context)
{
    return ask(journal, &(struct work){.done = done, .context = context}, frames);
}

enum status journal_replace(struct journal *journal, struct strbuf *frames)
{
    return ask(journal, &(struct work){.replaces = true}, frames);
}

void journal_dispatch(struct journal *journal)
{
    struct work_list now = TAILQ_HEAD_INITIALIZER(now);
    pthread_mutex_lock(&journal->lock);
    TAILQ_CONCAT(&now, &journal->answered, link);
    pthread_mutex_unlock(&journal->lock);
    for (struct work *work; (work = TAILQ_FIRST(&now));) {
        TAILQ_REMOVE(&now, work, link);
        if (work->done)
            work->done(work->context, work->st);
        free_work(work);
    }
}

int64_t journal_size(const struct journal *journal)
{
    return journal->asked_size;
}

/* ---- from open to free ---- */

static enum status make_paths(struct journal *journal, const char *folder)
{
    if (asprintf(&journal->folder, "%s/notify", folder) < 0)
        journal->folder = NULL;
    if (asprintf(&journal->path, "%s/notify/queue", folder) < 0)
        journal->path = NULL;
    if (asprintf(&journal->new_path, "%s/notify/queue.new", folder) < 0)
        journal->new_path = NULL;
    return journal->folder && journal->path && journal->new_path ? OK : E_NOMEM;
}

/* A file that was created just before a crash may have no head yet. */
static enum status check_head(struct journal *journal)
{
    char mark[FILE_HEAD];
    struct stat info;
    if (fstat(journal->fd, &info) != 0)
        return E_IO;
    if (info.st_size < FILE_HEAD) {
        enum status st = file_write(journal->fd, file_mark, FILE_HEAD);
        return st == OK && (fsync(journal->fd) != 0 || folder_sync(journal->folder) != OK) ? E_IO
                                                                                           : st;
    }
    enum status st = file_read(journal->fd, 0, mark, FILE_HEAD);
    if (st == OK && memcmp(mark, file_mark, FILE_HEAD) != 0)
        st = memcmp(mark, file_mark, 6) == 0 ? E_VERSION : E_CORRUPT;
    return st;
}

static enum status open_file(struct journal *journal, const char *folder,
                             void (*load)(void *context, const char *payload, size_t length),
                             void *context)
{
    char *payload;
    size_t length;
    if (mkdir(journal->folder, 0700) != 0 && errno != EEXIST)
        return E_IO;
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (journal->fd < 0)
        return E_IO;
    enum status st = folder_sync(folder);
    if (st == OK)
        st = check_head(journal);
    if (st != OK)
        return st;
    journal->size = FILE_HEAD;
    while ((st = frame_read(journal->fd, journal->size, &payload, &length)) == OK) {
        load(context, payload, length);
        free(payload);
        journal->size += FRAME_HEAD + (int64_t)length;
    }
    journal->asked_size = journal->size;
    if (st != E_CORRUPT)
        return st;
    return ftruncate(journal->fd, (off_t)journal->size) == 0 ? OK : E_IO;
}

static void explain(const struct journal *journal, enum status st, struct strbuf *why)
{
    if (st == E_VERSION)
        strbuf_addf(why,
                    "%s was written by a newer peal. Install that version again, or move the file "
                    "away: the messages in it are then not sent.",
                    journal->path);
    else if (st == E_CORRUPT)
        strbuf_addf(why, "%s is no queue of messages; move the file away.", journal->path);
    else
        strbuf_addf(why, "%s cannot be used: %s. Check the room on its disk and its permissions.",
                    journal->path ? journal->path : "notify/queue",
                    st == E_IO ? strerror(errno) : status_text(st));
}

struct journal *journal_free(struct journal *journal)
{
    if (!journal)
        return NULL;
    if (journal->has_thread) {
        pthread_mutex_lock(&journal->lock);
        journal->closing = true;
        pthread_cond_signal(&journal->is_asked);
        pthread_mutex_unlock(&journal->lock);
        pthread_join(journal->thread, NULL);
    }
    journal_dispatch(journal);
    if (journal->fd >= 0)
        close(journal->fd);
    pthread_mutex_destroy(&journal->lock);
    pthread_cond_destroy(&journal->is_asked);
    free(journal->folder);
    free(journal->path);
    free(journal->new_path);
    free(journal);
    return NULL;
}

enum status journal_open(const char *folder, struct journal_wake wake,
                         void (*load)(void *context, const char *payload, size_t length),
                         void *context, struct journal **ret, struct strbuf *why)
{
    struct journal *journal = calloc(1, sizeof(*journal));
    if (!journal)
        return E_NOMEM;
    journal->fd = -1;
    journal->wake = wake;
    TAILQ_INIT(&journal->asked);
    TAILQ_INIT(&journal->answered);
    pthread_mutex_init(&journal->lock, NULL);
    pthread_cond_init(&journal->is_asked, NULL);
    enum status st = make_paths(journal, folder);
    if (st == OK)
        st = open_file(journal, folder, load, context);
    if (st == OK) {
        journal->has_thread = pthread_create(&journal->thread, NULL, run, journal) == 0;
        st = journal->has_thread ? OK : E_NOMEM;
    }
    if (st != OK) {
        explain(journal, st, why);
        journal_free(journal);
        return st;
    }
    *ret = journal;
    return OK;
}
