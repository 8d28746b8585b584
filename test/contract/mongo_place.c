#include "mongo_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mongoc/mongoc.h>

#include "history_server_contract.h"
#include "mongo/history_mongo.h"

enum { CONNECT_S = 2 };

struct mongo_server mongo_server;

void mongo_place_url(const char *place, char url[512])
{
    mongo_server_url(&mongo_server, place, "", url);
}

void mongo_place_command(const char *place, const char *json)
{
    char url[512];
    bson_error_t error;
    mongo_server_url(&mongo_server, place, "", url);
    mongoc_client_t *client = mongoc_client_new(url);
    bson_t *command = bson_new_from_json((const uint8_t *)json, -1, &error);
    if (!command)
        fail_msg("%s: %s", json, error.message);
    if (!mongoc_client_command_simple(client, place, command, NULL, NULL, &error))
        fail_msg("%s: %s", json, error.message);
    bson_destroy(command);
    mongoc_client_destroy(client);
}

static void make_place(char place[128])
{
    static int number;
    snprintf(place, 128, "place_%d", ++number);
}

static enum status open_mongo(const char *place, struct history_wake wake, struct history **ret)
{
    static const struct history_server_limits limits = {.connect_s = CONNECT_S,
                                                        .write_ms = 5000,
                                                        .read_ms = 5000,
                                                        .retry_first_ms = 20,
                                                        .retry_last_ms = 200};
    char url[512];
    struct strbuf why;
    strbuf_init(&why);
    mongo_place_url(place, url);
    enum status st = history_mongo_open(url, &limits, wake, ret, &why);
    if (st != OK)
        print_message("%s\n", why.text);
    strbuf_release(&why);
    return st;
}

static void remove_place(const char *place)
{
    mongo_place_command(place, "{\"dropDatabase\": 1}");
}

static void restart(void)
{
    mongo_server_restart(&mongo_server);
}

static void kill_server(void)
{
    mongo_server_kill(&mongo_server);
}

static void pause_server(void)
{
    mongo_server_pause(&mongo_server);
}

static void resume(void)
{
    mongo_server_resume(&mongo_server);
}

/* FerretDB may replace one document for two writers at once. */
static struct history_server server = {
    .restart = restart,
    .kill = kill_server,
    .pause = pause_server,
    .resume = resume,
    .silent_words = "timeout",
    .connect_ms = 1000 * CONNECT_S,
    .writers = 3,
    .rounds = 6,
};

struct history_backend mongo_backend = {
    .name = "history in MongoDB",
    .make_place = make_place,
    .open = open_mongo,
    .remove_place = remove_place,
    .durable = true,
    .server = &server,
};

bool mongo_place_start(void)
{
    if (!mongo_server_available()) {
        puts("there is no server of MongoDB's protocol here: see tools/ferretdb.sh");
        return false;
    }
    mongo_server_start(&mongo_server);
    mongo_backend.is_slow = !mongo_server.is_mongod;
    server.swaps_whole = mongo_server.is_mongod;
    return true;
}
