#include "store_world.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "columns.h"

enum { HANG_MS = 60000 }; /* no wait is longer: only a hang is */

/* ---- the picture ---- */

/* Room for one more; the tests are small, so growing by one is good enough. */
static void *grow(void *items, size_t count, size_t size)
{
    void *grown = realloc(items, (count + 1) * size);
    assert_non_null(grown);
    memset((char *)grown + count * size, 0, size);
    return grown;
}

static void forget_picture(struct picture *picture)
{
    free(picture->jobs);
    free(picture->runs);
    free(picture->entries);
    for (size_t i = 0; i < picture->doc_count; i++)
        free(picture->docs[i].json);
    *picture = (struct picture){0};
}

static struct seen_job *look_for_job(struct picture *picture, struct id uid)
{
    for (size_t i = 0; i < picture->job_count; i++)
        if (id_compare(&picture->jobs[i].uid, &uid) == 0)
            return &picture->jobs[i];
    return NULL;
}

static void draw_job(struct picture *picture, const struct store_change *change)
{
    struct seen_job *job = look_for_job(picture, change->job_uid);
    if (change->kind == STORE_CHANGE_DELETE)
        assert_true(change->job_deleted);
    if (change->kind == STORE_CHANGE_DELETE && !change->job_json) {
        assert_non_null(job);
        *job = picture->jobs[--picture->job_count];
        return;
    }
    if (!job) {
        picture->jobs = grow(picture->jobs, picture->job_count, sizeof(*picture->jobs));
        job = &picture->jobs[picture->job_count++];
    }
    job->uid = change->job_uid;
    job->revision = change->job_revision;
    job->cursor_ms = change->cursor_ms;
    job->rewinds = change->rewinds;
    job->last = change->last;
    job->last_node = change->last_node;
    job->deleted = change->job_deleted;
    if (change->kind == STORE_CHANGE_CURSOR)
        return;
    snprintf(job->name, sizeof(job->name), "%s", change->job_name);
    snprintf(job->json, sizeof(job->json), "%s", change->job_json);
}

static struct seen_run *find_seen_run(struct picture *picture, const struct id *id)
{
    for (size_t i = 0; i < picture->run_count; i++)
        if (id_compare(&picture->runs[i].run.id, id) == 0)
            return &picture->runs[i];
    return NULL;
}

static void draw_run(struct picture *picture, const struct run *run)
{
    struct seen_run *seen = find_seen_run(picture, &run->id);
    if (!seen) {
        picture->runs = grow(picture->runs, picture->run_count, sizeof(*picture->runs));
        seen = &picture->runs[picture->run_count++];
    }
    seen->run = *run;
}

static void erase(struct picture *picture, const struct id *id)
{
    for (size_t i = 0; i < picture->run_count; i++)
        if (id_compare(&picture->runs[i].run.id, id) == 0)
            picture->runs[i] = picture->runs[--picture->run_count];
    for (size_t i = 0; i < picture->entry_count; i++)
        if (id_compare(&picture->entries[i].id, id) == 0)
            picture->entries[i] = picture->entries[--picture->entry_count];
}

static void draw_kill(struct picture *picture, const struct run *run)
{
    struct seen_run *seen = find_seen_run(picture, &run->id);
    assert_non_null(seen); /* a kill comes after its run */
    seen->kill_reason = run->reason;
    memcpy(seen->kill_by, run->by, sizeof(seen->kill_by));
}

static void draw_entry(struct picture *picture, const struct ledger_entry *entry)
{
    picture->entries = grow(picture->entries, picture->entry_count, sizeof(*picture->entries));
    picture->entries[picture->entry_count++] = *entry;
}

static void draw_peer(struct picture *picture, const struct peer *peer)
{
    size_t i = 0;
    while (i < picture->peer_count && strcmp(picture->peers[i].name, peer->name) != 0)
        i++;
    assert_in_range(i, 0, 7);
    picture->peers[i] = *peer;
    if (i == picture->peer_count)
        picture->peer_count++;
}

static void draw_drain(struct picture *picture, const struct store_drain *drain)
{
    size_t i = 0;
    while (i < picture->drain_count && strcmp(picture->drains[i].node, drain->node) != 0)
        i++;
    assert_in_range(i, 0, 7);
    if (drain->drained)
        picture->drains[i] = *drain;
    if (drain->drained && i == picture->drain_count)
        picture->drain_count++;
    else if (!drain->drained && i < picture->drain_count)
        picture->drains[i] = picture->drains[--picture->drain_count];
}

static void draw_doc(struct picture *picture, const struct store_doc *doc)
{
    size_t i = 0;
    while (i < picture->doc_count && (strcmp(picture->docs[i].kind, doc->kind) != 0 ||
                                      strcmp(picture->docs[i].name, doc->name) != 0))
        i++;
    assert_in_range(i, 0, 15);
    struct seen_doc *seen = &picture->docs[i];
    if (i < picture->doc_count) {
        free(seen->json);
        *seen = picture->docs[--picture->doc_count];
    }
    if (!doc->json)
        return;
    seen = &picture->docs[picture->doc_count++];
    *seen = (struct seen_doc){.revision = doc->revision, .json = strdup(doc->json)};
    memcpy(seen->kind, doc->kind, sizeof(seen->kind));
    memcpy(seen->name, doc->name, sizeof(seen->name));
}

static void draw(struct picture *picture, const struct store_change *change)
{
    picture->changes[change->kind]++;
    switch (change->kind) {
    case STORE_CHANGE_JOB:
    case STORE_CHANGE_DELETE:
    case STORE_CHANGE_CURSOR:
        draw_job(picture, change);
        break;
    case STORE_CHANGE_RUN:
        draw_run(picture, change->run);
        break;
    case STORE_CHANGE_ENTRY:
        draw_entry(picture, change->entry);
        break;
    case STORE_CHANGE_KILL:
        draw_kill(picture, change->run);
        break;
    case STORE_CHANGE_META:
        assert_false(picture->loaded);
        assert_in_range(picture->meta_count, 0, 7);
        picture->metas[picture->meta_count++] = *change->meta;
        break;
    case STORE_CHANGE_FORGET:
        erase(picture, &change->gone_id);
        break;
    case STORE_CHANGE_PEER:
        draw_peer(picture, change->peer);
        break;
    case STORE_CHANGE_DRAIN:
        draw_drain(picture, change->drain);
        break;
    case STORE_CHANGE_DOC:
        draw_doc(picture, change->doc);
        break;
    case STORE_CHANGE_LEADER:
        assert_string_not_equal(picture->leader, change->leader); /* it is news */
        snprintf(picture->leader, sizeof(picture->leader), "%s", change->leader);
        break;
    case STORE_CHANGE_ASIDE:
        break;
    case STORE_CHANGE_LOADED:
        assert_false(picture->loaded);
        picture->loaded = true;
        break;
    }
}

/* ---- comparing pictures, as sorted lines of text ---- */

static char *describe_id(const struct id *id, char text[ID_TEXT + 1])
{
    id_format(id, text);
    return text;
}

static void describe_job(struct strbuf *line, const struct seen_job *job)
{
    char uid[ID_TEXT + 1], run[ID_TEXT + 1];
    char gaps[REWIND_GAPS_TEXT];
    rewinds_write_gaps(&job->rewinds, gaps);
    strbuf_addf(line, "rewinds %lld high %lld gaps %s ", (long long)job->rewinds.count,
                (long long)job->rewinds.high_ms, gaps);
    strbuf_addf(line, "job %s %s rev %lld cursor %lld last %s %lld-%lld %lld %d deleted %d %s",
                describe_id(&job->uid, uid), job->name, (long long)job->revision,
                (long long)job->cursor_ms, describe_id(&job->last.run_id, run),
                (long long)job->last.started_ms, (long long)job->last.ended_ms,
                (long long)job->last.succeeded_ms, (int)job->last.state, job->deleted, job->json);
}

static void describe_columns(struct strbuf *line, struct column_set columns, const void *record)
{
    for (const struct column *column = NULL; (column = column_next(&columns, column));) {
        char id[ID_TEXT + 1];
        const void *field = column_field(column, record);
        if (column->kind == COLUMN_ID)
            strbuf_addf(line, " %s %s", column->name, describe_id(field, id));
        else if (column_is_text(column))
            strbuf_addf(line, " %s '%s'", column->name, (const char *)field);
        else
            strbuf_addf(line, " %s %lld", column->name, (long long)column_read_int(column, record));
    }
}

static void describe_run(struct strbuf *line, const struct seen_run *seen)
{
    strbuf_adds(line, "run");
    describe_columns(line, run_columns(IN_SQLITE, 0), &seen->run);
    if (seen->run.state < RUN_OK) /* an order ends with its run */
        strbuf_addf(line, " kill %d '%s'", (int)seen->kill_reason, seen->kill_by);
}

static void describe_entry(struct strbuf *line, const struct ledger_entry *entry)
{
    strbuf_adds(line, "entry");
    describe_columns(line, entry_columns(IN_SQLITE, 0), entry);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *describe(const struct picture *picture)
{
    size_t n = 0, count = picture->job_count + picture->run_count + picture->entry_count +
                          picture->drain_count + picture->doc_count;
    char **lines = calloc(count + 1, sizeof(*lines));
    struct strbuf text;
    assert_non_null(lines);
    strbuf_init(&text);
    for (size_t i = 0; i < picture->job_count; i++, n++) {
        describe_job(&text, &picture->jobs[i]);
        lines[n] = strbuf_detach(&text);
    }
    for (size_t i = 0; i < picture->run_count; i++, n++) {
        describe_run(&text, &picture->runs[i]);
        lines[n] = strbuf_detach(&text);
    }
    for (size_t i = 0; i < picture->entry_count; i++, n++) {
        describe_entry(&text, &picture->entries[i]);
        lines[n] = strbuf_detach(&text);
    }
    for (size_t i = 0; i < picture->drain_count; i++, n++) {
        strbuf_addf(&text, "drain %s by %s", picture->drains[i].node, picture->drains[i].by);
        lines[n] = strbuf_detach(&text);
    }
    for (size_t i = 0; i < picture->doc_count; i++, n++) {
        const struct seen_doc *doc = &picture->docs[i];
        strbuf_addf(&text, "doc %s %s rev %lld %s", doc->kind, doc->name, (long long)doc->revision,
                    doc->json);
        lines[n] = strbuf_detach(&text);
    }
    qsort(lines, count, sizeof(*lines), compare_lines);
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(&text, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(lines);
    return strbuf_detach(&text);
}

/* ---- the world ---- */

static void on_wake(void *context)
{
    uint64_t one = 1;
    assert_int_equal(write(((struct world *)context)->wake_fd, &one, sizeof(one)), sizeof(one));
}

struct store_wake world_wake(struct world *world)
{
    return (struct store_wake){on_wake, world};
}

static struct world *new_world(const struct store_backend *backend)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->backend = backend;
    world->wake_fd = eventfd(0, EFD_CLOEXEC);
    assert_true(world->wake_fd >= 0);
    return world;
}

struct world *world_new(const struct store_backend *backend)
{
    struct world *world = new_world(backend);
    backend->make_place(world->place);
    return world;
}

void world_free(struct world *world)
{
    world->store = store_free(world->store);
    if (!world->is_other)
        world->backend->remove_place(world->place);
    forget_picture(&world->picture);
    close(world->wake_fd);
    free(world);
}

void world_open(struct world *world)
{
    assert_int_equal(world->backend->open(world->place, world_wake(world), &world->store), OK);
    world_read_feed(world);
    assert_true(world->picture.loaded);
}

struct world *world_open_other(struct world *first)
{
    if (!first->backend->open_other)
        return NULL;
    struct world *world = new_world(first->backend);
    memcpy(world->place, first->place, sizeof(world->place));
    world->is_other = true;
    world->last_number = first->last_number + 1000; /* ids of its own */
    assert_int_equal(
        world->backend->open_other(first->store, world->place, world_wake(world), &world->store),
        OK);
    world_read_feed(world);
    assert_true(world->picture.loaded);
    return world;
}

void world_reopen(struct world *world)
{
    char *before = describe(&world->picture);
    assert_int_equal(world->backend->reopen(world->place, world_wake(world), &world->store), OK);
    forget_picture(&world->picture);
    world_read_feed(world);
    assert_true(world->picture.loaded);
    char *after = describe(&world->picture);
    assert_string_equal(after, before);
    free(before);
    free(after);
}

void world_wait(struct world *world)
{
    struct pollfd wake = {.fd = world->wake_fd, .events = POLLIN};
    uint64_t count;
    int64_t until_ms = clock_now().boot.ms + HANG_MS;
    while (world->backend->turn && poll(&wake, 1, 0) == 0 && clock_now().boot.ms < until_ms)
        world->backend->turn();
    assert_int_equal(poll(&wake, 1, world->backend->turn ? 0 : HANG_MS), 1);
    assert_int_equal(read(world->wake_fd, &count, sizeof(count)), sizeof(count));
    store_dispatch(world->store);
}

int64_t soon_ms(void)
{
    return clock_now().boot.ms + HANG_MS;
}

void world_pass(struct world *world, int64_t until_ms)
{
    struct pollfd wake = {.fd = world->wake_fd, .events = POLLIN};
    uint64_t count;
    assert_true(clock_now().boot.ms < until_ms);
    if (world->backend->turn)
        world->backend->turn();
    if (poll(&wake, 1, world->backend->turn ? 0 : 10) == 1)
        assert_int_equal(read(world->wake_fd, &count, sizeof(count)), sizeof(count));
    store_dispatch(world->store);
    world_read_feed(world);
}

void world_read_feed(struct world *world)
{
    struct store_change change;
    while (store_next_change(world->store, &change)) {
        world->restored += change.is_restored;
        if (!world->without_picture)
            draw(&world->picture, &change);
        else if (change.kind == STORE_CHANGE_LOADED)
            world->picture.loaded = true;
    }
}

void world_mark(struct world *world)
{
    memset(world->picture.changes, 0, sizeof(world->picture.changes));
}

struct answer {
    bool done;
    enum status status;
};

static void on_done(struct store_request *request, enum status st)
{
    *(struct answer *)request->context = (struct answer){true, st};
}

enum status world_do(struct world *world, enum store_op op, void *items, size_t count)
{
    struct answer answer = {false, OK};
    struct store_request request = {
        .op = op, .count = count, .items.claims = items, .done = on_done, .context = &answer};
    store_submit(world->store, &request);
    while (!answer.done)
        world_wait(world);
    world_read_feed(world);
    return answer.status;
}

void world_do_two(struct world *first, struct world *second, enum store_op op, void *of_first,
                  void *of_second)
{
    struct world *const worlds[] = {first, second};
    void *const items[] = {of_first, of_second};
    struct answer answers[2] = {{false, OK}, {false, OK}};
    struct store_request requests[2];
    int64_t until_ms = soon_ms();
    for (int i = 0; i < 2; i++) {
        requests[i] = (struct store_request){.op = op,
                                             .count = 1,
                                             .items.claims = items[i],
                                             .done = on_done,
                                             .context = &answers[i]};
        store_submit(worlds[i]->store, &requests[i]);
    }
    while (!answers[0].done || !answers[1].done)
        for (int i = 0; i < 2; i++)
            world_pass(worlds[i], until_ms);
    for (int i = 0; i < 2; i++)
        assert_int_equal(answers[i].status, OK);
}

void world_do_one(struct world *world, enum store_op op, void *item)
{
    assert_int_equal(world_do(world, op, item, 1), OK);
}

struct id world_id(struct world *world)
{
    struct id id = {{1}};
    uint64_t number = ++world->last_number;
    for (int i = 15; i > 7; i--, number >>= 8)
        id.bytes[i] = (uint8_t)number;
    return id;
}

/* ---- short ways ---- */

struct store_put_job a_put(struct id uid, const char *name, int64_t expected_revision)
{
    return (struct store_put_job){.uid = uid,
                                  .name = name,
                                  .json = "{\"command\": [\"true\"]}",
                                  .expected_revision = expected_revision,
                                  .cursor_ms = -1};
}

struct id make_job(struct world *world, const char *name)
{
    struct store_put_job put = a_put(world_id(world), name, 0);
    put.cursor_ms = CURSOR_MS;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(put.result, PUT_OK);
    assert_int_equal(put.revision, 1);
    return put.uid;
}

static struct run a_run(struct world *world, struct id job, int64_t tick_ms)
{
    struct run run = {.id = world_id(world), .job_uid = job, .tick_ms = tick_ms, .attempt = 1};
    struct seen_job *seen = see_job(world, job);
    snprintf(run.job_name, sizeof(run.job_name), "%s", seen->name);
    run.job_revision = seen->revision;
    run.exit_code = -1;
    return run;
}

struct store_claim a_claim(struct world *world, struct id job, int64_t tick_ms,
                           enum overlap_policy overlap)
{
    struct store_claim claim = {.job_uid = job,
                                .tick_ms = tick_ms,
                                .overlap = overlap,
                                .queue_limit = 100,
                                .skip_entry_id = world_id(world)};
    claim.job_revision = see_job(world, job)->revision;
    claim.cursor_ms = see_job(world, job)->cursor_ms;
    claim.rewinds = see_job(world, job)->rewinds.count;
    claim.run = a_run(world, job, tick_ms);
    claim.run.nonce = UINT64_MAX - world->last_number; /* does it come back whole? */
    claim.run.claimed_ms = tick_ms + 3;
    snprintf(claim.run.node, sizeof(claim.run.node), "node-1");
    claim.run.owner = (struct incarnation){world_id(world), UINT64_MAX - 7};
    return claim;
}

struct store_add_run an_add(struct world *world, struct id job, int64_t tick_ms,
                            enum overlap_policy overlap)
{
    struct store_add_run add = {.overlap = overlap, .queue_limit = 100};
    add.run = a_run(world, job, tick_ms);
    add.run.cause = CAUSE_MANUAL;
    snprintf(add.run.by, sizeof(add.run.by), "anna");
    return add;
}

struct run claim_run(struct world *world, struct id job, int64_t tick_ms)
{
    struct store_claim claim = a_claim(world, job, tick_ms, OVERLAP_ALLOW);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_WON);
    return see_run(world, claim.run.id)->run;
}

struct store_begin begin_run(struct world *world, const struct run *run)
{
    struct store_begin begin = {.run_id = run->id, .nonce = run->nonce};
    world_do_one(world, STORE_BEGIN, &begin);
    return begin;
}

struct store_finish end_run(struct world *world, const struct run *run, enum run_state state,
                            int64_t finished_ms)
{
    struct store_finish finish = {.run = *run};
    finish.run.state = state;
    finish.run.finished_ms = finished_ms;
    world_do_one(world, STORE_FINISH, &finish);
    return finish;
}

void forget_run(struct world *world, struct id id)
{
    struct store_forget forget = {.id = id};
    world_do_one(world, STORE_FORGET, &forget);
}

void forget_entry(struct world *world, struct id id)
{
    struct store_forget forget = {.id = id, .is_entry = true};
    world_do_one(world, STORE_FORGET, &forget);
}

struct seen_job *see_job(struct world *world, struct id uid)
{
    struct seen_job *job = look_for_job(&world->picture, uid);
    assert_non_null(job);
    return job;
}

struct seen_run *look_for_run(struct world *world, struct id id)
{
    return find_seen_run(&world->picture, &id);
}

struct seen_run *see_run(struct world *world, struct id id)
{
    struct seen_run *run = look_for_run(world, id);
    assert_non_null(run);
    return run;
}

size_t count_runs(struct world *world, struct id job, enum run_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < world->picture.run_count; i++) {
        const struct run *run = &world->picture.runs[i].run;
        count += run->state == state && id_compare(&run->job_uid, &job) == 0;
    }
    return count;
}

/* ---- nodes ---- */

struct peer a_peer(const char *name, uint64_t home)
{
    struct peer peer = {.home = home,
                        .address = "https://10.0.0.1:7625",
                        .version = "1.2.3",
                        .labels = "disk=ssd,zone=eu",
                        .roles = PEER_API | PEER_WORKER,
                        .capacity = 4,
                        .max_running = 100,
                        .started_ms = 1767225600000,
                        .wall_ms = 1767225601000,
                        .boot_ms = 2000,
                        .skew_ms = -7,
                        .lag_ms = 12};
    snprintf(peer.name, sizeof(peer.name), "%s", name);
    memcpy(peer.instance.bytes + 8, &home, sizeof(home));
    return peer;
}

void announce(struct world *world, const struct peer *peer)
{
    assert_int_equal(store_announce(world->store, peer), OK);
}

const struct peer *look_for_peer(const struct world *world, const char *name)
{
    for (size_t i = 0; i < world->picture.peer_count; i++)
        if (strcmp(world->picture.peers[i].name, name) == 0)
            return &world->picture.peers[i];
    return NULL;
}

bool sees_alive(const struct world *world, const char *name)
{
    const struct peer *peer = look_for_peer(world, name);
    return peer && peer->is_alive;
}

const struct seen_doc *look_for_doc(const struct world *world, const char *kind, const char *name)
{
    for (size_t i = 0; i < world->picture.doc_count; i++) {
        const struct seen_doc *doc = &world->picture.docs[i];
        if (strcmp(doc->kind, kind) == 0 && strcmp(doc->name, name) == 0)
            return doc;
    }
    return NULL;
}

const struct store_drain *look_for_drain(const struct world *world, const char *node)
{
    for (size_t i = 0; i < world->picture.drain_count; i++)
        if (strcmp(world->picture.drains[i].node, node) == 0)
            return &world->picture.drains[i];
    return NULL;
}

void join(struct world *world, const struct peer *peer)
{
    announce(world, peer);
    for (int64_t until_ms = soon_ms(); !sees_alive(world, peer->name);)
        world_pass(world, until_ms);
}
