/* The functions that a program has registered: what is called, and the job that it is in the
 * store. Any thread. */
#ifndef PEAL_FUNCTION_H
#define PEAL_FUNCTION_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "calls/calls.h"
#include "job.h"
#include "outside/tools.h"
#include "peal.h"
#include "table.h"
#include "zone/zone_db.h"

enum function_state {
    FUNCTION_NEW,     /* its job is to be looked for, and written if need be */
    FUNCTION_WRITING, /* a request is on its way; only the loop touches it */
    FUNCTION_KNOWN,   /* the store has its job */
    FUNCTION_REFUSED, /* the name is somebody else's */
};

struct function {
    const char *name;
    const char *place; /* "main.c:12"; "": not told */
    peal_function *call;
    void *arg;
    struct job *process; /* in their place, a command or an HTTP call; NULL: none */
    struct job *job;     /* as the program wants it, its start as of now. Its function.digest has
                            such a start as a length of time. NULL: that of its group will do */
    struct function_group *group; /* see function_group.h; NULL: it is in none, and ... */
    struct group_member *member;  /* ... its place there; NULL: it is the job of all of them */
    enum function_state state;
    bool is_removed; /* while it was being written */
    bool is_local;
    STAILQ_ENTRY(function) in_new;
    char text[]; /* name and place */
};

struct functions {
    pthread_mutex_t lock;
    struct table by_name;
    STAILQ_HEAD(function_list, function) fresh; /* FUNCTION_NEW */
    struct zone_db *zones;
    char *default_zone;
    char program[PROGRAM_MAX + 1];
    int version;
    size_t refused;                /* how many are */
    struct table groups;           /* of function_group, by definition */
    struct table former;           /* names of local functions that have left a job of their own */
    atomic_size_t commands, https; /* how many of each kind were ever added */
    const struct tools *tools;
};

/* The tools must outlive it. E_INVALID: the name of the program; *why. */
MUST_CHECK enum status functions_init(struct functions *functions, const char *program, int version,
                                      const struct tools *tools, struct strbuf *why);
void functions_release(struct functions *functions);

/* E_INVALID; E_CONFLICT: there is one of that name. *why begins with the place. */
MUST_CHECK enum status functions_add(struct functions *functions, const peal_job *job,
                                     struct strbuf *why);
/* E_NOT_FOUND. */
MUST_CHECK enum status functions_remove(struct functions *functions, const char *name);

/* For the executor and the engine, `context` is the functions. */
bool functions_find(void *context, const struct call_order *order, struct call_target *ret);
bool functions_has(void *context, const char *name);

/* Calls `use` with the command or HTTP call that stands in place of a function, which stays as it
 * is meanwhile. False: there is no function of that name, or it is one. */
bool functions_with_process(struct functions *functions, const char *name,
                            void (*use)(void *context, const struct job *process), void *context);
bool functions_have_commands(struct functions *functions);
bool functions_have_https(struct functions *functions);
bool functions_have_processes(struct functions *functions); /* either of them */

/* A function that has the job of its group gets one of its own, for runs that are asked for: on
 * request alone. For the loop, as: */
void functions_part(struct functions *functions, const char *name);
/* It skips what overlaps, and is being called with its group, or about to be. */
bool functions_is_busy(struct functions *functions, const char *name);
/* Whom a job of the local side stands for: a function, and so many more. False: nobody. */
bool functions_of_job(struct functions *functions, const char *job, char ret[JOB_NAME_SIZE],
                      size_t *ret_more);

/* A job is to be written. */
bool functions_have_fresh(struct functions *functions);

/* It is the job of a group, and no function of the program. */
bool functions_is_group(struct functions *functions, const char *name);

/* Its job is not in the store yet, but will be soon. */
bool functions_awaits(struct functions *functions, const char *name);
size_t functions_count(struct functions *functions);

/* For the loop: the next one to be registered becomes WRITING; NULL: none. Then its end. */
struct function *functions_next(struct functions *functions);
void functions_settle(struct functions *functions, struct function *function,
                      enum function_state state);

#endif
