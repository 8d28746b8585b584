/* The state that one image of the spawner leaves to the next, with a number out of its range each
 * time: the image ends, and touches nothing that it should not. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness.h"
#include "slots.h"
#include "upgrade_state.h"

enum { NOT_OPEN = 900 };

struct state {
    struct saved head;
    struct saved_run run;
    off_t slots_size;
};

/* ---- what can be wrong ---- */

static void long_slot(struct state *state)
{
    state->run.slot = SLOT_COUNT;
}

static void huge_slot(struct state *state)
{
    state->run.slot = SLOT_NONE - 1;
}

static void unknown_state(struct state *state)
{
    state->run.state = RUN_ENDED + 1;
}

static void unknown_reason(struct state *state)
{
    state->run.info.reason = SPAWN_REASON_COUNT;
}

static void unknown_stop(struct state *state)
{
    state->run.stop_reason = UINT32_MAX;
}

static void unknown_report(struct state *state)
{
    state->run.report = 1u << 20;
}

static void long_id(struct state *state)
{
    memset(state->run.info.id, 'x', sizeof(state->run.info.id));
}

static void id_with_slash(struct state *state)
{
    snprintf(state->run.info.id, sizeof(state->run.info.id), "../../etc/passwd");
}

static void everybody(struct state *state)
{
    state->run.info.pid = -1; /* kill(-1) is for all processes */
}

static void closed_stream(struct state *state)
{
    state->run.stream_fds[1] = NOT_OPEN;
}

static void negative_stream(struct state *state)
{
    state->run.stream_fds[0] = -7;
}

static void closed_pidfd(struct state *state)
{
    state->run.pidfd = NOT_OPEN;
}

static void closed_masking(struct state *state)
{
    state->run.masking_fd = NOT_OPEN;
}

static void many_secrets(struct state *state)
{
    state->run.has_secrets = 2;
}

static void third_tail(struct state *state)
{
    state->run.output.tail_turn = 2;
}

static void open_output(struct state *state)
{
    state->run.output.head_fd = 0;
}

static void closed_journal(struct state *state)
{
    state->head.journal_fd = NOT_OPEN;
}

static void no_listener(struct state *state)
{
    state->head.listener_fd = -1;
}

static void more_runs(struct state *state)
{
    state->head.run_count = UINT32_MAX;
}

static void short_slots(struct state *state)
{
    state->slots_size = 8;
}

static void other_version(struct state *state)
{
    state->head.version += 1;
}

static void no_magic(struct state *state)
{
    state->head.magic = 0;
}

/* ---- a spawner that is given it ---- */

static int version_of(const struct harness *h)
{
    char command[4200];
    int newest = 0;
    do {
        snprintf(command, sizeof(command), "%s --can-resume %d", h->program, newest + 1);
    } while (system(command) == 0 && ++newest);
    return newest;
}

static int file_of(off_t size)
{
    int fd = memfd_create("test", 0);
    assert_int_equal(ftruncate(fd, size), 0);
    return fd;
}

static struct state sound_state(const struct harness *h)
{
    struct state state = {
        .head = {.magic = STATE_MAGIC,
                 .version = (uint32_t)version_of(h),
                 .run_count = 1,
                 .run_size = sizeof(struct saved_run),
                 .agent_fd = -1,
                 .nofile_soft = 1024,
                 .nofile_hard = 1024},
        .run = {.info = {.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV", .reason = SPAWN_EXITED},
                .state = RUN_ENDED,
                .has_exited = 1,
                .slot = SLOT_NONE,
                .stream_fds = {-1, -1},
                .pidfd = -1,
                .masking_fd = -1,
                .output = {.head_fd = -1, .tail_fd = -1}},
        .slots_size = SLOT_COUNT * (off_t)sizeof(struct slot),
    };
    return state;
}

/* The exit status of an image that resumes from the state; what it says goes to `log`. */
static int resume(const struct harness *h, struct state *state, const char *log)
{
    char number[16];
    int lock = file_of(0), listener = file_of(0), journal = file_of(0);
    int slots = file_of(state->slots_size), fd = file_of(0);
    state->head.lock_fd = lock;
    state->head.slots_fd = slots;
    if (!state->head.listener_fd)
        state->head.listener_fd = listener;
    if (!state->head.journal_fd)
        state->head.journal_fd = journal;
    assert_int_equal(write(fd, &state->head, sizeof(state->head)), sizeof(state->head));
    assert_int_equal(write(fd, &state->run, sizeof(state->run)), sizeof(state->run));
    lseek(fd, 0, SEEK_SET);
    snprintf(number, sizeof(number), "%d", fd);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
        dup2(open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
        execl(h->program, h->program, "--dir", h->folder, "--idle-ms", "100", "--no-cgroup",
              "--resume", number, (char *)NULL);
        _exit(99);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    const int fds[] = {lock, listener, journal, slots, fd};
    for (size_t i = 0; i < ROWS(fds); i++)
        close(fds[i]);
    return status;
}

static void read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY);
    ssize_t got = fd >= 0 ? read(fd, text, size - 1) : 0;
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

static void test_states(void **context)
{
    static const struct {
        int line;
        void (*spoil)(struct state *state);
    } cases[] = {
        {__LINE__, long_slot},      {__LINE__, huge_slot},       {__LINE__, unknown_state},
        {__LINE__, unknown_reason}, {__LINE__, unknown_stop},    {__LINE__, unknown_report},
        {__LINE__, long_id},        {__LINE__, id_with_slash},   {__LINE__, everybody},
        {__LINE__, closed_stream},  {__LINE__, negative_stream}, {__LINE__, closed_pidfd},
        {__LINE__, closed_masking}, {__LINE__, many_secrets},    {__LINE__, third_tail},
        {__LINE__, open_output},    {__LINE__, closed_journal},  {__LINE__, no_listener},
        {__LINE__, more_runs},      {__LINE__, short_slots},     {__LINE__, other_version},
        {__LINE__, no_magic},
    };
    struct harness *h = *context;
    char log[128], text[4096];
    harness_path(h, "resume.log", log, sizeof(log));
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct state state = sound_state(h);
        cases[i].spoil(&state);
        int status = resume(h, &state, log);
        read_text(log, text, sizeof(text));
        if (!WIFEXITED(status) || WEXITSTATUS(status) == 0 || !strstr(text, "event=start_failed") ||
            strstr(text, "Sanitizer"))
            fail_msg("line %d: status %x: %s", cases[i].line, (unsigned)status, text);
    }
}

/* What is as it should be gets as far as the listener, which is no socket here. */
static void test_sound_state(void **context)
{
    struct harness *h = *context;
    struct state state = sound_state(h);
    char log[128], text[4096];
    harness_path(h, "resume.log", log, sizeof(log));
    int status = resume(h, &state, log);
    read_text(log, text, sizeof(text));
    assert_true(WIFEXITED(status));
    if (strstr(text, "corrupt") || strstr(text, "damaged") || strstr(text, "version"))
        fail_msg("%s", text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_states, harness_setup, harness_teardown),
        cmocka_unit_test_setup_teardown(test_sound_state, harness_setup, harness_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
