#include "redis_lab.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "redis.h"

struct redis_server redis_lab;

void redis_lab_start(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    if (!redis_server_available()) {
        printf("skipped: there is no Redis here; Debian has it in redis-server\n");
        exit(77);
    }
    redis_server_start(&redis_lab);
}

void redis_lab_stop(void)
{
    redis_server_remove(&redis_lab);
}

struct kv_client *redis_lab_client(struct loop *loop, const struct redis_server *server,
                                   const char *more, int64_t deadline_ms)
{
    char url[256];
    struct kv_client *client;
    struct parse_error error;
    redis_server_url(server, more, url);
    const struct kv_server config = {.url = url, .deadline_ms = deadline_ms};
    if (redis_client_new(loop, &config, &client, &error) != OK) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    return client;
}
