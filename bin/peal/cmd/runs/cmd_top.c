/* peal top: what runs, what comes next and what ended, once a second. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "cli/text_table.h"
#include "cli/text_width.h"
#include "cli/when.h"
#include "client/client.h"
#include "jobs/definition.h"
#include "print/run_table.h"
#include "print/state_words.h"
#include "text/tr.h"

enum { EVERY_MS = 1000, NEXT_MAX = 100, LAST_MAX = 100 };
enum { SORTED_MAX = 200000 }; /* the agent's limit for sorting jobs */

/* ---- one frame ---- */

/* The data of one frame, of which it shows as much as fits. */
struct view {
    json_t *agent, *jobs, *open, *ended;
};

static void view_release(struct view *view)
{
    json_decref(view->agent);
    json_decref(view->jobs);
    json_decref(view->open);
    json_decref(view->ended);
    *view = (struct view){0};
}

/* With too many jobs to sort, the first by name are shown. */
static const char *jobs_path(const json_t *agent)
{
    return answer_int(agent, "jobs", 0) > SORTED_MAX ? "/jobs?" : "/jobs?sort=next&";
}

static enum exit_code view_fetch(struct client *client, struct view *view)
{
    enum exit_code code = client_get(client, "/agent", &view->agent);
    if (code == EXIT_OK)
        code = client_list(client, jobs_path(view->agent), NEXT_MAX, &view->jobs);
    if (code == EXIT_OK)
        code = client_list(client, "/runs?state=" OPEN_STATES "&", LAST_MAX, &view->open);
    if (code == EXIT_OK)
        code = client_list(client, "/runs?state=ok,failed,timed_out,killed,lost&", LAST_MAX,
                           &view->ended);
    return code;
}

static bool is_ill(const json_t *health)
{
    return json_is_false(json_object_get(health, "ok"));
}

static void print_troubles(const json_t *agent, FILE *out)
{
    const json_t *store = json_object_get(agent, "store");
    const json_t *history = json_object_get(agent, "history");
    if (is_ill(store)) {
        fprintf(out, tr("store is not well: %s"), answer_text(store, "detail"));
        fputc('\n', out);
    }
    if (is_ill(history)) {
        fprintf(out, tr("history is not well: %s"), answer_text(history, "detail"));
        fputc('\n', out);
    }
}

static void print_head(const json_t *agent, FILE *out)
{
    struct strbuf since;
    strbuf_init(&since);
    when_print_left(now_ms(), answer_time(agent, "started_at"), &since);
    int64_t jobs = answer_int(agent, "jobs", 0);
    fprintf(out, tr("peal %s  %s, up %s  %" PRId64 " job%s, %" PRId64 " running"),
            answer_text(agent, "node"), agent_word(answer_text(agent, "state")), since.text, jobs,
            jobs == 1 ? "" : "s", answer_int(agent, "running", 0));
    if (answer_int(agent, "nodes", 1) > 1)
        fprintf(out, tr("  %" PRId64 " nodes"), answer_int(agent, "nodes", 1));
    fprintf(out, "%s\n", tr("  (q quits)"));
    strbuf_release(&since);
    print_troubles(agent, out);
}

static void cell_time(struct text_table *table, int64_t at_ms, int64_t from_ms)
{
    struct strbuf text;
    strbuf_init(&text);
    when_print_left(at_ms, from_ms, &text);
    text_table_cell(table, text.text);
    strbuf_release(&text);
}

/* Jobs are sorted by the agent, unless there are too many. */
static enum status print_next(const json_t *jobs, size_t rows, int columns, FILE *out)
{
    static const char *const headers[] = {"NEXT", "JOB", "SCHEDULE", NULL};
    struct text_table table;
    struct strbuf text;
    text_table_init(&table, headers);
    table.room = columns;
    strbuf_init(&text);
    for (size_t i = 0; i < json_array_size(jobs) && i < rows; i++) {
        const json_t *job = json_array_get(jobs, i);
        int64_t next = answer_time(json_object_get(job, "status"), "next_at");
        if (next == NO_TIME)
            continue;
        cell_time(&table, next, now_ms());
        text_table_cell(&table, answer_text(job, "name"));
        strbuf_truncate(&text, 0);
        definition_schedules(job, &text);
        text_table_cell(&table, text.text);
    }
    enum status st = text_table_print(&table, out);
    strbuf_release(&text);
    text_table_release(&table);
    return st;
}

static enum status print_runs(const char *title, const json_t *runs, size_t rows, int columns,
                              bool with_node, FILE *out)
{
    const char *const headers[] = {title, "JOB", "STATE", "TOOK", "NODE", "RUN", NULL};
    struct text_table table;
    struct strbuf text;
    int64_t now = now_ms();
    text_table_init(&table, headers);
    table.room = columns;
    strbuf_init(&text);
    for (size_t i = 0; i < json_array_size(runs) && i < rows; i++) {
        const json_t *run = json_array_get(runs, i);
        int64_t started = answer_time(run, "started_at"),
                finished = answer_time(run, "finished_at");
        cell_time(&table, started, now);
        text_table_cell(&table, answer_text(run, "job"));
        strbuf_truncate(&text, 0);
        run_outcome(run, &text);
        text_table_cell(&table, text.text);
        strbuf_truncate(&text, 0);
        when_print_taken(started, finished == NO_TIME ? now : finished, &text);
        text_table_cell(&table, text.text);
        text_table_cell(&table, with_node ? answer_text(run, "node") : "");
        text_table_cell(&table, answer_text(run, "run_id"));
    }
    enum status st = text_table_print(&table, out);
    strbuf_release(&text);
    text_table_release(&table);
    return st;
}

/* The three tables share the height; rows that the first does not need go to the others. Without
 * `columns` nothing is cut. */
static enum status print_frame(const struct view *view, size_t rows, int columns, FILE *out)
{
    size_t open = json_array_size(view->open), room = rows > 12 ? rows - 9 : 3;
    size_t open_rows = open < room / 3 ? open : room / 3;
    size_t next_rows = (room - open_rows) / 2, ended_rows = room - open_rows - next_rows;
    bool with_node = answer_int(view->agent, "nodes", 1) > 1;
    print_head(view->agent, out);
    fputc('\n', out);
    enum status st = print_runs("RUNNING", view->open, open_rows, columns, with_node, out);
    fputc('\n', out);
    if (st == OK)
        st = print_next(view->jobs, next_rows, columns, out);
    fputc('\n', out);
    if (st == OK)
        st = print_runs("LAST", view->ended, ended_rows, columns, with_node, out);
    return st;
}

/* Draws over the last frame line by line, so that nothing flickers. */
static void draw(char *frame, int columns, int rows)
{
    char *rest = frame;
    fputs("\033[H", stdout);
    for (int row = 0; row < rows; row++) {
        char *line = rest ? strsep(&rest, "\n") : NULL;
        if (!line || (!rest && !*line))
            break;
        printf("%s%.*s\033[K", row ? "\r\n" : "", (int)text_fit(line, columns), line);
    }
    fputs("\033[J", stdout);
    fflush(stdout);
}

static enum exit_code show_frame(struct client *client, bool terminal)
{
    struct winsize size = {0};
    struct view view = {0};
    char *frame = NULL;
    size_t length;
    enum exit_code code = view_fetch(client, &view);
    if (code != EXIT_OK) {
        view_release(&view);
        return code;
    }
    if (!terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_row || !size.ws_col)
        size = (struct winsize){.ws_row = 40, .ws_col = 120};
    FILE *memory = open_memstream(&frame, &length);
    enum status st =
        memory ? print_frame(&view, size.ws_row, terminal ? size.ws_col : 0, memory) : E_NOMEM;
    if (memory)
        fclose(memory);
    if (st == OK && terminal)
        draw(frame, size.ws_col, size.ws_row);
    else if (st == OK)
        fputs(frame, stdout);
    free(frame);
    view_release(&view);
    return cli_fail(st);
}

/* ---- the screen ---- */

struct screen {
    struct termios before;
    sigset_t signals_before;
    int signal_fd;
};

static bool screen_open(struct screen *screen)
{
    sigset_t signals;
    if (tcgetattr(STDIN_FILENO, &screen->before) != 0)
        return false;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGWINCH);
    sigaddset(&signals, SIGTSTP); /* would leave the shell in this screen */
    sigprocmask(SIG_BLOCK, &signals, &screen->signals_before);
    screen->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    struct termios raw = screen->before;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs("\033[?1049h\033[?25l", stdout);
    return true;
}

static void screen_close(struct screen *screen)
{
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
    close(screen->signal_fd);
    sigprocmask(SIG_SETMASK, &screen->signals_before, NULL);
}

/* Until the next frame is due. True: the end is wanted. */
static bool wait_for_key(const struct screen *screen)
{
    struct pollfd fds[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = screen->signal_fd, .events = POLLIN},
    };
    struct signalfd_siginfo signal;
    char key;
    if (poll(fds, 2, EVERY_MS) <= 0)
        return false;
    if (fds[1].revents && read(screen->signal_fd, &signal, sizeof(signal)) == sizeof(signal))
        return signal.ssi_signo != SIGWINCH && signal.ssi_signo != SIGTSTP;
    if (!fds[0].revents)
        return false;
    return read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q' || key == '\033';
}

/* Errors must be printed after the screen is restored: checks silently whether the agent answers
 * first. */
static enum exit_code watch(struct client *client)
{
    const struct client_request question = {.path = "/agent"};
    struct screen screen;
    struct reply reply = {0};
    enum exit_code code = EXIT_OK;
    enum status st = client_try(client, &question, &reply);
    if (st != OK || !screen_open(&screen))
        return client_report(client, st, &reply);
    do {
        code = show_frame(client, true);
        reply_release(&reply);
    } while (code == EXIT_OK && !wait_for_key(&screen) &&
             (st = client_try(client, &question, &reply)) == OK);
    screen_close(&screen);
    if (code == EXIT_OK)
        code = client_report(client, st, &reply);
    reply_release(&reply);
    return code;
}

static enum exit_code top(struct client *client, void *request)
{
    (void)request;
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    return terminal ? watch(client) : show_frame(client, false);
}

const struct command cmd_top = {
    .name = "top",
    .summary = "live view of running, next and last runs",
    .examples = EXAMPLES({"peal top", NULL}, {"peal top | cat", "one frame, as text"}),
    .notes = "Refreshed every second; q quits.",
    .options = client_options,
    .request_size = sizeof(struct request_base),
    .with_agent = top,
};
