/* peal edit: a job's definition in an editor, until it is valid. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/when.h"
#include "jobs/definition.h"
#include "jobs/input_file.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

struct request {
    struct request_base base;
    const char *name;
};

/* One edit: the original text, the edited one, and why it was refused. */
struct edit {
    struct client *client;
    const char *name;
    struct reading reading;
    char path[64];
    char revision[24];
    struct strbuf before, text, problem;
};

static enum exit_code write_text(const struct edit *edit)
{
    FILE *file = fopen(edit->path, "we");
    if (!file) {
        cli_error("can't write %s: %s", edit->path, strerror(errno));
        return EXIT_ERROR;
    }
    if (edit->problem.length)
        fprintf(file, "# %s\n# %s\n", edit->problem.text,
                tr("Correct it and save, or empty the file to give up."));
    fputs(edit->text.text, file);
    bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed)
        return EXIT_OK;
    cli_error("can't write %s: %s", edit->path, strerror(errno));
    return EXIT_ERROR;
}

/* Through the shell, since $EDITOR may have arguments. */
static enum exit_code open_editor(const char *path)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    const char *program = visual && *visual ? visual : editor && *editor ? editor : "vi";
    struct strbuf line;
    strbuf_init(&line);
    strbuf_addf(&line, "%s \"$1\"", program);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", line.text, "sh", path, (char *)NULL);
        _exit(127);
    }
    strbuf_release(&line);
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return EXIT_OK;
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        cli_error("the editor (%s) was not found: name another in $EDITOR; nothing was changed",
                  program);
    else
        cli_error("the editor (%s) failed; nothing was changed", program);
    return EXIT_ERROR;
}

/* The edited text, without peal's comment at the top. */
static enum exit_code read_text(struct edit *edit)
{
    struct strbuf raw;
    strbuf_init(&raw);
    enum exit_code code = input_file_read(edit->path, &raw);
    const char *start = raw.text;
    while (code == EXIT_OK && edit->problem.length && *start == '#') {
        start += strcspn(start, "\n");
        start += *start == '\n';
    }
    strbuf_reset(&edit->text);
    strbuf_adds(&edit->text, start);
    strbuf_release(&raw);
    return code == EXIT_OK ? cli_fail(strbuf_status(&edit->text)) : code;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* False: *edit->problem says what is wrong. */
static bool decode(struct edit *edit, struct job_list *jobs)
{
    struct job_error err = {0};
    strbuf_reset(&edit->problem);
    enum status st =
        jobs_decode_text(edit->text.text, edit->text.length, edit->reading.default_tz.text,
                         edit->reading.zones, jobs, &err);
    if (st != OK) {
        tr_parsed(err.message, sizeof(err.message));
        if (err.line)
            strbuf_addf(&edit->problem, tr("Line %d, column %d: "), err.line, err.column);
        strbuf_adds(&edit->problem, *err.message ? err.message : tr(status_text(st)));
    } else if (jobs->count != 1) {
        strbuf_addf(&edit->problem, tr("One job is expected here, not %zu."), jobs->count);
    } else if (strcmp(jobs->items[0]->name, edit->name) != 0) {
        strbuf_adds(&edit->problem,
                    tr("The name can't be changed: runs and history belong to it."));
    }
    return edit->problem.length == 0;
}

/* The file stays. */
static void tell_kept(struct edit *edit)
{
    fprintf(stderr, tr("nothing was changed; your text is in %s"), edit->path);
    fputc('\n', stderr);
    edit->path[0] = '\0';
}

/* E_INVALID: the agent refuses it, and edit->problem says why. Else *ret is what to exit with. */
static enum status put(struct edit *edit, const struct job *job, enum exit_code *ret)
{
    struct strbuf path;
    struct reply reply = {0};
    json_t *body = job_encode_json(job, false);
    strbuf_init(&path);
    struct client_request call = {.method = "PUT",
                                  .path = job_path(&path, edit->name, ""),
                                  .body = body,
                                  .if_match = edit->revision};
    enum status st = body ? client_try(edit->client, &call, &reply) : E_NOMEM;
    bool refused = st == OK && reply.status == 422;
    if (refused) {
        strbuf_adds(&edit->problem, answer_text(reply.body, "detail"));
    } else if (st == OK && (reply.status == 412 || reply.status == 409)) {
        cli_error("%s was changed by someone else meanwhile", edit->name);
        *ret = EXIT_CONFLICT;
    } else {
        *ret = client_report(edit->client, st, &reply);
    }
    if (*ret != EXIT_OK)
        tell_kept(edit);
    if (*ret == EXIT_OK && !refused) {
        fprintf(stderr, tr("%s: changed"), edit->name);
        fputc('\n', stderr);
    }
    reply_release(&reply);
    json_decref(body);
    strbuf_release(&path);
    return refused ? E_INVALID : OK;
}

/* Opens the editor once. True: again, with edit->problem. */
static bool edit_once(struct edit *edit, enum exit_code *ret)
{
    struct job_list jobs;
    *ret = write_text(edit);
    if (*ret == EXIT_OK)
        *ret = open_editor(edit->path);
    if (*ret == EXIT_OK)
        *ret = read_text(edit);
    if (*ret != EXIT_OK)
        return false;
    if (is_blank(edit->text.text) || strcmp(edit->text.text, edit->before.text) == 0) {
        fprintf(stderr, tr("%s: not changed"), edit->name);
        fputc('\n', stderr);
        return false;
    }
    job_list_init(&jobs);
    bool again = !decode(edit, &jobs) || put(edit, jobs.items[0], ret) == E_INVALID;
    job_list_release(&jobs);
    return again;
}

static enum exit_code start_edit(struct edit *edit)
{
    struct reply reply;
    enum exit_code code = client_job(edit->client, edit->name, &reply);
    if (code != EXIT_OK)
        return code;
    memcpy(edit->revision, reply.revision, sizeof(edit->revision));
    enum status st = definition_yaml(&edit->reading, reply.body, &edit->before);
    strbuf_adds(&edit->text, edit->before.text);
    reply_release(&reply);
    if (st != OK)
        return cli_fail(st);
    snprintf(edit->path, sizeof(edit->path), "/tmp/peal-edit-XXXXXX.yaml");
    int fd = mkostemps(edit->path, 5, O_CLOEXEC);
    if (fd < 0) {
        cli_error("can't make a file in /tmp: %s", strerror(errno));
        edit->path[0] = '\0';
        return EXIT_ERROR;
    }
    close(fd);
    return EXIT_OK;
}

/* An editor in a script would be wrong in the same way again, for ever: only a person is asked. */
static bool wants_again(const struct edit *edit)
{
    char answer[16];
    cli_error("%s", edit->problem.text);
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO))
        return false;
    fprintf(stderr, "%s [Y/n] ", tr("Edit it again?"));
    return fgets(answer, sizeof(answer), stdin) && answer[0] != 'n' && answer[0] != 'N';
}

static enum exit_code edit_until_right(struct edit *edit)
{
    enum exit_code code = EXIT_OK;
    while (edit_once(edit, &code)) {
        if (wants_again(edit))
            continue;
        tell_kept(edit);
        return EXIT_INVALID;
    }
    return code;
}

static enum exit_code edit_job(struct client *client, void *place)
{
    const struct request *request = place;
    struct edit edit = {.client = client, .name = request->name};
    strbuf_init(&edit.before);
    strbuf_init(&edit.text);
    strbuf_init(&edit.problem);
    enum exit_code code = reading_init(&edit.reading, client);
    if (code == EXIT_OK)
        code = start_edit(&edit);
    if (code == EXIT_OK)
        code = edit_until_right(&edit);
    if (edit.path[0])
        unlink(edit.path);
    strbuf_release(&edit.before);
    strbuf_release(&edit.text);
    strbuf_release(&edit.problem);
    reading_release(&edit.reading);
    return code;
}

const struct command cmd_edit = {
    .name = "edit",
    .summary = "edit a job in your editor",
    .examples =
        EXAMPLES({"peal edit backup", NULL}, {"EDITOR='code --wait' peal edit backup", NULL}),
    .notes =
        "Opens the job's YAML in $VISUAL, $EDITOR or vi. If the text has an error, asks whether "
        "to open the editor again, with the error at the top; an empty file cancels. Without "
        "a terminal, the first error ends the command (status 6). If someone else changed the "
        "job meanwhile, that change stays. Text that was not taken is kept in a file, which "
        "is named.",
    .arguments = ROWS(ARGUMENT(request, name, "NAME", .complete = COMPLETE_JOBS)),
    .options = client_options,
    .wrong_count = ONE_JOB,
    .request_size = sizeof(struct request),
    .with_agent = edit_job,
};
