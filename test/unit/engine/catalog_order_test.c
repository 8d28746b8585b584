/* The order of names, while jobs come, go and are renamed, few or many between two looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state/catalog.h"

enum { JOBS = 3000 }; /* some blocks of the order */

struct world {
    struct catalog catalog;
    struct zone_db *zones;
    bool is_there[JOBS], is_deleted[JOBS];
    uint32_t random;
};

static unsigned draw(struct world *world, unsigned below)
{
    world->random = world->random * 1664525 + 1013904223;
    return (world->random >> 8) % below;
}

static struct id uid_of(unsigned number)
{
    return (struct id){{1, (uint8_t)(number >> 8), (uint8_t)number}};
}

/* Few names for many uids, so that deleted jobs share theirs with others. */
static void put(struct world *world, unsigned number, bool deleted)
{
    char name[40], json[200];
    struct catalog_job *job;
    struct parse_error err;
    if (deleted)
        snprintf(name, sizeof(name), "old-%u", number % 7);
    else
        snprintf(name, sizeof(name), "job-%u-%u", draw(world, 50), number);
    snprintf(json, sizeof(json),
             "{\"name\":\"%s\",\"schedule\":\"@daily\",\"timezone\":\"UTC\",\"shell\":\"x\"}",
             name);
    struct store_change change = {.kind = STORE_CHANGE_JOB,
                                  .job_uid = uid_of(number),
                                  .job_name = name,
                                  .job_json = json,
                                  .job_deleted = deleted};
    assert_int_equal(catalog_put(&world->catalog, &change, world->zones, &job, &err), OK);
    assert_false(job->broken);
    world->is_there[number] = true;
    world->is_deleted[number] = deleted;
}

static void drop(struct world *world, unsigned number)
{
    struct id uid = uid_of(number);
    struct catalog_job *job = catalog_by_uid(&world->catalog, &uid);
    assert_int_equal(job != NULL, world->is_there[number]);
    if (job)
        catalog_remove(&world->catalog, job);
    world->is_there[number] = false;
}

struct walk {
    const struct catalog_job *last;
    size_t count;
};

static bool visit(void *context, const struct catalog_job *job)
{
    struct walk *walk = context;
    int order = walk->last ? strcmp(walk->last->name, job->name) : -1;
    if (order > 0 || (order == 0 && id_compare(&walk->last->uid, &job->uid) >= 0))
        fail_msg("%s does not come after %s", job->name, walk->last->name);
    walk->last = job;
    walk->count++;
    return true;
}

static bool visit_page(void *context, const struct catalog_job *job)
{
    struct walk *walk = context;
    visit(walk, job);
    return walk->count % 37 != 0;
}

/* Each page goes on behind the last name of the one before. */
static size_t count_by_pages(struct world *world)
{
    struct walk walk = {0};
    size_t before;
    do {
        before = walk.count;
        catalog_each(&world->catalog, walk.last ? walk.last->name : NULL, false, visit_page, &walk);
    } while (walk.count > before);
    return walk.count;
}

static void check(struct world *world)
{
    size_t all = 0, live = 0;
    for (unsigned i = 0; i < JOBS; i++) {
        all += world->is_there[i];
        live += world->is_there[i] && !world->is_deleted[i];
    }
    struct walk walk = {0};
    catalog_each(&world->catalog, NULL, true, visit, &walk);
    assert_int_equal(walk.count, all);
    walk = (struct walk){0};
    catalog_each(&world->catalog, NULL, false, visit, &walk);
    assert_int_equal(walk.count, live);
    assert_int_equal(catalog_count(&world->catalog), live);
    assert_int_equal(count_by_pages(world), live);
}

static void keeps_the_order_of_names(void **state)
{
    (void)state;
    struct world world = {.random = 1};
    catalog_init(&world.catalog);
    assert_int_equal(zone_db_new(NULL, &world.zones), OK);
    check(&world);
    for (int round = 0; round < 60; round++) {
        unsigned changes = round % 5 == 4 ? 2000 : draw(&world, 40);
        unsigned drops = round % 10 == 9 ? 90 : 20; /* of a hundred: it grows, and shrinks again */
        for (unsigned i = 0; i < changes; i++) {
            unsigned number = draw(&world, JOBS), what = draw(&world, 4);
            if (draw(&world, 100) < drops)
                drop(&world, number);
            else
                put(&world, number, what == 1);
        }
        check(&world);
    }
    catalog_release(&world.catalog);
    zone_db_free(world.zones);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_order_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
