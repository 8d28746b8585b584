#include "foreign/cronjob_export.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_internal.h"
#include "document/json_quote.h"
#include "export/export.h"
#include "timestamp.h"

static const struct export_target target = {"Kubernetes", CARRIES_TIMEOUT | CARRIES_DEADLINE |
                                                              CARRIES_RETRIES | CARRIES_REPLACE |
                                                              CARRIES_ALLOW};

enum { GRACE_DEFAULT_S = 30 };

void cronjob_name(const char *job, struct strbuf *out)
{
    size_t begin = out->length;
    for (; *job && out->length - begin < CRONJOB_NAME_MAX; job++) {
        unsigned char c = (unsigned char)*job;
        bool is_good = c < 0x80 && isalnum(c);
        if (is_good)
            strbuf_addc(out, (char)tolower(c));
        else if (out->length > begin && out->text[out->length - 1] != '-')
            strbuf_addc(out, '-');
    }
    while (out->length > begin && out->text[out->length - 1] == '-')
        strbuf_truncate(out, out->length - 1);
    if (out->length == begin)
        strbuf_adds(out, "job");
}

/* ---- the container ---- */

/* What runs: a container's own words, or those of the job in the image that was asked for. */
struct container {
    const char *image, *folder, *memory, *cpus, *entrypoint;
    char *const *words; /* behind the image */
};

/* The options that an import has written. */
static bool take_option(struct container *ret, const char *name, const char *value)
{
    if (strcmp(name, "--entrypoint") == 0)
        ret->entrypoint = value;
    else if (strcmp(name, "--workdir") == 0)
        ret->folder = value;
    else if (strcmp(name, "--memory") == 0)
        ret->memory = value;
    else if (strcmp(name, "--cpus") == 0)
        ret->cpus = value;
    else
        return strcmp(name, "--env") == 0;
    return true;
}

/* A command of peal-container that `podman run` or `docker run` starts with options that a CronJob
 * has, too. */
static bool read_container(char *const *words, struct container *ret)
{
    if (!words || !words[0] || strcmp(words[0], "peal-container") != 0 || !words[1] || !words[2] ||
        strcmp(words[2], "run") != 0)
        return false;
    for (words += 3; *words && **words == '-'; words++) {
        if (strcmp(*words, "--rm") == 0)
            continue;
        if (!words[1] || !take_option(ret, words[0], words[1]))
            return false;
        words++;
    }
    ret->image = *words;
    ret->words = *words ? words + 1 : words;
    return ret->image != NULL;
}

static void add_text(struct strbuf *out, const char *text)
{
    if (!json_quote(out, text))
        strbuf_adds(out, "\"\"");
}

/* "$(" is Kubernetes' own, and "$$(" a plain one. */
static void add_word(struct strbuf *out, const char *word)
{
    struct strbuf plain;
    strbuf_init(&plain);
    for (; *word; word++) {
        if (word[0] == '$' && word[1] == '(')
            strbuf_addc(&plain, '$');
        strbuf_addc(&plain, *word);
    }
    add_text(out, plain.text);
    out->failed = out->failed || plain.failed;
    strbuf_release(&plain);
}

static void add_words(struct strbuf *out, const char *field, const char *first, char *const *words)
{
    strbuf_addf(out, "              %s: [", field);
    if (first)
        add_word(out, first);
    for (size_t i = 0; words && words[i]; i++) {
        strbuf_adds(out, first || i ? ", " : "");
        add_word(out, words[i]);
    }
    strbuf_adds(out, "]\n");
}

/* "128m" of podman is 128Mi. */
static void add_resources(struct strbuf *out, const struct container *container)
{
    if (!container->memory && !container->cpus)
        return;
    strbuf_adds(out, "              resources:\n                limits: {");
    if (container->memory) {
        size_t digits = strspn(container->memory, "0123456789");
        char unit = (char)toupper((unsigned char)container->memory[digits]);
        strbuf_addf(out, "memory: \"%.*s", (int)digits, container->memory);
        if (unit && unit != 'B')
            strbuf_addf(out, "%ci", unit);
        strbuf_adds(out, container->cpus ? "\", " : "\"");
    }
    if (container->cpus) {
        strbuf_adds(out, "cpu: ");
        add_text(out, container->cpus);
    }
    strbuf_adds(out, "}\n");
}

static void add_env(struct strbuf *out, const struct job *job)
{
    if (job->env.count)
        strbuf_adds(out, "              env:\n");
    for (size_t i = 0; i < job->env.count; i++) {
        strbuf_adds(out, "                - {name: ");
        add_text(out, job->env.items[i].name);
        strbuf_adds(out, ", value: ");
        add_word(out, job->env.items[i].value);
        strbuf_adds(out, "}\n");
    }
}

static void add_container(struct strbuf *out, const struct job *job, const char *image)
{
    struct container container = {.folder = job->cwd};
    bool is_container = read_container(job->command, &container);
    strbuf_adds(out, "          containers:\n            - name: job\n              image: ");
    add_text(out, is_container ? container.image : image);
    strbuf_addc(out, '\n');
    if (is_container && container.entrypoint)
        add_words(out, "command", container.entrypoint, NULL);
    if (is_container && container.words[0])
        add_words(out, "args", NULL, container.words);
    if (!is_container && job->kind == JOB_SHELL) {
        char *const words[] = {"-c", job->script, NULL};
        add_words(out, "command", "/bin/sh", words);
    } else if (!is_container) {
        add_words(out, "command", NULL, job->command);
    }
    if (container.folder) {
        strbuf_adds(out, "              workingDir: ");
        add_text(out, container.folder);
        strbuf_addc(out, '\n');
    }
    add_resources(out, &container);
    add_env(out, job);
}

/* ---- the schedule ---- */

/* Five fields that mean the same by Kubernetes' rules. NULL: they are in *out; else the reason. */
static const char *print_schedule(const struct schedule *schedule,
                                  const struct cronjob_options *options, struct strbuf *out,
                                  struct export_proof *ret_proof)
{
    static const char either[] =
        "Kubernetes takes either of both day fields, where here both must match";
    struct schedule_options as_k8s = schedule_options_default();
    struct schedule *theirs = NULL;
    int blanks = 0;
    size_t begin = out->length;
    switch (schedule_kind(schedule)) {
    case SCHEDULE_CRON:
        break;
    case SCHEDULE_EVERY:
        return "Kubernetes has no fixed rate";
    case SCHEDULE_AFTER:
        return "Kubernetes can't count from the end of the last run";
    case SCHEDULE_AT:
        return "Kubernetes has no single instant";
    case SCHEDULE_REBOOT:
        return "Kubernetes knows no boot of a node";
    case SCHEDULE_MANUAL:
        return "it runs only when asked";
    }
    cron_expr_print(schedule_cron(schedule), out);
    for (const char *c = out->text + begin; *c; c++)
        blanks += *c == ' ';
    if (blanks != 4)
        return "Kubernetes has neither seconds nor years";
    if (strchr(out->text + begin, '+'))
        return either;
    if (strpbrk(out->text + begin, "LW#"))
        return "Kubernetes has no L, W and #";
    as_k8s.profile = CRON_K8S;
    as_k8s.default_tz = zone_name(schedule_zone(schedule));
    enum status st = strbuf_status(out);
    if (st == OK)
        st = schedule_parse(out->text + begin, &as_k8s, options->zones, &theirs, NULL);
    if (st != OK)
        return "Kubernetes has no such days";
    *ret_proof = export_compare(schedule, &theirs, 1, options->from_s);
    schedule_free(theirs);
    return ret_proof->is_equal || ret_proof->is_by_clock ? NULL : either;
}

/* ---- the document ---- */

static void add_spec(struct strbuf *out, const struct job *job, const char *schedule,
                     const struct zone *zone)
{
    static const char *const policies[] = {[OVERLAP_SKIP] = "Forbid",
                                           [OVERLAP_ALLOW] = "Allow",
                                           [OVERLAP_QUEUE] = "Forbid",
                                           [OVERLAP_REPLACE] = "Replace"};
    strbuf_addf(out, "spec:\n  schedule: \"%s\"\n  timeZone: \"%s\"\n", schedule, zone_name(zone));
    strbuf_addf(out, "  concurrencyPolicy: %s\n", policies[job->overlap]);
    if (job->deadline_s)
        strbuf_addf(out, "  startingDeadlineSeconds: %lld\n", (long long)job->deadline_s);
    if (job->paused)
        strbuf_adds(out, "  suspend: true\n");
    strbuf_addf(out, "  jobTemplate:\n    spec:\n      backoffLimit: %d\n", job->retries.count);
    if (job->timeout_s)
        strbuf_addf(out, "      activeDeadlineSeconds: %lld\n", (long long)job->timeout_s);
    strbuf_adds(out, "      template:\n        spec:\n          restartPolicy: Never\n");
    if (job->grace_s != GRACE_DEFAULT_S)
        strbuf_addf(out, "          terminationGracePeriodSeconds: %lld\n",
                    (long long)job->grace_s);
}

static const char *complaint(const struct job *job, const char *image)
{
    struct container container = {.image = NULL};
    if (export_complaint(job))
        return export_complaint(job);
    if (job->after_count)
        return "it waits for other jobs";
    if (job->stdin_text)
        return "it has a standard input";
    if (!image && !read_container(job->command, &container))
        return "it is no container; name an image to run it in with --image";
    return NULL;
}

static enum status export_schedule(const struct job *job, size_t index, const char *name,
                                   const struct cronjob_options *options, struct strbuf *out)
{
    struct schedule *schedule = NULL;
    struct export_proof proof = {.is_equal = true};
    struct strbuf text;
    struct job plain = *job; /* without what moves its ticks otherwise */
    plain.start_s = plain.end_s = TIME_UNSET;
    enum status st = job_schedule_parse(&plain, index, false, options->zones, &schedule, NULL);
    if (st != OK)
        return st;
    strbuf_init(&text);
    const char *why = complaint(job, options->image);
    why = why ? why : print_schedule(schedule, options, &text, &proof);
    strbuf_addf(out, "---\n# %s\n", job->name);
    if (why) {
        strbuf_addf(out, "# left out: %s\n", why);
        export_comment(job->schedules[index], out);
    } else {
        export_remarks(job, &target, out);
        if (job->user)
            strbuf_adds(out, "# not in Kubernetes: user\n");
        if (!proof.is_equal) {
            strbuf_adds(out, "# differs where the clock is changed, first at ");
            timestamp_print_local(proof.differs_s, schedule_zone(schedule), out);
            strbuf_addc(out, '\n');
        }
        strbuf_addf(out, "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: %s", name);
        if (index)
            strbuf_addf(out, "-%zu", index + 1);
        strbuf_addf(out, "\n%s%s%s", options->space ? "  namespace: " : "",
                    options->space ? options->space : "", options->space ? "\n" : "");
        add_spec(out, job, text.text, schedule_zone(schedule));
        add_container(out, job, options->image);
    }
    st = strbuf_status(&text);
    strbuf_release(&text);
    schedule_free(schedule);
    return st == OK ? strbuf_status(out) : st;
}

enum status cronjob_export(const struct job *job, const char *name,
                           const struct cronjob_options *options, struct strbuf *out)
{
    enum status st = OK;
    if (job->after_count)
        strbuf_addf(out, "---\n# %s\n# left out: %s\n", job->name, complaint(job, options->image));
    for (size_t i = 0; i < job->schedule_count && st == OK; i++)
        st = export_schedule(job, i, name, options, out);
    return st == OK ? strbuf_status(out) : st;
}
