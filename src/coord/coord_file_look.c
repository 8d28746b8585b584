/* Who holds, told once or at each change; and the chosen one of a service. Reading some small files
 * takes no time worth waiting for, so answers are made in one turn of the loop. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "coord_file_internal.h"

enum { AGAIN_MS = 5, POLL_MS = 1000, BOOT_SIZE = 40 };

struct file_task {
    struct coord_file *file;
    struct file_task *next;
    struct loop_timer *timer;
    void *context;
    int64_t since_boot_ms;

    /* a look */
    coord_seen *seen;
    enum coord_kind kind;
    char name[COORD_NAME_SIZE]; /* "": all; of a select, the service */

    /* a select */
    coord_chosen *chosen;
    struct coord_holder self;
    int64_t hold_ms;
};

static void free_task(struct file_task *task)
{
    struct file_task **link = &task->file->tasks;
    while (*link != task)
        link = &(*link)->next;
    *link = task->next;
    loop_timer_free(task->timer);
    free(task);
}

void file_tasks_cancel(struct coord_file *file)
{
    while (file->tasks)
        free_task(file->tasks);
}

static enum status new_task(struct coord_file *file, loop_timer_fired *run, void *context,
                            struct file_task **ret)
{
    struct file_task *task = calloc(1, sizeof(*task));
    if (!task)
        return E_NOMEM;
    *task = (struct file_task){.file = file,
                               .next = file->tasks,
                               .context = context,
                               .since_boot_ms = clock_now().boot.ms};
    enum status st = loop_timer_new(file->loop, run, task, &task->timer);
    if (st != OK) {
        free(task);
        return st;
    }
    file->tasks = task;
    loop_timer_set(task->timer, 0);
    *ret = task;
    return OK;
}

/* ---- looks ---- */

struct seen_states {
    struct coord_state *items;
    size_t count;
};

/* A record that can't be read is shown without its holder: that somebody holds is known. */
static enum status add_state(const struct file_task *task, const char *name,
                             struct seen_states *states)
{
    struct strbuf record, text;
    struct coord_state state = {.waiting = 0};
    bool is_held;
    strbuf_init(&record);
    strbuf_init(&text);
    coord_file_record(task->file, coord_folder(task->kind), name, &record);
    int64_t count = file_queue_count(record.text, &is_held);
    enum status st = OK;
    if (is_held) {
        snprintf(state.name, sizeof(state.name), "%s", name);
        state.waiting = count > 0 ? count - 1 : 0;
        if (file_record_read(record.text, &text) != OK ||
            coord_holder_parse(text.text, text.length, &state.holder) != OK)
            state.holder = (struct coord_holder){.id = "?"};
        st = array_grow(&states->items, states->count, sizeof(*states->items));
        if (st == OK)
            states->items[states->count++] = state;
    }
    strbuf_release(&record);
    strbuf_release(&text);
    return st;
}

static enum status add_all(const struct file_task *task, struct seen_states *states)
{
    struct strbuf path;
    enum status st = OK;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", task->file->folder, coord_folder(task->kind));
    DIR *folder = opendir(path.text);
    strbuf_release(&path);
    if (!folder)
        return E_IO;
    for (struct dirent *entry; st == OK && (entry = readdir(folder));) {
        char name[COORD_NAME_SIZE];
        if (entry->d_name[0] == '.' || strchr(entry->d_name, '~'))
            continue;
        coord_name_decode(entry->d_name, strlen(entry->d_name), name);
        st = add_state(task, name, states);
    }
    closedir(folder);
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct coord_state *)a)->name, ((const struct coord_state *)b)->name);
}

static void run_look(void *context)
{
    struct file_task *task = context;
    struct seen_states states = {0};
    enum status st = *task->name ? add_state(task, task->name, &states) : add_all(task, &states);
    if (states.count > 1)
        qsort(states.items, states.count, sizeof(*states.items), by_name);
    coord_seen *seen = task->seen;
    void *to = task->context;
    const char *message = st == E_IO ? strerror(errno) : status_text(st);
    free_task(task);
    seen(to, st, states.items, st == OK ? states.count : 0, st == OK ? "" : message);
    free(states.items);
}

enum status coord_file_look(struct coord *coord, enum coord_kind kind, const char *name,
                            coord_seen *seen, void *context)
{
    struct file_task *task;
    enum status st = new_task((struct coord_file *)coord, run_look, context, &task);
    if (st != OK)
        return st;
    task->seen = seen;
    task->kind = kind;
    snprintf(task->name, sizeof(task->name), "%s", name ? name : "");
    return OK;
}

/* ---- watches ---- */

struct file_watch {
    struct coord_watch base;
    struct loop_timer *timer;
    struct file_bell *bell;
    coord_changed *changed;
    void *context;
};

/* The end of a holder is told by the kernel before its locks are free: the poll sees it then. */
static void on_poll(void *context)
{
    struct file_watch *watch = context;
    loop_timer_set(watch->timer, POLL_MS);
    watch->changed(watch->context);
}

static void on_rung(void *context)
{
    struct file_watch *watch = context;
    loop_timer_set(watch->timer, AGAIN_MS);
    watch->changed(watch->context);
}

void coord_file_watch_free(struct coord_watch *base)
{
    struct file_watch *watch = (struct file_watch *)base;
    file_bell_free(watch->bell);
    loop_timer_free(watch->timer);
    free(watch);
}

enum status coord_file_watch(struct coord *coord, enum coord_kind kind, const char *name,
                             coord_changed *changed, void *context, struct coord_watch **ret)
{
    struct coord_file *file = (struct coord_file *)coord;
    struct file_watch *watch = calloc(1, sizeof(*watch));
    struct strbuf path;
    (void)name; /* the whole folder is watched, since the name may have no file yet */
    if (!watch)
        return E_NOMEM;
    *watch = (struct file_watch){.base = {coord}, .changed = changed, .context = context};
    enum status st = loop_timer_new(file->loop, on_poll, watch, &watch->timer);
    if (st != OK) {
        free(watch);
        return st;
    }
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", file->folder, coord_folder(kind));
    watch->bell = file_bell_new(file->loop, path.text, on_rung, watch);
    strbuf_release(&path);
    loop_timer_set(watch->timer, 0);
    *ret = &watch->base;
    return OK;
}

/* ---- choosing ---- */

/* "" if it can't be read: then a hold ends with the process that reads it. */
static void read_boot(char ret[BOOT_SIZE])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    ret[0] = '\0';
    if (file && !fgets(ret, BOOT_SIZE, file))
        ret[0] = '\0';
    if (file)
        fclose(file);
    ret[strcspn(ret, "\n")] = '\0';
}

/* Whether somebody is chosen now. A time of another boot says nothing: the hold is over. So is one
 * that would end later than any hold begun now could: the record is damaged. */
static bool read_chosen(const char *text, const char *boot, int64_t now_ms,
                        struct coord_holder *ret)
{
    const char *then = "";
    json_int_t until_ms = 0, hold_ms = 0;
    json_t *tree = json_loads(text, 0, NULL);
    bool is_chosen = tree &&
                     json_unpack(tree, "{s:s, s:I, s:I}", "boot", &then, "until_boot_ms", &until_ms,
                                 "hold_ms", &hold_ms) == 0 &&
                     *boot && strcmp(then, boot) == 0 && now_ms < until_ms &&
                     until_ms - now_ms <= hold_ms &&
                     coord_holder_parse(text, strlen(text), ret) == OK;
    json_decref(tree);
    return is_chosen;
}

static enum status write_chosen(const struct file_task *task, const char *boot, int64_t now_ms,
                                const char *path)
{
    const struct coord_holder *self = &task->self;
    const json_int_t until_ms = now_ms + task->hold_ms;
    json_t *tree =
        json_pack("{s:s, s:s, s:I, s:I, s:i, s:s, s:I, s:I}", "id", self->id, "host", self->host,
                  "pid", (json_int_t)self->pid, "since_ms", (json_int_t)self->since_ms, "fence", 0,
                  "boot", boot, "until_boot_ms", until_ms, "hold_ms", (json_int_t)task->hold_ms);
    char *text = tree ? json_dumps(tree, JSON_COMPACT) : NULL;
    enum status st = text ? file_record_write(path, text, strlen(text)) : E_NOMEM;
    free(text);
    json_decref(tree);
    return st;
}

/* With the queue's first byte held. */
static enum status choose(const struct file_task *task, const char *path, struct coord_holder *ret)
{
    char boot[BOOT_SIZE];
    struct strbuf text;
    int64_t now_ms = clock_now().boot.ms;
    read_boot(boot);
    strbuf_init(&text);
    enum status st = file_record_read(path, &text);
    bool is_chosen = st == OK && read_chosen(text.text, boot, now_ms, ret);
    strbuf_release(&text);
    if (st != OK && st != E_NOT_FOUND)
        return st;
    if (is_chosen)
        return OK;
    *ret = task->self;
    return write_chosen(task, boot, now_ms, path);
}

static void run_select(void *context)
{
    struct file_task *task = context;
    struct coord_holder chosen = {0};
    struct file_queue queue;
    struct strbuf path;
    char message[400] = "";
    strbuf_init(&path);
    coord_file_record(task->file, "select", task->name, &path);
    file_queue_init(&queue, path.text);
    enum status st = file_queue_open(&queue);
    if (st == OK)
        st = file_queue_enter(&queue);
    bool is_late = clock_now().boot.ms - task->since_boot_ms >= task->file->timeout_ms;
    if (st == OK)
        st = choose(task, path.text, &chosen);
    else if (st == E_BUSY && is_late)
        st = E_UNREACHABLE;
    if (st == E_IO)
        snprintf(message, sizeof(message), "%s: %s", path.text, strerror(errno));
    else if (st != OK)
        snprintf(message, sizeof(message), "%s: %s", path.text, status_text(st));
    file_queue_release(&queue);
    strbuf_release(&path);
    if ((st == E_BUSY || st == E_CONFLICT) && !is_late) {
        loop_timer_set(task->timer, AGAIN_MS);
        return;
    }
    bool is_self = st == OK && strcmp(chosen.id, task->self.id) == 0;
    coord_chosen *tell = task->chosen;
    void *to = task->context;
    free_task(task);
    tell(to, st, &chosen, is_self, message);
}

enum status coord_file_select(struct coord *coord, const char *service, const char *id,
                              int64_t hold_ms, coord_chosen *chosen, void *context)
{
    struct file_task *task;
    enum status st = new_task((struct coord_file *)coord, run_select, context, &task);
    if (st != OK)
        return st;
    task->chosen = chosen;
    task->hold_ms = hold_ms;
    coord_holder_self(id, &task->self);
    snprintf(task->name, sizeof(task->name), "%s", service);
    return OK;
}
