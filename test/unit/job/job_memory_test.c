/* Out of memory at the n-th allocation, for every n: E_NOMEM, nothing leaked, nothing half-made.
 * The linker sends peal's allocations here; jansson is told. libyaml keeps its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crontab/crontab.h"
#include "export/crontab_export.h"
#include "flow_support.h"
#include "foreign/foreign.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);

static long left = -1; /* allocations until one fails; -1: none does */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return fails() ? NULL : __real_reallocarray(old, count, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
    return fails() ? NULL : __real_strndup(text, size);
}

static struct zone_db *zones;

static int open_zones(void **state)
{
    (void)state;
    json_set_alloc_funcs(__wrap_malloc, free);
    return zone_db_new(NULL, &zones) == OK ? 0 : -1;
}

static int close_zones(void **state)
{
    (void)state;
    zones = zone_db_free(zones);
    return 0;
}

static const char file[] =
    "- &a {name: a, schedules: ['@daily', '@every 5m'], timezone: Asia/Tokyo, command: [a, b, c],\n"
    "   env: &e {A: b, C: d}, start: 2027-01-01, notes: 'x', limits: {memory: 1GiB}, umask: "
    "'022'}\n"
    "- {name: b, schedule: CRON_TZ=Europe/Berlin 0 3 * * *, shell: \"x\\n\", env: *e, owner: me}\n"
    "- {name: c, after: [a, {job: b, on: always}], shell: x}\n"
    "- {name: d, schedule: '@manual', env: {E: '${params.p}'}, params: {p: {default: q}},\n"
    "   steps: [{name: x, shell: y}, {name: y, after: x, each: {of: steps.x.k}, retries: 1,\n"
    "   http: {url: 'https://a/${item}', headers: {A: b}}}, {name: z, job: a, with: {v: w},\n"
    "   after: [x, {step: y, on: always}], when: steps.x.k > 5, join: any}],\n"
    "   finally: [{name: f, each: [a, b], command: [echo, '${item}', '${steps.z.state}']}]}\n";

static enum status decode_and_encode(void)
{
    struct job_list jobs;
    struct job_error err;
    struct strbuf yaml;
    job_list_init(&jobs);
    strbuf_init(&yaml);
    enum status st = jobs_decode_text(file, strlen(file), "UTC", zones, &jobs, &err);
    for (size_t i = 0; i < jobs.count && st == OK; i++) {
        struct job *again = NULL;
        char *text = job_encode_text(jobs.items[i]);
        /* jansson's parser takes some failures for mistakes in the text: it is spared. */
        json_set_alloc_funcs(__real_malloc, free);
        st = text ? job_decode_stored(text, zones, &again, &err) : E_NOMEM;
        json_set_alloc_funcs(__wrap_malloc, free);
        if (st == OK)
            st = job_encode_yaml(jobs.items[i], &yaml);
        job_free(again);
        free(text);
    }
    job_list_release(&jobs);
    strbuf_release(&yaml);
    return st;
}

static const char table[] = "MAILTO=me\nPATH=/bin\nCRON_TZ=Asia/Tokyo\nHOME=/srv\n"
                            "*/5 * * * * /opt/a.sh %x%y\n@reboot b\n60 * * * * c\n"
                            "SHELL=/bin/zsh\n0 3 * * * a\n";

static enum status import_and_export(void)
{
    struct crontab crontab;
    struct parse_error err;
    struct crontab_options options = {.user = "me"};
    struct strbuf out;
    crontab_init(&crontab);
    strbuf_init(&out);
    enum status st = crontab_import(table, strlen(table), &options, zones, &crontab, &err);
    if (st == OK)
        st = crontab_export(crontab.jobs.items, crontab.jobs.count, false, zones, &out);
    crontab_release(&crontab);
    strbuf_release(&out);
    return st;
}

static const char listing[] =
    "[{\"id\":1,\"name\":\"a b\",\"protocol\":2,\"command\":\"x\",\"spec\":\"@every 1.5h\","
    "\"retry_times\":4,\"tag\":\"t\",\"remark\":\"r\",\"hosts\":[{\"name\":\"h\"}],"
    "\"dependency_task_id\":\"2,9\",\"notify_status\":1,\"timeout\":5},{\"id\":2,\"level\":2,"
    "\"name\":\"a b\",\"protocol\":1,\"http_method\":2,\"command\":\"http://x/?a=${b}\"},"
    "{\"id\":3,\"name\":\"c\",\"protocol\":2,\"command\":\"x\",\"spec\":\"@daily\","
    "\"dependency_task_id\":\"2\"},{\"id\":4,\"name\":\"d\",\"protocol\":9,\"command\":\"x\"}]";

static enum status import_listing(void)
{
    struct foreign foreign;
    struct parse_error err;
    const struct foreign_options options = {.prefix = "old/", .default_tz = "UTC"};
    foreign_init(&foreign);
    enum status st = gocron_import(listing, strlen(listing), &options, zones, &foreign, &err);
    foreign_release(&foreign);
    return st;
}

/* ---- workflows ---- */

static const char workflows[] =
    "{name: w, schedule: '@daily', params: {p: {default: q}}, env: {A: '${params.p}', B: c},\n"
    "  steps: [{name: a, shell: 'x ${params.p}'},\n"
    "    {name: b, after: a, job: j, with: {n: '${item}'}, each: {of: steps.a.k}},\n"
    "    {name: c, after: a, when: steps.a.k == 'x' or params.p contains 'q', workflow: i,\n"
    "     with: {v: '${steps.a.k}'}},\n"
    "    {name: d, after: c, when: steps.c.state == 'ok', command: [x, '-${steps.a.k}'], stdin: "
    "'${params.p}'},\n"
    "    {name: e, after: [{step: a, on: failure}], http: {url: 'https://h/${steps.a.k}', "
    "headers: {X: '${params.p}'}}}],\n"
    "  finally: [{name: z, function: {program: f, name: g}}]}\n"
    "---\n{name: j, schedule: '@manual', command: [y, '${n}'], params: {n: {}}, env: {B: d}}\n"
    "---\n{name: i, schedule: '@manual', params: {v: {allowed: [x, '[1,2]']}},\n"
    "  steps: [{name: l, shell: '${params.v}', each: ['${params.v}', y]}]}\n";

static struct flow_world flows;

static enum status plan(char **ret)
{
    char why[200];
    return flow_text(flows.jobs.items[0], NULL, &flows.source, ret, why, sizeof(why));
}

static enum status make_plan(void)
{
    char *text = NULL;
    enum status st = plan(&text);
    free(text);
    return st;
}

/* All that an instance is asked; jansson, whose parser reads outputs, is spared. */
static enum status ask_part(const struct flow *flow, int step, const struct flow_scope *scope)
{
    char why[200];
    struct job *job = NULL;
    bool runs;
    int items = 0, part = flow_part_of(step);
    enum status st = flow_when(flow, step, scope, &runs, why, sizeof(why));
    if (st == OK && flow_is_fan_out(flow, step)) {
        st = flow_items(flow, step, scope, &items, why, sizeof(why));
        part *= FLOW_ITEMS;
    }
    if (st == OK)
        st = flow_job(flow, part, scope, &job, why, sizeof(why));
    job_free(job);
    return st;
}

static char *plan_text;

static enum status ask_plan(void)
{
    struct flow *flow = NULL;
    struct flow_ends ends = {.runs = {[0] = {.state = RUN_OK}, [2] = {.state = RUN_OK}},
                             .outputs = {"{\"k\":\"[1,2]\"}"}};
    struct flow_scope scope = flow_ends_scope(&ends);
    json_set_alloc_funcs(__real_malloc, free);
    enum status st = flow_decode(plan_text, &flow);
    for (int i = 0; st == OK && i < flow_count(flow); i++)
        st = ask_part(flow, i, &scope);
    flow_free(flow);
    json_set_alloc_funcs(__wrap_malloc, free);
    return st;
}

static enum status read_outputs(void)
{
    static const char lines[] = "a=1\nb<<END\nx\nEND\nc=\nd=1\ne=2\nf=3\ng=4\nh=5\ni=6\nj=7\n"
                                "k=8\nl=9\nm=10\nn=11\no=12\np=13\nq=14\nr=15\ns=16\n";
    char why[200];
    char *got = NULL;
    enum status st = flow_read_output(lines, sizeof(lines) - 1, &got, why, sizeof(why));
    free(got);
    return st;
}

static void fail_each(enum status (*work)(void))
{
    left = -1;
    assert_int_equal(work(), OK); /* loads the zones too, so that the count is steady */
    for (long n = 0;; n++) {
        left = n;
        enum status st = work();
        bool reached = left < 0;
        left = -1;
        if (!reached) {
            assert_int_equal(st, OK);
            assert_true(n > 50);
            return;
        }
        if (st != E_NOMEM)
            fail_msg("allocation %ld: %s", n, status_text(st));
    }
}

static void jobs_survive(void **state)
{
    (void)state;
    fail_each(decode_and_encode);
}

static void crontabs_survive(void **state)
{
    (void)state;
    fail_each(import_and_export);
}

static void listings_survive(void **state)
{
    (void)state;
    fail_each(import_listing);
}

static void workflows_survive(void **state)
{
    (void)state;
    flow_world_open(&flows, __LINE__, workflows);
    fail_each(make_plan);
    assert_int_equal(plan(&plan_text), OK);
    fail_each(ask_plan);
    fail_each(read_outputs);
    free(plan_text);
    flow_world_close(&flows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_survive),
        cmocka_unit_test(listings_survive),
        cmocka_unit_test(crontabs_survive),
        cmocka_unit_test(workflows_survive),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
