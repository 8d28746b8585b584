#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_MS 60000

static void on_tick(void *context)
{
    (void)context; /* it only ends loop_run_once */
}

static void on_alarm(void *context)
{
    struct harness *h = context;
    h->rang = true;
}

static void note_run(struct harness *h, const struct spawn_run *run)
{
    struct seen *seen = harness_seen(h, run->id);
    seen->run = *run;
    seen->known += run->change == SPAWN_CHANGE_KNOWN;
    seen->started += run->change == SPAWN_CHANGE_STARTED;
    seen->grew += run->change == SPAWN_CHANGE_GREW;
    seen->ended += run->change == SPAWN_CHANGE_ENDED;
    seen->held += run->change == SPAWN_CHANGE_HELD;
    h->ended_count += run->change == SPAWN_CHANGE_ENDED;
}

static void on_wake(void *context)
{
    struct harness *h = context;
    struct spawn_event event;
    while (spawn_client_next_event(h->client, &event)) {
        switch (event.kind) {
        case SPAWN_EVENT_RUN:
            note_run(h, &event.run);
            break;
        case SPAWN_EVENT_READY:
            h->is_ready = true;
            h->hello = event.hello;
            break;
        case SPAWN_EVENT_GONE:
            h->is_ready = false;
            h->gone++;
            break;
        case SPAWN_EVENT_REPLACED:
            h->is_ready = false;
            h->was_replaced = true;
            break;
        }
    }
}

void harness_attach(struct harness *h)
{
    struct spawn_client_config config = {
        .folder = h->folder,
        .program = h->program,
        .allow_file = h->allow_file,
        .idle_ms = h->idle_ms,
        .build = h->build,
        .no_cgroup = h->no_cgroup,
    };
    h->is_ready = h->was_replaced = false;
    assert_int_equal(spawn_client_new(h->loop, &config, on_wake, h, &h->client), OK);
    harness_wait(h, h->is_ready);
}

void harness_detach(struct harness *h)
{
    h->client = spawn_client_free(h->client);
    h->is_ready = false;
}

static int setup(void **state, bool no_cgroup)
{
    struct harness *h = calloc(1, sizeof(*h));
    const char *bin = getenv("PEAL_BIN");
    if (!h || !bin)
        return -1;
    snprintf(h->folder, sizeof(h->folder), "/tmp/peal-spawn-test-XXXXXX");
    if (!mkdtemp(h->folder))
        return -1;
    snprintf(h->program, sizeof(h->program), "%s/peal-spawn", bin);
    harness_path(h, "users.allow", h->allow_file, sizeof(h->allow_file));
    h->idle_ms = 10000;
    h->no_cgroup = no_cgroup;
    if (loop_new(&h->loop) != OK || loop_timer_new(h->loop, on_alarm, h, &h->alarm) != OK ||
        loop_timer_new(h->loop, on_tick, h, &h->tick) != OK)
        return -1;
    *state = h;
    harness_attach(h);
    return 0;
}

int harness_setup(void **state)
{
    return setup(state, false);
}

int harness_setup_without_cgroup(void **state)
{
    return setup(state, true);
}

static void remove_folder(const char *folder)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    if (system(command) != 0)
        fail_msg("could not remove %s", folder);
}

int harness_teardown(void **state)
{
    struct harness *h = *state;
    harness_detach(h);
    int pidfd = h->hello.pid ? (int)syscall(SYS_pidfd_open, (pid_t)h->hello.pid, 0) : -1;
    if (pidfd >= 0) {
        kill((pid_t)h->hello.pid, SIGTERM);
        struct pollfd end = {.fd = pidfd, .events = POLLIN};
        if (poll(&end, 1, WAIT_MS) != 1)
            fail_msg("the spawner does not end on SIGTERM");
        close(pidfd);
    }
    char log[256], text[4096];
    harness_path(h, "peal-spawn.log", log, sizeof(log));
    int fd = open(log, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    text[length > 0 ? length : 0] = '\0';
    if (fd >= 0)
        close(fd);
    if (strstr(text, "Sanitizer") || strstr(text, "runtime error"))
        fail_msg("%s", text);
    loop_timer_free(h->alarm);
    loop_timer_free(h->tick);
    loop_free(h->loop);
    remove_folder(h->folder);
    free(h->seen);
    free(h);
    return 0;
}

void harness_begin_wait(struct harness *h)
{
    h->rang = false;
    loop_timer_set(h->alarm, WAIT_MS);
}

void harness_turn(struct harness *h, const char *file, int line, const char *what)
{
    if (h->rang)
        fail_msg("%s:%d: waited in vain for %s", file, line, what);
    /* At least every 20 ms, since what is waited for may be on disk. */
    loop_timer_set(h->tick, 20);
    loop_run_once(h->loop);
}

void shell_init(struct shell *shell, const char *id, const char *script)
{
    *shell = (struct shell){
        .argv = {(char *)"/bin/sh", (char *)"-c", (char *)script, NULL},
        .env = {(char *)"PATH=/usr/bin:/bin", (char *)"A=1", NULL, NULL},
    };
    spawn_request_init(&shell->request);
    shell->request.id = id;
    shell->request.argv = shell->argv;
    shell->request.env = shell->env;
    shell->request.grace_ms = 300;
    if (geteuid() == 0) { /* whom nothing runs as by itself */
        shell->request.user = "root";
        shell->request.is_default_user = true;
    }
}

void harness_start(struct harness *h, const struct spawn_request *request)
{
    assert_int_equal(spawn_client_start(h->client, request), OK);
}

void harness_sh(struct harness *h, const char *id, const char *script)
{
    struct shell shell;
    shell_init(&shell, id, script);
    harness_start(h, &shell.request);
}

struct seen *harness_seen(struct harness *h, const char *id)
{
    for (size_t i = h->seen_count; i-- > 0;)
        if (strcmp(h->seen[i].run.id, id) == 0)
            return &h->seen[i];
    h->seen = realloc(h->seen, (h->seen_count + 1) * sizeof(*h->seen));
    assert_non_null(h->seen);
    struct seen *seen = &h->seen[h->seen_count++];
    *seen = (struct seen){0};
    snprintf(seen->run.id, sizeof(seen->run.id), "%s", id);
    return seen;
}

const struct spawn_run *harness_ended(struct harness *h, const char *id)
{
    harness_wait(h, harness_seen(h, id)->run.reason != SPAWN_NOT_ENDED);
    return &harness_seen(h, id)->run;
}

void harness_ack(struct harness *h, const char *id)
{
    assert_int_equal(spawn_client_ack(h->client, id), OK);
}

char *harness_output(struct harness *h, const char *id, int stream, size_t *ret_length,
                     uint64_t *ret_gap)
{
    struct spawn_output *output;
    struct spawn_chunk chunk;
    char *text = malloc(1);
    size_t length = 0;
    uint64_t gap = 0;
    assert_int_equal(spawn_output_open(h->folder, id, 0, &output), OK);
    enum status st;
    while ((st = spawn_output_next(output, &chunk)) == OK) {
        gap += chunk.gap_bytes;
        if (stream && (int)chunk.stream != stream)
            continue;
        text = realloc(text, length + chunk.length + 1);
        assert_non_null(text);
        memcpy(text + length, chunk.bytes, chunk.length);
        length += chunk.length;
    }
    assert_int_equal(st, E_NOT_FOUND);
    spawn_output_free(output);
    text[length] = '\0';
    if (ret_length)
        *ret_length = length;
    if (ret_gap)
        *ret_gap = gap;
    return text;
}

void harness_path(const struct harness *h, const char *name, char *buf, size_t size)
{
    snprintf(buf, size, "%s/%s", h->folder, name);
}

void harness_touch(const struct harness *h, const char *name)
{
    char path[256];
    harness_path(h, name, path, sizeof(path));
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool read_file(const char *path, char *buf, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, buf, size - 1);
    close(fd);
    buf[length > 0 ? length : 0] = '\0';
    return length > 0;
}

void harness_file(struct harness *h, const char *name, char *buf, size_t size)
{
    char path[256];
    harness_path(h, name, path, sizeof(path));
    harness_wait(h, read_file(path, buf, size));
}

bool process_lives(int pid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    if (!read_file(path, text, sizeof(text)))
        return false;
    const char *state = strrchr(text, ')');
    return state && state[2] != 'Z' && state[2] != 'X';
}

int process_parent(int pid)
{
    char path[64], line[256] = "";
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_int_equal(sscanf(strrchr(line, ')'), ") %*c %d", &parent), 1);
    return parent;
}
