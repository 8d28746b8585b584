/* Jobs that are HTTP calls: what is refused, where, and what holds unless told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "definition/job_http.h"
#include "strbuf.h"

#define BEGIN "name: a\nschedule: '@manual'\n"

static const struct {
    int line;
    const char *yaml, *want; /* "LINE:COLUMN PATH MESSAGE", from the beginning */
} mistakes[] = {
    {__LINE__, BEGIN "http: {}\n", "3:7 /http http: needs a \"url\""},
    {__LINE__, BEGIN "http: {method: GET}\n", "3:7 /http http: needs a \"url\""},
    {__LINE__, BEGIN "http: ftp://x/\n", "3:7 /http http: \"ftp://x/\" is not a URL"},
    {__LINE__, BEGIN "http: https:///x\n", "3:7 /http http: \"https:///x\" is a URL without"},
    {__LINE__, BEGIN "http: 'https://h/a b'\n", "3:7 /http http: \"https://h/a b\" is not a URL: "},
    {__LINE__, BEGIN "http: https://h\nshell: x\n",
     "1:1  job \"a\" has both \"shell\" and \"http\""},
    {__LINE__, BEGIN "http: https://h\ncommand: [x]\n",
     "1:1  job \"a\" has both \"command\" and \"http\""},
    {__LINE__, BEGIN "http: https://h/${NONE}\n", "3:17 /http http: there is no variable NONE"},
    {__LINE__, BEGIN "http: https://h/${\n", "3:17 /http http: expected a variable"},
    {__LINE__, BEGIN "http: {url: 'https://h/', body: '${NONE}'}\n",
     "3:34 /http/body http.body: there is no variable NONE"},
    {__LINE__, BEGIN "http: {url: https://h, method: get}\n",
     "3:32 /http/method http.method: \"get\" is not one of GET"},
    {__LINE__, BEGIN "http: {url: https://h, headers: {'A b': c}}\n", "3:34 /http/headers/A b"},
    {__LINE__, BEGIN "http: {url: https://h, headers: {content-length: 3}}\n",
     "3:34 /http/headers/content-length"},
    {__LINE__, BEGIN "http:\n  url: https://h\n  headers: {A: \"b\\nc: d\"}\n",
     "5:16 /http/headers/A http.headers.A: holds a line break"},
    {__LINE__, BEGIN "http: {url: https://h, headers: {A: '${NONE}'}}\n",
     "3:38 /http/headers/A http.headers.A: there is no variable NONE"},
    {__LINE__, BEGIN "http: {url: https://h, status: 99}\n",
     "3:32 /http/status http.status: \"99\""},
    {__LINE__, BEGIN "http: {url: https://h, status: [200, 299-200]}\n",
     "3:38 /http/status/1 http.status[1]: \"299-200\" is not an HTTP status"},
    {__LINE__, BEGIN "http: {url: https://h, status: 2xx}\n", "3:32 /http/status"},
    {__LINE__, BEGIN "http: {url: https://h, status: 200-}\n", "3:32 /http/status"},
    {__LINE__, BEGIN "http: {url: https://h, status: 200-2999}\n", "3:32 /http/status"},
    {__LINE__, BEGIN "http: {url: https://h, status: '600'}\n", "3:32 /http/status"},
    {__LINE__, BEGIN "http: {url: https://h, status: '20'}\n", "3:32 /http/status"},
    {__LINE__, BEGIN "http: {url: https://h, method: HEAD, body: x}\n",
     "3:44 /http/body http.body: a HEAD request has no body"},
    {__LINE__, BEGIN "http: {url: https://h, key: /k}\n",
     "3:29 /http/key http.key: needs a \"cert\""},
    {__LINE__, BEGIN "http: {url: https://h, ca: ca.pem}\n",
     "3:28 /http/ca http.ca: \"ca.pem\" must"},
    {__LINE__, BEGIN "http: {url: https://h, redirects: 21}\n",
     "3:35 /http/redirects http.redirects: 21 is out of range"},
    {__LINE__, BEGIN "http: https://h\ncwd: /srv\n", "4:6 /cwd cwd: is for jobs with a process"},
    {__LINE__, BEGIN "http: https://h\nuser: me\n", "4:7 /user user: is for jobs with a process"},
    {__LINE__, BEGIN "http: https://h\nstdin: x\n", "4:8 /stdin stdin: is for jobs with"},
    {__LINE__, BEGIN "http: https://h\numask: '022'\n", "4:8 /umask umask: is for jobs with"},
    {__LINE__, BEGIN "http: https://h\nnice: 1\n", "4:7 /nice nice: is for jobs with"},
    {__LINE__, BEGIN "http: https://h\nlimits: {core: 0}\n", "4:9 /limits limits: is for jobs"},
    {__LINE__, BEGIN "http: https://h\nlinger: 1s\n", "4:9 /linger linger: is for jobs with"},
    {__LINE__, BEGIN "http: https://h\noutput: merged\n", "4:9 /output output: is for jobs with"},
};

static void mistakes_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct job_list jobs;
        struct job_error err = {0};
        char got[600];
        const char *yaml = mistakes[i].yaml;
        if (jobs_decode_text(yaml, strlen(yaml), "UTC", NULL, &jobs, &err) == OK)
            fail_msg("line %d: no error", mistakes[i].line);
        snprintf(got, sizeof(got), "%d:%d %s %s", err.line, err.column, err.path, err.message);
        if (strncmp(got, mistakes[i].want, strlen(mistakes[i].want)) != 0)
            fail_msg("line %d: %s", mistakes[i].line, got);
    }
}

static const struct {
    int line;
    const char *yaml, *method, *statuses, *text;
} good[] = {
    {__LINE__, BEGIN "http: https://h/${PEAL_TICK}\n", "GET", "200-299",
     "{\"name\":\"a\",\"schedule\":\"@manual\",\"timezone\":\"UTC\",\"http\":\"https://h/"
     "${PEAL_TICK}\"}"},
    {__LINE__, BEGIN "http: {url: 'https://h', body: '$${'}\n", "POST", "200-299",
     "{\"name\":\"a\",\"schedule\":\"@manual\",\"timezone\":\"UTC\",\"http\":{\"url\":\"https://"
     "h\","
     "\"body\":\"$${\"}}"},
    {__LINE__, BEGIN "env: {HOOK: x}\nhttp: {url: '${HOOK}', status: [200, 300-399]}\n", "GET",
     "200,300-399",
     "{\"name\":\"a\",\"schedule\":\"@manual\",\"timezone\":\"UTC\",\"http\":{\"url\":\"${HOOK}\","
     "\"status\":[\"200\",\"300-399\"]},\"env\":{\"HOOK\":\"x\"}}"},
    {__LINE__,
     BEGIN "http: {url: 'http://[::1]:8080', method: PUT, status: 204}\noutput: separate\n", "PUT",
     "204",
     "{\"name\":\"a\",\"schedule\":\"@manual\",\"timezone\":\"UTC\",\"http\":{\"url\":"
     "\"http://[::1]:8080\",\"method\":\"PUT\",\"status\":\"204\"}}"},
};

static void good_ones_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct job_list jobs;
        struct job_error err = {0};
        struct strbuf statuses;
        strbuf_init(&statuses);
        if (jobs_decode_text(good[i].yaml, strlen(good[i].yaml), "UTC", NULL, &jobs, &err) != OK)
            fail_msg("line %d: %s", good[i].line, err.message);
        const struct job *job = jobs.items[0];
        char *text = job_encode_definition(job);
        job_http_statuses(job, &statuses);
        assert_int_equal(job->kind, JOB_HTTP);
        if (strcmp(job_http_method(job), good[i].method) != 0 ||
            strcmp(statuses.text, good[i].statuses) != 0 || strcmp(text, good[i].text) != 0)
            fail_msg("line %d: %s %s %s", good[i].line, job_http_method(job), statuses.text, text);
        free(text);
        strbuf_release(&statuses);
        job_list_release(&jobs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(good_ones_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
