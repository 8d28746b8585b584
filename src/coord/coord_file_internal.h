/* What the files of coord_file share. */
#ifndef PEAL_COORD_FILE_INTERNAL_H
#define PEAL_COORD_FILE_INTERNAL_H

#include "coord_backend.h"
#include "coord_file.h"
#include "file_queue.h"

struct file_task; /* a look or a select that has yet to be told */

struct coord_file {
    struct coord base;
    struct loop *loop;
    char *folder;
    int64_t timeout_ms;
    struct file_task *tasks;
};

/* Appends the path of a name's record. */
void coord_file_record(const struct coord_file *file, const char *folder, const char *name,
                       struct strbuf *out);

/* ---- the kernel tells of changes of a path: coord_file_bell.c ---- */

/* NULL: it can't; then polling must do. */
struct file_bell;
struct file_bell *file_bell_new(struct loop *loop, const char *path, void (*rung)(void *context),
                                void *context);
struct file_bell *file_bell_free(struct file_bell *bell);

/* ---- coord_file_look.c ---- */

enum status coord_file_look(struct coord *coord, enum coord_kind kind, const char *name,
                            coord_seen *seen, void *context);
enum status coord_file_watch(struct coord *coord, enum coord_kind kind, const char *name,
                             coord_changed *changed, void *context, struct coord_watch **ret);
void coord_file_watch_free(struct coord_watch *base);
enum status coord_file_select(struct coord *coord, const char *service, const char *id,
                              int64_t hold_ms, coord_chosen *chosen, void *context);
void file_tasks_cancel(struct coord_file *file);

#endif
