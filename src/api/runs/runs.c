/* Runs: open ones from the engine, and recorded ones from the history. A run that moves between
 * them while a page is made is shown once. Between the two, if ledger entries are asked for, ticks
 * that were taken out and are not in the store yet. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "handlers.h"
#include "input.h"
#include "jobs/jobs.h"
#include "note.h"
#include "runs/encode.h"
#include "runs/pending.h"
#include "server.h"
#include "text/message.h"

enum {
    PAGE = 50,
    PAGE_MAX = 1000,
    ROWS = 1000, /* of the history at once, where steps of workflows are among them ... */
    READS = 20,  /* ... and how often */
};

/* The parts of a page, in their order, and the first letter of a cursor into them. */
enum { PART_OPEN = 'o', PART_PENDING = 'p', PART_HISTORY = 'h' };

/* ---- one run ---- */

/* The nodes that may have it and did not answer: "node b is away, node c did not answer in
 * time". */
static void print_absent(const struct history_absences *absent, enum language language,
                         struct strbuf *out)
{
    for (size_t i = 0; i < absent->count; i++) {
        strbuf_adds(out, i ? message_in(language, ", ") : "");
        strbuf_addf(out, message_in(language, "node %s %s"), absent->items[i].node,
                    message_in(language, absent->items[i].why));
    }
}

void fail_no_run(struct call *call)
{
    const struct history_absences *absent = &call->log.absent;
    struct strbuf away;
    if (!absent->count) {
        call_fail(call, 404, "there is no run %.60s; it may have been removed by retention",
                  call->argument);
        return;
    }
    strbuf_init(&away);
    print_absent(absent, call->language, &away);
    call_fail_with(call, 404, add_absent(json_object(), absent),
                   "there is no run %.60s on the nodes that answer, but %.300s, and may have it",
                   call->argument, away.text);
    strbuf_release(&away);
}

static void recorded_run(struct call *call)
{
    if (call->answer != OK)
        call_fail_history(call, call->answer);
    else if (!call->log.found)
        fail_no_run(call);
    else
        call_reply(call, 200,
                   run_input_show(call, call->log.run.job_name, encode_recorded(&call->log),
                                  call->log.input));
}

void get_run(struct call *call)
{
    struct id id;
    if (!path_run_id(call, &id))
        return;
    const struct run *open = call_open_run(call, &id);
    if (open) {
        struct run shown = *open;
        snprintf(shown.job_name, sizeof(shown.job_name), "%s",
                 job_name_now(call, &open->job_uid, open->job_name));
        call_reply(call, 200,
                   run_input_show(call, shown.job_name, encode_open_run(call, &shown),
                                  engine_find_input(call->api->ports.engine, &open->input)));
        return;
    }
    call->log.run_id = id;
    call->log.with_input = true;
    call_read_log(call, recorded_run);
}

/* ---- kill ---- */

static void fail_ended(struct call *call, const struct run *run)
{
    call_fail(call, 409, "the run has ended already: %s", run_state_name(run->state));
}

static void look_up_ended(struct call *call)
{
    if (call->answer != OK)
        call_fail_history(call, call->answer);
    else if (!call->log.found)
        fail_no_run(call);
    else if (call_may_on(call, RIGHT_OPERATE,
                         job_name_now(call, &call->log.run.job_uid, call->log.run.job_name)))
        fail_ended(call, &call->log.run);
}

struct kill {
    struct store_order order;
    struct run run; /* as of the order; all zero but for its id: unknown */
};

/* The run has ended and was recorded meanwhile; perhaps on a node whose history can't be read from
 * here: then it is shown as of the order. */
static void reply_ended_kill(struct call *call)
{
    const struct kill *kill = call->state;
    if (call->log.found)
        call_reply(call, 202, encode_run(&call->log.run));
    else if (kill->run.job_name[0])
        call_reply(call, 202, encode_run(&kill->run));
    else if (call->answer != OK)
        call_fail_history(call, call->answer);
    else
        fail_no_run(call);
}

static void reply_killed(struct call *call)
{
    const struct store_order *order = &((struct kill *)call->state)->order;
    const struct run *run = call_open_run(call, &order->run_id);
    if (run) {
        call_reply(call, 202, encode_open_run(call, run));
    } else {
        call->log.run_id = order->run_id;
        call_read_log(call, reply_ended_kill);
    }
}

static void order_done(struct call *call)
{
    const struct kill *kill = call->state;
    const struct store_order *order = &kill->order;
    const struct run *run = call_open_run(call, &order->run_id);
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
    } else if (order->known) {
        note_run(call, CHANGE_KILL, &kill->run);
        note_write(call, reply_killed);
    } else if (run) {
        fail_ended(call, run);
    } else {
        call->log.run_id = order->run_id;
        call_read_log(call, look_up_ended);
    }
}

bool run_is_here(const struct call *call, const struct run *run)
{
    const struct peer *self = engine_peers(call->api->ports.engine)->self;
    return peer_whose(self, run->node, &run->owner) != WHOSE_OTHERS;
}

bool run_is_out_of_reach(const struct call *call, const struct run *run)
{
    return *run->node && /* instances of workflows are on none */
           (run->state == RUN_BEGUN || run->state == RUN_RUNNING) && !run_is_here(call, run) &&
           !peers_is_alive(engine_peers(call->api->ports.engine), run->node, &run->owner);
}

/* True: the call has failed. */
static bool is_out_of_reach(struct call *call, const struct run *run)
{
    const struct peers *peers = engine_peers(call->api->ports.engine);
    if (!run || !run_is_out_of_reach(call, run))
        return false;
    struct now now = clock_now();
    const struct known_peer *known = peers_find(peers, run->node);
    int64_t silent_ms = known && known->heard.ms
                            ? now.boot.ms - known->heard.ms
                            : peers_gone_for_ms(peers, run->node, &run->owner, now);
    call_fail(call, 409,
              "run %s is on node %.63s, which has not been heard of for %lld s; it will be "
              "recorded as lost",
              call->argument, run->node, (long long)(silent_ms / 1000));
    return true;
}

void kill_run(struct call *call)
{
    struct id id;
    if (!path_run_id(call, &id))
        return;
    const struct run *run = call_open_run(call, &id);
    if (!run &&
        !scope_may(&call->principal.scope, RIGHT_OPERATE, NULL)) { /* the namespace is unknown */
        call->log.run_id = id;
        call_read_log(call, look_up_ended);
        return;
    }
    if (run && !call_may_on(call, RIGHT_OPERATE, job_name_now(call, &run->job_uid, run->job_name)))
        return;
    struct kill *kill = is_out_of_reach(call, run) ? NULL : call_state(call, sizeof(*kill), NULL);
    if (!kill)
        return;
    kill->run = run ? *run : (struct run){.id = id};
    kill->order.run_id = id;
    kill->order.reason = REASON_USER;
    snprintf(kill->order.by, sizeof(kill->order.by), "%s", call->principal.name);
    call_submit(call, STORE_ORDER, &kill->order, 1, order_done);
}

/* ---- pages ---- */

struct run_page {
    const struct call *call;
    const char *job_name; /* NULL: of all jobs */
    struct history_query filter;
    bool with_steps;    /* of workflows, too */
    struct id instance; /* only the runs of this one; zero: of all */
    int64_t limit;
    int reads;             /* of the history */
    bool has_steps;        /* there were steps among what was read */
    struct id first, last; /* the range of ids that is asked for */
    struct id before;      /* id of the cursor; zero: from the start */
    char part;             /* that the cursor is in */
    struct run *open;      /* copies of the matching runs, newest first */
    size_t open_count, open_capacity;
    bool failed;
    struct pending_jobs pending;
    json_t *items;
};

static void release_run_page(void *state)
{
    struct run_page *page = state;
    free(page->open);
    pending_jobs_release(&page->pending);
    json_decref(page->items);
}

static bool lasted(const struct run_page *page, const struct run *run)
{
    int64_t end_ms = run->finished_ms ? run->finished_ms : page->call->now_ms;
    return run->started_ms && end_ms - run->started_ms >= page->filter.min_duration_ms;
}

/* Steps are shown where they are asked for, else their instances alone. */
static bool is_shown(const struct run_page *page, const struct run *run)
{
    if (!id_is_zero(&page->instance))
        return id_compare(&page->instance, &run->instance) == 0;
    return page->with_steps || !run_is_step(run);
}

/* The filters of history_query, for open runs. */
static bool run_matches(const struct run_page *page, const struct run *run)
{
    const struct history_query *filter = &page->filter;
    return is_shown(page, run) && id_compare(&run->id, &page->first) >= 0 &&
           id_compare(&run->id, &page->last) <= 0 &&
           (!filter->states || run_state_is_in(filter->states, run->state)) &&
           (!filter->job_name || strcmp(filter->job_name, run->job_name) == 0) &&
           (id_is_zero(&filter->job_uid) || id_compare(&filter->job_uid, &run->job_uid) == 0) &&
           (!filter->since_ms || run->tick_ms >= filter->since_ms) &&
           (!filter->until_ms || run->tick_ms < filter->until_ms) &&
           (!filter->node || strcmp(filter->node, run->node) == 0) &&
           (!filter->min_duration_ms || lasted(page, run)) &&
           (!filter->text || strcasestr(run->job_name, filter->text) ||
            strcasestr(run->detail, filter->text) ||
            strcasestr(run_reason_name(run->reason), filter->text));
}

static void take_open(void *context, const struct run *run)
{
    struct run_page *page = context;
    if (!run_matches(page, run) || page->failed)
        return;
    if (page->open_count == page->open_capacity) {
        size_t capacity = page->open_capacity ? 2 * page->open_capacity : 64;
        struct run *grown = realloc(page->open, capacity * sizeof(*grown));
        if (!grown) {
            page->failed = true;
            return;
        }
        page->open = grown;
        page->open_capacity = capacity;
    }
    page->open[page->open_count++] = *run;
}

static int newest_first(const void *a, const void *b)
{
    const struct run *one = a, *other = b;
    return id_compare(&other->id, &one->id);
}

static bool is_open(const struct run_page *page, const struct run *run)
{
    return page->open_count &&
           bsearch(run, page->open, page->open_count, sizeof(*run), newest_first);
}

static json_t *run_cursor(char part, const struct id *id)
{
    char text[ID_TEXT + 2] = {part};
    id_format(id, text + 1);
    return cursor_encode(text);
}

static void reply_page(struct call *call, json_t *next)
{
    struct run_page *page = call->state;
    call_reply(call, 200,
               add_absent(json_pack("{s:O, s:o}", "items", page->items, "next", next),
                          &call->read.absent));
}

static void add_recorded(struct call *call);

/* Fills the page from the history. */
static void read_recorded(struct call *call, struct id before)
{
    struct run_page *page = call->state;
    size_t left = (size_t)page->limit - json_array_size(page->items);
    page->reads++;
    call->reads_steps = true; /* is_to_add leaves them out */
    call->read.query = page->filter;
    call->read.query.limit = page->has_steps ? ROWS : left;
    call->read.query.before = before;
    call_read_history(call, add_recorded);
}

/* Those that the store has not forgotten yet are among the open ones. */
static bool is_to_add(struct run_page *page, const struct history_row *row)
{
    if (row->is_entry)
        return id_is_zero(&page->instance);
    page->has_steps |= run_is_step(&row->run);
    return is_shown(page, &row->run) && !is_open(page, &row->run);
}

static void add_recorded(struct call *call)
{
    struct run_page *page = call->state;
    const struct history_read *read = &call->read;
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    bool more = read->more && id_compare(&read->next, &page->first) > 0, was_skipped = false;
    struct id next = read->next;
    for (size_t i = 0; i < read->count; i++) {
        const struct history_row *row = &read->rows[i];
        const struct id *id = row->is_entry ? &row->entry.id : &row->run.id;
        if (id_compare(id, &page->first) < 0) {
            more = false;
            break;
        }
        if (json_array_size(page->items) == (size_t)page->limit) { /* this one is the next page's */
            more = true;
            next = id_next(id);
            break;
        }
        if (!is_to_add(page, row)) {
            was_skipped = true;
            continue;
        }
        if (json_array_append_new(page->items, encode_row(row)) != 0) {
            call_fail(call, 500, "out of memory");
            return;
        }
    }
    bool has_room = json_array_size(page->items) < (size_t)page->limit;
    if (more && was_skipped && has_room && !read->absent.count && page->reads < READS)
        read_recorded(call, next);
    else
        reply_page(call, more ? run_cursor(PART_HISTORY, &next) : json_null());
}

/* The open part of the page; false: the call is answered. */
static bool add_open(struct call *call)
{
    struct run_page *page = call->state;
    for (size_t i = 0; i < page->open_count && page->part == PART_OPEN; i++) {
        const struct run *run = &page->open[i];
        if (!id_is_zero(&page->before) && id_compare(&run->id, &page->before) >= 0)
            continue;
        if (json_array_size(page->items) == (size_t)page->limit) {
            reply_page(call, run_cursor(PART_OPEN, &page->open[i - 1].id));
            return false;
        }
        if (json_array_append_new(page->items, encode_open_run(call, run)) != 0) {
            call_fail(call, 500, "out of memory");
            return false;
        }
    }
    return true;
}

/* Before the first row of a part: the largest id. */
static struct id first_id(void)
{
    struct id first;
    memset(&first, 0xFF, sizeof(first));
    return first;
}

/* The pending part of the page; false: the call is answered. The entries of a job stay together. */
static bool add_pending(struct call *call)
{
    struct run_page *page = call->state;
    struct id before = page->part == PART_PENDING ? page->before : first_id();
    int64_t ticks = 0;
    for (size_t i = 0; i < page->pending.count; i++) {
        const struct pending_job *job = &page->pending.items[i];
        if (id_compare(&job->id, &before) >= 0)
            continue;
        if (json_array_size(page->items) >= (size_t)page->limit || ticks > PENDING_MAX) {
            reply_page(call, run_cursor(PART_PENDING, &before));
            return false;
        }
        if (pending_add(call, job, &page->filter, page->items, &ticks) != OK) {
            call_fail(call, 500, "out of memory");
            return false;
        }
        before = job->id;
    }
    return true;
}

/* The history has no open states. */
static bool wants_history(const struct run_page *page)
{
    const unsigned ends = (1u << RUN_STATES) - (1u << RUN_OK);
    return !page->filter.states || page->filter.states & ends;
}

/* Where the history is read from: the cursor, or the end of the range. Zero: its end. */
static struct id before_last(const struct run_page *page)
{
    struct id end = id_next(&page->last); /* zero without a range */
    return page->part == PART_HISTORY && (id_is_zero(&end) || id_compare(&page->before, &end) < 0)
               ? page->before
               : end;
}

static void make_page(struct call *call)
{
    struct run_page *page = call->state;
    call_each_open_run(call, take_open, page);
    if (page->filter.with_entries && page->part != PART_HISTORY && !query_get(&call->query, "id"))
        pending_jobs_find(call, page->job_name, &page->pending);
    page->items = json_array();
    if (page->failed || page->pending.failed || !page->items) {
        call_fail(call, 500, "out of memory");
        return;
    }
    if (page->open_count)
        qsort(page->open, page->open_count, sizeof(*page->open), newest_first);
    if (!add_open(call) || !add_pending(call))
        return;
    if (!wants_history(page)) {
        reply_page(call, json_null());
        return;
    }
    if (json_array_size(page->items) >=
        (size_t)page->limit) { /* what is open and pending fills the page */
        struct id first = first_id();
        reply_page(call, run_cursor(PART_HISTORY, &first));
        return;
    }
    read_recorded(call, before_last(page));
}

/* ---- what the query asks for ---- */

/* `state` of runs, or `status` as for jobs. */
static bool read_states(struct call *call, unsigned *ret)
{
    static const char states[] = "queued, due, claimed, begun, running, ok, failed, timed_out, "
                                 "killed, lost, skipped, missed";
    const char *param = query_get(&call->query, "state") ? "state" : "status";
    const char *text = query_get(&call->query, param);
    while (text && *text) {
        size_t length = strcspn(text, ",");
        char name[32];
        enum run_state state;
        snprintf(name, sizeof(name), "%.*s", (int)(length < 31 ? length : 31), text);
        if (run_state_by_name(name, &state) != OK) {
            char pointer[16];
            snprintf(pointer, sizeof(pointer), "?%s", param);
            call_fail_word(call, pointer, name, states, "%s: there is no state \"%s\"; known: %s",
                           param, name, states);
            return false;
        }
        *ret |= 1u << state;
        text += length;
        text += *text == ',';
    }
    return true;
}

static bool read_cursor(struct call *call, struct run_page *page)
{
    const char *cursor = query_get(&call->query, "cursor");
    page->part = PART_OPEN;
    if (!cursor)
        return true;
    char *text = cursor_decode(call, cursor);
    if (!text)
        return false;
    bool good = *text == PART_OPEN || *text == PART_PENDING || *text == PART_HISTORY;
    page->part = *text;
    good = param_id(call, "cursor", good ? text + 1 : "", &page->before);
    free(text);
    return good;
}

/* `id`: the beginning of a run's id, and so a range of them. */
static bool read_range(struct call *call, struct run_page *page)
{
    const char *text = query_get(&call->query, "id");
    char first[ID_TEXT + 1] = "00000000000000000000000000", last[] = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ";
    size_t length = text ? strnlen(text, ID_TEXT + 1) : 0;
    if (length <= ID_TEXT && length > 0) {
        memcpy(first, text, length);
        memcpy(last, text, length);
    }
    if (length <= ID_TEXT && id_parse(first, &page->first) == OK &&
        id_parse(last, &page->last) == OK)
        return true;
    call_fail_at(call, "?id", "id: expected the id of a run, or its beginning");
    return false;
}

/* ---- of one instance: its runs are those of its job and tick ---- */

static void select_instance(struct call *call, const struct run *run)
{
    struct run_page *page = call->state;
    if (!run_is_instance(run)) {
        call_fail_at(call, "?instance", "instance: run %.60s is not an instance of a workflow",
                     query_get(&call->query, "instance"));
        return;
    }
    page->filter.job_uid = run->job_uid;
    page->filter.job_name = NULL;
    page->filter.since_ms = run->tick_ms;
    page->filter.until_ms = run->tick_ms + 1;
    make_page(call);
}

static void select_recorded(struct call *call)
{
    struct run run = call->log.run;
    if (call->answer != OK)
        call_fail_history(call, call->answer);
    else if (!call->log.found)
        call_fail_at(call, "?instance", "instance: there is no run %.60s",
                     query_get(&call->query, "instance"));
    else
        select_instance(call, &run);
}

static void find_instance(struct call *call)
{
    const struct run_page *page = call->state;
    const struct run *open = call_open_run(call, &page->instance);
    if (open) {
        select_instance(call, open);
        return;
    }
    call->log.run_id = page->instance;
    call_read_log(call, select_recorded);
}

static bool read_instance(struct call *call, struct run_page *page)
{
    const char *text = query_get(&call->query, "instance");
    return param_bool(call, "steps", &page->with_steps) &&
           (!text || param_id(call, "instance", text, &page->instance));
}

static bool read_filter(struct call *call, struct run_page *page)
{
    struct history_query *filter = &page->filter;
    page->limit = PAGE;
    page->job_name = query_get(&call->query, "job");
    call_select_job(call, page->job_name, &filter->job_uid, &filter->job_name);
    filter->node = query_get(&call->query, "node");
    filter->text = query_get(&call->query, "q");
    if (filter->text && !*filter->text)
        filter->text = NULL;
    return read_range(call, page) && read_instance(call, page) &&
           read_states(call, &filter->states) &&
           param_time(call, "since", zone_utc(), &filter->since_ms) &&
           param_time(call, "until", zone_utc(), &filter->until_ms) &&
           param_duration(call, "min_duration", &filter->min_duration_ms) &&
           param_bool(call, "ledger", &filter->with_entries) &&
           param_number(call, "limit", 1, PAGE_MAX, &page->limit) && read_cursor(call, page);
}

void list_runs(struct call *call)
{
    struct run_page *page = call_state(call, sizeof(*page), release_run_page);
    if (!page)
        return;
    page->call = call;
    page->with_steps = query_get(&call->query, "id") != NULL;
    if (!read_filter(call, page))
        return;
    if (id_is_zero(&page->instance))
        make_page(call);
    else
        find_instance(call);
}
