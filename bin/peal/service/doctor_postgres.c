/* The store of a cluster in PostgreSQL: can it be written to, and how long does a change take? */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "kv.h"
#include "service/doctor.h"

enum { DEADLINE_MS = 5000, WRITES = 20, SLOW_MS = 50 };

struct doctor {
    struct loop *loop;
    struct kv_client *client;
    bool is_over;
    enum status status;
    char message[300];
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void on_answer(void *context, const struct kv_result *result)
{
    struct doctor *doctor = context;
    doctor->is_over = true;
    doctor->status = result->status;
    snprintf(doctor->message, sizeof(doctor->message), "%s", result->message);
}

static bool wait_for(struct doctor *doctor, enum status st)
{
    while (st == OK && !doctor->is_over)
        loop_run_once(doctor->loop);
    doctor->status = st == OK ? doctor->status : st;
    doctor->is_over = false;
    return doctor->status == OK;
}

/* Writes one key some times, and removes it. False: it can't. */
static bool measure(struct doctor *doctor, const char *key, int64_t *ret_us)
{
    struct kv_reply reply = {on_answer, doctor, DEADLINE_MS};
    const struct kv_put put = {.key = kv_text(key), .value = kv_text("x")};
    const struct kv_delete gone = {.key = kv_text(key)};
    if (!wait_for(doctor, kv_put(doctor->client, &put, &reply, NULL))) /* connects */
        return false;
    int64_t began_us = now_us();
    for (int i = 0; i < WRITES; i++)
        if (!wait_for(doctor, kv_put(doctor->client, &put, &reply, NULL)))
            return false;
    *ret_us = (now_us() - began_us) / WRITES;
    return wait_for(doctor, kv_delete(doctor->client, &gone, &reply, NULL));
}

void doctor_postgres(struct report *report, const struct agent_config *config)
{
    struct doctor doctor = {.status = OK};
    struct strbuf why;
    char key[160];
    int64_t mean_us = 0;
    strbuf_init(&why);
    signal(SIGPIPE, SIG_IGN);
    snprintf(key, sizeof(key), "%s/doctor/%d", config->store.prefix, (int)getpid());
    const struct store_access access = agent_config_store(config);
    enum status st = loop_new(&doctor.loop);
    if (st == OK)
        st = node_kv_open(&access, doctor.loop, DEADLINE_MS, &doctor.client, &why);
    if (st != OK)
        report_add(report, CHECK_FAIL, "PostgreSQL", NULL, "%s",
                   why.length ? why.text : report_tr(report, status_text(st)));
    else if (!measure(&doctor, key, &mean_us))
        report_add(report, CHECK_FAIL, "PostgreSQL", NULL, "%s",
                   *doctor.message ? doctor.message
                                   : report_tr(report, status_text(doctor.status)));
    else
        report_add(report, mean_us / 1000 < SLOW_MS ? CHECK_OK : CHECK_WARN, "PostgreSQL", NULL,
                   "writes are allowed; a change takes %.1f ms", (double)mean_us / 1000);
    kv_client_free(doctor.client);
    loop_free(doctor.loop);
    strbuf_release(&why);
}
