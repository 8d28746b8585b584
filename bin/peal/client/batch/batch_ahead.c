#include "client/batch/batch_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "client/batch/batch_call.h"
#include "client/batch/digests.h"

enum {
    STEP = 250,  /* jobs between two looks at what can be sent */
    BODIES = 16, /* that wait to be sent */
};

/* A part of the batch that was handed over to the senders. */
struct ahead_call {
    char *body;
    json_t *answer; /* NULL: none, or not the one that is hoped for */
};

/* A thread that sends calls, one after the other: it goes on while files are read. */
struct sender {
    struct batch_ahead *ahead;
    struct client *client;
    pthread_t thread;
    bool has_thread;
};

struct batch_ahead {
    struct batch *batch;
    struct client *client;      /* of the command */
    const struct job **waiting; /* that were read, and not added to the batch yet */
    size_t waiting_count;
    struct batch_part *parts; /* of the batch, as batch_split would make them */
    size_t part_count;
    size_t last_bytes; /* of the last part */
    struct sender senders[AT_ONCE];
    bool is_applied;
    bool is_left;      /* the rest of the batch is not sent ahead */
    bool is_forgotten; /* nor does what was sent count */

    /* The senders' and the reader's, under the mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct ahead_call *calls; /* by part */
    size_t call_count, taken;
    bool is_closed; /* there will be no more of them */
    bool is_over;   /* nothing more is sent */
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

/* ---- the senders ---- */

/* The next call; false: there is none, and there will be none. */
static bool take_call(struct batch_ahead *ahead, size_t *ret, char **ret_body)
{
    pthread_mutex_lock(&ahead->mutex);
    while (ahead->taken == ahead->call_count && !ahead->is_closed && !ahead->is_over)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    bool has_one = ahead->taken < ahead->call_count && !ahead->is_over;
    if (has_one) {
        *ret = ahead->taken++;
        *ret_body = ahead->calls[*ret].body;
        ahead->calls[*ret].body = NULL;
    }
    pthread_cond_broadcast(&ahead->changed); /* there is room for another */
    pthread_mutex_unlock(&ahead->mutex);
    return has_one;
}

static void *send_calls(void *context)
{
    const struct sender *sender = context;
    struct batch_ahead *ahead = sender->ahead;
    size_t i;
    char *body;
    while (take_call(ahead, &i, &body)) {
        json_t *answer = batch_call_check(sender->client, ahead->is_applied, body);
        free(body);
        pthread_mutex_lock(&ahead->mutex);
        ahead->calls[i].answer = answer;
        ahead->is_over |= !answer;
        pthread_cond_broadcast(&ahead->changed);
        pthread_mutex_unlock(&ahead->mutex);
    }
    return NULL;
}

/* False: none could be started. */
static bool start_senders(struct batch_ahead *ahead)
{
    const struct client *like = ahead->client;
    size_t count = 0;
    if (ahead->senders[0].has_thread)
        return true;
    for (int i = 0; i < AT_ONCE; i++) {
        struct sender *sender = &ahead->senders[i];
        sender->ahead = ahead;
        if (client_open(client_is_remote(like) ? NULL : client_data(like), &sender->client) !=
            EXIT_OK)
            break;
        sender->has_thread = pthread_create(&sender->thread, NULL, send_calls, sender) == 0;
        count += sender->has_thread;
        if (!sender->has_thread)
            break;
    }
    return count > 0;
}

static bool is_over(struct batch_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    bool over = ahead->is_over;
    pthread_mutex_unlock(&ahead->mutex);
    return over;
}

/* What was read, and what is still to come, is left to those who send the batch. */
static void leave(struct batch_ahead *ahead)
{
    ahead->is_left = true;
    pthread_mutex_lock(&ahead->mutex);
    ahead->is_over = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
}

/* Room for another body; false: there is none, or nothing more is sent. */
static bool has_room(struct batch_ahead *ahead, bool may_wait)
{
    pthread_mutex_lock(&ahead->mutex);
    while (may_wait && !ahead->is_over && ahead->call_count - ahead->taken >= BODIES)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    bool room = !ahead->is_over && ahead->call_count - ahead->taken < BODIES;
    pthread_mutex_unlock(&ahead->mutex);
    return room;
}

static void hand_over(struct batch_ahead *ahead)
{
    const struct batch_call call = {.batch = ahead->batch, .puts = ahead->parts[ahead->call_count]};
    char *body = batch_call_body(&call, PHASE_CHECK);
    pthread_mutex_lock(&ahead->mutex);
    if (body && array_grow(&ahead->calls, ahead->call_count, sizeof(*ahead->calls)) == OK) {
        ahead->calls[ahead->call_count++] = (struct ahead_call){.body = body};
        body = NULL;
    } else {
        ahead->is_over = true;
    }
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    free(body);
}

/* Hands over the first `count` parts that are not yet: at the end of the files all of them, before
 * that without waiting, and not the last one, which may still grow. */
static void hand_over_parts(struct batch_ahead *ahead, size_t count, bool may_wait)
{
    if (ahead->call_count < count && !start_senders(ahead))
        leave(ahead);
    while (ahead->call_count < count && has_room(ahead, may_wait))
        hand_over(ahead);
}

/* Waits for the calls under way, and sends no others. */
static void end_senders(struct batch_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    ahead->is_closed = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    for (int i = 0; i < AT_ONCE; i++) {
        struct sender *sender = &ahead->senders[i];
        if (sender->has_thread)
            pthread_join(sender->thread, NULL);
        client_close(sender->client);
        *sender = (struct sender){.ahead = ahead};
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
    return digests_get(ahead->client, DIGESTS_CONFIRMED, &ahead->batch->digests) == EXIT_OK &&
           batch_is_kept(ahead->client);
}

static void take_job(void *context, const struct job *job)
{
    struct batch_ahead *ahead = context;
    if (ahead->is_left)
        return;
    /* One that waits must be checked together with others, which may be sent already. */
    if (job_depends(job) ||
        array_grow(&ahead->waiting, ahead->waiting_count, sizeof(struct job *)) != OK) {
        leave(ahead);
        return;
    }
    ahead->waiting[ahead->waiting_count++] = job;
    if (ahead->waiting_count < (ahead->batch->digests ? STEP : CALL_MAX))
        return;
    if (is_over(ahead) || !look_at_agent(ahead) || add_waiting(ahead) != OK)
        leave(ahead);
    else
        hand_over_parts(ahead, ahead->part_count - (ahead->part_count > 0), false);
}

/* The jobs are gone, and are read again by another parser. */
static void forget_jobs(void *context)
{
    struct batch_ahead *ahead = context;
    leave(ahead);
    end_senders(ahead);
    ahead->is_forgotten = true;
    batch_forget(ahead->batch);
}

struct job_observer batch_ahead_begin(struct batch *batch, struct client *client)
{
    struct batch_ahead *ahead = calloc(1, sizeof(*ahead));
    if (!ahead)
        return (struct job_observer){0};
    *ahead =
        (struct batch_ahead){.batch = batch, .client = client, .is_applied = batch->is_applied};
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    batch->ahead = ahead;
    return (struct job_observer){.added = take_job, .forgotten = forget_jobs, .context = ahead};
}

/* The answers, by part. */
static void keep_answers(struct batch_ahead *ahead)
{
    json_t *answers = json_array();
    enum status st = answers ? OK : E_NOMEM;
    for (size_t i = 0; i < ahead->call_count && st == OK; i++) {
        json_t *answer = ahead->calls[i].answer;
        if (json_array_append_new(answers, answer ? json_incref(answer) : json_null()) != 0)
            st = E_NOMEM;
    }
    if (st == OK && ahead->call_count)
        ahead->batch->checked_ahead = json_incref(answers);
    json_decref(answers);
}

static void free_ahead(struct batch_ahead *ahead)
{
    for (size_t i = 0; i < ahead->call_count; i++) {
        free(ahead->calls[i].body);
        json_decref(ahead->calls[i].answer);
    }
    pthread_mutex_destroy(&ahead->mutex);
    pthread_cond_destroy(&ahead->changed);
    free(ahead->calls);
    free(ahead->waiting);
    free(ahead->parts);
    free(ahead);
}

void batch_ahead_end(struct batch *batch, bool is_complete)
{
    struct batch_ahead *ahead = batch->ahead;
    if (!ahead)
        return;
    bool goes_on = is_complete && batch->digests && !ahead->is_left && add_waiting(ahead) == OK;
    if (goes_on)
        hand_over_parts(ahead, ahead->part_count, true);
    else
        leave(ahead);
    end_senders(ahead);
    if (!ahead->is_forgotten)
        keep_answers(ahead);
    free_ahead(ahead);
    batch->ahead = NULL;
}

void batch_ahead_match(struct batch *batch)
{
    bool depend = false;
    for (size_t i = 0; i < batch->put_count && !depend; i++)
        depend = job_depends(batch->puts[i].job);
    if (!depend)
        return;
    json_decref(batch->checked_ahead);
    batch->checked_ahead = NULL;
}
