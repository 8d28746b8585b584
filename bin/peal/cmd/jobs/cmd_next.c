/* peal next: when schedules are due. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "client/client.h"
#include "duration.h"
#include "fires.h"
#include "jobs/job_next.h"
#include "jobs/schedule_args.h"
#include "print/next_print.h"
#include "timestamp.h"
#include "words/explain.h"

enum { COUNT_DEFAULT = 10, COUNT_MAX = 10000 };

enum {
    OPTION_FROM = OPTION_OWN,
    OPTION_UNTIL,
    OPTION_START,
    OPTION_END,
    OPTION_JITTER,
    OPTION_DST,
};

static const struct option options[] = {
    SCHEDULE_READER_OPTIONS,
    CLIENT_OPTIONS,
    {"count", required_argument, NULL, 'n'},
    {"output", required_argument, NULL, 'o'},
    {"from", required_argument, NULL, OPTION_FROM},
    {"until", required_argument, NULL, OPTION_UNTIL},
    {"start", required_argument, NULL, OPTION_START},
    {"end", required_argument, NULL, OPTION_END},
    {"jitter", required_argument, NULL, OPTION_JITTER},
    {"dst", required_argument, NULL, OPTION_DST},
    {0},
};

/* What was asked for. Times stay text until the zone that they are local to is known. */
struct request {
    const char *data; /* of the agent, for the name of a job */
    const char *from, *until, *start, *end;
    int64_t count; /* 0: not given */
    int output;    /* enum next_output */
};

static bool take_jitter(const struct command *self, const char *text, int64_t *ret_s)
{
    struct parse_error err;
    if (duration_parse(text, 1, ret_s, &err) == OK)
        return true;
    cli_usage(self, "--jitter: %s", err.message);
    return false;
}

static bool take_option(const struct command *self, int opt, struct request *request,
                        struct schedule_reader *reader)
{
    static const char *const outputs[] = {"table", "json", NULL};
    static const char *const dst_policies[] = {"default", "skip", "both", NULL};
    int choice;
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case 'n':
        return cli_number(self, "-n", optarg, 1, COUNT_MAX, &request->count);
    case 'o':
        return cli_choice(self, "-o", optarg, outputs, &request->output);
    case OPTION_FROM:
        request->from = optarg;
        return true;
    case OPTION_UNTIL:
        request->until = optarg;
        return true;
    case OPTION_START:
        request->start = optarg;
        return true;
    case OPTION_END:
        request->end = optarg;
        return true;
    case OPTION_JITTER:
        return take_jitter(self, optarg, &reader->options.jitter_s);
    case OPTION_DST:
        if (!cli_choice(self, "--dst", optarg, dst_policies, &choice))
            return false;
        reader->options.dst = (enum dst_policy)choice;
        return true;
    default:
        return schedule_reader_option(reader, self, opt, optarg);
    }
}

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
static enum exit_code read_schedules(const struct command *self, const struct request *request,
                                     struct schedule_reader *reader, struct next_list *list)
{
    struct schedule_set unbounded;
    schedule_set_init(&unbounded);
    enum exit_code code = parse_all(&list->specs, reader, &unbounded);
    if (code == EXIT_OK &&
        !take_times(self, request, schedule_zone(unbounded.items[0]), reader, list))
        code = EXIT_USAGE;
    schedule_set_release(&unbounded);
    return code == EXIT_OK ? parse_all(&list->specs, reader, &list->set) : code;
}

static void note(const char *place, const char *text)
{
    fprintf(stderr, "%snote: %s\n", place, text);
}

/* What the list can't show: values that belong to a job, and schedules without ticks. */
static void print_notes(const struct schedule *schedule, const char *place, bool job_named)
{
    const struct cron_expr *cron = NULL;
    switch (schedule_kind(schedule)) {
    case SCHEDULE_CRON:
        cron = schedule_cron(schedule);
        break;
    case SCHEDULE_AFTER:
        note(place, "the first run; the next ones count from the end of each run");
        break;
    case SCHEDULE_REBOOT:
        note(place, "due when the node starts, at no time that could be listed");
        break;
    case SCHEDULE_MANUAL:
        note(place, "never due by itself, only when it is triggered");
        break;
    case SCHEDULE_EVERY:
    case SCHEDULE_AT:
        break;
    }
    if (cron && cron->notes & CRON_NOTE_SEEDED_NAME && !job_named)
        note(place, "`H` depends on the job's name; give it with --job NAME");
    if (cron && cron->notes & CRON_NOTE_SEEDED_UID)
        note(place, "`~` and `R` are drawn when the job is made; this is an example");
}

/* Whether what was said of a schedule tells why nothing is listed. */
static bool explains_nothing(const struct schedule *schedule, int64_t now_s)
{
    enum schedule_kind kind = schedule_kind(schedule);
    return kind == SCHEDULE_REBOOT || kind == SCHEDULE_MANUAL ||
           schedule_warnings(schedule, now_s) & 1U << WARNING_NEVER;
}

/* On stderr: everything that is not a fire, with its schedule where there are several. An empty
 * list never goes without a word. */
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
        st = schedule_print_warnings(schedule, list->from_s, LANGUAGE_EN, place.text);
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
static enum exit_code print_job(const struct command *self, const struct request *request,
                                const struct schedule_reader *reader, const char *name)
{
    if (request->from || request->until || request->start || request->end || reader->options.tz ||
        reader->options.jitter_s || reader->options.dst)
        return cli_usage(self,
                         "\"%s\" is taken for a job's name; of a job, -n, -o and --data alone "
                         "can be given",
                         name);
    return job_next_print(request->data, name, request->count ? request->count : COUNT_DEFAULT,
                          (enum next_output)request->output);
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct request request = {0};
    struct schedule_reader reader;
    struct next_list list;
    enum exit_code code = EXIT_USAGE;
    int opt;

    next_list_init(&list);
    enum status st = schedule_reader_init(&reader);
    if (st != OK)
        goto failed;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request, &reader))
            goto out;
    }
    if (argc - optind == 1 && looks_like_job(argv[optind])) {
        code = print_job(self, &request, &reader, argv[optind]);
        goto out;
    }
    st = specs_add_args(&list.specs, argc - optind, argv + optind);
    if (st != OK)
        goto failed;
    if (list.specs.count == 0) {
        cli_usage(self, "which schedule?");
        goto out;
    }
    code = read_schedules(self, &request, &reader, &list);
    if (code != EXIT_OK)
        goto out;
    list.jitter = reader.options.jitter_s > 0;
    st = next_list_collect(&list, limit_of(&request));
    if (st != OK)
        goto failed;
    st = print_talk(&list, &reader);
    if (st != OK)
        goto failed;
    if (list.more && request.until && !request.count)
        cli_note("only the first %zu are shown", list.count);
    st = next_list_print(&list, (enum next_output)request.output);
failed:
    if (st != OK)
        code = cli_fail(st);
out:
    next_list_release(&list);
    schedule_reader_release(&reader);
    return code;
}

const struct command cmd_next = {
    .name = "next",
    .summary = "when a schedule or a job is due",
    .help =
        "Examples:\n"
        "  peal next '30 2 * * *' --tz America/New_York\n"
        "  peal next '@every 90s' -n 3 --from 2027-01-01T00:00:00Z\n"
        "  peal next '0 9 * * MON-FRI' '0 12 * * SAT'      both, merged\n"
        "  peal next 'H 3 * * *' --job backup -o json\n"
        "  peal next backup                                of the agent's job\n"
        "\n"
        "Usage: peal next SPEC... [options]\n"
        "       peal next JOB [-n N] [-o F]\n"
        "\n"
        "SPEC is a schedule in quotes, or several, one per line. A single word that is no macro\n"
        "is the name of a job.\n"
        "\n"
        "Options:\n"
        "  -n, --count N   how many, 1 to 10000 (10; with --until all, up to 10000)\n"
        "  --from T        list what is due after T (now)\n"
        "  --until T       list what is due until T, T included\n" SCHEDULE_READER_HELP
        "  --start T       the schedule's own start: nothing is due before\n"
        "  --end T         the schedule's own end: nothing is due then or later\n"
        "  --jitter D      spread the starts over a span like 90s or 1h30m\n"
        "  --dst POLICY    times that the clock skips or repeats: skip drops a skipped one,\n"
        "                  both fires a repeated one twice\n"
        "  -o, --output F  table (default) or json\n"
        "  --data DIR      the agent's data folder, for a job\n"
        "\n"
        "T is an RFC 3339 time, a local time like '2027-01-01 08:00', or now.\n",
    .getopt_rows = options,
    .old_run = run,
};
