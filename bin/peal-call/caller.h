/* peal-call: makes the HTTP calls of an agent's jobs, and outlives it. One thread, one epoll loop;
 * everything hangs off this struct.
 *
 *   main.c      options, user, lock, socket, signals
 *   caller.c    the loop
 *   agent.c     what the agent asks for, on serve/agent_link.h
 *   calls.c     the calls by id, their journal and their ends
 *   start.c     a start request becomes a call
 *   transfer.c  the request and its answer, on libcurl
 *   sockets.c   libcurl on the loop
 *   lookups.c   name lookups, one at a time for each host
 *   sandbox.c   what it gives up before it talks to anybody
 *   packs.c     the outputs of short calls, many in a file
 */
#ifndef PEAL_CALLER_H
#define PEAL_CALLER_H

#include <curl/curl.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/resource.h>

#include "call.h"
#include "heap.h"
#include "lookups.h"
#include "packs.h"
#include "serve/agent_link.h"
#include "serve/journal.h"
#include "serve/process.h"
#include "serve/watch.h"
#include "table.h"

/* A descriptor of libcurl's. */
struct socket_watch {
    struct watch watch;
    SLIST_ENTRY(socket_watch) dead; /* freed at the end of the turn */
};

struct options {
    const char *folder;
    const char *user; /* NULL: the own one, which must not be root then */
    bool no_sandbox;
    int64_t idle_ms;
    bool is_daemon;
};

struct caller {
    struct options options;
    int folder_fd, output_fd, lock_fd;
    int epoll_fd;
    struct watch signals;
    struct boot_timer timer;
    struct agent_link link;

    struct table calls; /* by id */
    struct call_list all;
    struct call_list growing;  /* whose output grew since the last report */
    struct call_list starting; /* accepted, and not in the journal yet */
    struct call_list packing;  /* ended, and their output not in its pack yet */
    struct call_list buried;   /* freed at the end of the turn */
    size_t active;             /* not ended */
    struct heap timers;        /* calls by due_boot_ms */
    struct journal journal;

    CURLM *multi;
    int64_t curl_at_boot_ms; /* libcurl's own timer; 0: none */
    SLIST_HEAD(dead_sockets, socket_watch) dead_sockets;
    struct lookups lookups;
    struct packs packs;

    struct rlimit limit; /* of descriptors */
    bool is_stopping;    /* SIGTERM: starts nothing, ends all calls */
    bool wants_end;      /* UPGRADE: ends when no call is under way, for the next version */
    bool is_done;
    int64_t now_boot_ms;     /* sampled once per turn */
    int64_t grew_at_boot_ms; /* when that is reported; 0: nothing grew */
    struct idle idle;
};

/* build.c */
extern const struct spawn_build caller_build;

/* caller.c */
void caller_loop(struct caller *caller);

/* agent.c */
extern const struct agent_link_type agent_type;
void agent_report(struct caller *caller, struct call *call, enum report what);

/* start.c: start_add takes a request, or reports why not; start_batch makes the calls of all that
 * were taken. To be called before anything that may concern one of them, and before the turn ends.
 * `body_fd`, -1: none, stays the caller's. */
void start_add(struct caller *caller, const struct spawn_request *request, int body_fd);
void start_batch(struct caller *caller);
void start_begin(struct caller *caller, struct call *call); /* of one whose host is known now */

/* calls.c */
void calls_init(struct caller *caller);
MUST_CHECK enum status calls_recover(struct caller *caller);
void calls_compact(struct caller *caller); /* rewrites the journal with the known calls only */
struct call *calls_new(struct caller *caller, const char *id); /* NULL: out of memory */
void calls_set_due(struct caller *caller, struct call *call, int64_t due_boot_ms); /* 0: never */
void calls_due(struct caller *caller, struct call *call);
/* Its output: kept back a moment, so that a short answer is one write. */
void calls_write(struct caller *caller, struct call *call, const char *bytes, size_t length);
void calls_flush(struct caller *caller, struct call *call); /* what was kept back, to the file */
/* Ends it by itself, with a line for people (NULL: none). */
void calls_finish(struct caller *caller, struct call *call, enum call_end how, int error,
                  const char *line);
/* Ends it for another reason than an answer. */
void calls_stop(struct caller *caller, struct call *call, enum spawn_reason reason,
                const char *line);
void calls_forget(struct caller *caller, struct call *call);
void calls_sweep(struct caller *caller);
void calls_write_packs(struct caller *caller); /* the ends of short calls are told after that */
void calls_write_journal(struct caller *caller);

/* transfer.c: prepares the request, without sending anything. False: *ret_why (for people). */
bool transfer_prepare(struct call *call, const struct call_request *request, char *why,
                      size_t size);
bool transfer_send(struct caller *caller, struct call *call); /* false: out of memory */
void transfer_drop(struct caller *caller, struct call *call); /* aborts it, if it is under way */
void transfer_take_ended(struct caller *caller);

/* sockets.c */
MUST_CHECK enum status sockets_init(struct caller *caller);
void sockets_release(struct caller *caller);
void sockets_timer(struct caller *caller); /* if libcurl's timer is due */
void sockets_sweep(struct caller *caller);

#endif
