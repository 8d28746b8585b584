/* peal import: jobs from a crontab, or from the listing of another program. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/batch/batch.h"
#include "crontab/shadow.h"
#include "definition/job_fields.h"
#include "facade/facade_dkron_import.h"
#include "foreign/cronjob.h"
#include "foreign/xxl.h"
#include "jobs/documents/files_import.h"
#include "jobs/foreign/crontab_source.h"
#include "jobs/foreign/fleet_source.h"
#include "jobs/foreign/foreign_source.h"
#include "jobs/foreign/systemd_source.h"
#include "text/tr.h"

enum { PREFIX_MAX = 64 };

struct request {
    struct request_base base;
    struct crontab_request from;
    bool is_user; /* units of a user's own manager */
    bool shadow;  /* of a crontab that still runs */
    bool apply, replace;
};

static enum exit_code print_yaml(const struct job_list *jobs)
{
    struct strbuf yaml;
    enum status st = OK;
    strbuf_init(&yaml);
    for (size_t i = 0; i < jobs->count && st == OK; i++) {
        strbuf_truncate(&yaml, 0);
        st = job_encode_yaml(jobs->items[i], &yaml);
        if (st == OK)
            printf("%s%s", i ? "---\n" : "", yaml.text);
    }
    strbuf_release(&yaml);
    return cli_fail(st);
}

static void refuse_change(void *context, const char *name, const char *result, const json_t *error)
{
    enum exit_code *code = context;
    (void)error;
    if (strcmp(result, "changed") != 0)
        return;
    cli_error("there is another job named %s", name);
    *code = EXIT_CONFLICT;
}

/* An import must not overwrite a different job of the same name. */
static enum exit_code refuse_changes(struct client *client, const struct batch *batch)
{
    json_t *answers;
    enum exit_code code = batch_send(client, batch, true, &answers);
    if (code != EXIT_OK)
        return code;
    batch_each(batch, answers, refuse_change, &code);
    if (code == EXIT_CONFLICT)
        fprintf(stderr, "%s\n", tr("nothing was changed; --replace changes them"));
    json_decref(answers);
    return code;
}

static enum exit_code apply(struct client *client, const struct request *request,
                            const struct job_list *jobs)
{
    struct batch batch;
    enum exit_code code = batch_init(&batch, jobs);
    if (code == EXIT_OK && !request->replace)
        code = refuse_changes(client, &batch);
    if (code == EXIT_OK)
        code = batch_apply(client, &batch, false, NULL);
    batch_release(&batch);
    return code;
}

/* NULL: names may start so. */
static const char *prefix_complaint(const char *prefix)
{
    char name[PREFIX_MAX + 2];
    if (!prefix)
        return NULL;
    if (strlen(prefix) > PREFIX_MAX)
        return TR("is too long");
    snprintf(name, sizeof(name), "%sx", prefix);
    return job_name_complaint(name);
}

/* Paused, and compared with cron's log. */
static enum exit_code make_shadows(const struct job_list *jobs)
{
    enum exit_code code = EXIT_OK;
    for (size_t i = 0; i < jobs->count && code == EXIT_OK; i++) {
        jobs->items[i]->paused = true;
        code = cli_fail(job_pairs_add(&jobs->items[i]->labels, SHADOW_LABEL, SHADOW_CRON));
    }
    return code;
}

static enum exit_code read_crontab(const struct request *request, const struct reading *reading,
                                   struct job_list *jobs, size_t *ret_lost)
{
    enum exit_code code = crontab_source_read(&request->from, reading, jobs, ret_lost);
    return code == EXIT_OK && request->shadow ? make_shadows(jobs) : code;
}

static enum exit_code read_gocron(const struct request *request, const struct reading *reading,
                                  struct job_list *jobs, size_t *ret_lost)
{
    const struct foreign_request from = {request->from.file, request->from.prefix, gocron_import};
    return foreign_source_read(&from, reading, jobs, ret_lost);
}

static enum exit_code read_dkron(const struct request *request, const struct reading *reading,
                                 struct job_list *jobs, size_t *ret_lost)
{
    const struct foreign_request from = {request->from.file, request->from.prefix, dkron_import};
    return foreign_source_read(&from, reading, jobs, ret_lost);
}

static enum exit_code read_cronjobs(const struct request *request, const struct reading *reading,
                                    struct job_list *jobs, size_t *ret_lost)
{
    const struct foreign_request from = {request->from.file, request->from.prefix, cronjob_import};
    return foreign_source_read(&from, reading, jobs, ret_lost);
}

static enum exit_code read_xxl(const struct request *request, const struct reading *reading,
                               struct job_list *jobs, size_t *ret_lost)
{
    const struct foreign_request from = {request->from.file, request->from.prefix, xxl_import};
    return foreign_source_read(&from, reading, jobs, ret_lost);
}

static enum exit_code read_timers(const struct request *request, const struct reading *reading,
                                  struct job_list *jobs, size_t *ret_lost)
{
    const struct systemd_request from = {.file = request->from.file,
                                         .prefix = request->from.prefix,
                                         .user = request->from.user,
                                         .is_user = request->is_user};
    return systemd_source_read(&from, reading, jobs, ret_lost);
}

static enum exit_code read_fleet(const struct request *request, const struct reading *reading,
                                 struct job_list *jobs, size_t *ret_lost)
{
    enum exit_code code =
        fleet_source_read(request->from.file, request->from.prefix, reading, jobs, ret_lost);
    return code == EXIT_OK && request->shadow ? make_shadows(jobs) : code;
}

/* Where the jobs come from. */
struct origin {
    enum exit_code (*read)(const struct request *request, const struct reading *reading,
                           struct job_list *jobs, size_t *ret_lost);
    bool has_lines; /* else tasks */
};

/* Without --apply no agent is needed. */
static enum exit_code import_from(const struct request *request, const struct origin *origin)
{
    struct client *client = NULL;
    struct reading reading = {0};
    struct job_list jobs;
    size_t lost = 0;
    const char *complaint = prefix_complaint(request->from.prefix);
    if (complaint)
        return cli_usage(request->base.command, "--prefix: a name that starts with \"%s\" %s",
                         request->from.prefix, tr(complaint));
    job_list_init(&jobs);
    enum exit_code code = request->apply ? client_open(request->base.data, &client) : EXIT_OK;
    if (code == EXIT_OK)
        code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = origin->read(request, &reading, &jobs, &lost);
    if (code == EXIT_OK && request->apply)
        code = apply(client, request, &jobs);
    else if (code == EXIT_OK)
        code = print_yaml(&jobs);
    if (code == EXIT_OK && !request->apply) {
        fprintf(stderr, tr("%zu job%s; nothing was changed, --apply adds them"), jobs.count,
                jobs.count == 1 ? "" : "s");
        fputc('\n', stderr);
    }
    if (code == EXIT_OK && lost) {
        if (origin->has_lines)
            cli_error("%zu line%s could not be read", lost, lost == 1 ? "" : "s");
        else
            cli_error("%zu task%s could not be imported", lost, lost == 1 ? "" : "s");
        code = EXIT_INVALID;
    }
    job_list_release(&jobs);
    reading_release(&reading);
    client_close(client);
    return code;
}

static enum exit_code import_crontab(void *place)
{
    static const struct origin origin = {read_crontab, .has_lines = true};
    const struct request *request = place;
    if (request->from.user && request->from.system)
        return cli_usage(request->base.command, "--user and --system exclude each other");
    return import_from(request, &origin);
}

static enum exit_code import_gocron(void *place)
{
    static const struct origin origin = {read_gocron, .has_lines = false};
    return import_from(place, &origin);
}

static enum exit_code import_dkron(void *place)
{
    static const struct origin origin = {read_dkron, .has_lines = false};
    return import_from(place, &origin);
}

static enum exit_code import_cronjobs(void *place)
{
    static const struct origin origin = {read_cronjobs, .has_lines = false};
    return import_from(place, &origin);
}

static enum exit_code import_xxl(void *place)
{
    static const struct origin origin = {read_xxl, .has_lines = false};
    return import_from(place, &origin);
}

static enum exit_code import_timers(void *place)
{
    static const struct origin origin = {read_timers, .has_lines = false};
    return import_from(place, &origin);
}

static enum exit_code import_fleet(void *place)
{
    static const struct origin origin = {read_fleet, .has_lines = true};
    return import_from(place, &origin);
}

/* What `peal export` has written; names stay as they are, since others name them. */
static enum exit_code import_yaml(void *place)
{
    const struct request *request = place;
    struct client *client = NULL;
    enum exit_code code = request->apply ? client_open(request->base.data, &client) : EXIT_OK;
    const struct files_import import = {request->from.file, client, request->replace};
    if (code == EXIT_OK)
        code = files_import(&import);
    client_close(client);
    return code;
}

static const struct option_row import_options[] = {
    OPTION_TEXT(request, from.prefix, 0, "prefix", "TEXT",
                "put in front of the names of the jobs, like team/"),
    OPTION_FLAG(request, apply, 0, "apply", "add the jobs"),
    OPTION_FLAG(request, replace, 0, "replace", "replace jobs that have the same name"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

/* The answer of another program, as a file. */
#define LISTING ROWS(ARGUMENT(request, from.file, "FILE|-", .complete = COMPLETE_FILES))

static const struct command subcommands[] = {
    {
        .name = "import crontab",
        .summary = "show the jobs of a crontab, or add them",
        .arguments = ROWS(ARGUMENT(request, from.file, "FILE|DIR", .is_optional = true,
                                   .complete = COMPLETE_FILES)),
        .options = ROWS(
            OPTION_TEXT(request, from.user, 0, "user", "USER",
                        "the crontab of this user; with FILE, the user of its jobs"),
            OPTION_FLAG(request, from.system, 0, "system", "lines have a user in the sixth field"),
            OPTION_TEXT(request, from.mail_channel, 0, "mail-channel", "NAME",
                        "the channel that jobs below a MAILTO notify",
                        .complete = COMPLETE_CHANNELS),
            OPTION_FLAG(request, shadow, 0, "shadow",
                        "paused, and compared with cron's log by peal shadow"),
            OPTION_GROUP(request, base, import_options)),
        .too_many = "one file at a time",
        .run = import_crontab,
    },
    {
        .name = "import fleet",
        .summary = "show the jobs of the crontabs of many machines, or add them",
        .arguments = ROWS(ARGUMENT(request, from.file, "DIR", .complete = COMPLETE_FILES)),
        .options = ROWS(OPTION_FLAG(request, shadow, 0, "shadow",
                                    "paused, and compared with the logs of cron by peal shadow"),
                        OPTION_GROUP(request, base, import_options)),
        .too_few = "which folder? One that collect-crontabs has made, with a folder for each host",
        .too_many = "one folder at a time",
        .run = import_fleet,
    },
    {
        .name = "import gocron",
        .summary = "show the jobs of gocron's tasks, or add them",
        .arguments = LISTING,
        .options = import_options,
        .too_few =
            "which file? Of gocron's answer to GET /api/task?page_size=1000 or of a dump, or - for "
            "stdin",
        .too_many = "one file at a time",
        .run = import_gocron,
    },
    {
        .name = "import dkron",
        .summary = "show the jobs of dkron, or add them",
        .arguments = LISTING,
        .options = import_options,
        .too_few = "which file? Of dkron's answer to GET /v1/jobs, or - for stdin",
        .too_many = "one file at a time",
        .run = import_dkron,
    },
    {
        .name = "import kubernetes",
        .summary = "show the jobs of CronJobs, or add them",
        .arguments = LISTING,
        .options = import_options,
        .too_few = "which file? What `kubectl get cronjobs -o yaml` prints, or - for stdin",
        .too_many = "one file at a time",
        .run = import_cronjobs,
    },
    {
        .name = "import systemd",
        .summary = "show the jobs of systemd's timers, or add them",
        .arguments = ROWS(ARGUMENT(request, from.file, "FILE|DIR|-", .complete = COMPLETE_FILES)),
        .options =
            ROWS(OPTION_TEXT(request, from.user, 0, "user", "USER",
                             "the user of services that name none"),
                 OPTION_FLAG(request, is_user, 0, "user-units", "units of a user's own systemd"),
                 OPTION_GROUP(request, base, import_options)),
        .too_few =
            "which timers? A .timer, a folder of units, or - for what `systemctl cat` prints",
        .too_many = "one file at a time",
        .run = import_timers,
    },
    {
        .name = "import yaml",
        .summary = "show what a file of peal export defines, or add it",
        .notes = "Jobs, groups, calendars, channels and maintenance of a file, a folder or stdin, "
                 "YAML or JSON, as peal export writes them. --apply adds all of it, or nothing: "
                 "what is there already and is another one is left alone, unless --replace is "
                 "given. Jobs are not marked as those of peal apply are.",
        .arguments = ROWS(ARGUMENT(request, from.file, "FILE|DIR|-", .complete = COMPLETE_FILES)),
        .options = ROWS(OPTION_FLAG(request, apply, 0, "apply", "add it"),
                        OPTION_FLAG(request, replace, 0, "replace",
                                    "replace what has the same name and is another one"),
                        OPTION_GROUP(request, base, client_options)),
        .too_few = "which file? One that peal export yaml has written, or - for stdin",
        .too_many = "one file at a time",
        .run = import_yaml,
    },
    {
        .name = "import xxl-job",
        .summary = "show the jobs of XXL-JOB's tables, or add them",
        .arguments = LISTING,
        .options = import_options,
        .too_few = "which file? Rows of xxl_job_info as SQL, CSV or JSON, or - for stdin",
        .too_many = "one file at a time",
        .run = import_xxl,
    },
    {0},
};

const struct command cmd_import = {
    .name = "import",
    .summary = "jobs from a crontab, systemd, Kubernetes, dkron, gocron or XXL-JOB",
    .examples =
        EXAMPLES({"peal import crontab", "your own crontab; only shows the jobs"},
                 {"peal import crontab --apply", "adds the jobs"},
                 {"peal import crontab /etc/crontab --system", NULL},
                 {"peal import crontab --system", "/etc/crontab and /etc/cron.d"},
                 {"peal import crontab /mnt/old/etc/cron.d --system --prefix old/", NULL},
                 {"peal import crontab /var/spool/cron/crontabs --prefix users/", NULL},
                 {"peal import gocron tasks.json --prefix old/",
                  "the answer of gocron's GET /api/task?page_size=1000"},
                 {"mysqldump xxl_job xxl_job_info xxl_job_group | peal import xxl-job -", NULL},
                 {"curl DKRON/v1/jobs | peal import dkron - --apply", NULL},
                 {"kubectl get cronjobs -o yaml | peal import kubernetes -", NULL},
                 {"peal import systemd /etc/systemd/system/backup.timer", NULL},
                 {"systemctl cat '*.timer' '*.service' | peal import systemd -", NULL}),
    .notes = "Prints the jobs as YAML on stdout, and on stderr what can't be converted. The "
             "crontab itself is never changed: remove its lines once the jobs run here. A FILE of "
             "- is stdin. The files of a folder are crontabs of the users that they are named "
             "after, as in a spool, unless --system or --user is given. A listing of another "
             "program is JSON, YAML of Kubernetes, or rows of tables as SQL or CSV; "
             "docs/FROM-OTHERS.md says what becomes of "
             "each field. Exit status 6: "
             "some lines, or tasks, could not be read.",
    .options = client_options,
    .too_few =
        "what to import? peal import yaml, crontab, fleet, systemd, kubernetes, dkron, gocron or "
        "xxl-job",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
