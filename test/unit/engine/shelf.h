/* A catalog for tests of the modules around it, filled without a store. */
#ifndef PEAL_TEST_SHELF_H
#define PEAL_TEST_SHELF_H

#include "state/catalog.h"

#define SHELF_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00Z: when all its jobs are made */

struct shelf {
    struct zone_db *zones;
    struct catalog catalog;
};

int shelf_set_up(void **state);
int shelf_tear_down(void **state);

/* *state is a struct shelf. */
#define WITH_SHELF(test) cmocka_unit_test_setup_teardown(test, shelf_set_up, shelf_tear_down)

/* Puts the job with this number (its uid) in; again: a new revision of it. `more` is YAML. */
struct catalog_job *shelf_put(struct shelf *shelf, uint8_t number, const char *name,
                              const char *schedule, const char *more);

/* The same definition, deleted. */
void shelf_delete(struct shelf *shelf, uint8_t number);

struct id shelf_uid(uint8_t number);

#endif
