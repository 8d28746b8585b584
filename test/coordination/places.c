#include "places.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "etcd_server.h"

struct place place;
static char root[64];
static int places;
static struct etcd_cluster cluster = {.count = 1};

int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void place_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

int place_setup(void **state)
{
    (void)state;
    places++;
    snprintf(place.data, sizeof(place.data), "%s/%d", root, places);
    if (place.is_etcd) /* http://HOST:PORT */
        snprintf(place.store, sizeof(place.store), "etcd://%s/test-%d",
                 cluster.endpoints[0] + strlen("http://"), places);
    else
        snprintf(place.store, sizeof(place.store), "sqlite");
    return 0;
}

int place_teardown(void **state)
{
    (void)state;
    return 0;
}

peal_node *place_open(int timeout_ms)
{
    peal_node *peal = peal_open(.store = place.store, .data = place.data, .timeout_ms = timeout_ms,
                                .no_functions = true);
    if (!peal)
        fail_msg("%s", peal_why());
    return peal;
}

void place_signal(int number)
{
    etcd_member_signal(&cluster, 0, number);
}

int places_run(const char *name, const struct CMUnitTest *tests, size_t count)
{
    const char *wanted = getenv("PEAL_PLACE");
    bool is_etcd = !wanted || strcmp(wanted, "etcd") == 0;
    int failed = 0;
    char title[100];
    snprintf(root, sizeof(root), "/tmp/peal-places-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    if (!wanted || strcmp(wanted, "folder") == 0) {
        snprintf(title, sizeof(title), "%s in a folder", name);
        failed += _cmocka_run_group_tests(title, tests, count, NULL, NULL);
    }
    if (is_etcd && etcd_cluster_available()) {
        place.is_etcd = true;
        etcd_cluster_start(&cluster);
        snprintf(title, sizeof(title), "%s in etcd", name);
        failed += _cmocka_run_group_tests(title, tests, count, NULL, NULL);
        etcd_cluster_remove(&cluster);
    } else if (is_etcd) {
        print_message("etcd is not installed\n");
        failed = failed || !wanted ? failed : 77;
    }
    snprintf(title, sizeof(title), "rm -rf %s", root);
    return system(title) == 0 ? failed : 1;
}
