/* peal dev: an agent to try things out, in a folder that goes away with it. */
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/when.h"
#include "client/batch/batch.h"
#include "client/live_runs.h"
#include "jobs/definition.h"
#include "jobs/demo_jobs.h"
#include "print/job_table.h"
#include "service/daemon.h"
#include "spawn_message.h"
#include "text/tr.h"

enum { LOOK_EVERY_MS = 150, END_WITHIN_MS = 8000 };

struct request {
    struct request_base base;
    bool keep;
};

struct dev {
    char folder[256];
    bool keep;
    pid_t agent, spawner;
    int signal_fd;
    struct client *client;
    struct live_runs live;
};

/* ---- start ---- */

static enum exit_code make_folder(struct dev *dev)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(dev->folder, sizeof(dev->folder), "%s/peal-dev-XXXXXX",
             temporary && *temporary == '/' ? temporary : "/tmp");
    if (mkdtemp(dev->folder))
        return EXIT_OK;
    cli_error("can't make %s: %s", dev->folder, strerror(errno));
    dev->folder[0] = '\0';
    return EXIT_ERROR;
}

static enum exit_code start_agent(struct dev *dev)
{
    /* Not $PEAL_STORE. Whoever tries it out, root or not, runs the jobs: nobody else defines any.
     */
    const struct passwd *self = getpwuid(geteuid());
    char user[64];
    snprintf(user, sizeof(user), "%s", self ? self->pw_name : "");
    struct daemon_options given = {
        .base.data = dev->folder, .store = "sqlite", .default_user = *user ? user : NULL};
    struct agent_config config;
    enum exit_code code = daemon_configure(&given, true, &config);
    if (code == EXIT_OK)
        code = daemon_start(&config, true, &dev->agent);
    agent_config_release(&config);
    return code;
}

static enum exit_code add_jobs(struct dev *dev)
{
    struct reading reading;
    struct job_list jobs;
    struct job_error err;
    struct batch batch = {0};
    json_t *results = NULL;
    job_list_init(&jobs);
    enum exit_code code = reading_init(&reading, dev->client);
    if (code == EXIT_OK)
        code = cli_fail(jobs_decode_text(demo_jobs_yaml, strlen(demo_jobs_yaml),
                                         reading.default_tz.text, reading.zones, &jobs, &err));
    if (code == EXIT_OK)
        code = batch_init(&batch, &jobs);
    if (code == EXIT_OK)
        code = batch_send(dev->client, &batch, false, &results);
    json_decref(results);
    batch_release(&batch);
    job_list_release(&jobs);
    reading_release(&reading);
    return code;
}

/* A peal that was called by its path, as `make run` does, is hardly found without it. */
static void print_path(void)
{
    char *program = strchr(program_invocation_name, '/') ? realpath("/proc/self/exe", NULL) : NULL;
    if (program)
        printf("  export PATH=\"$PATH:%.*s\"\n", (int)(strrchr(program, '/') - program), program);
    free(program);
}

static void print_welcome(const struct dev *dev)
{
    if (dev->keep)
        printf(tr("An agent of its own runs in %s. From another terminal:"), dev->folder);
    else
        printf(tr("An agent of its own runs in %s, which goes away with it. From another "
                  "terminal:"),
               dev->folder);
    fputs("\n\n", stdout);
    print_path();
    printf("  export PEAL_DATA=%s\n"
           "  peal list\n"
           "  peal why flaky\n"
           "  peal top\n\n"
           "%s\n\n",
           dev->folder, tr("Ctrl-C ends it."));
}

/* Nobody has an account there; if the port is somebody else's, there is nothing to open. */
static void print_link(const struct dev *dev)
{
    struct reply reply = {0};
    struct client_request call = {.method = "POST", .path = "/links"};
    if (client_try(dev->client, &call, &reply) == OK && reply.status == 201)
        printf("%s\n\n  %s\n\n", tr("In a browser, logged in (once, within ten minutes):"),
               answer_text(reply.body, "url"));
    reply_release(&reply);
}

static enum exit_code show_jobs(struct dev *dev)
{
    json_t *jobs;
    enum exit_code code = client_list(dev->client, "/jobs?", 0, &jobs);
    if (code != EXIT_OK)
        return code;
    code = jobs_print(dev->client, jobs, OUTPUT_TABLE);
    putchar('\n');
    fflush(stdout);
    json_decref(jobs);
    return code;
}

/* ---- end ---- */

/* The spawner and peal-call outlive agents by design; whoever listens on the socket is it. */
static pid_t find_owner(const struct dev *dev, const char *socket_name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred owner = {0};
    socklen_t length = sizeof(owner);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int used =
        snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", dev->folder, socket_name);
    if (fd < 0 || used >= (int)sizeof(address.sun_path))
        return 0;
    bool found = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
                 getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &length) == 0;
    close(fd);
    return found ? owner.pid : 0;
}

static bool wait_gone(pid_t pid)
{
    int delay_ms = 0;
    for (int64_t until_ms = now_ms() + END_WITHIN_MS; now_ms() < until_ms;) {
        if (kill(pid, 0) != 0 && errno == ESRCH)
            return true;
        pause_longer(&delay_ms);
    }
    return false;
}

static void end_owner(const struct dev *dev, const char *socket_name)
{
    pid_t owner = find_owner(dev, socket_name);
    if (owner <= 0)
        return;
    kill(owner, SIGTERM);
    if (!wait_gone(owner))
        kill(owner, SIGKILL);
}

/* The agent first, so that it does not start another spawner. SIGTERM lets the spawner end its
 * runs, and itself. */
static void end_processes(struct dev *dev)
{
    if (dev->agent <= 0)
        return;
    kill(dev->agent, SIGTERM);
    while (waitpid(dev->agent, NULL, 0) < 0 && errno == EINTR)
        continue;
    end_owner(dev, "spawn/" SPAWN_SOCKET);
    end_owner(dev, "call/" CALL_SOCKET);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static void end(struct dev *dev)
{
    live_runs_release(&dev->live);
    client_close(dev->client);
    end_processes(dev);
    if (dev->signal_fd >= 0)
        close(dev->signal_fd);
    if (!dev->folder[0])
        return;
    if (dev->keep) {
        fprintf(stderr, tr("kept: %s"), dev->folder);
        fputc('\n', stderr);
    } else {
        nftw(dev->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
}

/* ---- between ---- */

/* After the agent was forked, which has its own way with signals. */
static void block_signals(struct dev *dev)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    dev->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
}

static enum exit_code watch(struct dev *dev)
{
    struct pollfd end_wanted = {.fd = dev->signal_fd, .events = POLLIN};
    enum exit_code code = EXIT_OK;
    while (code == EXIT_OK && poll(&end_wanted, 1, LOOK_EVERY_MS) == 0)
        code = live_runs_show(&dev->live, dev->client);
    putchar('\n');
    return code;
}

static enum exit_code run(void *place)
{
    const struct request *request = place;
    struct dev dev = {.signal_fd = -1, .keep = request->keep};
    json_t *answer = NULL;
    live_runs_init(&dev.live);
    enum exit_code code = make_folder(&dev);
    if (code == EXIT_OK)
        code = start_agent(&dev);
    block_signals(&dev);
    if (code == EXIT_OK)
        code = client_open(dev.folder, &dev.client);
    if (code == EXIT_OK)
        print_welcome(&dev);
    if (code == EXIT_OK)
        print_link(&dev);
    if (code == EXIT_OK)
        code = add_jobs(&dev);
    if (code == EXIT_OK)
        code = show_jobs(&dev);
    if (code == EXIT_OK) /* something to see at once */
        code = client_job_action(dev.client, "clock", "run", NULL, &answer);
    json_decref(answer);
    if (code == EXIT_OK)
        code = watch(&dev);
    end(&dev);
    return code;
}

const struct command cmd_dev = {
    .name = "dev",
    .summary = "a temporary agent with sample jobs, to try peal",
    .examples = EXAMPLES({"peal dev", NULL}),
    .notes = "Starts an agent with a few jobs in a temporary folder, and shows its runs. Ctrl-C "
             "ends the agent and its jobs, and removes the folder.",
    .options = ROWS(OPTION_FLAG(request, keep, 0, "keep", "keep the folder")),
    .request_size = sizeof(struct request),
    .run = run,
};
