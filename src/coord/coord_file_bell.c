/* inotify: a closed file, a new record, a removed one. */
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "coord_file_internal.h"

struct file_bell {
    int fd;
    struct loop_fd *watch;
    void (*rung)(void *context);
    void *context;
};

static void on_ready(void *context, unsigned events)
{
    struct file_bell *bell = context;
    char buffer[4096];
    (void)events;
    while (read(bell->fd, buffer, sizeof(buffer)) > 0) {
        /* that something happened is enough */
    }
    bell->rung(bell->context); /* may free the bell */
}

struct file_bell *file_bell_new(struct loop *loop, const char *path, void (*rung)(void *context),
                                void *context)
{
    const uint32_t what = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB;
    struct file_bell *bell = calloc(1, sizeof(*bell));
    if (!bell)
        return NULL;
    *bell = (struct file_bell){
        .fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), .rung = rung, .context = context};
    if (bell->fd < 0 || inotify_add_watch(bell->fd, path, what) < 0 ||
        loop_fd_new(loop, bell->fd, on_ready, bell, &bell->watch) != OK)
        return file_bell_free(bell);
    loop_fd_want(bell->watch, LOOP_READ);
    return bell;
}

struct file_bell *file_bell_free(struct file_bell *bell)
{
    if (!bell)
        return NULL;
    if (bell->watch)
        loop_fd_free(bell->watch);
    if (bell->fd >= 0)
        close(bell->fd);
    free(bell);
    return NULL;
}
