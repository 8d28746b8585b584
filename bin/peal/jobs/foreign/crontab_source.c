#include "jobs/foreign/crontab_source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/foreign/crontab_file.h"
#include "jobs/input_file.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

struct source {
    const struct crontab_request *request;
    const char *user; /* of the jobs; NULL: as the lines say, or nobody in particular */
    const struct reading *reading;
    struct job_list *jobs;
    size_t lost;
};

static bool is_taken(const struct job_list *jobs, const char *name)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (strcmp(jobs->items[i]->name, name) == 0)
            return true;
    }
    return false;
}

/* Two crontabs may give the same name; the later job gets a number. */
static enum status rename_taken(const struct job_list *jobs, struct job *job)
{
    for (int number = 2; is_taken(jobs, job->name); number++) {
        char *name;
        int base = (int)strlen(job->name);
        const char *dash = strrchr(job->name, '-');
        if (number > 2 && dash)
            base = (int)(dash - job->name);
        if (asprintf(&name, "%.*s-%d", base, job->name, number) < 0)
            return E_NOMEM;
        free(job->name);
        job->name = name;
    }
    return OK;
}

static enum status add_prefix(const char *prefix, struct job *job)
{
    char *name;
    if (!prefix)
        return OK;
    if (asprintf(&name, "%s%s", prefix, job->name) < 0)
        return E_NOMEM;
    free(job->name);
    job->name = name;
    return OK;
}

static enum status take_over(const char *prefix, struct job_list *jobs, struct job_list *more)
{
    for (size_t i = 0; i < more->count; i++) {
        enum status st = add_prefix(prefix, more->items[i]);
        if (st == OK)
            st = rename_taken(jobs, more->items[i]);
        struct job **items = reallocarray(jobs->items, jobs->count + 1, sizeof(struct job *));
        if (st != OK || !items)
            return E_NOMEM;
        jobs->items = items;
        jobs->items[jobs->count++] = more->items[i];
        more->items[i] = NULL;
    }
    more->count = 0;
    return OK;
}

static size_t tell_notes(const char *place, const struct crontab *crontab)
{
    size_t lost = 0;
    for (size_t i = 0; i < crontab->note_count; i++) {
        struct crontab_note *note = &crontab->notes[i];
        tr_parsed(note->text, sizeof(note->text));
        fprintf(stderr, "%s:%d:", place, note->line);
        if (note->column)
            fprintf(stderr, "%d:", note->column);
        fputc(' ', stderr);
        /* TR("info"), TR("warning"), TR("error") */
        fprintf(stderr, tr("%s: %s"), tr(crontab_severity_name(note->severity)), note->text);
        fputc('\n', stderr);
        lost += note->severity == CRONTAB_ERROR;
    }
    return lost;
}

enum exit_code crontab_source_text(const char *place, const struct strbuf *text,
                                   const struct crontab_options *options,
                                   const struct reading *reading, struct crontab *ret,
                                   size_t *inout_lost)
{
    struct parse_error err = {0};
    enum status st = crontab_import(text->text, text->length, options, reading->zones, ret, &err);
    if (st == E_INVALID || st == E_TOO_LARGE) {
        tr_parsed(err.message, sizeof(err.message));
        cli_error("%s: %s", place, err.message);
        return EXIT_INVALID;
    }
    if (st == OK && inout_lost)
        *inout_lost += tell_notes(place, ret);
    return cli_fail(st);
}

static enum exit_code import_text(struct source *source, const char *place,
                                  const struct strbuf *text)
{
    struct crontab crontab;
    struct crontab_options options = {
        .system = source->request->system,
        .user = source->request->system ? NULL : source->user,
        .default_tz = source->reading->default_tz.text,
        .mail_channel = source->request->mail_channel,
    };
    crontab_init(&crontab);
    enum exit_code code =
        crontab_source_text(place, text, &options, source->reading, &crontab, &source->lost);
    if (code == EXIT_OK)
        code = cli_fail(take_over(source->request->prefix, source->jobs, &crontab.jobs));
    crontab_release(&crontab);
    return code;
}

static enum exit_code import_file(struct source *source, const char *path)
{
    struct strbuf text;
    strbuf_init(&text);
    enum exit_code code = input_file_read(path, &text);
    if (code == EXIT_OK)
        code = import_text(source, strcmp(path, "-") == 0 ? "stdin" : path, &text);
    strbuf_release(&text);
    return code;
}

int crontab_is_system(const struct dirent *entry)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    return entry->d_name[strspn(entry->d_name, letters)] == '\0';
}

int crontab_is_user(const struct dirent *entry)
{
    const char *name = entry->d_name;
    return name[0] != '.' && !strpbrk(name, "~#") && strncmp(name, "tmp.", 4) != 0;
}

/* A file that can't be read does not keep the others from being read. */
static enum exit_code import_folder(struct source *source, const char *folder, bool is_spool)
{
    struct dirent **entries = NULL;
    enum exit_code worst = EXIT_OK;
    int count =
        scandir(folder, &entries, is_spool ? crontab_is_user : crontab_is_system, alphasort);
    if (count < 0) {
        cli_error("can't read %s: %m", folder);
        return EXIT_ERROR;
    }
    for (int i = 0; i < count; i++) {
        struct strbuf path;
        struct stat info;
        strbuf_init(&path);
        strbuf_addf(&path, "%s/%s", folder, entries[i]->d_name);
        if (stat(path.text, &info) == 0 && S_ISREG(info.st_mode)) {
            source->user = is_spool ? entries[i]->d_name : source->request->user;
            enum exit_code code = import_file(source, path.text);
            worst = code == EXIT_OK ? worst : code;
        }
        strbuf_release(&path);
        free(entries[i]);
    }
    free(entries);
    return worst;
}

static enum exit_code import_system(struct source *source)
{
    enum exit_code worst = EXIT_OK;
    if (access("/etc/crontab", F_OK) == 0)
        worst = import_file(source, "/etc/crontab");
    enum exit_code code =
        access("/etc/cron.d", F_OK) == 0 ? import_folder(source, "/etc/cron.d", false) : EXIT_OK;
    return code == EXIT_OK ? worst : code;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static enum exit_code import_user(struct source *source)
{
    struct strbuf text;
    strbuf_init(&text);
    enum exit_code code = crontab_read(NULL, source->request->user, &text);
    if (code == EXIT_OK)
        code = import_text(source, "crontab", &text);
    strbuf_release(&text);
    return code;
}

/* Read as a user's crontab, such a line would run a command named like its user. */
static void warn_of_system_file(const char *file)
{
    static const char folder[] = "/etc/cron.d/";
    if (strcmp(file, "/etc/crontab") == 0 || strncmp(file, folder, strlen(folder)) == 0) {
        fprintf(stderr, tr("warning: lines in %s name a user before the command: add --system"),
                file);
        fputc('\n', stderr);
    }
}

/* The name of a folder does not tell how its files are to be read: those of a spool are a user's
 * each, those of a folder like /etc/cron.d have the user in each line. */
static enum exit_code import_given_folder(struct source *source)
{
    const struct crontab_request *request = source->request;
    if (!request->system && !request->user)
        cli_note("the files of %s are taken for crontabs of the users that they are named after; "
                 "--system is for lines with a user, as in /etc/cron.d",
                 request->file);
    return import_folder(source, request->file, !request->system && !request->user);
}

enum exit_code crontab_source_read(const struct crontab_request *request,
                                   const struct reading *reading, struct job_list *jobs,
                                   size_t *ret_lost)
{
    struct source source = {
        .request = request, .reading = reading, .jobs = jobs, .user = request->user};
    bool is_many = request->file && is_folder(request->file);
    if (request->file && !request->system && !is_many)
        warn_of_system_file(request->file);
    enum exit_code code = is_many           ? import_given_folder(&source)
                          : request->file   ? import_file(&source, request->file)
                          : request->system ? import_system(&source)
                                            : import_user(&source);
    *ret_lost = source.lost;
    return code;
}
