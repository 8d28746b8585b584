/* peal next: when schedules are due. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/when.h"
#include "client/client.h"
#include "fires.h"
#include "jobs/job_next.h"
#include "jobs/schedule_args.h"
#include "print/next_print.h"
#include "text/tr.h"
#include "text/tr_parsed.h"
#include "timestamp.h"
#include "words/explain.h"

enum { COUNT_DEFAULT = 10, COUNT_MAX = 10000 };

/* What was asked for. Times stay text until the zone that they are local to is known. */
struct request {
    struct request_base base; /* the agent, for the name of a job */
    struct schedule_args schedule;
    struct words specs;
    const char *from, *until, *start, *end;
    int64_t count; /* 0: not given */
    int64_t jitter_s;
    enum dst_policy dst;
    enum next_output output;
};

static bool take_time(const struct command *self, const char *option, const char *text,
                      const struct zone *zone, int64_t now_s, int64_t *ret_s)
{
    struct parse_error err;
    if (strcmp(text, "now") == 0) {
        *ret_s = now_s;
        return true;
    }
    if (timestamp_parse(text, 1, zone, ret_s, &err) == OK)
        return true;
    tr_parsed(err.message, sizeof(err.message));
    cli_usage(self, "%s: %s", option, err.message);
    return false;
}

/* The times of the request, local ones in the zone of the first schedule. */
static bool take_times(const struct command *self, const struct request *request,
                       const struct zone *zone, struct schedule_reader *reader,
                       struct next_list *list)
{
    struct schedule_options *window = &reader->options;
    const struct {
        const char *option, *text;
        int64_t *ret_s;
    } times[] = {
        {"--from", request->from, &list->from_s},
        {"--until", request->until, &list->until_s},
        {"--start", request->start, &window->start_s},
        {"--end", request->end, &window->end_s},
    };
    int64_t now_s = time(NULL);
    list->from_s = now_s;
    list->until_s = NEVER;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (times[i].text &&
            !take_time(self, times[i].option, times[i].text, zone, now_s, times[i].ret_s))
            return false;
    }
    if (request->start && request->end && window->start_s >= window->end_s) {
        cli_usage(self, "--start must be before --end");
        return false;
    }
    if (list->until_s < list->from_s) {
        cli_usage(self, "--until is before --from");
        return false;
    }
    return true;
}

/* Every bad spec is reported, not just the first. */
static enum exit_code parse_all(const struct specs *specs, const struct schedule_reader *reader,
                                struct schedule_set *set)
{
    enum exit_code worst = EXIT_OK;
    for (size_t i = 0; i < specs->count; i++) {
        struct schedule *schedule;
        enum exit_code code = spec_parse(specs, &specs->items[i], reader, &schedule);
        if (code != EXIT_OK) {
            worst = code;
            continue;
        }
        enum status st = schedule_set_add(set, schedule);
        if (st != OK)
            return cli_fail(st);
    }
    return worst;
}

/* The zone of a local time on the command line is that of the schedule, which is known once it is
 * parsed; the window must be known before. So the specs are parsed twice. */
static enum exit_code read_schedules(const struct request *request, struct schedule_reader *reader,
                                     struct next_list *list)
{
    struct schedule_set unbounded;
    schedule_set_init(&unbounded);
    enum exit_code code = parse_all(&list->specs, reader, &unbounded);
    if (code == EXIT_OK && !take_times(request->base.command, request,
                                       schedule_zone(unbounded.items[0]), reader, list))
        code = EXIT_USAGE;
    schedule_set_release(&unbounded);
    return code == EXIT_OK ? parse_all(&list->specs, reader, &list->set) : code;
}

static void note(const char *place, const char *text)
{
    fprintf(stderr, "%s%s%s\n", place, tr("note: "), tr(text));
}

/* Notes on what the list can't show: values that depend on a job, and schedules without ticks. */
static void print_notes(const struct schedule *schedule, const char *place, bool job_named)
{
    const struct cron_expr *cron = NULL;
    switch (schedule_kind(schedule)) {
    case SCHEDULE_CRON:
        cron = schedule_cron(schedule);
        break;
    case SCHEDULE_AFTER:
        note(place, TR("the first run; the next ones count from the end of each run"));
        break;
    case SCHEDULE_REBOOT:
        note(place, TR("due when the node starts, at no time that could be listed"));
        break;
    case SCHEDULE_MANUAL:
        note(place, TR("never due by itself, only when it is triggered"));
        break;
    case SCHEDULE_EVERY:
    case SCHEDULE_AT:
        break;
    }
    if (cron && cron->notes & CRON_NOTE_SEEDED_NAME && !job_named)
        note(place, TR("`H` depends on the job's name; give it with --job NAME"));
    if (cron && cron->notes & CRON_NOTE_SEEDED_UID)
        note(place, TR("`~` and `R` are drawn when the job is made; this is an example"));
}

/* Do the notes on a schedule explain an empty list? */
static bool explains_nothing(const struct schedule *schedule, int64_t now_s)
{
    enum schedule_kind kind = schedule_kind(schedule);
    return kind == SCHEDULE_REBOOT || kind == SCHEDULE_MANUAL ||
           schedule_warnings(schedule, now_s) & 1U << WARNING_NEVER;
}

/* Notes on stderr, with their schedule where there are several. An empty list is always
 * explained. */
static enum status print_talk(const struct next_list *list, const struct schedule_reader *reader)
{
    bool explained = false;
    struct strbuf place;
    enum status st = OK;
    strbuf_init(&place);
    for (size_t i = 0; i < list->set.count && st == OK; i++) {
        const struct schedule *schedule = list->set.items[i];
        strbuf_truncate(&place, 0);
        if (list->set.count > 1)
            strbuf_addf(&place, "'%s': ", list->specs.items[i].text);
        st = schedule_print_warnings(schedule, list->from_s, tr_language(), place.text);
        print_notes(schedule, place.text, reader->options.job_name != NULL);
        explained = explained || explains_nothing(schedule, list->from_s);
    }
    if (reader->options.jitter_s)
        cli_note("jitter is drawn when the job is made; these starts are an example");
    if (list->count == 0 && !explained)
        cli_note("nothing is due in this time");
    if (st == OK)
        st = strbuf_status(&place);
    strbuf_release(&place);
    return st;
}

static size_t limit_of(const struct request *request)
{
    if (request->count)
        return (size_t)request->count;
    return request->until ? COUNT_MAX : COUNT_DEFAULT;
}

/* A job has its own zone, window and jitter. */
static enum exit_code print_job(const struct request *request)
{
    const char *name = request->specs.items[0];
    if (request->from || request->until || request->start || request->end || request->schedule.tz ||
        request->jitter_s || request->dst)
        return cli_usage(request->base.command,
                         "\"%s\" is taken for a job's name; of a job, -n, -o and --data alone "
                         "can be given",
                         name);
    return job_next_print(request->base.data, name, request->count ? request->count : COUNT_DEFAULT,
                          request->output);
}

static enum exit_code list_fires(const struct request *request, struct schedule_reader *reader,
                                 struct next_list *list)
{
    enum status st = specs_add_args(&list->specs, request->specs.count, request->specs.items);
    if (st != OK)
        return cli_fail(st);
    if (list->specs.count == 0)
        return cli_usage(request->base.command, "which schedule?");
    enum exit_code code = read_schedules(request, reader, list);
    if (code != EXIT_OK)
        return code;
    list->jitter = request->jitter_s > 0;
    st = next_list_collect(list, limit_of(request));
    if (st == OK)
        st = print_talk(list, reader);
    if (st == OK && list->more && request->until && !request->count)
        cli_note("only the first %zu are shown", list->count);
    if (st == OK)
        st = next_list_print(list, request->output);
    return cli_fail(st);
}

static enum exit_code run(void *place)
{
    const struct request *request = place;
    struct schedule_reader reader;
    struct next_list list;
    next_list_init(&list);
    enum exit_code code = schedule_reader_init(&reader, request->base.command, &request->schedule);
    reader.options.jitter_s = request->jitter_s;
    reader.options.dst = request->dst;
    if (code == EXIT_OK)
        code = request->specs.count == 1 && looks_like_job(request->specs.items[0])
                   ? print_job(request)
                   : list_fires(request, &reader, &list);
    next_list_release(&list);
    schedule_reader_release(&reader);
    return code;
}

static const char *const outputs[] = {"table", "json", NULL};
static const char *const dst_policies[] = {"default", "skip", "both", NULL};

static const struct option_row options[] = {
    OPTION_NUMBER(request, count, 'n', "count", 1, COUNT_MAX,
                  "how many ticks, 1 to 10000 (default: 10; with --until all, up to 10000)"),
    OPTION_TEXT(request, from, 0, "from", "T", "ticks after T (default: now)"),
    OPTION_TEXT(request, until, 0, "until", "T", "ticks until T, T included"),
    OPTION_GROUP(request, schedule, schedule_options_rows),
    OPTION_TEXT(request, start, 0, "start", "T", "start of the schedule: no ticks before T"),
    OPTION_TEXT(request, end, 0, "end", "T", "end of the schedule: no ticks at T or later"),
    OPTION_DURATION(request, jitter_s, "jitter", "maximum delay of a start, like 90s or 1h30m"),
    OPTION_CHOICE(request, dst, 0, "dst", "POLICY", dst_policies,
                  "local times that a clock change skips or repeats: skip drops skipped times, "
                  "both fires repeated times twice"),
    OPTION_CHOICE(request, output, 'o', "output", "F", outputs, "table (default) or json"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

const struct command cmd_next = {
    .name = "next",
    .summary = "the next ticks of a schedule or a job",
    .examples = EXAMPLES({"peal next '30 2 * * *' --tz America/New_York", NULL},
                         {"peal next '@every 90s' -n 3 --from 2027-01-01T00:00:00Z", NULL},
                         {"peal next '0 9 * * MON-FRI' '0 12 * * SAT'", "both, merged"},
                         {"peal next 'H 3 * * *' --job backup -o json", NULL},
                         {"peal next backup", "a job of the agent"}),
    .usage = "SPEC... [options]\n"
             "JOB [-n N] [-o F]",
    .notes = "SPEC is a schedule in quotes, or several, one per line. A single word that is no "
             "macro is the name of a job.",
    .more = "T is an RFC 3339 time, a local time like '2027-01-01 08:00', or now.",
    .arguments = ROWS(ARGUMENTS(request, specs, "SPEC", .complete = COMPLETE_JOBS)),
    .options = options,
    .too_few = "which schedule?",
    .request_size = sizeof(struct request),
    .run = run,
};
