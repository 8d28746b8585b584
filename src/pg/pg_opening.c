/* What a connection is asked when it is open and before it is used: whose data the server has, and
 * whether it has kept what was seen before.
 *
 *     FACTS -> TAG -> DRAW (a new incarnation: commits were lost) -> FACTS
 *                \-> END (the server process of the connection before, until it has ended)
 *                      -> COMPARED (on another timeline: until all have compared, or 5 s) -> FACTS
 *
 * The stream leaves out END and COMPARED: nothing is changed on it that could be done twice. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "pg_internal.h"

enum {
    ANSWER_MS = 5000,  /* for each question */
    RECHECK_MS = 5000, /* for which others may compare what a new primary has kept */
    RECHECK_POLL_MS = 50,
    END_MS = 20, /* between two looks whether the process has ended */
    END_LOOKS = 100,
};

/* Columns of PG_FACTS. */
enum { REV, INCARNATION, FLOOR, TIMELINE, SYSTEM, DATABASE, BACKEND_PID, FACTS };

struct pg_opening {
    struct pg_client *client;
    enum pg_role role;
    struct pg_memory memory;
    pg_opened *over;
    void *context;
    struct pg_wire *wire;
    struct loop_timer *timer, *again; /* the deadline of a question; its repetition */
    enum pg_statement asked;
    bool is_answered, is_ready, is_over;
    PGresult *rows;
    struct pg_params params;
    char bytes[2][8];
    struct strbuf text;
    bool is_compared; /* its own memory with the server's */
    bool is_last;     /* these facts are those that count */
    int end_looks;
    int64_t recheck_until_ms;
    struct pg_facts facts;
    enum status status;
    struct strbuf why;
};

/* ---- the end ---- */

static void finish(struct pg_opening *opening, enum status st)
{
    if (opening->is_over)
        return;
    opening->is_over = true;
    loop_timer_stop(opening->timer);
    loop_timer_stop(opening->again);
    opening->over(opening->context, st, opening->why.length ? opening->why.text : "");
}

static void refuse(struct pg_opening *opening, enum status st, const char *message)
{
    if (opening->status != OK)
        return;
    strbuf_reset(&opening->why);
    pg_explain(&opening->client->address, message, &opening->why);
    opening->status = st;
}

static void on_timer(void *context)
{
    struct pg_opening *opening = context;
    refuse(opening, E_UNREACHABLE, "it does not answer");
    finish(opening, opening->status);
}

/* ---- asking ---- */

static void ask(struct pg_opening *opening, enum pg_statement statement)
{
    opening->asked = statement;
    PQclear(opening->rows);
    opening->rows = NULL;
    loop_timer_set(opening->timer, ANSWER_MS);
    if (pg_wire_send(opening->wire, statement, &opening->params) != OK ||
        pg_wire_flush(opening->wire) != OK)
        refuse(opening, E_UNREACHABLE, pg_wire_why(opening->wire));
}

static void add_number(struct pg_opening *opening, int64_t number)
{
    struct pg_params *params = &opening->params;
    char *bytes = opening->bytes[params->count];
    pg_write_int8(bytes, number);
    params->values[params->count] = bytes;
    params->lengths[params->count++] = 8;
}

static void add_text(struct pg_opening *opening, const char *text, size_t length)
{
    struct pg_params *params = &opening->params;
    params->values[params->count] = text;
    params->lengths[params->count++] = (int)length;
}

static void ask_facts(struct pg_opening *opening)
{
    opening->params.count = 0;
    ask(opening, PG_FACTS);
}

static void ask_tag(struct pg_opening *opening)
{
    opening->params.count = 0;
    add_number(opening, opening->memory.mark.revision);
    ask(opening, PG_TAG);
}

/* Commits were lost: so that all have another cluster id. */
static void ask_draw(struct pg_opening *opening)
{
    opening->params.count = 0;
    add_number(opening, kv_random());
    add_number(opening, opening->facts.incarnation);
    ask(opening, PG_DRAW);
}

/* What the connection before has sent may still be done by its server process. */
static void ask_end(struct pg_opening *opening)
{
    char name[PG_APPLICATION_SIZE];
    opening->params.count = 0;
    pg_application_name(opening->client->client_id, name);
    strbuf_reset(&opening->text);
    strbuf_adds(&opening->text, name);
    add_number(opening, opening->memory.old_backend_pid);
    add_text(opening, opening->text.text, opening->text.length);
    ask(opening, PG_END);
}

/* On another timeline commits may be missing that only other nodes have seen. They get the time to
 * compare; who finds something draws a new incarnation, which is read at the end. */
static void ask_compared(struct pg_opening *opening)
{
    const struct pg_memory *memory = &opening->memory;
    const char *timeline = opening->facts.timeline;
    opening->params.count = 0;
    strbuf_reset(&opening->text);
    strbuf_addc(&opening->text, '{');
    for (size_t i = 0; i < memory->own_lease_count; i++)
        strbuf_addf(&opening->text, "%s%" PRId64, i ? "," : "", memory->own_leases[i]);
    strbuf_addc(&opening->text, '}');
    add_text(opening, timeline, strlen(timeline));
    add_text(opening, opening->text.text, opening->text.length);
    ask(opening, PG_COMPARED);
}

static void on_again(void *context)
{
    struct pg_opening *opening = context;
    if (opening->asked == PG_END)
        ask_end(opening);
    else
        ask_compared(opening);
    if (opening->status != OK)
        finish(opening, opening->status);
}

/* ---- what comes next ---- */

static void wait_for_others(struct pg_opening *opening)
{
    const char *timeline = opening->memory.timeline;
    if (!timeline[0] || strcmp(timeline, opening->facts.timeline) == 0) {
        opening->is_ready = true;
        return;
    }
    opening->recheck_until_ms = kv_now_ms() + RECHECK_MS;
    ask_compared(opening);
}

static void end_predecessor(struct pg_opening *opening)
{
    if (opening->role != PG_CALLS)
        opening->is_ready = true;
    else if (opening->memory.old_backend_pid)
        ask_end(opening);
    else
        wait_for_others(opening);
}

/* ---- answers ---- */

/* As a text of its own, as the cluster id was always made. */
static uint64_t hash_column(const struct pg_opening *opening, uint64_t seed, int column)
{
    char text[32];
    struct kv_bytes bytes = pg_bytes_at(opening->rows, 0, column);
    snprintf(text, sizeof(text), "%.*s", (int)bytes.length, (const char *)bytes.data);
    return hash_text(seed, text);
}

static bool read_facts(struct pg_opening *opening)
{
    struct pg_facts *facts = &opening->facts;
    const PGresult *rows = opening->rows;
    if (PQntuples(rows) != 1 || PQnfields(rows) != FACTS)
        return false;
    struct kv_bytes timeline = pg_bytes_at(rows, 0, TIMELINE);
    facts->rev = pg_int8_at(rows, 0, REV);
    facts->incarnation = pg_int8_at(rows, 0, INCARNATION);
    facts->floor = pg_int8_at(rows, 0, FLOOR);
    facts->backend_pid = (int)pg_int8_at(rows, 0, BACKEND_PID);
    snprintf(facts->timeline, sizeof(facts->timeline), "%.*s", (int)timeline.length,
             (const char *)timeline.data);
    facts->system_id = hash_text(hash_column(opening, hash_column(opening, 0, SYSTEM), DATABASE),
                                 opening->client->address.schema);
    return true;
}

static void take_facts(struct pg_opening *opening)
{
    const struct kv_mark *mark = &opening->memory.mark;
    if (!read_facts(opening)) {
        refuse(opening, E_CORRUPT, "kv_feed or kv_floor has no row");
        return;
    }
    /* Else nothing is remembered, or somebody else has noticed. */
    bool can_compare = mark->revision && mark->incarnation == opening->facts.incarnation;
    if (opening->is_last)
        opening->is_ready = true;
    else if (can_compare && !opening->is_compared)
        ask_tag(opening);
    else
        end_predecessor(opening);
}

/* Is the change that was seen last still there? A pruned one says nothing. */
static void take_tag(struct pg_opening *opening)
{
    const struct kv_mark *mark = &opening->memory.mark;
    const PGresult *rows = opening->rows;
    bool is_pruned = PQntuples(rows) == 0 && opening->facts.rev >= mark->revision;
    bool is_same = PQntuples(rows) > 0 && pg_int8_at(rows, 0, 0) == mark->tag;
    opening->is_compared = true;
    if (is_pruned || is_same)
        end_predecessor(opening);
    else
        ask_draw(opening);
}

static void take_end(struct pg_opening *opening)
{
    bool is_gone = PQntuples(opening->rows) == 1 && pg_int8_at(opening->rows, 0, 0) == 0;
    if (is_gone)
        wait_for_others(opening);
    else if (++opening->end_looks == END_LOOKS)
        refuse(opening, E_UNREACHABLE, "a server process of before does not end");
    else
        loop_timer_set(opening->again, END_MS);
}

static void take_compared(struct pg_opening *opening)
{
    bool is_all = PQntuples(opening->rows) == 1 && pg_int8_at(opening->rows, 0, 0) == 0;
    if (!is_all && kv_now_ms() < opening->recheck_until_ms) {
        loop_timer_set(opening->again, RECHECK_POLL_MS);
        return;
    }
    opening->is_last = true;
    ask_facts(opening);
}

static void take(struct pg_opening *opening)
{
    switch ((int)opening->asked) {
    case PG_FACTS:
        take_facts(opening);
        break;
    case PG_TAG:
        take_tag(opening);
        break;
    case PG_DRAW:
        ask_facts(opening);
        break;
    case PG_END:
        take_end(opening);
        break;
    default:
        take_compared(opening);
        break;
    }
}

/* ---- the connection ---- */

static void on_opened(void *context, enum status st, const char *why)
{
    struct pg_opening *opening = context;
    if (st != OK) {
        strbuf_reset(&opening->why);
        strbuf_adds(&opening->why, why);
        finish(opening, st);
        return;
    }
    ask_facts(opening);
    if (opening->status != OK)
        finish(opening, opening->status);
}

static void on_rows(void *context, PGresult *rows)
{
    struct pg_opening *opening = context;
    PQclear(opening->rows);
    opening->rows = rows;
}

static void on_error(void *context, const struct pg_error *error)
{
    struct pg_opening *opening = context;
    enum status st = E_UNREACHABLE;
    if (error->state[0] && pg_judge(error->state, &st) != PG_REFUSED)
        st = E_UNREACHABLE;
    refuse(opening, st, error->words);
}

static void on_over(void *context)
{
    ((struct pg_opening *)context)->is_answered = true;
}

static void on_notified(void *context)
{
    (void)context; /* all changes are read when it is over */
}

static void on_paused(void *context)
{
    struct pg_opening *opening = context;
    if (!opening->is_answered)
        return;
    opening->is_answered = false;
    loop_timer_stop(opening->timer);
    if (opening->status == OK && opening->rows)
        take(opening);
    else
        refuse(opening, E_UNREACHABLE, "an answer is not as expected");
    if (opening->is_ready || opening->status != OK)
        finish(opening, opening->status);
}

static void on_closed(void *context, const char *why)
{
    struct pg_opening *opening = context;
    refuse(opening, E_UNREACHABLE, why);
    finish(opening, opening->status);
}

static const struct pg_wire_events wire_events = {.opened = on_opened,
                                                  .rows = on_rows,
                                                  .error = on_error,
                                                  .over = on_over,
                                                  .notified = on_notified,
                                                  .paused = on_paused,
                                                  .closed = on_closed};

enum status pg_opening_new(struct pg_client *client, enum pg_role role,
                           const struct pg_memory *memory, pg_opened *over, void *context,
                           struct pg_opening **ret)
{
    struct pg_opening *opening = calloc(1, sizeof(*opening));
    if (!opening)
        return E_NOMEM;
    *opening = (struct pg_opening){
        .client = client, .role = role, .memory = *memory, .over = over, .context = context};
    strbuf_init(&opening->why);
    strbuf_init(&opening->text);
    const struct pg_target target = {
        .address = &client->address, .client_id = client->client_id, .listens = role == PG_STREAM};
    enum status st = loop_timer_new(client->base.loop, on_timer, opening, &opening->timer);
    if (st == OK)
        st = loop_timer_new(client->base.loop, on_again, opening, &opening->again);
    if (st == OK)
        st = pg_wire_new(client->base.loop, &target, &wire_events, opening, &opening->wire);
    if (st != OK) {
        pg_opening_free(opening);
        return st;
    }
    *ret = opening;
    return OK;
}

struct pg_wire *pg_opening_take(struct pg_opening *opening, struct pg_facts *ret)
{
    struct pg_wire *wire = opening->wire;
    *ret = opening->facts;
    opening->wire = NULL;
    return wire;
}

struct pg_opening *pg_opening_free(struct pg_opening *opening)
{
    if (!opening)
        return NULL;
    pg_wire_free(opening->wire);
    loop_timer_free(opening->timer);
    loop_timer_free(opening->again);
    PQclear(opening->rows);
    strbuf_release(&opening->text);
    strbuf_release(&opening->why);
    free(opening);
    return NULL;
}
