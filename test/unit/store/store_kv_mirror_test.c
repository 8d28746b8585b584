/* Values that can't be read, in the mirror: set aside by their keys, and the rest goes on. */
#include "mirror/store_kv_mirror.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct id uid = {{1}}, run_id = {{2}};

struct world {
    struct mirror mirror;
    struct feed feed;
    struct feed_item *held;
    int64_t revision;
};

static void open_world(struct world *world)
{
    *world = (struct world){.revision = 1};
    mirror_init(&world->mirror, "/peal", "n1");
}

static void close_world(struct world *world)
{
    mirror_release(&world->mirror);
    feed_release(&world->feed);
    feed_item_free(world->held);
}

static void make_key(char key[64], const char *kind, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    snprintf(key, 64, "/peal/%s/%s", kind, text);
}

static void put(struct world *world, const char *kind, const struct id *id, const void *value,
                size_t length)
{
    char key[64];
    make_key(key, kind, id);
    struct kv_pair kv = {
        .key = {key, strlen(key)}, .value = {value, length}, .mod_revision = ++world->revision};
    assert_int_equal(mirror_put(&world->mirror, &kv, &world->feed), OK);
}

static void put_definition(struct world *world, const char *json)
{
    struct job_row row = {.revision = 1};
    struct strbuf value;
    strbuf_init(&value);
    value_write_job(&value, &row, "a", json);
    put(world, "jobs", &uid, value.text, value.length);
    strbuf_release(&value);
}

static void put_job(struct world *world)
{
    put_definition(world, "{}");
}

static void put_doc(struct world *world, const char *json)
{
    const char key[] = "/peal/docs/group/db";
    struct store_doc doc = {.json = json, .revision = 1};
    struct strbuf value;
    strbuf_init(&value);
    value_write_doc(&value, &doc);
    struct kv_pair kv = {.key = {key, strlen(key)},
                         .value = {value.text, value.length},
                         .mod_revision = ++world->revision};
    assert_int_equal(mirror_put(&world->mirror, &kv, &world->feed), OK);
    strbuf_release(&value);
}

static void put_cursor(struct world *world, int64_t cursor_ms, int last_state)
{
    struct job_row row = {.cursor_ms = cursor_ms, .last.state = (enum run_state)last_state};
    struct strbuf value;
    strbuf_init(&value);
    value_write_cursor(&value, &row, TELL_CHANGE);
    put(world, "cursors", &uid, value.text, value.length);
    strbuf_release(&value);
}

static void put_run(struct world *world, int reason)
{
    struct run_row row = {
        .run = {.job_uid = uid, .state = RUN_DUE, .reason = (enum run_reason)reason}};
    struct strbuf value;
    strbuf_init(&value);
    value_write_run(&value, &row, TELL_CHANGE, 0);
    put(world, "runs", &run_id, value.text, value.length);
    strbuf_release(&value);
}

/* The kinds of changes that were told, one letter each, a capital if the change is of a restored
 * store, and whether something is set aside. */
static void expect(struct world *world, int line, const char *want)
{
    char told[32] = "";
    struct store_change change;
    while (feed_next(&world->feed, &world->held, &change)) {
        size_t length = strlen(told);
        told[length] = change.kind == STORE_CHANGE_JOB      ? 'j'
                       : change.kind == STORE_CHANGE_DELETE ? 'd'
                       : change.kind == STORE_CHANGE_CURSOR ? 'c'
                       : change.kind == STORE_CHANGE_RUN    ? 'r'
                       : change.kind == STORE_CHANGE_FORGET ? 'f'
                       : change.kind == STORE_CHANGE_DOC    ? 'o'
                       : change.kind != STORE_CHANGE_ASIDE  ? '?'
                       : change.aside.why == OK             ? '+'
                                                            : '-';
        if (change.is_restored)
            told[length] = (char)toupper(told[length]);
        told[length + 1] = '\0';
    }
    if (strcmp(told, want) != 0)
        fail_msg("line %d: %s", line, told);
}

static void a_cursor_is_set_aside(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    put_cursor(&world, 60, RUN_OK);
    put_job(&world);
    expect(&world, __LINE__, "j");
    put_cursor(&world, 61, 1000000);
    expect(&world, __LINE__, "d-");
    assert_int_equal(world.mirror.asides.count, 1);
    put_job(&world); /* is not told while its cursor can't be read */
    expect(&world, __LINE__, "");
    put_cursor(&world, 62, 1000); /* a word of a newer peal is kept */
    expect(&world, __LINE__, "j+");
    assert_int_equal(world.mirror.asides.count, 0);
    assert_int_equal(mirror_find_job(&world.mirror, &uid)->row.last.state, 1000);
    close_world(&world);
}

static void a_definition_is_set_aside(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    put_cursor(&world, 60, RUN_OK);
    put_job(&world);
    put(&world, "jobs", &uid, "\177", 1); /* of another version */
    expect(&world, __LINE__, "jd-");
    put_cursor(&world, 61, RUN_OK);
    expect(&world, __LINE__, "");
    put_job(&world);
    expect(&world, __LINE__, "j+");
    assert_int_equal(mirror_find_job(&world.mirror, &uid)->row.cursor_ms, 61);
    close_world(&world);
}

static void a_run_is_set_aside(void **state)
{
    struct world world;
    char key[64];
    (void)state;
    open_world(&world);
    put_run(&world, 1000);
    expect(&world, __LINE__, "r");
    put_run(&world, 1000000);
    expect(&world, __LINE__, "f-");
    assert_null(mirror_find_run(&world.mirror, &run_id));
    make_key(key, "runs", &run_id);
    assert_true(mirror_is_aside(&world.mirror.asides, "runs/", key + strlen("/peal/runs/")));
    assert_int_equal(mirror_delete(&world.mirror, (struct kv_bytes){key, strlen(key)}, &world.feed),
                     OK);
    expect(&world, __LINE__, "+f");
    close_world(&world);
}

/* Listed anew, a value that can't be read any more is as one that the watch tells. */
static void the_difference_is_told(void **state)
{
    struct world before, now;
    (void)state;
    open_world(&before);
    open_world(&now);
    put_cursor(&before, 60, RUN_OK);
    put_job(&before);
    put_cursor(&now, 60, 1000000);
    put_job(&now);
    expect(&now, __LINE__, "-");
    mirror_feed_difference(NULL, &now.mirror, SAME_PAST, &now.feed);
    expect(&now, __LINE__, "-");
    mirror_feed_difference(&before.mirror, &now.mirror, SAME_PAST, &now.feed);
    expect(&now, __LINE__, "-d");
    mirror_feed_difference(&now.mirror, &before.mirror, SAME_PAST, &now.feed);
    expect(&now, __LINE__, "+j");
    close_world(&before);
    close_world(&now);
}

/* A store that was restored counts on from the backup, and comes to the same revisions with
 * something else. */
static void what_another_past_has_under_the_same_revision(void **state)
{
    struct world lost, now;
    (void)state;
    open_world(&lost);
    open_world(&now);
    for (int i = 0; i < 2; i++) {
        struct world *world = i ? &now : &lost;
        put_cursor(world, i ? 60 : 90, RUN_OK);
        put_definition(world, i ? "{\"a\":1}" : "{\"a\":2}");
        put_run(world, i ? REASON_USER : REASON_DELETED);
        put_doc(world, i ? "{\"limit\":1}" : "{\"limit\":2}");
        expect(world, __LINE__, "jro");
    }
    mirror_feed_difference(&lost.mirror, &now.mirror, SAME_PAST, &now.feed);
    expect(&now, __LINE__, "");
    mirror_feed_difference(&lost.mirror, &now.mirror, OTHER_PAST, &now.feed);
    expect(&now, __LINE__, "oJr");
    put_definition(&lost, "{\"a\":1}"); /* only the cursor is another one */
    put_definition(&now, "{\"a\":1}");
    expect(&lost, __LINE__, "j");
    expect(&now, __LINE__, "j");
    mirror_feed_difference(&lost.mirror, &now.mirror, OTHER_PAST, &now.feed);
    expect(&now, __LINE__, "oCr");
    mirror_feed_difference(&now.mirror, &now.mirror, OTHER_PAST, &now.feed);
    expect(&now, __LINE__, "");
    close_world(&lost);
    close_world(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cursor_is_set_aside),
        cmocka_unit_test(a_definition_is_set_aside),
        cmocka_unit_test(a_run_is_set_aside),
        cmocka_unit_test(the_difference_is_told),
        cmocka_unit_test(what_another_past_has_under_the_same_revision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
