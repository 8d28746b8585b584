/* The spawner: one thread, one epoll loop, everything hangs off this struct.
 *
 *   main.c        options, lock, socket, signals
 *   spawner.c     the loop
 *   agent.c       what the agent asks for, on serve/agent_link.h
 *   start.c       a start request becomes a run
 *   early.c       ... at its time, if it came ahead of it
 *   process/      makes its process, up to the exec
 *   life.c        its life after that
 *   handover/     what outlives it if it is killed
 *   recover.c     restores runs from the journal of a killed spawner
 *   upgrade.c     exec of the spawner's own file
 *   guard.c       another process, above the spawner: knows the ends of runs if it is killed
 *   launcher.c    another process: starts spawners for a sandboxed agent
 */
#ifndef PEAL_SPAWNER_SPAWNER_H
#define PEAL_SPAWNER_SPAWNER_H

#include <stdbool.h>
#include <sys/resource.h>

#include "early.h"
#include "handover/handover.h"
#include "handover/keeper.h"
#include "handover/reaped.h"
#include "process/cause.h"
#include "process/cgroup.h"
#include "process/launch.h"
#include "process/pipes.h"
#include "process/tree.h"
#include "process/user.h"
#include "process/values.h"
#include "run.h"
#include "serve/agent_link.h"
#include "serve/process.h"
#include "slots.h"

struct options {
    const char *folder;
    const char *allow_file;
    const char *call_user; /* a launcher's: whom peal-call becomes; NULL: its own user */
    int64_t idle_ms;
    int64_t open_files; /* soft RLIMIT_NOFILE of jobs; 0: as inherited */
    bool is_daemon;
    bool no_cgroup;
    bool is_launcher;
    int resume_fd; /* -1, or the state of an earlier image of this process */
    int guard_fd;  /* -1; else it is a guard, with this descriptor for the word_fd of its spawner */
    int lock_fd;   /* -1, or the guard's */
    int word_fd;   /* -1, or takes the exit code of the start, EXIT_OK when it listens */
};

/* A command line of the spawner's own file. */
struct words {
    char *argv[24];
    char idle[32], files[32];
    int count;
};

#define START_BATCH 16

/* A start request that was accepted, and waits for the rest of its batch. */
struct starting {
    struct run *run;
    struct spawn_request request; /* its texts lie in the packet */
    void *block;                  /* with its strings */
    struct user_ids user;
    int stdin_fd; /* -1: none. The caller of start_add closes it */
};

struct spawner {
    struct options options;
    char self_path[4096]; /* executed by an upgrade */
    char *name;           /* argv[0] */
    char tag_mark[64];    /* the environment variable that marks processes of runs, see descent.h */
    int folder_fd;
    int output_fd; /* the folder of the output files */
    int null_fd;
    int lock_fd;
    int epoll_fd;
    struct watch signals;
    struct boot_timer timer;
    struct agent_link link;

    struct run_table runs;
    struct run_queue growing;              /* runs whose output grew since the last report */
    struct run_queue young;                /* runs whose pipes are not watched yet, oldest first */
    struct starting starting[START_BATCH]; /* the batch of starts that is read */
    size_t starting_count;
    struct early_queue early; /* starts that wait for their time, the next one first */
    struct early_tick tick;   /* of the last one that came */
    size_t early_left;        /* those of them that are left for their time */
    int64_t grew_at_boot_ms;  /* when `growing` is reported; 0: nothing grew */
    struct heap timers;       /* runs by due_boot_ms */
    struct journal journal;
    struct cgroups cgroups;
    struct causes causes;
    struct slots slots;
    struct handover handover;
    struct reaped reaped; /* in the memory of `handover` */
    struct keeper keeper;
    struct kept kept;      /* until the runs are restored */
    struct run_queue worn; /* runs that have ended, with masks until the journal says so */
    uint32_t maskings;     /* of runs, each a descriptor */
    struct launches launches;
    struct pipes pipes;
    struct tree tree;
    struct rlimit nofile; /* limits of jobs */
    struct rlimit limit;  /* its own, of descriptors */
    int64_t limit_until_boot_ms;
    struct users users;
    bool tree_is_fresh; /* `tree` was scanned in this turn, and nothing has ended since */
    bool reset_oom;
    bool is_stopping; /* SIGTERM: starts nothing, exits after the last run */
    bool wants_upgrade;
    bool wants_reap;         /* a child has ended, perhaps */
    int64_t reaped_boot_us;  /* when ends were looked at last */
    int64_t reap_at_boot_us; /* when they are looked at next; 0: with the next signal */
    bool lacks_guard; /* upgraded from a version without: ends when nothing is left to lose by it */
    bool is_done;
    int64_t now_boot_ms; /* sampled once per turn */
    struct idle idle;
};

/* build.c */
extern const struct spawn_build spawner_build;

/* spawner.c */
MUST_CHECK enum status spawner_watch(struct spawner *s, struct watch *watch, uint32_t events);
void spawner_unwatch(struct spawner *s, struct watch *watch); /* and closes; fd becomes -1 */
void spawner_loop(struct spawner *s);

/* main.c: the words of its options, without those of a guard, behind `name`. */
void spawner_words(struct words *words, const char *name, const struct options *options);
void words_add(struct words *words, const char *word); /* keeps the pointer */

/* guard.c: guard_become executes the program as a guard, with `word_fd`, and returns only if it
 * can't; guard_main is what it does then, and returns its exit code. */
void guard_become(const struct options *options, const char *program, int word_fd);
int guard_main(const struct options *options, const char *program, int word_fd);

/* launcher.c: serves the agent on standard input until it closes. `argv` is a spawner's command
 * line; its first word is replaced. Returns the exit code. */
int launcher_main(const struct options *options, char **argv);

/* agent.c */
extern const struct agent_link_type agent_type;
void agent_report(struct spawner *s, struct run *run, enum report what);

/* start.c: start_add takes a request, with its block, into the batch, or reports why not;
 * start_batch starts all of it. That is done by itself when there are START_BATCH; otherwise before
 * the packet is given up, and before anything that may concern one of them. `stdin_fd`, -1: none,
 * stays the caller's. */
void start_add(struct spawner *s, const struct spawn_request *request, void *block, int stdin_fd);
void start_batch(struct spawner *s);

/* The parts of start_add: the run, NULL if the id is known or memory is short, which is told; and
 * its start. The texts of the request must stay until start_batch. */
struct run *start_new(struct spawner *s, const struct spawn_request *request);
void start_go(struct spawner *s, struct run *run, const struct spawn_request *request, void *block,
              int stdin_fd);

/* Makes all of a run but its exec; false: nothing. start_unhold takes that back; the process is the
 * caller's to drop. */
bool start_hold(struct spawner *s, struct run *run, const struct spawn_request *request,
                int stdin_fd, struct launch **ret);
void start_unhold(struct spawner *s, struct run *run);

/* life.c */
void life_set_due(struct spawner *s, struct run *run, int64_t due_boot_ms); /* 0: never */
/* Watches its timeout, and its pipes after `listen_ms`, if it has not ended by then. */
void life_began(struct spawner *s, struct run *run, int64_t listen_ms);
void life_listen(struct spawner *s); /* watches the pipes of runs that are old enough */
void life_note(struct spawner *s, const struct run *run, enum journal_type type);
void life_write(struct spawner *s); /* what was noted, to the journal */
struct masking_target life_target(struct spawner *s, struct run *run); /* its files, now */
void life_drop_masks(struct spawner *s, struct run *run);
void life_reap(struct spawner *s);
/* The same, if a process has ended since: a wait looks at every child, and beside thousands of them
 * costs as much as a start. */
void life_look(struct spawner *s);
bool life_gathers(struct spawner *s); /* ends are left for a while: reap_at_boot_us is set */
/* Its main process has ended, and so has the tree if it was killed. */
void life_drain(struct spawner *s, struct run *run);
void life_stop(struct spawner *s, struct run *run, enum spawn_reason why, int signal,
               int64_t grace_ms);
void life_due(struct spawner *s, struct run *run);
void life_fail(struct spawner *s, struct run *run, enum spawn_reason reason, enum spawn_step step,
               int error);
void life_forget(struct spawner *s, struct run *run);
void life_pidfd_ready(void *context, struct watch *watch, uint32_t events);
bool life_take_end(struct spawner *s, struct run *run); /* from the file of ends, if it is there */
/* Its process is gone, and nobody knows how it ended: `cause` is one of enum spawn_cause. */
void life_end_unseen(struct spawner *s, struct run *run, int32_t cause);
int64_t life_milliseconds(struct timeval time);

/* recover.c: restores runs from the journal of a killed spawner. */
MUST_CHECK enum status recover(struct spawner *s);
void recover_compact(struct spawner *s);     /* rewrites the journal with the known runs only */
void recover_forget_ends(struct spawner *s); /* removes the file of ends if no run needs it */

/* upgrade.c */
void upgrade(struct spawner *s); /* returns only if it failed */
MUST_CHECK enum status upgrade_resume(struct spawner *s, int state_fd);
bool upgrade_knows(int version); /* can this image read a state of that version? */

#endif
