/* The agent's side of the spawner: starts it if need be, connects, and keeps the connection.
 * Nothing blocks. Events are queued; `wake` says that there are some:
 *
 *     while (spawn_client_next_event(client, &event))
 *         switch (event.kind) ...
 *
 * Requests may be made at any time, also while no spawner can be reached: they wait. A start whose
 * answer was lost with the connection is sent again; the spawner never starts an id twice, and its
 * deadline still holds. A kill whose connection broke may be lost: look at what is still running
 * once READY comes, and ask again. A run that was started, but is not among those that are told
 * before READY, is lost: the spawner's folder was removed, or the machine lost power.
 *
 * A spawner of another build than config.build is told to execute its file, which an installation
 * has replaced, before READY comes; once in a client's life, so that a file that is no better is
 * not tried again and again. One of a newer version is left alone. One that does not know jobs yet
 * (SPAWN_KNOWS_JOBS) is sent nothing until it has been upgraded. */
#ifndef PEAL_SPAWN_CLIENT_H
#define PEAL_SPAWN_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "loop.h"
#include "spawn_message.h"

struct spawn_client;
struct spawn_launcher;

struct spawn_client_config {
    const char *folder;       /* the spawner's */
    const char *program;      /* peal-spawn; NULL: the file of that name beside this executable */
    const char *allow_file;   /* NULL: the spawner's default */
    int64_t open_files;       /* the limit of the jobs; 0: that of this process */
    int64_t idle_ms;          /* 0: the spawner's default */
    struct spawn_build build; /* of this program; version "": a spawner of any will do */
    struct spawn_launcher *launcher; /* starts the spawner, and outlives the client; NULL: the
                                        client does it itself */
    bool is_call;          /* peal-call, for HTTP calls, instead of a spawner (call_request.h) */
    const char *call_user; /* whom peal-call becomes if this process, or the launcher, is root */
    bool no_cgroup;        /* finds the processes of a run through /proc alone */
    bool never_launch;     /* only connects to a spawner that is there */
};

enum spawn_event_kind {
    SPAWN_EVENT_RUN,      /* `run` was started, grew, ended, or is known: see run.change */
    SPAWN_EVENT_READY,    /* attached: all runs that the spawner knows have been reported */
    SPAWN_EVENT_GONE,     /* the connection is lost; the client reconnects by itself */
    SPAWN_EVENT_REPLACED, /* a newer agent has the spawner now; this client does not reconnect */
};

struct spawn_event {
    enum spawn_event_kind kind;
    struct spawn_run run;     /* RUN */
    struct spawn_hello hello; /* READY */
};

/* `wake` is called from the loop, never from within a call to the client. */
MUST_CHECK enum status spawn_client_new(struct loop *loop, const struct spawn_client_config *config,
                                        void (*wake)(void *context), void *context,
                                        struct spawn_client **ret);

/* Detaches; the spawner and its runs go on. Accepts NULL; returns NULL. */
struct spawn_client *spawn_client_free(struct spawn_client *client);

/* E_INVALID, E_TOO_LARGE: the request can never be sent; nothing was kept. */
MUST_CHECK enum status spawn_client_start(struct spawn_client *client,
                                          const struct spawn_request *request);

/* Kills the whole process tree of a run: the signal (0: SIGTERM), grace, SIGKILL. Negative grace:
 * that of the start request. */
MUST_CHECK enum status spawn_client_kill(struct spawn_client *client, const char *id, int signal,
                                         int32_t grace_ms);

/* The end of the run has been recorded: the spawner forgets it. The output stays, see
 * spawn_output_remove. */
MUST_CHECK enum status spawn_client_ack(struct spawn_client *client, const char *id);

/* How the spawner's build is, compared with the client's. */
enum spawner_match {
    SPAWNER_UNKNOWN, /* none has told yet, or any will do */
    SPAWNER_SAME,
    SPAWNER_UPGRADED, /* the same, since this client has told it to upgrade */
    SPAWNER_STALE,    /* another one: it was told to upgrade, and is what it is */
    SPAWNER_NEWER,    /* left alone */
};

struct spawner_info {
    pid_t pid; /* 0: none was reached, and so none has started anything that is left */
    enum spawner_match match;
    struct spawn_build build;
    struct spawn_build before; /* UPGRADED: what it was */
};

/* Of the spawner that was reached last. The client's, until the loop turns. */
const struct spawner_info *spawn_client_spawner(const struct spawn_client *client);

/* The limits of whole runs that the spawner that was reached last can enforce, as of
 * spawn_enforced; 0: none, or none was reached yet. A start that needs others fails here, as if the
 * spawner had said so. */
unsigned spawn_client_enforces(const struct spawn_client *client);

/* Is there a spawner that takes starts ahead of their time? For any other they wait here. */
bool spawn_client_knows_times(const struct spawn_client *client);

bool spawn_client_next_event(struct spawn_client *client, struct spawn_event *ret);

#endif
