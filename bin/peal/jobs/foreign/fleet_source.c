#include "jobs/foreign/fleet_source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "crontab/fleet.h"
#include "definition/selector.h"
#include "jobs/foreign/crontab_source.h"
#include "jobs/input_file.h"
#include "text/tr.h"

struct source {
    const struct reading *reading;
    struct fleet fleet;
    const char *host;
    struct strbuf zone;
    size_t lost;
    bool is_quiet; /* nothing is told */
    const char *folder;
};

static bool is_regular(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* ---- a crontab of a host ---- */

static enum exit_code take_jobs(struct source *source, const char *path, struct crontab *crontab)
{
    enum status st = OK;
    for (size_t i = 0; i < crontab->jobs.count && st == OK; i++) {
        struct job *job = crontab->jobs.items[i];
        bool is_twice = false;
        crontab->jobs.items[i] = NULL;
        st = fleet_add(&source->fleet, source->host, job, &is_twice);
        if (st != OK || !is_twice || source->is_quiet)
            continue;
        fprintf(stderr, "%s:%d: ", path, crontab->lines[i]);
        fputs(tr("warning: the host has this job already: one is enough"), stderr);
        fputc('\n', stderr);
    }
    return cli_fail(st);
}

/* `user` NULL: each line names one. */
static enum exit_code read_text(struct source *source, const char *path, const struct strbuf *text,
                                const char *user, bool is_anacron)
{
    struct crontab crontab;
    const struct crontab_options options = {
        .system = !user, .user = user, .default_tz = source->zone.text};
    crontab_init(&crontab);
    enum exit_code code = crontab_source_text(path, text, &options, source->reading, &crontab,
                                              source->is_quiet ? NULL : &source->lost);
    for (size_t i = 0; i < crontab.jobs.count && is_anacron; i++) {
        crontab.jobs.items[i]->catch_up = CATCH_UP_LAST; /* what anacron is for */
        crontab.jobs.items[i]->overlap = OVERLAP_SKIP;
    }
    if (code == EXIT_OK)
        code = take_jobs(source, path, &crontab);
    crontab_release(&crontab);
    return code;
}

static enum exit_code read_file(struct source *source, const char *path, const char *user,
                                bool is_anacron)
{
    struct strbuf text, plain;
    strbuf_init(&text);
    strbuf_init(&plain);
    enum exit_code code = is_regular(path) ? input_file_read(path, &text) : EXIT_OK;
    if (code == EXIT_OK && is_anacron) {
        fleet_anacrontab(text.text, text.length, &plain);
        code = cli_fail(strbuf_status(&plain));
    }
    if (code == EXIT_OK && text.length)
        code = read_text(source, path, is_anacron ? &plain : &text, user, is_anacron);
    strbuf_release(&plain);
    strbuf_release(&text);
    return code;
}

/* Its files; of users' crontabs the names are the users. */
static enum exit_code read_folder(struct source *source, const char *folder, bool is_users)
{
    struct dirent **entries = NULL;
    enum exit_code code = EXIT_OK;
    int count = scandir(folder, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        struct strbuf path;
        strbuf_init(&path);
        strbuf_addf(&path, "%s/%s", folder, entries[i]->d_name);
        bool is_read = is_users ? crontab_is_user(entries[i]) : crontab_is_system(entries[i]);
        if (code == EXIT_OK && is_read)
            code = read_file(source, path.text, is_users ? entries[i]->d_name : NULL, false);
        strbuf_release(&path);
        free(entries[i]);
    }
    free(entries);
    return code;
}

/* ---- a host ---- */

enum exit_code fleet_source_zone(const char *folder, const char *host,
                                 const struct reading *reading, struct strbuf *zone)
{
    const struct zone *found;
    struct strbuf path;
    strbuf_init(&path);
    strbuf_reset(zone);
    strbuf_addf(&path, "%s/%s/timezone", folder, host);
    enum exit_code code = is_regular(path.text) ? input_file_read(path.text, zone) : EXIT_OK;
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    strbuf_truncate(zone, strcspn(zone->text, "\r\n"));
    if (!zone->length)
        strbuf_adds(zone, reading->default_tz.text);
    if (zone_db_get(reading->zones, zone->text, &found, NULL) == OK)
        return EXIT_OK;
    cli_note("%s: unknown time zone \"%s\"; that of this machine is taken", host, zone->text);
    strbuf_reset(zone);
    strbuf_adds(zone, reading->default_tz.text);
    return EXIT_OK;
}

/* A host is a part of names, and the value of a label. */
static bool is_good_host(const char *host)
{
    char text[300];
    if (strlen(host) > 64)
        return false;
    snprintf(text, sizeof(text), "host=%s", host);
    if (strpbrk(host, ",=! ") || selector_check(text, NULL) != OK)
        return false;
    snprintf(text, sizeof(text), "%s/x", host);
    return !job_name_complaint(text);
}

static enum exit_code read_host(void *context, const char *host)
{
    struct source *source = context;
    static const struct {
        const char *name;
        bool is_folder, is_users, is_anacron;
    } parts[] = {{"crontab", false, false, false},
                 {"cron.d", true, false, false},
                 {"users", true, true, false},
                 {"anacrontab", false, false, true}};
    struct strbuf path;
    strbuf_init(&path);
    source->host = host;
    enum exit_code code = fleet_source_zone(source->folder, host, source->reading, &source->zone);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && code == EXIT_OK; i++) {
        strbuf_reset(&path);
        strbuf_addf(&path, "%s/%s/%s", source->folder, host, parts[i].name);
        code = parts[i].is_folder ? read_folder(source, path.text, parts[i].is_users)
                                  : read_file(source, path.text, NULL, parts[i].is_anacron);
    }
    strbuf_release(&path);
    return code;
}

static bool is_folder(const char *folder, const char *name)
{
    struct stat info;
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", folder, name);
    bool ret = !path.failed && lstat(path.text, &info) == 0 && S_ISDIR(info.st_mode);
    strbuf_release(&path);
    return ret;
}

enum exit_code fleet_source_hosts(const char *folder, fleet_host *take, void *context)
{
    struct dirent **entries = NULL;
    enum exit_code code = EXIT_OK;
    size_t hosts = 0;
    int count = scandir(folder, &entries, is_visible, alphasort);
    if (count < 0) {
        cli_error("can't read %s: %m", folder);
        return EXIT_NOT_FOUND;
    }
    for (int i = 0; i < count; i++) {
        const char *host = entries[i]->d_name;
        if (code == EXIT_OK && is_folder(folder, host)) {
            hosts++;
            if (is_good_host(host)) {
                code = take(context, host);
            } else {
                cli_error("%s is not a name that a label can have", host);
                code = EXIT_INVALID;
            }
        }
        free(entries[i]);
    }
    free(entries);
    if (code == EXIT_OK && !hosts) {
        cli_error("%s has no folders of hosts; collect-crontabs makes them", folder);
        code = EXIT_INVALID;
    }
    return code;
}

/* ---- the whole ---- */

static void tell_label(void *context, const char *label, const char *hosts)
{
    const struct source *source = context;
    if (!source->is_quiet)
        cli_note("the label %s is for the nodes %s", label, hosts);
}

static enum exit_code read_hosts(struct source *source, const char *prefix, struct job_list *jobs)
{
    fleet_init(&source->fleet);
    strbuf_init(&source->zone);
    enum exit_code code = fleet_source_hosts(source->folder, read_host, source);
    if (code == EXIT_OK)
        code = cli_fail(fleet_finish(&source->fleet, prefix, jobs, tell_label, source));
    return code;
}

static void release(struct source *source)
{
    fleet_release(&source->fleet);
    strbuf_release(&source->zone);
}

enum exit_code fleet_source_read(const char *folder, const char *prefix,
                                 const struct reading *reading, struct job_list *jobs,
                                 size_t *ret_lost)
{
    struct source source = {.reading = reading, .folder = folder};
    enum exit_code code = read_hosts(&source, prefix, jobs);
    if (code == EXIT_OK && jobs->count)
        cli_note("jobs of one host run on the node with the label host=HOST: peal start --label "
                 "host=HOST");
    *ret_lost = source.lost;
    release(&source);
    return code;
}

void fleet_lines_init(struct fleet_lines *lines)
{
    lines->hosts = NULL;
    job_list_init(&lines->jobs);
}

void fleet_lines_release(struct fleet_lines *lines)
{
    for (size_t i = 0; lines->hosts && i < lines->jobs.count; i++)
        free(lines->hosts[i]);
    free(lines->hosts);
    job_list_release(&lines->jobs);
    fleet_lines_init(lines);
}

static enum status note_hosts(const struct fleet *fleet, struct fleet_lines *ret)
{
    ret->hosts = calloc(ret->jobs.count + 1, sizeof(char *));
    if (!ret->hosts)
        return E_NOMEM;
    for (size_t i = 0; i < ret->jobs.count; i++) {
        ret->hosts[i] = strdup(fleet_hosts_of(fleet, i));
        if (!ret->hosts[i])
            return E_NOMEM;
    }
    return OK;
}

enum exit_code fleet_source_lines(const char *folder, const struct reading *reading,
                                  struct fleet_lines *ret)
{
    struct source source = {.reading = reading, .folder = folder, .is_quiet = true};
    enum exit_code code = read_hosts(&source, NULL, &ret->jobs);
    if (code == EXIT_OK)
        code = cli_fail(note_hosts(&source.fleet, ret));
    release(&source);
    return code;
}
