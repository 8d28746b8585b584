/* Leases: a renewal raises the counter of its row, without a revision. Every client looks at all
 * counters several times a second, and ends the lease whose counter has not moved for its TTL. */
#include <stdlib.h>
#include <string.h>

#include "pg_internal.h"

enum { LOOK_MS = 250 };

static const struct pg_job_type beat_type, look_type, end_type;
static const struct pg_params no_params = {.count = 0};

/* ---- our own ---- */

struct beat {
    struct pg_job job; /* first */
    struct pg_client *client;
    struct pg_params params;
    char id_bytes[8];
    int64_t id;
};

bool pg_lease_renew(struct kv_client *base, int64_t id)
{
    struct pg_client *client = (struct pg_client *)base;
    struct beat *beat = client->stream.wire ? calloc(1, sizeof(*beat)) : NULL;
    if (!beat)
        return false;
    beat->job = (struct pg_job){.type = &beat_type, .statement = PG_BEAT, .params = &beat->params};
    beat->client = client;
    beat->id = id;
    pg_write_int8(beat->id_bytes, id);
    beat->params = (struct pg_params){.count = 1, .values = {beat->id_bytes}, .lengths = {8}};
    pg_link_submit(&client->stream, &beat->job);
    return true;
}

static bool beat_rows(struct pg_job *job, PGresult *rows)
{
    struct beat *beat = (struct beat *)job;
    kv_lease_renewed(&beat->client->base, beat->id, PQntuples(rows) ? pg_int8_at(rows, 0, 1) : 0);
    return false;
}

static void beat_error(struct pg_job *job, const struct pg_error *error)
{
    pg_link_lose(&((struct beat *)job)->client->stream, error->words);
}

static void beat_over(struct pg_job *job, bool is_lost)
{
    (void)is_lost;
    free(job);
}

static void beat_free(struct pg_job *job)
{
    free(job);
}

static const struct pg_job_type beat_type = {
    .rows = beat_rows, .error = beat_error, .over = beat_over, .free = beat_free};

void pg_leases_want(struct kv_client *client, bool are_any)
{
    (void)client;
    (void)are_any; /* the connection is there in any case */
}

void pg_leases_doubt(struct kv_client *client)
{
    (void)client; /* the link has a deadline of its own */
}

/* ---- those of others ---- */

struct end {
    struct pg_job job; /* first */
    struct pg_params params;
    char bytes[28];
};

static bool nothing(struct pg_job *job, PGresult *rows)
{
    (void)job;
    (void)rows;
    return false;
}

static const struct pg_job_type end_type = {.rows = nothing, .over = beat_over, .free = beat_free};

/* Unless it has beaten since: the counter is compared. */
void pg_lease_end(struct pg_client *client, const struct kv_observed *lease)
{
    struct end *end = calloc(1, sizeof(*end));
    if (!end)
        return; /* with the next look */
    end->job = (struct pg_job){.type = &end_type, .statement = PG_REVOKE, .params = &end->params};
    pg_write_int8(end->bytes, lease->id);
    pg_write_int8(end->bytes + 8, lease->beats);
    pg_write_int8(end->bytes + 16, kv_random());
    pg_write_int4(end->bytes + 24, 1);
    end->params =
        (struct pg_params){.count = 4,
                           .values = {end->bytes, end->bytes + 8, end->bytes + 16, end->bytes + 24},
                           .lengths = {8, 8, 8, 4}};
    pg_link_submit(&client->stream, &end->job);
}

static void end_lease(void *context, const struct kv_observed *lease)
{
    pg_lease_end(context, lease);
}

void pg_leases_saw(struct pg_client *client, const PGresult *rows)
{
    int64_t now_ms = kv_now_ms();
    enum status st = OK;
    kv_observer_begin(&client->observer);
    for (int row = 0; row < PQntuples(rows) && st == OK; row++)
        if (!PQgetisnull(rows, row, 2))
            st = kv_observer_saw(&client->observer, pg_int8_at(rows, row, 2),
                                 pg_int8_at(rows, row, 3), pg_int8_at(rows, row, 4), now_ms);
    if (st == OK)
        kv_observer_end(&client->observer);
}

static void look(struct pg_client *client)
{
    if (!client->stream.wire || client->is_looked)
        return;
    client->is_looked = true;
    client->look_job =
        (struct pg_job){.type = &look_type, .statement = PG_LEASES, .params = &no_params};
    pg_link_submit(&client->stream, &client->look_job);
}

static struct pg_client *looker(struct pg_job *job)
{
    return (struct pg_client *)((char *)job - offsetof(struct pg_client, look_job));
}

static bool look_rows(struct pg_job *job, PGresult *rows)
{
    struct pg_client *client = looker(job);
    if (PQntuples(rows) == 0 || pg_int8_at(rows, 0, 1) != client->stream.facts.incarnation) {
        pg_link_lose(&client->stream, "commits were lost");
        return false;
    }
    pg_leases_saw(client, rows);
    kv_observer_each_over(&client->observer, kv_now_ms(), end_lease, client);
    if (pg_int8_at(rows, 0, 0) > client->feed.cursor) /* a wake-up was lost, or is on its way */
        pg_feed_read(client);
    return false;
}

static void look_error(struct pg_job *job, const struct pg_error *error)
{
    pg_link_lose(&looker(job)->stream, error->words);
}

static void look_over(struct pg_job *job, bool is_lost)
{
    struct pg_client *client = looker(job);
    client->is_looked = false;
    if (!is_lost)
        loop_timer_set(client->look_timer, LOOK_MS);
}

static void look_free(struct pg_job *job)
{
    (void)job;
}

static const struct pg_job_type look_type = {
    .rows = look_rows, .error = look_error, .over = look_over, .free = look_free};

static void on_timer(void *context)
{
    look(context);
}

void pg_leases_opened(struct pg_client *client)
{
    client->is_looked = false;
    kv_observer_forget(&client->observer);
    look(client);
    kv_leases_opened(&client->base);
}

void pg_leases_broken(struct pg_client *client)
{
    client->is_looked = false;
    kv_observer_forget(&client->observer);
    kv_leases_broken(&client->base);
}

enum status pg_leases_init(struct pg_client *client)
{
    kv_observer_init(&client->observer);
    return loop_timer_new(client->base.loop, on_timer, client, &client->look_timer);
}

void pg_leases_release(struct pg_client *client)
{
    client->look_timer = loop_timer_free(client->look_timer);
    kv_observer_release(&client->observer);
}
