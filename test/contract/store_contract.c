#include "store_contract.h"

#include <stdlib.h>

#include "store_world.h"

struct row {
    const struct store_backend *backend;
    const struct contract_test *test;
};

/* Whatever a test has done: the store shows the same picture when it is opened again. */
static void run_row(void **state)
{
    const struct row *row = *state;
    struct world *world = world_new(row->backend);
    world_open(world);
    row->test->test(world);
    if (world->store && !world->without_picture)
        world_reopen(world);
    world_free(world);
}

int store_contract_run(const struct store_backend *backend)
{
    const struct contract_test *const groups[] = {
        claim_tests,      run_tests,  again_tests,  next_tests,    part_tests, rolling_tests,
        unfollowed_tests, job_tests,  feed_tests,   node_tests,    doc_tests,  rewind_tests,
        boot_tests,       step_tests, cancel_tests, fan_out_tests, group_tests};
    enum { MOST = 256 };
    struct row *rows = calloc(MOST, sizeof(*rows));
    struct CMUnitTest *tests = calloc(MOST, sizeof(*tests));
    size_t count = 0;
    if (!rows || !tests)
        abort();
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
        for (const struct contract_test *test = groups[g]; test->name && count < MOST; test++) {
            rows[count] = (struct row){backend, test};
            tests[count] = (struct CMUnitTest){test->name, run_row, NULL, NULL, &rows[count]};
            count++;
        }
    }
    int failed = _cmocka_run_group_tests(backend->name, tests, count, NULL, NULL);
    free(tests);
    free(rows);
    return failed;
}
