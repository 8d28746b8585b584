#include "asks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "lib_node.h"
#include "monotonic.h"
#include "params/run_input.h"

struct ask {
    struct asks *asks;
    enum ask_kind kind;
    char name[JOB_NAME_SIZE];
    json_t *params; /* NULL: none */
    struct store_request request;
    union {
        struct store_add_run add;
        struct store_put_job put;
    } item;
    char *text; /* of the input, or of the definition */
    struct ledger_entry *passed;
    bool is_answered, is_abandoned; /* with the lock */
    enum status st;
    struct strbuf why;
    STAILQ_ENTRY(ask) next;
};

static struct ask *ask_free(struct ask *ask)
{
    if (!ask)
        return NULL;
    json_decref(ask->params);
    free(ask->text);
    free(ask->passed);
    strbuf_release(&ask->why);
    free(ask);
    return NULL;
}

void asks_init(struct asks *asks)
{
    *asks = (struct asks){0};
    pthread_mutex_init(&asks->lock, NULL);
    monotonic_cond_init(&asks->answered);
    STAILQ_INIT(&asks->fresh);
}

void asks_release(struct asks *asks)
{
    pthread_cond_destroy(&asks->answered);
    pthread_mutex_destroy(&asks->lock);
}

/* ---- answering ---- */

static void answer(struct ask *ask, enum status st)
{
    struct asks *asks = ask->asks;
    pthread_mutex_lock(&asks->lock);
    ask->st = st;
    ask->is_answered = true;
    bool is_abandoned = ask->is_abandoned;
    pthread_cond_broadcast(&asks->answered);
    pthread_mutex_unlock(&asks->lock);
    if (is_abandoned)
        ask_free(ask);
}

static void done(struct store_request *request, enum status st)
{
    struct ask *ask = request->context;
    pthread_mutex_lock(&ask->asks->lock);
    ask->asks->under_way--;
    pthread_mutex_unlock(&ask->asks->lock);
    if (st == OK && ask->kind == ASK_TRIGGER && !ask->item.add.added) {
        bool is_gone = id_is_zero(&ask->item.add.open_run);
        strbuf_addf(&ask->why, is_gone ? "\"%s\" no longer exists" : "a run of \"%s\" is under way",
                    ask->name);
        st = is_gone ? E_NOT_FOUND : E_BUSY;
    }
    if (st == OK && ask->kind == ASK_DELETE && ask->item.put.result != PUT_OK) {
        strbuf_addf(&ask->why, "\"%s\" was changed at the same moment: try again", ask->name);
        st = E_BUSY;
    }
    answer(ask, st);
}

/* ---- asking the store ---- */

static enum status choose_params(struct ask *ask, const struct job *job)
{
    struct input_error error = {0};
    struct run_input input = {.timeout_s = -1};
    enum status st = input_choose_params(job, ask->params, &input.params, &error);
    if (st == E_INVALID)
        strbuf_addf(&ask->why, "%s%s%s: %s", error.field, *error.name ? "." : "", error.name,
                    error.why);
    if (st == OK)
        st = input_encode(&input, &ask->text);
    if (st == E_TOO_LARGE)
        strbuf_addf(&ask->why, "the parameters have more than %d bytes", INPUT_JSON_MAX);
    input_release(&input);
    return st;
}

static enum status fill_run(struct ask *ask, struct side *side, const struct catalog_job *there,
                            const struct job *job, struct now now)
{
    struct store_add_run *add = &ask->item.add;
    uint8_t random[10];
    enum status st = choose_params(ask, job);
    if (st != OK)
        return st;
    random_from_block(&side->peal->random, random, sizeof(random));
    *add = (struct store_add_run){
        .is_for_now = true,
        .overlap = job->overlap,
        .queue_limit = job->queue_limit,
        .at_once = job->overlap_at_once,
        .input = ask->text,
        .run = {.id = id_make(now.wall, random),
                .job_uid = there->uid,
                .tick_ms = run_tick_of_now(now.wall.ms),
                .attempt = 1,
                .attempts = catalog_job_attempts(there),
                .cause = CAUSE_MANUAL,
                .job_revision = there->revision,
                .not_before_ms = now.wall.ms,
                .exit_code = -1},
    };
    if (ask->text)
        add->run.input = add->run.id;
    snprintf(add->run.job_name, sizeof(add->run.job_name), "%s", there->name);
    catalog_fill_groups(engine_catalog(side->engine), there, there->name, add->run.groups,
                        &add->run.priority);
    snprintf(add->run.by, sizeof(add->run.by), "%s", side->peal->node);
    ask->request.op = STORE_ADD_RUN;
    ask->request.items.adds = add;
    return OK;
}

static enum status fill_deletion(struct ask *ask, struct side *side, struct catalog_job *there,
                                 struct job *job, struct now now)
{
    struct store_put_job *put = &ask->item.put;
    job->deleted_ms = now.wall.ms;
    job->updated_ms = now.wall.ms;
    ask->text = job_encode_text(job);
    if (!ask->text)
        return E_NOMEM;
    *put = (struct store_put_job){.uid = there->uid,
                                  .name = ask->name,
                                  .json = ask->text,
                                  .deleted = true,
                                  .paused = job->paused,
                                  .expected_revision = there->revision,
                                  .cursor_ms = now.wall.ms,
                                  .seen_cursor_ms = there->cursor_ms};
    ask->request.op = STORE_PUT_JOB;
    ask->request.items.puts = put;
    enum status st = engine_pass(side->engine, there, now.wall.ms, REASON_DELETED, &ask->passed,
                                 &put->passed_count);
    put->passed = ask->passed;
    return st;
}

static struct catalog_job *find(struct ask *ask, struct side *const *sides, size_t count,
                                struct side **ret)
{
    for (size_t i = 0; i < count; i++) {
        struct catalog_job *there =
            sides[i]->engine ? catalog_by_name(engine_catalog(sides[i]->engine), ask->name) : NULL;
        *ret = sides[i];
        if (there && !there->deleted && !functions_is_group(&sides[i]->functions, ask->name))
            return there;
    }
    return NULL;
}

static bool is_awaited(const struct ask *ask, struct side *const *sides, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        functions_part(&sides[i]->functions, ask->name);
        if (functions_awaits(&sides[i]->functions, ask->name))
            return true;
    }
    return false;
}

/* Called by its tick, of which the store has no run. */
static bool is_under_way(const struct ask *ask, struct side *side)
{
    return ask->kind == ASK_TRIGGER && functions_is_busy(&side->functions, ask->name);
}

static void submit(struct ask *ask, struct side *const *sides, size_t count, struct now now)
{
    struct job_error error;
    struct job *job = NULL;
    struct side *side;
    enum status st = E_NOT_FOUND;
    struct catalog_job *there = find(ask, sides, count, &side);
    if (!there) {
        strbuf_addf(&ask->why, "there is no job \"%s\"", ask->name);
    } else if (is_under_way(ask, side)) {
        strbuf_addf(&ask->why, "a run of \"%s\" is under way", ask->name);
        st = E_BUSY;
    } else {
        st = job_decode_stored(there->json, NULL, &job, &error);
    }
    if (st == OK && ask->kind == ASK_TRIGGER)
        st = fill_run(ask, side, there, job, now);
    else if (st == OK)
        st = fill_deletion(ask, side, there, job, now);
    job_free(job);
    if (st != OK) {
        answer(ask, st);
        return;
    }
    ask->request.count = 1;
    ask->request.done = done;
    ask->request.context = ask;
    pthread_mutex_lock(&ask->asks->lock);
    ask->asks->under_way++;
    pthread_mutex_unlock(&ask->asks->lock);
    store_submit(side->store, &ask->request);
}

static struct ask *next_fresh(struct asks *asks)
{
    pthread_mutex_lock(&asks->lock);
    struct ask *ask = STAILQ_FIRST(&asks->fresh);
    if (ask)
        STAILQ_REMOVE_HEAD(&asks->fresh, next);
    pthread_mutex_unlock(&asks->lock);
    return ask;
}

void asks_step(struct asks *asks, struct side *const *sides, size_t count, struct now now)
{
    struct ask_list later = STAILQ_HEAD_INITIALIZER(later);
    for (struct ask *ask; (ask = next_fresh(asks));)
        if (is_awaited(ask, sides, count))
            STAILQ_INSERT_TAIL(&later, ask, next);
        else
            submit(ask, sides, count, now);
    pthread_mutex_lock(&asks->lock);
    STAILQ_CONCAT(&later, &asks->fresh);
    STAILQ_CONCAT(&asks->fresh, &later);
    pthread_mutex_unlock(&asks->lock);
}

bool asks_are_idle(struct asks *asks)
{
    pthread_mutex_lock(&asks->lock);
    bool is_idle = !asks->under_way && STAILQ_EMPTY(&asks->fresh);
    pthread_mutex_unlock(&asks->lock);
    return is_idle;
}

void asks_end(struct asks *asks)
{
    struct ask *ask;
    pthread_mutex_lock(&asks->lock);
    asks->is_over = true;
    pthread_mutex_unlock(&asks->lock);
    while ((ask = next_fresh(asks))) {
        strbuf_adds(&ask->why, "the node has stopped");
        answer(ask, E_UNREACHABLE);
    }
}

/* ---- the program's threads ---- */

/* "day=2026-11-01\nregion=eu" as an object. */
static enum status parse_params(const char *text, json_t **ret, struct strbuf *why)
{
    json_t *params = json_object();
    enum status st = params ? OK : E_NOMEM;
    while (st == OK && *text) {
        size_t length = strcspn(text, "\n");
        const char *equals = memchr(text, '=', length);
        size_t name = equals ? (size_t)(equals - text) : 0;
        char *key = strndup(text, name);
        if (!name) {
            strbuf_addf(why, "a parameter is NAME=VALUE, not \"%.*s\"",
                        (int)(length < 60 ? length : 60), text);
            st = E_INVALID;
        } else if (!key || json_object_set_new(params, key,
                                               json_stringn(equals + 1, length - name - 1)) != 0) {
            strbuf_addf(why, "the parameter \"%.*s\" is not UTF-8", (int)(name < 60 ? name : 60),
                        text);
            st = key ? E_INVALID : E_NOMEM;
        }
        free(key);
        text += length + (text[length] == '\n');
    }
    if (st != OK) {
        json_decref(params);
        params = NULL;
    }
    *ret = params;
    return st;
}

/* True: it is answered. Else it is abandoned: the loop frees it. */
static bool wait_for(struct ask *ask, int64_t timeout_ms)
{
    struct asks *asks = ask->asks;
    struct timespec until = monotonic_in_us(timeout_ms * 1000);
    int waited = 0;
    while (!ask->is_answered && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&asks->answered, &asks->lock, &until);
    ask->is_abandoned = !ask->is_answered;
    return ask->is_answered;
}

enum status asks_ask(struct asks *asks, enum ask_kind kind, const char *name, const char *params,
                     int64_t timeout_ms, const struct turns *turns, char *ret_id,
                     struct strbuf *why)
{
    struct ask *ask = calloc(1, sizeof(*ask));
    if (!ask)
        return E_NOMEM;
    ask->asks = asks;
    ask->kind = kind;
    strbuf_init(&ask->why);
    snprintf(ask->name, sizeof(ask->name), "%s", name);
    enum status st = params ? parse_params(params, &ask->params, why) : OK;
    if (st != OK) {
        ask_free(ask);
        return st;
    }
    pthread_mutex_lock(&asks->lock);
    bool is_over = asks->is_over;
    if (!is_over) {
        STAILQ_INSERT_TAIL(&asks->fresh, ask, next);
        turns_ask(turns);
    }
    bool is_answered = !is_over && wait_for(ask, timeout_ms);
    pthread_mutex_unlock(&asks->lock);
    if (is_answered) {
        st = ask->st;
        strbuf_adds(why, ask->why.text);
        if (st == OK && ret_id && kind == ASK_TRIGGER)
            id_format(&ask->item.add.run.id, ret_id);
    } else {
        st = E_UNREACHABLE;
        if (is_over)
            strbuf_adds(why, "the node has stopped");
        else
            strbuf_addf(why, "the store has not answered within %lld ms; it may do so yet",
                        (long long)timeout_ms);
    }
    if (is_answered || is_over)
        ask_free(ask);
    return st;
}
