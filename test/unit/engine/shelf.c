#include "shelf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"

int shelf_set_up(void **state)
{
    struct shelf *shelf = calloc(1, sizeof(*shelf));
    assert_non_null(shelf);
    assert_int_equal(zone_db_new(NULL, &shelf->zones), OK);
    catalog_init(&shelf->catalog);
    *state = shelf;
    return 0;
}

int shelf_tear_down(void **state)
{
    struct shelf *shelf = *state;
    catalog_release(&shelf->catalog);
    zone_db_free(shelf->zones);
    free(shelf);
    return 0;
}

struct id shelf_uid(uint8_t number)
{
    struct id uid = {{number}};
    return uid;
}

static struct catalog_job *put(struct shelf *shelf, uint8_t number, const char *name,
                               const char *json, bool deleted)
{
    struct id uid = shelf_uid(number);
    const struct catalog_job *known = catalog_by_uid(&shelf->catalog, &uid);
    struct store_change change = {
        .kind = deleted ? STORE_CHANGE_DELETE : STORE_CHANGE_JOB,
        .job_uid = uid,
        .job_revision = known ? known->revision + 1 : 1,
        .cursor_ms = SHELF_MS,
        .job_name = name,
        .job_json = json,
        .job_deleted = deleted,
    };
    struct parse_error error;
    struct catalog_job *job = NULL;
    assert_int_equal(catalog_put(&shelf->catalog, &change, shelf->zones, &job, &error), OK);
    return job;
}

struct catalog_job *shelf_put(struct shelf *shelf, uint8_t number, const char *name,
                              const char *schedule, const char *more)
{
    char yaml[512];
    struct job_list list;
    struct job_error error = {0};
    job_list_init(&list);
    snprintf(yaml, sizeof(yaml), "name: %s\nschedules: [%s]\ncommand: [/bin/true]\n%s", name,
             schedule, more);
    if (jobs_decode_text(yaml, strlen(yaml), "UTC", shelf->zones, &list, &error) != OK)
        fail_msg("%d:%d %s", error.line, error.column, error.message);
    list.items[0]->uid = shelf_uid(number);
    char *json = job_encode_text(list.items[0]);
    assert_non_null(json);
    struct catalog_job *job = put(shelf, number, name, json, false);
    free(json);
    job_list_release(&list);
    return job;
}

void shelf_delete(struct shelf *shelf, uint8_t number)
{
    struct id uid = shelf_uid(number);
    const struct catalog_job *known = catalog_by_uid(&shelf->catalog, &uid);
    char *name = strdup(known->name), *json = strdup(known->json);
    put(shelf, number, name, json, true);
    free(name);
    free(json);
}
