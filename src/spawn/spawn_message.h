/* The protocol between an agent and its spawner.
 *
 * Transport: one UNIX SOCK_SEQPACKET connection, `peal-spawn.sock` in the spawner's folder. A
 * packet is a message: it is sent and received whole or not at all, so there is no half message
 * to keep when a peer dies or when the spawner replaces itself, and a wrong length can't make the
 * rest of the conversation unreadable. Both ends are one machine: numbers are in host order.
 *
 * A message is a spawn_header, then a body of the size that its type fixes; only START carries
 * text after its body. Whatever breaks a rule makes the receiver close the connection.
 *
 * A FRAME carries several messages, so that a burst costs a packet for many of them. Each begins at
 * a multiple of 8 bytes, with zeroes before it; none is a FRAME, or has a descriptor with it. It is
 * sent only to a peer whose HELLO had SPAWN_KNOWS_FRAMES.
 *
 *   agent                            spawner
 *   HELLO                     ->
 *                             <-     HELLO, BUILD if it was asked for, RUN(known) for every run
 *                                    that it knows, READY
 *   START (stdin as an fd)    ->     starts it, at its time if it names one
 *                             <-     RUN(started), or RUN(known) if the id is known already
 *                             <-     RUN(grew), at most every SPAWN_GREW_MS for a run
 *   KILL                      ->
 *                             <-     RUN(ended), also for what could not start; repeated after
 *                                    every new HELLO until it is acknowledged
 *   ACK                       ->     forgets the run; its output files are the agent's from now on
 *   UPGRADE                   ->     executes its own file again; the connection stays open
 *                             <-     BUILD of the next image, if HELLO asked for it
 *                             <-     REPLACED: a newer agent has come; the connection ends
 *
 * KILL and ACK of a run that the spawner does not know are ignored: the agent has the list, and
 * the end of a run may cross them on the way. */
#ifndef PEAL_SPAWN_MESSAGE_H
#define PEAL_SPAWN_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#define SPAWN_MAGIC          0x6c616570u /* "peal" */
#define SPAWN_VERSION        1
#define SPAWN_MESSAGE_MAX    196608 /* fits into the default send buffer of a UNIX socket */
#define SPAWN_ID_MAX         32
#define SPAWN_STRINGS_MAX    8192  /* arguments and variables of one start, together */
#define SPAWN_SECRETS_MAX    32    /* variables of one start that are secrets */
#define SPAWN_FRAME_MAX      65536 /* bytes of a frame ... */
#define SPAWN_FRAME_MESSAGES 64    /* ... and the messages in it */
#define SPAWN_GREW_MS        50
#define SPAWN_SOCKET         "peal-spawn.sock"
#define CALL_SOCKET          "peal-call.sock" /* of peal-call, in its own folder: call_request.h */
#define SPAWN_LINGER_S       10               /* of a start that does not say */
#define SPAWN_LINGER_S_MAX   3600

enum spawn_type {
    SPAWN_HELLO = 1,
    SPAWN_START,
    SPAWN_KILL,
    SPAWN_ACK,
    SPAWN_UPGRADE,
    SPAWN_READY,
    SPAWN_RUN,
    SPAWN_REPLACED,
    SPAWN_BUILD,
    SPAWN_FRAME,
};

enum spawn_feature {
    SPAWN_HAS_CGROUP = 1 << 0,     /* each run has a cgroup of its own */
    SPAWN_CAN_SWITCH = 1 << 1,     /* runs as root: may switch to users of the allow-list */
    SPAWN_IS_STOPPING = 1 << 2,    /* got SIGTERM: starts nothing any more */
    SPAWN_KNOWS_JOBS = 1 << 3,     /* a start names its job; without a user it is not root's */
    SPAWN_WANTS_BUILD = 1 << 4,    /* the agent's: earlier ones do not know BUILD */
    SPAWN_KNOWS_OUTPUT = 1 << 5,   /* a start says whether its streams are merged, and its linger */
    SPAWN_KNOWS_FRAMES = 1 << 6,   /* of both: can receive FRAME */
    SPAWN_KNOWS_TIMES = 1 << 7,    /* a start may come before its time, and says when that is */
    SPAWN_KNOWS_VALUES = 1 << 8,   /* a run may hand over values: has_values */
    SPAWN_WANTS_HELD = 1 << 9,     /* the agent's: earlier ones do not know SPAWN_CHANGE_HELD */
    SPAWN_KNOWS_SECRETS = 1 << 10, /* masks the values of secrets: secret_count */
    SPAWN_KNOWS_SHARE = 1 << 11,   /* a start may have a share: limits of the whole run, ionice */
    SPAWN_LIMITS_MEMORY = 1 << 12, /* of those: it can enforce total_memory, ... */
    SPAWN_LIMITS_CPU = 1 << 13,
    SPAWN_LIMITS_PIDS = 1 << 14,
    SPAWN_LIMITS_IO = 1 << 15,
};

/* Limits of resources, by index into spawn_request.limits. */
enum spawn_limit {
    SPAWN_LIMIT_NOFILE,
    SPAWN_LIMIT_CORE,
    SPAWN_LIMIT_AS,
    SPAWN_LIMIT_CPU,
    SPAWN_LIMIT_FSIZE,
    SPAWN_LIMIT_NPROC,
    SPAWN_LIMIT_DATA,
    SPAWN_LIMIT_STACK,
    SPAWN_LIMIT_COUNT,
};

/* How a run ended. */
enum spawn_reason {
    SPAWN_NOT_ENDED,
    SPAWN_EXITED,       /* by itself; wait_status has the code */
    SPAWN_SIGNALED,     /* by a signal that the spawner did not send */
    SPAWN_TIMED_OUT,    /* the spawner ended it at its timeout */
    SPAWN_KILLED,       /* the spawner ended it because it was told to */
    SPAWN_START_FAILED, /* it never ran; step and error say why */
    SPAWN_EXPIRED,      /* it never ran: the deadline for its start had passed */
    SPAWN_UNKNOWN,      /* it ended while no spawner was there to see how */
    SPAWN_REASON_COUNT,
};

/* The step of a start that failed. */
enum spawn_step {
    SPAWN_STEP_NONE,
    SPAWN_STEP_SPAWNER, /* the spawner is stopping */
    SPAWN_STEP_JOURNAL, /* writing to the journal */
    SPAWN_STEP_USER,    /* no such user */
    SPAWN_STEP_ALLOW,   /* the spawner may not, or must not, run as this user */
    SPAWN_STEP_PIPE,    /* making the pipes for its output */
    SPAWN_STEP_FORK,    /* making the process */
    SPAWN_STEP_SESSION, /* from here on: in the new process */
    SPAWN_STEP_LIMITS,
    SPAWN_STEP_NICE,
    SPAWN_STEP_SWITCH, /* switching to the user */
    SPAWN_STEP_CWD,
    SPAWN_STEP_FDS,
    SPAWN_STEP_DEADLINE, /* not a failure: the last check of the start deadline */
    SPAWN_STEP_EXEC,
    SPAWN_STEP_SECRETS, /* keeping the values of its secrets, so that they can be masked */
    SPAWN_STEP_CGROUP,  /* making its cgroup, with the limits of the whole run */
    SPAWN_STEP_IONICE,
    SPAWN_STEP_COUNT,
};

/* What the kernel has done to a run that was SPAWN_SIGNALED or SPAWN_EXITED. */
enum spawn_cause {
    SPAWN_CAUSE_NONE, /* nothing, or it is not known */
    SPAWN_CAUSE_OOM,  /* its OOM killer has ended the main process, or one of those that it started
                       */
    SPAWN_CAUSE_TOTAL_MEMORY,    /* the same, at the run's own limit */
    SPAWN_CAUSE_TOTAL_PROCESSES, /* it has failed, and could not make a process at that limit */
};

/* What is known of a run with the reason SPAWN_UNKNOWN. */
enum spawn_unseen {
    SPAWN_UNSEEN,       /* a spawner of an earlier version does not say */
    SPAWN_UNSEEN_END,   /* its process ended at ended_wall_ms */
    SPAWN_UNSEEN_GONE,  /* its process was gone at ended_wall_ms, when a spawner was there again */
    SPAWN_UNSEEN_START, /* it was about to start when its spawner was killed */
};

/* Why a RUN message was sent. */
enum spawn_change {
    SPAWN_CHANGE_KNOWN, /* in the list after HELLO, or the id was started a second time */
    SPAWN_CHANGE_STARTED,
    SPAWN_CHANGE_GREW,
    SPAWN_CHANGE_ENDED,
    SPAWN_CHANGE_HELD, /* its process is made, and waits for its time; no answer to the start: if
                          the spawner is killed, nothing has run */
    SPAWN_CHANGE_COUNT,
};

struct spawn_header {
    uint32_t magic;
    uint16_t version;
    uint16_t type;
    uint32_t length; /* of the whole message */
    uint32_t zero;
};

/* Both directions. */
struct spawn_hello {
    uint32_t pid;
    uint32_t features; /* enum spawn_feature */
    uint32_t runs;     /* the spawner's known ones: as many RUN messages follow before READY */
    uint32_t zero;
};

/* What program a spawner is. Printable ASCII without quotes, and zero bytes to the end. */
struct spawn_build {
    char version[32];  /* "1.2.0"; "": of a spawner that does not tell */
    char revision[64]; /* of the source tree; "": the released version itself */
};

/* Ids are 1 to SPAWN_ID_MAX letters, digits, `-` and `_`: they name files and cgroups. */
struct spawn_kill {
    char id[SPAWN_ID_MAX + 8];
    uint32_t signal;  /* the first one, to every process of the tree; 0: SIGTERM */
    int32_t grace_ms; /* until SIGKILL; negative: as the start request said */
};

struct spawn_ack {
    char id[SPAWN_ID_MAX + 8];
};

/* All that the spawner knows of a run; every RUN message has all of it. */
struct spawn_run {
    char id[SPAWN_ID_MAX + 8];
    uint32_t change; /* enum spawn_change */
    uint32_t reason; /* enum spawn_reason; SPAWN_NOT_ENDED while it runs */
    int32_t pid;
    int32_t wait_status; /* of wait(2); 0: unknown */
    uint32_t step;       /* enum spawn_step of a failed start */
    int32_t error;       /* errno of a failed start; else enum spawn_cause or enum spawn_unseen */
    int64_t started_wall_ms;
    int64_t started_boot_ms;
    int64_t ended_wall_ms;
    int64_t ended_boot_ms;
    int64_t user_ms;
    int64_t system_ms;
    int64_t max_rss_kib;
    uint64_t output_bytes;  /* read from it so far, both streams together */
    uint64_t dropped_bytes; /* of these: not kept, because of the limits or a full disk */
    uint32_t disk_full;     /* 1: some were dropped because the disk was full */
    uint32_t left_over;     /* 1: killed, but a part of its tree did not die in time */
};

/* What all processes of a run together may take of the machine, by a cgroup of its own; and its
 * turn at the disk. 0: not limited, not set. */
struct spawn_share {
    uint64_t memory_bytes;
    uint32_t cpu_milli; /* thousandths of a processor */
    uint32_t processes;
    uint32_t io_weight; /* 1 to 10,000 */
    uint32_t ioprio;    /* as ioprio_set takes it */
};

/* A start. Everything it points to is the caller's, or lies in the decoded message. */
struct spawn_request {
    const char *id;
    const char *job;   /* its name, for the list of allowed users; "": not known */
    const char *user;  /* "": the spawner's own, unless that is root */
    const char *cwd;   /* "": "/" */
    char *const *argv; /* NULL-terminated, at least one; without a slash it is looked for in PATH */
    char *const *env;  /* NULL-terminated; the whole environment except for the spawner's marks */
    uint32_t secret_count; /* so many of the last variables are secrets, whose values are masked in
                            * the output; they are kept in memory only */
    const void *stdin_bytes; /* NULL: /dev/null. Travels beside the message, as a memfd */
    size_t stdin_length;
    int64_t at_boot_us;       /* not started before this, in microseconds; 0: at once */
    int64_t deadline_boot_ms; /* never started at or after this; 0: no deadline */
    int64_t timeout_ms;       /* 0: none */
    int32_t grace_ms;         /* between SIGTERM and SIGKILL */
    uint32_t umask;
    int32_t nice;
    bool is_default_user; /* the operator has set the user, not the job: needs no entry in
                             users.allow */
    bool is_merged;       /* one pipe for stdout and stderr: in order, all marked as stdout */
    bool has_values;      /* it gets a file for values: spawn_record.h */
    int32_t linger_s;     /* how long to read on after the end of the main process, while others
                             hold its pipes */
    uint32_t limits_set;  /* bit i: limits[i] counts */
    uint64_t limits[SPAWN_LIMIT_COUNT];
    struct spawn_share share;
    uint64_t head_bytes; /* of output to keep from the beginning */
    uint64_t tail_bytes; /* and at least from the end */
};

/* The defaults of every number: no deadline or timeout, 10 s of grace, as many to linger, umask
 * 022, 1 MiB + 1 MiB. */
void spawn_request_init(struct spawn_request *request);

/* An environment variable that the spawner adds with the run's id as value, so that a kill also
 * finds processes that left the run's session and lost their parent. */
#define SPAWN_MARK "PEAL_SPAWN_RUN"

bool spawn_id_valid(const char *id);

/* Writes a message without text into `buf`, which has room for SPAWN_FIXED_MAX; returns its
 * length. `body` is the type's struct, NULL for a type that has none. */
#define SPAWN_FIXED_MAX (sizeof(struct spawn_header) + sizeof(struct spawn_run))
size_t spawn_encode(enum spawn_type type, const void *body, void *buf);

/* OK: *ret is a whole START message on the heap, the caller's. E_INVALID: a bad id, no argv or a
 * number out of its range. E_TOO_LARGE: more than a message may hold. */
MUST_CHECK enum status spawn_encode_start(const struct spawn_request *request, void **ret,
                                          size_t *ret_length);

/* The features, of enum spawn_feature, without which a spawner must not be sent this start: it
 * would not mask its secrets, or not enforce its limits. */
unsigned spawn_start_needs(const struct spawn_request *request);

/* The limits of whole runs that these features say can be enforced, in the order of the features
 * from SPAWN_LIMITS_MEMORY on: memory 1, cpu 2, pids 4, io 8. */
static inline unsigned spawn_enforced(uint32_t features)
{
    return features & SPAWN_KNOWS_SHARE ? (features / SPAWN_LIMITS_MEMORY) & 15u : 0;
}

/* Takes out of a START message what a spawner with these features (of its HELLO) does not know: it
 * would refuse the message. Returns the length that the message has then. It must have those that
 * the start needs. */
size_t spawn_start_suit(void *packet, size_t length, uint32_t features);

/* A received message. `body` points into the packet; texts are decoded by spawn_decode_start. */
struct spawn_message {
    enum spawn_type type;
    const void *body;
    size_t body_length;
};

/* OK: the header is right, the type is known and its body has the right size. E_VERSION: a
 * header of another version. E_CORRUPT: anything else. The packet must be aligned for int64_t. */
MUST_CHECK enum status spawn_decode(const void *packet, size_t length, struct spawn_message *ret);

/* The message of a FRAME at *at, which is 0 for the first one, and is moved to the next.
 * E_NOT_FOUND: there are no more. Else as spawn_decode. */
MUST_CHECK enum status spawn_frame_next(const struct spawn_message *frame, size_t *at,
                                        struct spawn_message *ret);

/* Writes the header of a FRAME whose messages have this length, each with its padding. */
void spawn_frame_begin(size_t length, struct spawn_header *ret);

/* The zeroes that follow a message of this length in a frame. */
static inline size_t spawn_frame_padding(size_t length)
{
    return -length & 7;
}

/* Takes a START message apart. ret->argv and ret->env are one heap block, to be freed through
 * `*ret_block`; all texts lie in the packet. ret->stdin_length is as announced; the bytes are in
 * the descriptor that came with the message. */
MUST_CHECK enum status spawn_decode_start(const struct spawn_message *message,
                                          struct spawn_request *ret, void **ret_block);

/* Bodies of fixed size, copied and checked: ids are valid, enums and flags in range. */
MUST_CHECK enum status spawn_decode_hello(const struct spawn_message *message,
                                          struct spawn_hello *ret);
MUST_CHECK enum status spawn_decode_kill(const struct spawn_message *message,
                                         struct spawn_kill *ret);
MUST_CHECK enum status spawn_decode_ack(const struct spawn_message *message, struct spawn_ack *ret);
MUST_CHECK enum status spawn_decode_run(const struct spawn_message *message, struct spawn_run *ret);
MUST_CHECK enum status spawn_decode_build(const struct spawn_message *message,
                                          struct spawn_build *ret);

const char *spawn_reason_text(enum spawn_reason reason);

/* What is known of a run with the reason SPAWN_UNKNOWN. */
const char *spawn_unseen_text(const struct spawn_run *run);

/* Why a start failed, "working directory: No such file or directory", into `buf`; returns it. */
const char *spawn_failure_text(const struct spawn_run *run, char *buf, size_t size);

#endif
