#include "process/tree.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"

#define ENVIRONMENT_MAX 65536

static void read_mark(struct tree_process *process, char *buf)
{
    static const char name[] = SPAWN_MARK "=";
    ssize_t length = proc_read(process->pid, "environ", buf, ENVIRONMENT_MAX);
    for (const char *at = buf; length > 0 && at < buf + length; at += strlen(at) + 1)
        if (strncmp(at, name, sizeof(name) - 1) == 0 && spawn_id_valid(at + sizeof(name) - 1))
            snprintf(process->mark, sizeof(process->mark), "%s", at + sizeof(name) - 1);
}

static bool add(struct tree *tree, const struct tree_process *process)
{
    if (tree->count == tree->capacity) {
        size_t capacity = tree->capacity ? tree->capacity * 2 : 256;
        struct tree_process *more = realloc(tree->processes, capacity * sizeof(*more));
        if (!more)
            return false;
        tree->processes = more;
        tree->capacity = capacity;
    }
    tree->processes[tree->count++] = *process;
    return true;
}

static int by_pid(const void *a, const void *b)
{
    const struct tree_process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

void tree_scan(struct tree *tree)
{
    tree->count = 0;
    DIR *dir = opendir("/proc");
    char *environment = malloc(ENVIRONMENT_MAX);
    if (!dir || !environment)
        goto out;
    pid_t self = getpid(), guard = getppid();
    for (struct dirent *entry; (entry = readdir(dir));) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        struct proc_stat fields;
        if (pid <= 1 || pid == self || !proc_stat(pid, &fields))
            continue;
        struct tree_process process = {
            .pid = pid,
            .parent = fields.parent,
            .session = fields.session,
            .is_zombie = fields.state == 'Z' || fields.state == 'X',
        };
        /* The mark is read only for processes whose parent has ended: orphans of a spawner that was
         * killed are the guard's. */
        if (fields.parent == self || fields.parent == guard || fields.parent <= 1)
            read_mark(&process, environment);
        if (!add(tree, &process))
            break;
    }
    qsort(tree->processes, tree->count, sizeof(*tree->processes), by_pid);
out:
    free(environment);
    if (dir)
        closedir(dir);
}

void tree_release(struct tree *tree)
{
    free(tree->processes);
    *tree = (struct tree){0};
}

static const struct tree_process *find(const struct tree *tree, pid_t pid)
{
    struct tree_process key = {.pid = pid};
    return tree->count ? bsearch(&key, tree->processes, tree->count, sizeof(key), by_pid) : NULL;
}

static bool parent_belongs(const struct tree *tree, const struct tree_process *process)
{
    const struct tree_process *parent = find(tree, process->parent);
    return parent && parent->belongs;
}

/* Has the pid of an ended process been reused? The kernel does that only when its session is
 * empty. */
static bool is_taken(const struct tree *tree, pid_t pid)
{
    const struct tree_process *process = find(tree, pid);
    return process && !process->is_zombie;
}

int tree_signal(struct tree *tree, pid_t main_pid, bool main_has_ended, const char *id, int signal)
{
    bool is_its_own = !main_has_ended || !is_taken(tree, main_pid);
    for (size_t i = 0; i < tree->count; i++) {
        struct tree_process *process = &tree->processes[i];
        process->belongs =
            (is_its_own && (process->pid == main_pid || process->session == main_pid)) ||
            strcmp(process->mark, id) == 0;
    }
    for (bool changed = true; changed;) { /* pids wrap: a child's may be below its parent's */
        changed = false;
        for (size_t i = 0; i < tree->count; i++) {
            struct tree_process *process = &tree->processes[i];
            if (!process->belongs && parent_belongs(tree, process))
                process->belongs = changed = true;
        }
    }
    int alive = 0;
    for (size_t i = 0; i < tree->count; i++) {
        const struct tree_process *process = &tree->processes[i];
        if (!process->belongs || process->is_zombie)
            continue;
        if (signal && kill(process->pid, signal) < 0 && errno == ESRCH)
            continue;
        alive++;
    }
    return alive;
}

bool tree_was_told(const struct tree *tree, pid_t pid)
{
    const struct tree_process *process = find(tree, pid);
    return process && process->belongs && !process->is_zombie;
}
