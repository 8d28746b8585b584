#include "places.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "etcd_server.h"
#include "postgres_server.h"
#include "redis_server.h"

struct place place;
static char root[64];
static int places;
static struct etcd_cluster cluster = {.count = 1};
static struct postgres_server postgres;
static struct redis_server redis;

/* ---- the kinds ---- */

static bool is_always(void)
{
    return true;
}

static void nothing(void)
{
}

static void print_folder(void)
{
    snprintf(place.store, sizeof(place.store), "sqlite");
}

static void start_etcd(void)
{
    etcd_cluster_start(&cluster);
}

static void remove_etcd(void)
{
    etcd_cluster_remove(&cluster);
}

static void print_etcd(void)
{
    snprintf(place.store, sizeof(place.store), "etcd://%s/test-%d",
             cluster.endpoints[0] + strlen("http://"), places);
}

static void pause_etcd(void)
{
    etcd_member_signal(&cluster, 0, SIGSTOP);
}

static void resume_etcd(void)
{
    etcd_member_signal(&cluster, 0, SIGCONT);
}

static void start_postgres(void)
{
    postgres_server_start(&postgres);
    setenv("PGPASSWORD", POSTGRES_PASSWORD, 1);
}

static void remove_postgres(void)
{
    postgres_server_remove(&postgres);
}

static void print_postgres(void)
{
    snprintf(place.store, sizeof(place.store),
             "postgresql://" POSTGRES_USER "@127.0.0.1:%d/postgres?schema=test_%d", postgres.port,
             places);
}

static void pause_postgres(void)
{
    postgres_server_pause(&postgres);
}

static void resume_postgres(void)
{
    postgres_server_resume(&postgres);
}

static void start_redis(void)
{
    redis_server_start(&redis);
}

static void remove_redis(void)
{
    redis_server_remove(&redis);
}

static void print_redis(void)
{
    char more[32];
    snprintf(more, sizeof(more), "?prefix=test_%d", places);
    redis_server_url(&redis, more, place.store);
}

static void pause_redis(void)
{
    redis_server_pause(&redis);
}

static void resume_redis(void)
{
    redis_server_resume(&redis);
}

static const struct kind {
    const char *name;
    bool has_server;
    bool (*is_available)(void);
    void (*start)(void), (*remove)(void), (*print)(void), (*pause)(void), (*resume)(void);
} kinds[] = {
    {"folder", false, is_always, nothing, nothing, print_folder, nothing, nothing},
    {"etcd", true, etcd_cluster_available, start_etcd, remove_etcd, print_etcd, pause_etcd,
     resume_etcd},
    {"PostgreSQL", true, postgres_server_available, start_postgres, remove_postgres, print_postgres,
     pause_postgres, resume_postgres},
    {"Redis", true, redis_server_available, start_redis, remove_redis, print_redis, pause_redis,
     resume_redis},
};
static const struct kind *kind;

void place_pause_server(void)
{
    kind->pause();
}

void place_resume_server(void)
{
    kind->resume();
}

/* ---- a place ---- */

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
    kind->print();
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

int places_run(const char *name, const struct CMUnitTest *tests, size_t count)
{
    const char *wanted = getenv("PEAL_PLACE");
    int failed = 0;
    char title[100];
    snprintf(root, sizeof(root), "/tmp/peal-places-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        kind = &kinds[i];
        if (wanted && strcmp(wanted, kind->name) != 0)
            continue;
        if (!kind->is_available()) {
            print_message("%s is not installed\n", kind->name);
            failed = wanted ? 77 : failed;
            continue;
        }
        place.has_server = kind->has_server;
        kind->start();
        snprintf(title, sizeof(title), "%s in %s", name, kind->name);
        failed += _cmocka_run_group_tests(title, tests, count, NULL, NULL);
        kind->remove();
    }
    snprintf(title, sizeof(title), "rm -rf %s", root);
    return system(title) == 0 ? failed : 1;
}
