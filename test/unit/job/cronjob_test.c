/* CronJobs of Kubernetes: what becomes of each field, and what is said of everything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "foreign/cronjob.h"

static struct zone_db *zones;

static int open_zones(void **state)
{
    (void)state;
    return zone_db_new(NULL, &zones) == OK ? 0 : -1;
}

static int close_zones(void **state)
{
    (void)state;
    zones = zone_db_free(zones);
    return 0;
}

/* The jobs as JSON and the notes, a line each; or what is wrong with the file. */
static void show_import(const char *text, const char *prefix, struct strbuf *got)
{
    struct foreign foreign;
    struct parse_error err = {0};
    const struct foreign_options options = {.prefix = prefix, .default_tz = "Asia/Tokyo"};
    foreign_init(&foreign);
    enum status st = cronjob_import(text, strlen(text), &options, zones, &foreign, &err);
    if (st != OK)
        strbuf_addf(got, "%s\n", err.message);
    for (size_t i = 0; i < foreign.jobs.count && st == OK; i++) {
        char *job = job_encode_definition(foreign.jobs.items[i]);
        strbuf_addf(got, "%s\n", job);
        free(job);
    }
    for (size_t i = 0; i < foreign.note_count && st == OK; i++) {
        const struct foreign_note *note = &foreign.notes[i];
        strbuf_addf(got, "%s %s %s\n", foreign_severity_name(note->severity), note->name,
                    note->text);
    }
    if (st == OK && foreign.lost)
        strbuf_addf(got, "lost %zu\n", foreign.lost);
    foreign_release(&foreign);
}

/* A CronJob; `spec`, `job`, `pod` and `container` are more lines of these maps. */
#define CRONJOB(name, spec, job, pod, container)                                                   \
    "kind: CronJob\nmetadata: {name: " name "}\nspec:\n  schedule: '0 3 * * *'\n"                  \
    "  timeZone: Europe/Berlin\n" spec "  jobTemplate:\n    spec:\n" job                           \
    "      template:\n        spec:\n" pod                                                         \
    "          containers:\n            - image: i\n              name: c\n" container
#define BEFORE(name)                                                                               \
    "{\"name\":\"" name "\",\"schedule\":\"0 3 * * *\",\"timezone\":\"Europe/Berlin\","
#define RUN     "\"command\":[\"peal-container\",\"podman\",\"run\",\"--rm\","
#define RETRIES "\"retries\":{\"count\":6,\"backoff\":\"exponential\",\"max_wait\":\"6m\"}"
#define PODMAN                                                                                     \
    "info  images are run by podman on the nodes: change the first words of the commands where "   \
    "they have docker\n"

static const struct {
    int line;
    const char *prefix, *text, *want;
} imports[] = {
    {__LINE__, NULL, CRONJOB("a", "", "      backoffLimit: 0\n", "", ""),
     BEFORE("a") RUN "\"i\"],\"overlap\":\"allow\"}\n" PODMAN},
    {__LINE__, "k8s/", CRONJOB("a", "", "      backoffLimit: 0\n", "", ""),
     BEFORE("k8s/a") RUN "\"i\"],\"overlap\":\"allow\"}\n" PODMAN},
    /* of the CronJob */
    {__LINE__, NULL,
     CRONJOB("a",
             "  suspend: true\n  concurrencyPolicy: Forbid\n  startingDeadlineSeconds: 90\n"
             "  successfulJobsHistoryLimit: 3\n",
             "      backoffLimit: 0\n", "", ""),
     BEFORE("a") RUN "\"i\"],\"deadline\":\"1m30s\",\"paused\":true}\n" PODMAN},
    {__LINE__, NULL,
     CRONJOB("a", "  concurrencyPolicy: Replace\n", "      backoffLimit: 0\n", "", ""),
     BEFORE("a") RUN "\"i\"],\"overlap\":\"replace\"}\n" PODMAN},
    /* of the job */
    {__LINE__, NULL,
     CRONJOB("a", "", "      activeDeadlineSeconds: 600\n      parallelism: 3\n", "", ""),
     BEFORE("a") RUN "\"i\"],\"overlap\":\"allow\",\"timeout\":\"10m\"," RETRIES "}\n"
                     "warning a the field \"jobTemplate.parallelism\" is not converted\n" PODMAN},
    /* of the pod and its container */
    {__LINE__, NULL,
     CRONJOB("a", "", "      backoffLimit: 0\n",
             "          restartPolicy: Never\n          serviceAccountName: robot\n"
             "          terminationGracePeriodSeconds: 45\n",
             "              command: [sh, -c]\n              args: ['echo $(WHO)', x]\n"
             "              workingDir: /srv\n              env:\n"
             "                - {name: WHO, value: you}\n"
             "                - {name: KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}\n"
             "              resources: {limits: {memory: 128Mi, cpu: 500m, gpu: 1}}\n"
             "              volumeMounts: [{name: v, mountPath: /v}]\n"),
     BEFORE("a") RUN
     "\"--env\",\"WHO\",\"--env\",\"KEY\",\"--workdir\",\"/srv\",\"--memory\",\"128m\",\"--cpus\","
     "\"0.5\",\"--entrypoint\",\"sh\",\"i\",\"-c\",\"echo "
     "$(WHO)\",\"x\"],\"env\":{\"WHO\":\"you\"},"
     "\"overlap\":\"allow\",\"grace\":\"45s\"}\n"
     "warning a the field \"pod.serviceAccountName\" is not converted\n"
     "warning a $(NAME) in \"echo $(WHO)\" is not replaced here\n"
     "warning a the value of KEY is the cluster's: give the job this variable, or a secret\n"
     "warning a the field \"resources.limits.gpu\" is not converted\n"
     "warning a the field \"container.volumeMounts\" is not converted\n" PODMAN},
    /* lists, as kubectl prints them; names that are there twice; other kinds */
    {__LINE__, NULL,
     "apiVersion: v1\nkind: List\nitems:\n- {kind: CronJob, metadata: {name: a, namespace: x}, "
     "spec: {schedule: '@daily', jobTemplate: {spec: {backoffLimit: 0, template: {spec: "
     "{containers: [{image: i}]}}}}}}\n- {kind: CronJob, metadata: {name: a, namespace: y}, spec: "
     "{schedule: '@daily', timeZone: UTC, jobTemplate: {spec: {backoffLimit: 0, template: {spec: "
     "{containers: [{image: i}]}}}}}}\n---\nkind: Service\n",
     "{\"name\":\"a\",\"schedule\":\"@daily\",\"timezone\":\"UTC\"," RUN
     "\"i\"],\"overlap\":\"allow\",\"labels\":{\"namespace\":\"x\"}}\n"
     "{\"name\":\"a-y\",\"schedule\":\"@daily\",\"timezone\":\"UTC\"," RUN
     "\"i\"],\"overlap\":\"allow\",\"labels\":{\"namespace\":\"y\"}}\n"
     "info a it names no time zone: UTC is taken, as by most clusters\n"
     "info a the job is named \"a-y\"\n"
     "warning  kind \"Service\" is left out: only CronJobs are read\n" PODMAN},
    {__LINE__, NULL, "kind: List\nitems: []\n", ""},
    /* what can't be a job */
    {__LINE__, NULL,
     CRONJOB("a", "", "      backoffLimit: 0\n", "", "            - {image: j, name: d}\n"),
     "error a its pod has 2 containers; a job runs one, which has an image\nlost 1\n"},
    {__LINE__, NULL, "kind: CronJob\nmetadata: {name: a}\nspec: {timeZone: UTC}\n",
     "error a its pod has 0 containers; a job runs one, which has an image\nlost 1\n"},
    {__LINE__, NULL,
     "kind: CronJob\nmetadata: {name: a}\nspec: {schedule: '99 * * * *', timeZone: UTC, "
     "jobTemplate: {spec: {template: {spec: {containers: [{image: i}]}}}}}\n",
     "error a schedule: minute 99 is out of range 0-59 (at column 1 of the text)\nlost 1\n"},
    {__LINE__, NULL, "", "expected CronJobs, as `kubectl get cronjobs -o yaml` prints them\n"},
    {__LINE__, NULL, "kind: Pod\n",
     "expected CronJobs, as `kubectl get cronjobs -o yaml` prints them\n"},
    {__LINE__, NULL, "just text\n",
     "expected CronJobs, as `kubectl get cronjobs -o yaml` prints them\n"},
    {__LINE__, NULL, "kind: CronJob\nspec: [1]\nmetadata: x\n",
     "info  it names no time zone: UTC is taken, as by most clusters\n"
     "error  its pod has 0 containers; a job runs one, which has an image\n"
     "info  the job is named \"task-2\"\nlost 1\n"},
};

static void a_cronjob_becomes_a_job(void **state)
{
    bool failed = false;
    (void)state;
    for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
        struct strbuf got;
        strbuf_init(&got);
        show_import(imports[i].text, imports[i].prefix, &got);
        if (strcmp(got.text, imports[i].want) != 0) {
            print_error("line %d: got\n%swanted\n%s", imports[i].line, got.text, imports[i].want);
            failed = true;
        }
        strbuf_release(&got);
    }
    assert_false(failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_cronjob_becomes_a_job)};
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
