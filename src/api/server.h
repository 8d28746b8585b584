/* What the files of this layer share: the server and its calls under way. */
#ifndef PEAL_SERVER_H
#define PEAL_SERVER_H

#include <sys/queue.h>
#include <sys/types.h>

#include "api.h"
#include "call.h"

struct evhttp;

TAILQ_HEAD(call_list, call);

struct api {
    char *socket_path, *version, *node, *data_dir, *store_url, *default_tz;
    int64_t started_ms;
    int64_t undelete_s;
    struct api_ports ports;
    struct evhttp *http;
    int listen_fd;     /* -1: none, or the HTTP library has it */
    bool owns_path;    /* the socket file is there, and ours */
    uid_t own_uid;     /* besides root, the only one who may call */
    char own_user[64]; /* looked up once: directories of users can be slow */
    struct call_list calls;
    size_t call_count;
    struct call_list ready;   /* answered by store or history: to go on in the next turn */
    struct loop_timer *later; /* that turn */
};

/* Takes a request from the HTTP library to its handler. */
void dispatch_request(struct api *api, struct evhttp_request *request);

#endif
