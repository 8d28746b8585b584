#include "client/batch/batch_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "client/batch/batch_call.h"
#include "client/batch/digests.h"

enum { STEP = 250 }; /* jobs between two looks at the calls under way */

struct batch_ahead {
    struct batch *batch;
    struct client *client;      /* of the command */
    const struct job **waiting; /* that were read, and not added to the batch yet */
    size_t waiting_count;
    struct batch_part *parts; /* of the batch, as batch_split would make them */
    size_t part_count;
    size_t last_bytes; /* of the last part */
    size_t sent;       /* parts */
    struct flight flights[AT_ONCE];
    size_t flight_parts[AT_ONCE];
    bool is_flying[AT_ONCE];
    bool is_over; /* nothing more is sent */
};

bool batch_is_kept(struct client *client)
{
    struct reply reply = {0};
    const struct client_request request = {
        .method = "POST", .path = "/jobs:batch?keep=true", .text = "{\"dry_run\":true}"};
    bool is_done = client_try(client, &request, &reply) == OK && reply.status == 200;
    reply_release(&reply);
    return is_done;
}

/* ---- calls ---- */

static bool keep_answer(struct batch *batch, size_t part, json_t *answer)
{
    if (!batch->checked_ahead)
        batch->checked_ahead = json_array();
    while (json_array_size(batch->checked_ahead) <= part) {
        if (json_array_append_new(batch->checked_ahead, json_null()) != 0)
            return false;
    }
    return json_array_set(batch->checked_ahead, part, answer) == 0;
}

static void land(struct batch_ahead *ahead, int i)
{
    json_t *answer = NULL;
    flight_end_ahead(&ahead->flights[i], &answer);
    ahead->is_flying[i] = false;
    if (!answer || !keep_answer(ahead->batch, ahead->flight_parts[i], answer))
        ahead->is_over = true;
    json_decref(answer);
}

static void send(struct batch_ahead *ahead, int i)
{
    struct flight *flight = &ahead->flights[i];
    const struct client *like = ahead->client;
    if (!flight->client && client_open(client_is_remote(like) ? NULL : client_data(like),
                                       &flight->client) != EXIT_OK) {
        ahead->is_over = true;
        return;
    }
    struct batch_call call = {.batch = ahead->batch, .puts = ahead->parts[ahead->sent]};
    ahead->flight_parts[i] = ahead->sent++;
    ahead->is_flying[i] = true;
    flight_begin(flight, call, PHASE_CHECK);
}

/* The last part may still grow. */
static void send_parts(struct batch_ahead *ahead)
{
    for (int i = 0; i < AT_ONCE; i++) {
        if (ahead->is_flying[i] && flight_is_over(&ahead->flights[i]))
            land(ahead, i);
        if (!ahead->is_flying[i] && !ahead->is_over && ahead->sent + 1 < ahead->part_count)
            send(ahead, i);
    }
}

/* ---- jobs ---- */

/* As fill_parts() in batch_parts.c divides jobs that do not depend on each other. */
static enum status add_to_part(struct batch_ahead *ahead)
{
    size_t put = ahead->batch->put_count - 1, count = ahead->part_count;
    if (!count || ahead->parts[count - 1].count >= CALL_MAX || ahead->last_bytes >= CALL_BYTES) {
        enum status st = array_grow(&ahead->parts, count, sizeof(*ahead->parts));
        if (st != OK)
            return st;
        ahead->parts[ahead->part_count++] = (struct batch_part){.from = put};
        ahead->last_bytes = 0;
    }
    ahead->parts[ahead->part_count - 1].count++;
    ahead->last_bytes += ahead->batch->puts[put].length;
    return OK;
}

static enum status add_waiting(struct batch_ahead *ahead)
{
    struct batch *batch = ahead->batch;
    enum status st = OK;
    for (size_t i = 0; i < ahead->waiting_count && st == OK; i++) {
        size_t before = batch->put_count;
        st = batch_add(batch, ahead->waiting[i]);
        if (st == OK && batch->put_count > before)
            st = add_to_part(ahead);
    }
    ahead->waiting_count = 0;
    return st;
}

/* So many that there is a first call: what the agent has, and what it can, is asked for. */
static bool look_at_agent(struct batch_ahead *ahead)
{
    if (ahead->batch->digests)
        return true;
    return digests_get(ahead->client, &ahead->batch->digests) == EXIT_OK &&
           batch_is_kept(ahead->client);
}

static void take_job(void *context, const struct job *job)
{
    struct batch_ahead *ahead = context;
    if (ahead->is_over)
        return;
    if (job->after_count) { /* must be checked together with others, which may be sent already */
        ahead->is_over = true;
        return;
    }
    if (array_grow(&ahead->waiting, ahead->waiting_count, sizeof(struct job *)) != OK) {
        ahead->is_over = true;
        return;
    }
    ahead->waiting[ahead->waiting_count++] = job;
    if (ahead->waiting_count < (ahead->batch->digests ? STEP : CALL_MAX))
        return;
    if (!look_at_agent(ahead) || add_waiting(ahead) != OK)
        ahead->is_over = true;
    send_parts(ahead);
}

/* The jobs are gone, and are read again by another parser. */
static void forget_jobs(void *context)
{
    struct batch_ahead *ahead = context;
    struct batch *batch = ahead->batch;
    for (int i = 0; i < AT_ONCE; i++) {
        if (ahead->is_flying[i])
            land(ahead, i);
    }
    ahead->is_over = true;
    batch_forget(batch);
}

struct job_observer batch_ahead_begin(struct batch *batch, struct client *client)
{
    struct batch_ahead *ahead = calloc(1, sizeof(*ahead));
    if (!ahead)
        return (struct job_observer){0};
    *ahead = (struct batch_ahead){.batch = batch, .client = client};
    batch->ahead = ahead;
    return (struct job_observer){.added = take_job, .forgotten = forget_jobs, .context = ahead};
}

void batch_ahead_end(struct batch *batch)
{
    struct batch_ahead *ahead = batch->ahead;
    if (!ahead)
        return;
    for (int i = 0; i < AT_ONCE; i++) {
        if (ahead->is_flying[i])
            land(ahead, i);
        client_close(ahead->flights[i].client);
    }
    free(ahead->waiting);
    free(ahead->parts);
    free(ahead);
    batch->ahead = NULL;
}

void batch_ahead_match(struct batch *batch)
{
    bool depend = false;
    for (size_t i = 0; i < batch->put_count && !depend; i++)
        depend = batch->puts[i].job->after_count > 0;
    if (!depend)
        return;
    json_decref(batch->checked_ahead);
    batch->checked_ahead = NULL;
}
