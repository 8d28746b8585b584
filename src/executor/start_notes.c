#include "start_notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct start_note {
    char *id, *cwd, *user, *file;
};

static const struct table_type by_id_type = {.key_at = offsetof(struct start_note, id),
                                             .is_pointer = true};

static struct start_note *find(const struct start_notes *notes, const char *id)
{
    return table_find(&notes->by_id, id);
}

static void free_note(struct start_note *note)
{
    free(note->id);
    free(note->cwd);
    free(note->user);
    free(note->file);
    free(note);
}

void start_notes_init(struct start_notes *notes)
{
    table_init(&notes->by_id, &by_id_type);
}

void start_notes_release(struct start_notes *notes)
{
    void *note;
    for (size_t at = 0; (note = table_next(&notes->by_id, &at));)
        free_note(note);
    table_release(&notes->by_id);
}

void start_notes_add(struct start_notes *notes, const struct spawn_request *request)
{
    struct start_note *note = find(notes, request->id) ? NULL : calloc(1, sizeof(*note));
    if (!note)
        return;
    note->id = strdup(request->id);
    note->cwd = strdup(request->cwd);
    note->user = strdup(request->user);
    note->file = strdup(request->argv[0]);
    if (!note->id || !note->cwd || !note->user || !note->file ||
        table_insert(&notes->by_id, note) != OK)
        free_note(note);
}

void start_notes_drop(struct start_notes *notes, const char *id)
{
    struct start_note *note = find(notes, id);
    if (!note)
        return;
    table_remove(&notes->by_id, note);
    free_note(note);
}

/* ---- words ---- */

/* ENOENT may also mean that the script's interpreter is missing. */
static void tell_exec(const char *file, int error, char *buf, size_t size)
{
    if (error != ENOENT)
        snprintf(buf, size, "can't execute %s: %s", file, strerror(error));
    else if (!strchr(file, '/'))
        snprintf(buf, size, "no such command in its PATH: %s", file);
    else if (*file == '/' && access(file, F_OK) == 0)
        snprintf(buf, size, "the interpreter that its first line names is not there: %s", file);
    else
        snprintf(buf, size, "no such file: %s", file);
}

/* The spawner's user is the agent's. */
static void tell_not_allowed(const char *user, char *buf, size_t size)
{
    if (!*user)
        snprintf(buf, size,
                 "it names no user, and this agent of root has no default_user: "
                 "docs/SECURITY.md");
    else if (geteuid() == 0)
        snprintf(buf, size,
                 "not allowed to run as %s: the file of allow_users does not name it for this job",
                 user);
    else
        snprintf(buf, size, "not allowed to run as %s: only an agent of root can", user);
}

/* The operator raises both with limits of the service, which every job inherits. */
static void tell_beyond(enum spawn_step step, char *buf, size_t size)
{
    if (step == SPAWN_STEP_NICE)
        snprintf(buf, size,
                 "nice: its user may not go before others: root may, and everybody as far as "
                 "LimitNICE of the service goes");
    else
        snprintf(buf, size,
                 "limits: its user may not have more than the hard limits of the service "
                 "(LimitNOFILE and others): only root may");
}

/* The run was not to start without its limits. */
static void tell_unlimited(int error, char *buf, size_t size)
{
    if (error == EPROTONOSUPPORT)
        snprintf(buf, size,
                 "limits: its spawner is of an earlier version, which does not know limits of "
                 "whole runs, or ionice; it is replaced when its runs have ended");
    else if (error == EOPNOTSUPP)
        snprintf(buf, size,
                 "limits: this node can't enforce them: it has no cgroup of its own with the "
                 "controllers that they need");
    else
        snprintf(buf, size,
                 "limits: its cgroup could not be made: %s; the spawner's log says where",
                 strerror(error));
}

static bool is_beyond(const struct spawn_run *run)
{
    return (run->step == SPAWN_STEP_NICE || run->step == SPAWN_STEP_LIMITS) &&
           (run->error == EACCES || run->error == EPERM);
}

void start_notes_tell(const struct start_notes *notes, const struct spawn_run *run, char *buf,
                      size_t size)
{
    const struct start_note *note = find(notes, run->id);
    if (note && run->step == SPAWN_STEP_CWD && run->error == ENOENT)
        snprintf(buf, size, "no such directory: %s", note->cwd);
    else if (note && run->step == SPAWN_STEP_CWD)
        snprintf(buf, size, "can't enter the directory %s: %s", note->cwd, strerror(run->error));
    else if (note && run->step == SPAWN_STEP_USER)
        snprintf(buf, size, "no such user: %s", note->user);
    else if (note && run->step == SPAWN_STEP_ALLOW)
        tell_not_allowed(note->user, buf, size);
    else if (note && run->step == SPAWN_STEP_SWITCH)
        snprintf(buf, size, "can't switch to %s: %s", note->user, strerror(run->error));
    else if (note && run->step == SPAWN_STEP_EXEC)
        tell_exec(note->file, run->error, buf, size);
    else if (run->step == SPAWN_STEP_SECRETS && run->error == EPROTONOSUPPORT)
        snprintf(buf, size,
                 "secrets: its spawner is of an earlier version, which does not mask them; it is "
                 "replaced when its runs have ended");
    else if (run->step == SPAWN_STEP_CGROUP)
        tell_unlimited(run->error, buf, size);
    else if (is_beyond(run))
        tell_beyond(run->step, buf, size);
    else
        spawn_failure_text(run, buf, size);
}
