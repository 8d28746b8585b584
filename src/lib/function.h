/* The functions that a program has registered: what is called, and the job that it is in the
 * store. Any thread. */
#ifndef PEAL_FUNCTION_H
#define PEAL_FUNCTION_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "calls/calls.h"
#include "definition/job_digest.h"
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
    char name[JOB_NAME_SIZE];
    peal_function *call;
    void *arg;
    struct job *process; /* in their place, a command or an HTTP call; NULL: none */
    char place[200];     /* "main.c:12"; "": not told */
    struct job *job;     /* as the program wants it, its start as of now */
    int64_t from_now_ms; /* the start, counted from the first registration; -1: none such */
    char digest[JOB_DIGEST_TEXT]; /* with such a start as a length of time */
    enum function_state state;
    bool is_removed; /* while it was being written */
    STAILQ_ENTRY(function) in_new;
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

/* Its job is not in the store yet, but will be soon. */
bool functions_awaits(struct functions *functions, const char *name);
size_t functions_count(struct functions *functions);

/* For the loop: the next one to be registered becomes WRITING; NULL: none. Then its end. */
struct function *functions_next(struct functions *functions);
void functions_settle(struct functions *functions, struct function *function,
                      enum function_state state);

#endif
