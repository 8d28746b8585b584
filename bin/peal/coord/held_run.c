/*     QUEUED -> RUNNING -> LEAVING -> over
 *                    \-> STOPPING (lost) -> over
 *
 * Signals and the ends of children come through a descriptor, as everything else does. */
#include "coord/held_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/when.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

enum { SIGNALED = 128, AFTER_KILL_MS = 100 };

enum held_state {
    HELD_QUEUED,
    HELD_RUNNING,
    HELD_STOPPING,
    HELD_LEAVING,
    HELD_OVER,
};

struct running {
    struct held_run *run;
    enum held_state state;
    struct coord_claim *claim;
    struct coord_holder holder; /* the last that was announced */
    int signals;
    struct loop_fd *signal_watch;
    struct loop_timer *timer;
    pid_t child; /* 0: none, or reaped */
    enum exit_code code;
    bool is_killed; /* the grace is over */
};

const struct option_row held_options[] = {
    OPTION_DURATION(held_options, ttl_s, "ttl",
                    "etcd: how long after the end of a machine or a network others wait (default: "
                    "10s; 5s or more)"),
    OPTION_DURATION(held_options, grace_s, "grace",
                    "time between SIGTERM and SIGKILL after a loss; in etcd the loss is declared "
                    "so long before the lease could end (default: 3s)"),
    OPTION_FLAG(held_options, keep_on_loss, 0, "keep-on-loss",
                "after a loss let the command run on; its fence is then the only protection"),
    {0},
};

enum exit_code held_check_options(const struct command *command, const struct held_options *options)
{
    if (options->ttl_s < 5 || options->ttl_s > 3600)
        return cli_usage(command, "--ttl must be 5s to 1h");
    if (options->grace_s * 2 >= options->ttl_s)
        return cli_usage(command, "--grace must be less than half of --ttl");
    return EXIT_OK;
}

static void over(struct running *running)
{
    running->state = HELD_OVER;
    loop_stop(running->run->place->loop);
}

static void leave(struct running *running)
{
    loop_timer_stop(running->timer);
    running->state = HELD_LEAVING;
    if (running->claim)
        coord_release(running->claim);
    else
        over(running);
}

/* ---- the command ---- */

static void begin(struct running *running, int64_t fence)
{
    struct held_run *run = running->run;
    int code;
    const struct held_child child = {
        .words = run->words,
        .variable = run->kind == COORD_LOCK ? "PEAL_LOCK" : "PEAL_ELECTION",
        .name = run->name,
        .fence = fence,
        .dies_with_us = !run->options->keep_on_loss,
    };
    loop_timer_stop(running->timer);
    run->fence = fence;
    pid_t pid = held_child_start(run->start, &child, &code);
    if (pid > 0) {
        running->child = pid;
        running->state = HELD_RUNNING;
        return;
    }
    cli_error("%s: %s", run->words[0], strerror(errno));
    running->code = (enum exit_code)code;
    leave(running);
}

static void stop_after_loss(struct running *running)
{
    running->state = HELD_STOPPING;
    held_signal_all(SIGTERM);
    loop_timer_set(running->timer, running->run->options->grace_s * 1000);
}

/* The command has ended, and with a loss all that it had started, too. */
static void check_end(struct running *running)
{
    bool is_stopped =
        running->state == HELD_STOPPING && (running->is_killed || held_signal_all(0) == 0);
    if (!running->child && (running->state == HELD_RUNNING || is_stopped))
        leave(running);
}

static void reap(struct running *running)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid != running->child)
            continue; /* an orphan that the command has left */
        running->child = 0;
        if (running->state != HELD_STOPPING)
            running->code = (enum exit_code)(WIFEXITED(status) ? WEXITSTATUS(status)
                                                               : SIGNALED + WTERMSIG(status));
    }
    check_end(running);
}

/* ---- what comes from outside ---- */

/* The terminal sends its signals to the command, too. All ask for an end but a SIGHUP of another
 * process, which many commands take as a word to read their configuration again. */
static void take_signal(struct running *running, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;
    if (number != SIGCHLD && (number != SIGHUP || info->ssi_code == SI_KERNEL || !running->child))
        running->run->signal = number;
    if (number == SIGCHLD) {
        reap(running);
    } else if (running->child) {
        if (info->ssi_code != SI_KERNEL)
            kill(running->child, number);
    } else if (running->state == HELD_QUEUED) {
        running->code = (enum exit_code)(SIGNALED + number);
        leave(running);
    } else if (running->state == HELD_LEAVING) {
        over(running); /* whoever is in a hurry need not wait for the store */
    }
}

static void on_signals(void *context, unsigned events)
{
    struct running *running = context;
    struct signalfd_siginfo info;
    (void)events;
    while (read(running->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        take_signal(running, &info);
}

static void tell_waiting(const struct running *running)
{
    struct strbuf since;
    const struct coord_holder *holder = &running->holder;
    strbuf_init(&since);
    when_print_local(holder->since_ms, &since);
    if (running->run->kind == COORD_LOCK)
        cli_note("waiting for %s: %s on %s (pid %" PRId64 ") has held it since %s",
                 running->run->name, holder->id, holder->host, holder->pid, since.text);
    else
        cli_note("waiting for %s: %s on %s (pid %" PRId64 ") has led since %s", running->run->name,
                 holder->id, holder->host, holder->pid, since.text);
    strbuf_release(&since);
}

static void take_loss(struct running *running, const char *message)
{
    struct held_run *run = running->run;
    struct strbuf why;
    strbuf_init(&why);
    tr_parsed_text(message, &why);
    run->was_lost = true;
    if (!running->child) {
        cli_error("lost %s: %s", run->name, why.text);
    } else if (run->options->keep_on_loss) {
        cli_error("lost %s: %s; the command runs on (--keep-on-loss)", run->name, why.text);
    } else {
        cli_error("lost %s: %s; stopping the command", run->name, why.text);
        running->code = EXIT_LOST;
        stop_after_loss(running);
    }
    strbuf_release(&why);
}

static void take_failure(struct running *running, const struct coord_notice *notice)
{
    const char *name = running->run->name;
    if (notice->status == E_BUSY) {
        cli_error("%s: not got: %s on %s (pid %" PRId64 ") holds it", name, notice->holder->id,
                  notice->holder->host, notice->holder->pid);
        running->code = EXIT_NOT_GOT;
    } else {
        running->code =
            coord_place_fail(running->run->place, name, notice->status, notice->message);
    }
    over(running);
}

static void on_notice(void *context, const struct coord_notice *notice)
{
    struct running *running = context;
    bool is_end = notice->event >= COORD_LOST;
    if (is_end)
        running->claim = NULL; /* it is freed when all is over */
    switch (notice->event) {
    case COORD_WAITING:
        running->holder = *notice->holder;
        tell_waiting(running);
        break;
    case COORD_HELD:
        begin(running, notice->holder->fence);
        break;
    case COORD_LOST:
        take_loss(running, notice->message);
        break;
    case COORD_FAILED:
        take_failure(running, notice);
        break;
    case COORD_RELEASED:
        if (notice->status != OK)
            cli_note("%s could not be released: %s; it is free when its lease ends, within %" PRId64
                     " s",
                     running->run->name, notice->message, running->run->options->ttl_s);
        over(running);
        break;
    }
}

static void on_timer(void *context)
{
    struct running *running = context;
    const struct coord_holder *holder = &running->holder;
    if (running->state == HELD_QUEUED) {
        cli_error("%s: not got within %" PRId64 " s: %s on %s (pid %" PRId64 ") holds it",
                  running->run->name, running->run->wait_s, holder->id, holder->host, holder->pid);
        running->code = EXIT_NOT_GOT;
        leave(running);
    } else if (running->state == HELD_STOPPING) {
        running->is_killed = true;
        if (held_signal_all(SIGKILL) > 0) /* what is born meanwhile gets the next one */
            loop_timer_set(running->timer, AFTER_KILL_MS);
        check_end(running);
    }
}

/* ---- all of it ---- */

/* Those that whoever started the command has turned off stay so. */
static int open_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 &&
            (now.sa_handler != SIG_IGN || numbers[i] == SIGCHLD))
            sigaddset(&set, numbers[i]);
    }
    signal(SIGCHLD, SIG_DFL); /* ignored, children could not be waited for */
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

enum exit_code held_run(struct held_run *run)
{
    struct running running = {.run = run, .signals = open_signals()};
    struct coord_claim *claim = NULL;
    struct loop *loop = run->place->loop;
    const struct coord_want want = {
        .kind = run->kind,
        .name = run->name,
        .id = run->id,
        .at_once = run->wait_s == 0,
        .ttl_s = run->options->ttl_s,
        .margin_ms = run->options->grace_s * 1000,
    };
    enum status st = running.signals >= 0 ? OK : E_IO;
    if (st == OK)
        st = loop_fd_new(loop, running.signals, on_signals, &running, &running.signal_watch);
    if (st == OK)
        st = loop_timer_new(loop, on_timer, &running, &running.timer);
    if (st == OK)
        st = coord_claim(run->place->coord, &want, on_notice, &running, &claim);
    if (st == OK) {
        running.claim = claim;
        loop_fd_want(running.signal_watch, LOOP_READ);
        if (run->wait_s > 0)
            loop_timer_set(running.timer, run->wait_s * 1000);
        loop_run(loop);
    } else {
        running.code = cli_fail(st);
    }
    coord_claim_free(claim);
    if (running.timer)
        loop_timer_free(running.timer);
    if (running.signal_watch)
        loop_fd_free(running.signal_watch);
    if (running.signals >= 0)
        close(running.signals);
    return running.code;
}
