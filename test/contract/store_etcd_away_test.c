/* etcd goes away under its nodes, has users, or others write to its keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd_lab.h"

/* ---- etcd goes away ---- */

static void nobody_is_gone_because_etcd_is_away(void **state)
{
    (void)state;
    new_lab();
    struct node *first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    struct node *second = start_node(1, "node-2", 2);
    wait_until(hears_of(first, "node-2", true) && hears_of(second, "node-1", true));
    etcd_member_kill(&lab.cluster, 0);
    say(first, 5);                                               /* which nobody hears, yet */
    for (int turns = 0; turns < STAYS; turns += !leads(first)) { /* until its TTL, and beyond */
        turn();
        assert_true(hears_of(first, "node-2", true) && hears_of(second, "node-1", true));
        assert_false(leads(second));
    }
    assert_false(is_well(first));
    assert_false(leads(first)); /* who knows what the others see */
    etcd_member_restart(&lab.cluster, 0, true);
    wait_until(has_heard(second, "node-1", 5));
    wait_until(leads(first) || leads(second));
    assert_false(leads(first) && leads(second));
    say(second, 6);
    wait_until(has_heard(first, "node-2", 6) && sees_alive(first->world, "node-2"));
    wait_until(is_well(first) && is_well(second));
    end_all();
}

static void a_new_list_tells_who_came_and_went(void **state)
{
    (void)state;
    new_lab();
    struct node *first = start_node(0, "node-1", 1), *left = start_node(1, "node-2", 2);
    put("drains/node-7", "anna");
    put("drains/node-8", "anna");
    wait_until(hears_of(first, "node-2", true) && hears_of(first, "node-1", true));
    wait_until(first->world->picture.drain_count == 2);
    first->is_frozen = true;
    etcd_member_restart(&lab.cluster, 0, true); /* so that it has no connection */
    end_node(left);
    struct node *came = start_node(2, "node-3", 3);
    wait_until(sees_alive(came->world, "node-3"));
    delete_below("drains/node-7");
    put("drains/node-9", "otto");
    compact(put("drains/node-8", "otto"));
    first->is_frozen = false;
    wait_until(hears_of(first, "node-2", false) && hears_of(first, "node-3", true));
    assert_null(look_for_drain(first->world, "node-7"));
    assert_string_equal(look_for_drain(first->world, "node-8")->by, "otto");
    assert_string_equal(look_for_drain(first->world, "node-9")->by, "otto");
    say(came, 3);
    wait_until(has_heard(first, "node-3", 3)); /* and it goes on */
    end_all();
}

static void the_loss_of_a_member_is_survived(void **state)
{
    struct etcd_cluster one = lab.cluster;
    int leader = 0;
    (void)state;
    lab.cluster = (struct etcd_cluster){.count = 3};
    etcd_cluster_start(&lab.cluster);
    new_lab();
    struct node *first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    struct node *second = start_node(1, "node-2", 2);
    wait_until(hears_of(first, "node-2", true) && hears_of(second, "node-1", true));
    while (!is_etcd_leader(leader))
        leader = (leader + 1) % 3;
    etcd_member_kill(&lab.cluster, leader);
    say(first, 4);
    say(second, 5);
    wait_until(has_heard(first, "node-2", 5) && has_heard(second, "node-1", 4) &&
               (leads(first) || leads(second)));
    assert_false(leads(first) && leads(second));
    assert_true(sees_alive(first->world, "node-2") && sees_alive(second->world, "node-1"));
    end_all();
    etcd_cluster_remove(&lab.cluster);
    lab.cluster = one;
}

/* ---- what others do to the keys ---- */

static void what_cannot_be_read_is_passed_over(void **state)
{
    static const char *const rows[][2] = {
        {"nodes/text", "not JSON"},
        {"nodes/", "{}"},
        {"nodes/empty", ""},
        {"nodes/list", "[1, 2]"},
        {"nodes/no-instance", "{\"home\": \"00\"}"},
        {"nodes/a-name-that-is-longer-than-any-node-may-have-which-is-sixty-three-letters", "{}"},
        {"drains/a-name-that-is-longer-than-any-node-may-have-which-is-sixty-three-letters", "x"},
        {"leader/x", ""},
        {"unknown/x", "y"},
    };
    (void)state;
    new_lab();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) / 2; i++)
        put(rows[i][0], rows[i][1]);
    struct node *node = start_node(0, "node-1", 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        put(rows[i][0], rows[i][1]);
    wait_until(sees_alive(node->world, "node-1"));
    delete_below("nodes/text");
    delete_below("leader/x"); /* which led, having come first */
    wait_until(leads(node));
    assert_int_equal(node->world->picture.peer_count, 1);
    assert_int_equal(node->world->picture.drain_count, 0);
    assert_true(is_well(node));
    end_all();
}

static void keys_that_somebody_deletes_are_written_again(void **state)
{
    (void)state;
    new_lab();
    struct node *node = start_node(0, "node-1", 1);
    wait_until(leads(node));
    delete_below("nodes/");
    wait_until(hears_of(node, "node-1", false));
    say(node, 1);
    wait_until(sees_alive(node->world, "node-1"));
    delete_below("leader/");
    wait_until(!leads(node));
    wait_until(leads(node));
    end_all();
}

static void an_etcd_with_users_is_joined(void **state)
{
    struct etcd_cluster one = lab.cluster;
    char command[1024];
    (void)state;
    lab.cluster = (struct etcd_cluster){.count = 1};
    etcd_cluster_start(&lab.cluster);
    snprintf(command, sizeof(command),
             "export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=%s; { etcdctl user add root:rootpw &&"
             " etcdctl role add root && etcdctl user grant-role root root &&"
             " etcdctl user add peal:secret && etcdctl role add peal &&"
             " etcdctl role grant-permission peal --prefix=true readwrite /nodes/ &&"
             " etcdctl user grant-role peal peal && etcdctl auth enable; } >/dev/null",
             lab.cluster.endpoints[0]);
    assert_int_equal(system(command), 0);
    lab.user = "peal";
    lab.password = "secret";
    new_lab();
    struct node *first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    struct node *second = start_node(1, "node-2", 2);
    wait_until(hears_of(first, "node-2", true));
    end_node(first);
    wait_until(leads(second) && hears_of(second, "node-1", false)); /* it has left */
    end_all();
    lab.user = lab.password = NULL;
    etcd_cluster_remove(&lab.cluster);
    lab.cluster = one;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_gone_because_etcd_is_away),
        cmocka_unit_test(a_new_list_tells_who_came_and_went),
        cmocka_unit_test(the_loss_of_a_member_is_survived),
        cmocka_unit_test(what_cannot_be_read_is_passed_over),
        cmocka_unit_test(keys_that_somebody_deletes_are_written_again),
        cmocka_unit_test(an_etcd_with_users_is_joined),
    };
    return lab_run("nodes and their etcd", tests, sizeof(tests) / sizeof(tests[0]));
}
