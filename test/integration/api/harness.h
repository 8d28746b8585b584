/* The API in this process, on a real UNIX socket: the real engine on the stores in memory, and an
 * executor without processes. Client and server share one thread: whoever waits for an answer turns
 * the loop. */
#ifndef PEAL_API_HARNESS_H
#define PEAL_API_HARNESS_H

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "api.h"
#include "auth/account.h"
#include "fake_executor.h"

/* What the API has in front of the real store and history: tests can let them fail. */
struct failing_store {
    struct store base;
    struct store *real;
    bool fails;
    int fails_after;        /* so many more requests; 0: it does not */
    bool forgets;           /* does what it is asked, and says that it does not know */
    int rivals;             /* so many of the next writes of a document come too late: */
    const char *rival_json; /* somebody else has written this before */
    struct store_request *asked;
    void (*done)(struct store_request *request, enum status st);
};

struct failing_history {
    struct history base;
    struct history *real;
    bool fails;
    bool is_silent; /* appends are not answered; the last one is `unanswered` */
    struct history_append *unanswered;
};

enum { NARROW_BYTES = 4 << 20 };

struct world {
    char dir[64], socket_path[80];
    struct loop *loop;
    struct loop_timer *turn, *due; /* a turn that was asked for; the one that time will bring */
    struct loop_timer *watchdog;
    struct zone_db *zones;
    struct store *store;
    struct history *history;
    struct failing_store api_store;
    struct failing_history api_history;
    struct http_limits limits;
    size_t unread_events;
    unsigned facades;
    char logged[256]; /* the last line */
    struct fake_executor *executor;
    struct engine *engine;
    struct notifier *notifier;
    struct known_secrets *secrets; /* with a key file in `dir` */
    struct api *api;
    bool held; /* no turns: store and history do not answer */
    bool drained;
    bool asks_as_run; /* who connects to the UNIX socket from now on is taken for a run */
};

/* For cmocka: *state is the world. Its tokens are named as their roles: "Bearer viewer"; "editor"
 * can't define, which "definer" can; "team-viewer", "team-operator" and "team-editor" have their
 * rights in the namespace team; "watcher" looks everywhere, and operates there. */
int world_set_up(void **state);           /* with all facades */
int world_set_up_plain(void **state);     /* without facades */
int world_set_up_loading(void **state);   /* held before the engine has loaded its jobs */
int world_set_up_impatient(void **state); /* clients have parts of a second */
int world_set_up_narrow(void **state);    /* clients may leave NARROW_BYTES unread */
int world_tear_down(void **state);

/* Writes a document of the store, whatever is there. */
void world_put_doc(struct world *world, const char *kind, const char *name, const char *json);

void world_hold(struct world *world);
void world_release(struct world *world);

/* Turns the loop until done(context) says so; fails the test after 20 s. */
void world_until(struct world *world, bool (*done)(void *context), void *context);

/* ---- a client ---- */

struct client;

struct client *client_connect(struct world *world);
struct client *client_connect_tcp(struct world *world);
void client_send(struct client *client, const void *bytes, size_t length);
void client_send_now(struct client *client, const void *bytes, size_t length); /* if it can */
void client_stop_reading(struct client *client);
void client_read_some(struct client *client, size_t most); /* of what came, after that */
bool client_is_closed(const struct client *client);        /* by the server */
const char *client_text(const struct client *client);      /* all that came */
const char *client_bytes(const struct client *client, size_t *ret_length); /* the same */
void client_clear(struct client *client);                                  /* forgets it */
void client_free(struct client *client);

/* Until the text has come. */
void client_wait_for(struct world *world, const struct client *client, const char *text);

/* Sends requests while the store is held, so that they meet there, and frees the clients when all
 * are answered; their statuses. The requests must ask for `Connection: close`. */
void ask_at_once(struct world *world, const char *const *requests, size_t count, int *ret_statuses);

/* ---- whole requests ---- */

struct answer {
    int status;
    char *head;   /* status line and headers */
    char *text;   /* the body */
    json_t *body; /* NULL: no JSON */
};

/* "GET /jobs" is below /api/v1, unless the path starts with "//". `headers` are lines that end in
 * \r\n; `body` may be NULL. */
struct answer ask_with(struct world *world, const char *line, const char *headers,
                       const char *body);
struct answer ask(struct world *world, const char *line, const char *body);
void answer_release(struct answer *answer);

/* Over TCP. `headers` has the Host, if any. */
struct answer ask_tcp(struct world *world, const char *line, const char *headers, const char *body);

/* A header of the answer, freed by the caller; NULL: none. */
char *answer_header(const struct answer *answer, const char *name);

/* Asks, and fails the test unless the status is this; the body is the caller's. */
json_t *expect(struct world *world, int line_number, int status, const char *line,
               const char *body);
#define EXPECT(world, status, line, body) expect(world, __LINE__, status, line, body)

/* The same, for its status alone. */
#define EXPECT_STATUS(world, status, line, body)                                                   \
    json_decref(expect(world, __LINE__, status, line, body))

/* A member by its path: "status.last.state", "items.0.name"; NULL: none. */
json_t *member(json_t *value, const char *path);
const char *member_text(json_t *value, const char *path);
int64_t member_number(json_t *value, const char *path);
size_t member_count(json_t *value, const char *path);

#endif
