#include "spawn_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum start_flag {
    START_NAMES_JOB = 1 << 0, /* not set by earlier agents, which send no such text */
    START_DEFAULT_USER = 1 << 1,
    START_MERGED = 1 << 2,  /* this one and the next: with SPAWN_KNOWS_OUTPUT */
    START_LINGERS = 1 << 3, /* for flags >> START_LINGER_SHIFT, in seconds */
    START_TIMED = 1 << 4,   /* with SPAWN_KNOWS_TIMES: the last 8 bytes are at_boot_us */
    START_VALUES = 1 << 5,  /* with SPAWN_KNOWS_VALUES */
    START_SECRETS = 1 << 6, /* with SPAWN_KNOWS_SECRETS: their number is before the time */
    START_SHARE = 1 << 7,   /* with SPAWN_KNOWS_SHARE: it is before both */
    START_FLAGS = START_NAMES_JOB | START_DEFAULT_USER | START_MERGED | START_LINGERS |
                  START_TIMED | START_VALUES | START_SECRETS | START_SHARE,
};
#define START_LINGER_SHIFT 16

/* As linux/ioprio.h has them, which C libraries do not. */
#define IOPRIO_CLASS_SHIFT 13
#define IOPRIO_BEST_EFFORT 2
#define IOPRIO_IDLE        3

#define CPU_MILLI_MAX     1024000
#define START_OUTPUT_MASK (START_MERGED | START_LINGERS | 0xffffu << START_LINGER_SHIFT)

/* The part of START that has a fixed size. After it: cwd, user, job, arguments, variables, each
 * ended by a zero byte; then its share, the number of its secrets, and its time, if it has them. */
struct start_body {
    char id[SPAWN_ID_MAX + 8];
    int64_t deadline_boot_ms;
    int64_t timeout_ms;
    int32_t grace_ms;
    uint32_t umask;
    int32_t nice;
    uint32_t limits_set;
    uint64_t limits[SPAWN_LIMIT_COUNT];
    uint64_t head_bytes;
    uint64_t tail_bytes;
    uint64_t stdin_length;
    uint32_t has_stdin;
    uint32_t arguments;
    uint32_t variables;
    uint32_t flags; /* enum start_flag */
};

_Static_assert(sizeof(struct spawn_header) == 16, "no padding on the wire");
_Static_assert(sizeof(struct spawn_run) == 144, "no padding on the wire");
_Static_assert(sizeof(struct spawn_build) == 96, "no padding on the wire");
_Static_assert(sizeof(struct start_body) == 176, "no padding on the wire");
_Static_assert(sizeof(struct spawn_share) == 24, "no padding on the wire");

static const struct {
    size_t body_size;
    bool has_text;
} types[] = {
    [SPAWN_HELLO] = {sizeof(struct spawn_hello), false},
    [SPAWN_START] = {sizeof(struct start_body), true},
    [SPAWN_KILL] = {sizeof(struct spawn_kill), false},
    [SPAWN_ACK] = {sizeof(struct spawn_ack), false},
    [SPAWN_UPGRADE] = {0, false},
    [SPAWN_READY] = {0, false},
    [SPAWN_RUN] = {sizeof(struct spawn_run), false},
    [SPAWN_REPLACED] = {0, false},
    [SPAWN_BUILD] = {sizeof(struct spawn_build), false},
    [SPAWN_FRAME] = {0, true},
};
#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

void spawn_request_init(struct spawn_request *request)
{
    *request = (struct spawn_request){
        .id = "",
        .job = "",
        .user = "",
        .cwd = "",
        .grace_ms = 10000,
        .linger_s = SPAWN_LINGER_S,
        .umask = 022,
        .head_bytes = 1 << 20,
        .tail_bytes = 1 << 20,
    };
}

bool spawn_id_valid(const char *id)
{
    size_t length = strnlen(id, SPAWN_ID_MAX + 1);
    if (length == 0 || length > SPAWN_ID_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = id[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return true;
}

/* Zero bytes from the first one to the end, which is one. */
static bool field_ends(const char *field, size_t size)
{
    size_t length = strnlen(field, size);
    for (size_t i = length; i < size; i++)
        if (field[i])
            return false;
    return length < size;
}

static bool id_field_valid(const char *field)
{
    return field_ends(field, SPAWN_ID_MAX + 8) && spawn_id_valid(field);
}

/* For logs and JSON. */
static bool word_field_valid(const char *field, size_t size)
{
    for (size_t i = 0; i < size && field[i]; i++)
        if (field[i] <= ' ' || field[i] > '~' || field[i] == '"' || field[i] == '\\')
            return false;
    return field_ends(field, size);
}

static void put_header(enum spawn_type type, size_t length, void *buf)
{
    struct spawn_header header = {
        .magic = SPAWN_MAGIC,
        .version = SPAWN_VERSION,
        .type = (uint16_t)type,
        .length = (uint32_t)length,
    };
    memcpy(buf, &header, sizeof(header));
}

size_t spawn_encode(enum spawn_type type, const void *body, void *buf)
{
    size_t length = sizeof(struct spawn_header) + types[type].body_size;
    put_header(type, length, buf);
    if (types[type].body_size)
        memcpy((char *)buf + sizeof(struct spawn_header), body, types[type].body_size);
    return length;
}

static bool has_share(const struct spawn_share *share)
{
    return share->memory_bytes || share->cpu_milli || share->processes || share->io_weight ||
           share->ioprio;
}

/* Classes 2 and 3, best effort and idle, with levels from 0 to 7. */
static bool ioprio_valid(uint32_t ioprio)
{
    uint32_t class = ioprio >> IOPRIO_CLASS_SHIFT,
             level = ioprio & ((1u << IOPRIO_CLASS_SHIFT) - 1);
    return !ioprio || ((class == IOPRIO_BEST_EFFORT || class == IOPRIO_IDLE) && level < 8);
}

static bool share_valid(const struct spawn_share *share)
{
    return share->memory_bytes <= INT64_MAX && share->cpu_milli <= CPU_MILLI_MAX &&
           share->io_weight <= 10000 && ioprio_valid(share->ioprio);
}

unsigned spawn_start_needs(const struct spawn_request *request)
{
    const struct spawn_share *share = &request->share;
    return (request->secret_count ? SPAWN_KNOWS_SECRETS : 0u) |
           (has_share(share) ? SPAWN_KNOWS_SHARE : 0u) |
           (share->memory_bytes ? SPAWN_LIMITS_MEMORY : 0u) |
           (share->cpu_milli ? SPAWN_LIMITS_CPU : 0u) |
           (share->processes ? SPAWN_LIMITS_PIDS : 0u) | (share->io_weight ? SPAWN_LIMITS_IO : 0u);
}

static bool request_valid(const struct spawn_request *request)
{
    return spawn_id_valid(request->id) && request->argv && request->argv[0] &&
           request->deadline_boot_ms >= 0 && request->at_boot_us >= 0 && request->timeout_ms >= 0 &&
           request->timeout_ms <= INT64_MAX / 4 && request->grace_ms >= 0 &&
           request->linger_s >= 0 && request->linger_s <= SPAWN_LINGER_S_MAX &&
           request->umask <= 0777 && request->nice >= -20 && request->nice <= 19 &&
           request->limits_set < (1u << SPAWN_LIMIT_COUNT) && share_valid(&request->share);
}

/* Counts strings and their bytes; SIZE_MAX bytes when there are more than a message can hold. */
static uint32_t measure(char *const *strings, size_t *bytes)
{
    uint32_t count = 0;
    for (; strings && strings[count]; count++) {
        *bytes += strlen(strings[count]) + 1;
        if (count >= SPAWN_STRINGS_MAX || *bytes > SPAWN_MESSAGE_MAX) {
            *bytes = SIZE_MAX / 2;
            return 0;
        }
    }
    return count;
}

static char *put_text(char *at, const char *text)
{
    size_t size = strlen(text) + 1;
    memcpy(at, text, size);
    return at + size;
}

enum status spawn_encode_start(const struct spawn_request *request, void **ret, size_t *ret_length)
{
    if (!request_valid(request))
        return E_INVALID;
    struct start_body body = {
        .deadline_boot_ms = request->deadline_boot_ms,
        .timeout_ms = request->timeout_ms,
        .grace_ms = request->grace_ms,
        .umask = request->umask,
        .nice = request->nice,
        .limits_set = request->limits_set,
        .head_bytes = request->head_bytes,
        .tail_bytes = request->tail_bytes,
        .has_stdin = request->stdin_bytes != NULL,
        .stdin_length = request->stdin_bytes ? request->stdin_length : 0,
        .flags = START_NAMES_JOB | (request->is_default_user ? START_DEFAULT_USER : 0u) |
                 (request->is_merged ? START_MERGED : 0u) | START_LINGERS |
                 (request->at_boot_us ? START_TIMED : 0u) |
                 (request->has_values ? START_VALUES : 0u) |
                 (request->secret_count ? START_SECRETS : 0u) |
                 (has_share(&request->share) ? START_SHARE : 0u) |
                 (uint32_t)request->linger_s << START_LINGER_SHIFT,
    };
    memcpy(body.id, request->id, strlen(request->id));
    memcpy(body.limits, request->limits, sizeof(body.limits));

    size_t bytes = strlen(request->cwd) + 1 + strlen(request->user) + 1 + strlen(request->job) + 1;
    body.arguments = measure(request->argv, &bytes);
    body.variables = measure(request->env, &bytes);
    size_t time_size = request->at_boot_us ? sizeof(request->at_boot_us) : 0;
    size_t secrets_size = request->secret_count ? sizeof(request->secret_count) : 0;
    size_t share_size = body.flags & START_SHARE ? sizeof(request->share) : 0;
    size_t length =
        sizeof(struct spawn_header) + sizeof(body) + bytes + share_size + secrets_size + time_size;
    if (length > SPAWN_MESSAGE_MAX || body.arguments + body.variables > SPAWN_STRINGS_MAX)
        return E_TOO_LARGE;
    if (request->secret_count > SPAWN_SECRETS_MAX || request->secret_count > body.variables)
        return E_INVALID;

    char *packet = malloc(length);
    if (!packet)
        return E_NOMEM;
    put_header(SPAWN_START, length, packet);
    memcpy(packet + sizeof(struct spawn_header), &body, sizeof(body));
    char *at = packet + sizeof(struct spawn_header) + sizeof(body);
    at = put_text(at, request->cwd);
    at = put_text(at, request->user);
    at = put_text(at, request->job);
    for (uint32_t i = 0; i < body.arguments; i++)
        at = put_text(at, request->argv[i]);
    for (uint32_t i = 0; i < body.variables; i++)
        at = put_text(at, request->env[i]);
    memcpy(at, &request->share, share_size);
    at += share_size;
    memcpy(at, &request->secret_count, secrets_size);
    memcpy(at + secrets_size, &request->at_boot_us, time_size);
    *ret = packet;
    *ret_length = length;
    return OK;
}

size_t spawn_start_suit(void *packet, size_t length, uint32_t features)
{
    size_t at = sizeof(struct spawn_header) + offsetof(struct start_body, flags);
    uint32_t flags;
    memcpy(&flags, (char *)packet + at, sizeof(flags));
    if (!(features & SPAWN_KNOWS_TIMES) && (flags & START_TIMED)) {
        flags &= ~(uint32_t)START_TIMED;
        length -= sizeof(int64_t);
        put_header(SPAWN_START, length, packet);
    }
    if (!(features & SPAWN_KNOWS_OUTPUT))
        flags &= ~START_OUTPUT_MASK;
    if (!(features & SPAWN_KNOWS_VALUES))
        flags &= ~(uint32_t)START_VALUES;
    memcpy((char *)packet + at, &flags, sizeof(flags));
    return length;
}

enum status spawn_decode(const void *packet, size_t length, struct spawn_message *ret)
{
    struct spawn_header header;
    if (length < sizeof(header) || length > SPAWN_MESSAGE_MAX)
        return E_CORRUPT;
    memcpy(&header, packet, sizeof(header));
    if (header.magic != SPAWN_MAGIC)
        return E_CORRUPT;
    if (header.version != SPAWN_VERSION)
        return E_VERSION;
    if (header.length != length || header.zero || header.type < SPAWN_HELLO ||
        header.type >= TYPE_COUNT)
        return E_CORRUPT;
    size_t body_length = length - sizeof(header);
    bool fits = types[header.type].has_text ? body_length > types[header.type].body_size
                                            : body_length == types[header.type].body_size;
    if (!fits)
        return E_CORRUPT;
    *ret = (struct spawn_message){
        .type = (enum spawn_type)header.type,
        .body = (const char *)packet + sizeof(header),
        .body_length = body_length,
    };
    return OK;
}

enum status spawn_frame_next(const struct spawn_message *frame, size_t *at,
                             struct spawn_message *ret)
{
    struct spawn_header header;
    const char *bytes = frame->body;
    size_t left = frame->body_length - *at;
    if (left == 0)
        return E_NOT_FOUND;
    if (left < sizeof(header))
        return E_CORRUPT;
    memcpy(&header, bytes + *at, sizeof(header));
    size_t padding = spawn_frame_padding(header.length);
    if (header.type == SPAWN_FRAME || header.length > left || padding > left - header.length)
        return E_CORRUPT;
    enum status st = spawn_decode(bytes + *at, header.length, ret);
    if (st != OK)
        return st;
    for (size_t i = 0; i < padding; i++)
        if (bytes[*at + header.length + i])
            return E_CORRUPT;
    *at += header.length + padding;
    return OK;
}

void spawn_frame_begin(size_t length, struct spawn_header *ret)
{
    put_header(SPAWN_FRAME, sizeof(*ret) + length, ret);
}

/* The text at *at, and *at moved behind it; NULL when no zero byte ends it before `end`. */
static char *take_text(char **at, const char *end)
{
    char *text = *at;
    char *zero = memchr(text, '\0', (size_t)(end - text));
    if (!zero)
        return NULL;
    *at = zero + 1;
    return text;
}

static bool take_strings(char **at, const char *end, char **strings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        strings[i] = take_text(at, end);
        if (!strings[i])
            return false;
    }
    return true; /* the block was zeroed: the NULL behind the last is there */
}

enum status spawn_decode_start(const struct spawn_message *message, struct spawn_request *ret,
                               void **ret_block)
{
    struct start_body body;
    if (message->type != SPAWN_START || message->body_length <= sizeof(body))
        return E_CORRUPT;
    memcpy(&body, message->body, sizeof(body));
    uint32_t linger = body.flags >> START_LINGER_SHIFT;
    uint32_t flags = body.flags & ((1u << START_LINGER_SHIFT) - 1);
    if (!id_field_valid(body.id) || flags & ~(uint32_t)START_FLAGS ||
        (linger && !(flags & START_LINGERS)) || body.has_stdin > 1 || body.arguments == 0 ||
        body.arguments > SPAWN_STRINGS_MAX || body.variables > SPAWN_STRINGS_MAX)
        return E_CORRUPT;

    size_t time_size = flags & START_TIMED ? sizeof(int64_t) : 0;
    size_t secrets_size = flags & START_SECRETS ? sizeof(uint32_t) : 0;
    size_t share_size = flags & START_SHARE ? sizeof(struct spawn_share) : 0;
    size_t rest = share_size + secrets_size + time_size;
    if (message->body_length <= sizeof(body) + rest)
        return E_CORRUPT;
    char **block = calloc((size_t)body.arguments + body.variables + 2, sizeof(*block));
    if (!block)
        return E_NOMEM;
    char **env = block + body.arguments + 1;
    char *at = (char *)message->body + sizeof(body);
    const char *end = (const char *)message->body + message->body_length - rest;
    struct spawn_request request = {
        .id = message->body, /* the id is the first field and ends with zeroes */
        .cwd = take_text(&at, end),
        .argv = block,
        .env = env,
        .stdin_bytes = body.has_stdin ? "" : NULL,
        .stdin_length = body.stdin_length,
        .deadline_boot_ms = body.deadline_boot_ms,
        .timeout_ms = body.timeout_ms,
        .grace_ms = body.grace_ms,
        .umask = body.umask,
        .nice = body.nice,
        .is_default_user = flags & START_DEFAULT_USER,
        .is_merged = flags & START_MERGED,
        .has_values = flags & START_VALUES,
        .linger_s = flags & START_LINGERS ? (int32_t)linger : SPAWN_LINGER_S,
        .limits_set = body.limits_set,
        .head_bytes = body.head_bytes,
        .tail_bytes = body.tail_bytes,
    };
    memcpy(request.limits, body.limits, sizeof(request.limits));
    memcpy(&request.share, end, share_size);
    memcpy(&request.secret_count, end + share_size, secrets_size);
    memcpy(&request.at_boot_us, end + share_size + secrets_size, time_size);
    request.user = request.cwd ? take_text(&at, end) : NULL;
    request.job = !(flags & START_NAMES_JOB) ? "" : request.user ? take_text(&at, end) : NULL;
    bool whole = request.user && request.job && take_strings(&at, end, block, body.arguments) &&
                 take_strings(&at, end, env, body.variables) && at == end;
    /* One spelling for each start. */
    bool has_time = !time_size || request.at_boot_us;
    bool has_secrets = !secrets_size || request.secret_count;
    bool is_one_way = has_time && has_secrets && (!share_size || has_share(&request.share));
    if (!whole || !is_one_way || request.secret_count > SPAWN_SECRETS_MAX ||
        request.secret_count > body.variables || !request_valid(&request)) {
        free(block);
        return E_CORRUPT;
    }
    *ret = request;
    *ret_block = block;
    return OK;
}

/* Copies the body if it is of the type and size that the caller wants. */
static bool copy_body(const struct spawn_message *message, enum spawn_type type, void *to,
                      size_t size)
{
    if (message->type != type || message->body_length != size)
        return false;
    memcpy(to, message->body, size);
    return true;
}

enum status spawn_decode_hello(const struct spawn_message *message, struct spawn_hello *ret)
{
    struct spawn_hello hello;
    if (!copy_body(message, SPAWN_HELLO, &hello, sizeof(hello)) || hello.zero)
        return E_CORRUPT;
    *ret = hello;
    return OK;
}

enum status spawn_decode_kill(const struct spawn_message *message, struct spawn_kill *ret)
{
    struct spawn_kill body;
    if (!copy_body(message, SPAWN_KILL, &body, sizeof(body)) || !id_field_valid(body.id) ||
        body.signal > 64)
        return E_CORRUPT;
    *ret = body;
    return OK;
}

enum status spawn_decode_ack(const struct spawn_message *message, struct spawn_ack *ret)
{
    struct spawn_ack ack;
    if (!copy_body(message, SPAWN_ACK, &ack, sizeof(ack)) || !id_field_valid(ack.id))
        return E_CORRUPT;
    *ret = ack;
    return OK;
}

enum status spawn_decode_run(const struct spawn_message *message, struct spawn_run *ret)
{
    struct spawn_run run;
    if (!copy_body(message, SPAWN_RUN, &run, sizeof(run)) || !id_field_valid(run.id) ||
        run.change >= SPAWN_CHANGE_COUNT || run.reason >= SPAWN_REASON_COUNT ||
        run.step >= SPAWN_STEP_COUNT || run.disk_full > 1 || run.left_over > 1)
        return E_CORRUPT;
    *ret = run;
    return OK;
}

enum status spawn_decode_build(const struct spawn_message *message, struct spawn_build *ret)
{
    struct spawn_build build;
    if (!copy_body(message, SPAWN_BUILD, &build, sizeof(build)) ||
        !word_field_valid(build.version, sizeof(build.version)) ||
        !word_field_valid(build.revision, sizeof(build.revision)))
        return E_CORRUPT;
    *ret = build;
    return OK;
}

const char *spawn_reason_text(enum spawn_reason reason)
{
    static const char *const texts[] = {
        [SPAWN_NOT_ENDED] = "running",
        [SPAWN_EXITED] = "exited",
        [SPAWN_SIGNALED] = "ended by a signal",
        [SPAWN_TIMED_OUT] = "timed out",
        [SPAWN_KILLED] = "killed",
        [SPAWN_START_FAILED] = "could not start",
        [SPAWN_EXPIRED] = "too late to start",
        [SPAWN_UNKNOWN] = "ended unseen, exit status unknown",
    };
    return reason < SPAWN_REASON_COUNT ? texts[reason] : "?";
}

const char *spawn_unseen_text(const struct spawn_run *run)
{
    switch (run->error) {
    case SPAWN_UNSEEN_END:
        return "its process has ended; how was for the spawner that had started it to see, which "
               "was "
               "killed";
    case SPAWN_UNSEEN_GONE:
        return "its process was gone when there was a spawner again; the one that had started it "
               "was "
               "killed";
    case SPAWN_UNSEEN_START:
        return "its spawner was killed while starting it: whether it ran is not known";
    default:
        return spawn_reason_text(SPAWN_UNKNOWN);
    }
}

const char *spawn_failure_text(const struct spawn_run *run, char *buf, size_t size)
{
    static const char *const texts[] = {
        [SPAWN_STEP_NONE] = "",
        [SPAWN_STEP_SPAWNER] = "the spawner is stopping",
        [SPAWN_STEP_JOURNAL] = "writing the spawner's journal",
        [SPAWN_STEP_USER] = "no such user",
        [SPAWN_STEP_ALLOW] = "not allowed to run as this user",
        [SPAWN_STEP_PIPE] = "making pipes",
        [SPAWN_STEP_FORK] = "making a process",
        [SPAWN_STEP_SESSION] = "making a session",
        [SPAWN_STEP_LIMITS] = "setting resource limits",
        [SPAWN_STEP_NICE] = "setting the nice value",
        [SPAWN_STEP_SWITCH] = "switching to the user",
        [SPAWN_STEP_CWD] = "working directory",
        [SPAWN_STEP_FDS] = "arranging file descriptors",
        [SPAWN_STEP_DEADLINE] = "start deadline",
        [SPAWN_STEP_EXEC] = "executing the command",
        [SPAWN_STEP_SECRETS] = "keeping its secrets, to mask them",
        [SPAWN_STEP_CGROUP] = "making its cgroup, for its limits",
        [SPAWN_STEP_IONICE] = "setting the I/O priority",
    };
    const char *step = run->step < SPAWN_STEP_COUNT ? texts[run->step] : "?";
    if (run->error)
        snprintf(buf, size, "%s: %s", step, strerror(run->error));
    else
        snprintf(buf, size, "%s", step);
    return buf;
}
