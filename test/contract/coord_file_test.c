/* Files: the contract, and what becomes of a claim when its process or its files go. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coord_contract.h"
#include "coord_file.h"

static char root[64], folder[96];
static int places;

static void make_place(void)
{
    snprintf(folder, sizeof(folder), "%s/%d", root, ++places);
}

static struct coord *open_files(struct loop *loop)
{
    struct coord *coord = NULL;
    struct strbuf why;
    strbuf_init(&why);
    if (coord_file_open(loop, folder, HANG_MS, &coord, &why) != OK)
        fail_msg("%s", why.text);
    strbuf_release(&why);
    return coord;
}

static void write_text(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* A process of its own, which holds until it is killed. */
static pid_t start_holder(const char *name)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct coord_world world = {.backend = coord_world.backend};
        struct party party;
        const struct coord_want want = a_lock(name, "child");
        coord_world = world;
        places--; /* the next place is the present one */
        coord_world_setup(NULL);
        party_claim(&party, coord_world.coord, &want);
        wait_until(party.held);
        if (write(ready[1], "h", 1) != 1)
            _exit(1);
        for (;;)
            turn();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void a_killed_holder_is_passed_over_and_a_paused_one_is_not(void **state)
{
    struct party party;
    const struct coord_want want = a_lock("killed", "next");
    (void)state;
    pid_t pid = start_holder("killed");
    party_claim(&party, coord_world.coord, &want);
    wait_until(party.waiting);
    assert_string_equal(party.holder.id, "child");
    assert_int_equal(party.holder.pid, pid);
    kill(pid, SIGSTOP);
    for (int i = 0; i < 100; i++)
        turn();
    assert_int_equal(party.held, 0);
    kill(pid, SIGKILL);
    wait_until(party.held);
    assert_int_equal(party.fence, 2);
    waitpid(pid, NULL, 0);
    party_end(&party);
}

static void a_removed_file_is_a_loss(void **state)
{
    struct party holder, waiter;
    const struct coord_want want = a_lock("removed", "x");
    char path[200];
    (void)state;
    party_claim(&holder, coord_world.coord, &want);
    wait_until(holder.held);
    party_claim(&waiter, coord_world.other, &want);
    wait_until(waiter.waiting);
    snprintf(path, sizeof(path), "%s/locks/removed~queue", folder);
    assert_int_equal(unlink(path), 0);
    wait_until(holder.lost && waiter.failed);
    party_end(&holder);
    party_end(&waiter);
}

static void a_damaged_fence_is_told_and_not_counted_from_one(void **state)
{
    static const char *const texts[] = {"", "12", "{}", "{\"id\": \"x\", \"fence\": 7}", "\xff"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct party party;
        const struct coord_want want = a_lock("damaged", "x");
        write_text("locks/damaged", texts[i]);
        party_claim(&party, coord_world.coord, &want);
        wait_until(party.failed);
        assert_int_equal(party.status, E_CORRUPT);
        party_end(&party);
    }
}

/* A time of the boot clock says nothing in another boot. */
static void a_hold_ends_with_its_boot(void **state)
{
    static const char text[] =
        "{\"id\": \"old\", \"host\": \"h\", \"pid\": 1, \"since_ms\": 1, \"fence\": 0, "
        "\"boot\": \"another\", \"until_boot_ms\": 9000000000000, \"hold_ms\": 9000000000000}";
    (void)state;
    write_text("select/boots", text);
    assert_true(is_chosen("boots", "new", 60000));
    assert_false(is_chosen("boots", "newer", 60000));
}

int main(void)
{
    static const struct coord_backend backend = {
        .name = "coord in files", .make_place = make_place, .open = open_files};
    const struct CMUnitTest more[] = {
        cmocka_unit_test_setup_teardown(a_killed_holder_is_passed_over_and_a_paused_one_is_not,
                                        coord_world_setup, coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_removed_file_is_a_loss, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_damaged_fence_is_told_and_not_counted_from_one,
                                        coord_world_setup, coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_hold_ends_with_its_boot, coord_world_setup,
                                        coord_world_teardown),
    };
    char command[128];
    snprintf(root, sizeof(root), "/tmp/peal-coord-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    int failed = coord_contract_run(&backend);
    failed += cmocka_run_group_tests_name("files alone", more, NULL, NULL);
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command) == 0 ? failed : 1;
}
