/* The things that the sweep asks for, made and looked at by an admin on the UNIX socket. */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sweep.h"

#define V1 "/api/v1"

#define PASSWORD "hunter2-of-the-db"
#define INPUT    "line-of-stdin"
#define HOOK     "key-of-the-hook"
#define SIGNING  "secret-of-the-hook"

const char *const secret_words[] = {PASSWORD, INPUT, NULL};
const char *const hidden_words[] = {HOOK, SIGNING, "$argon2", NULL};

#define JOB                                                                                        \
    "{\"schedule\":\"@manual\",\"overlap\":\"allow\",\"shell\":\"%s " JOB_WORD "\","               \
    "\"stdin\":\"" INPUT "\",\"env\":{\"DB_PASSWORD\":\"" PASSWORD "\"},\"calendars\":[],"         \
    "\"labels\":{\"kind\":\"" JOB_WORD "\"},\"notes\":\"" JOB_WORD "\"}"
#define LIVE "{\"schedule\":\"@manual\",\"shell\":\"echo " JOB_WORD "; sleep 1000\"}"
#define GONE "{\"schedule\":\"@manual\",\"shell\":\"echo " JOB_WORD "\"}"
#define DATED                                                                                      \
    "{\"schedule\":\"@daily\",\"shell\":\"true\",\"calendars\":[\"holidays\"],\"groups\":["        \
    "\"exports\"]}"
#define CHANNEL                                                                                    \
    "{\"type\":\"webhook\",\"url\":\"http://127.0.0.1:1/?key=" HOOK "\",\"secret\":\"" SIGNING     \
    "\",\"give_up\":\"1s\"}"

/* ---- asking ---- */

static json_t *ask(const struct world *world, const char *method, const char *path,
                   const char *body)
{
    struct target target = {.path = world->socket};
    struct peer *peer = peer_open(&target);
    struct strbuf text;
    strbuf_init(&text);
    strbuf_addf(&text, "%s " V1 "%s HTTP/1.1\r\nHost: peal\r\nConnection: close\r\n", method, path);
    strbuf_addf(&text, "Content-Length: %zu\r\n\r\n%s", body ? strlen(body) : 0, body ? body : "");
    if (!peer) {
        fprintf(stderr, "nobody is at %s\n", world->socket);
        exit(1);
    }
    peer_send(peer, text.text, text.length);
    strbuf_reset(&text);
    peer_read_answer(peer, false, 20000, &text);
    peer_close(peer);
    const char *end = strstr(text.text, "\r\n\r\n");
    json_t *value = end ? json_loads(end + 4, 0, NULL) : NULL;
    if (!value) {
        fprintf(stderr, "%s %s: %.500s\n", method, path, text.text);
        exit(1);
    }
    strbuf_release(&text);
    return value;
}

static void order(const struct world *world, const char *method, const char *path, const char *body)
{
    json_decref(ask(world, method, path, body));
}

static bool take_word(json_t *value, const char *key, char ret[WORD_SIZE])
{
    const char *text = json_string_value(json_object_get(value, key));
    if (text)
        snprintf(ret, WORD_SIZE, "%s", text);
    json_decref(value);
    return text != NULL;
}

/* ---- life ---- */

/* Some time is given for it; false: it is in another state all the same. */
static bool wait_for_state(const struct world *world, const char *run, const char *wanted)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    char path[WORD_SIZE + 8], state[WORD_SIZE] = "";
    snprintf(path, sizeof(path), "/runs/%s", run);
    for (int i = 0; i < 200 && strcmp(state, wanted) != 0; i++) {
        take_word(ask(world, "GET", path, NULL), "state", state);
        if (strcmp(state, "killed") == 0)
            break;
        nanosleep(&pause, NULL);
    }
    return strcmp(state, wanted) == 0;
}

static void make_run(struct world *world)
{
    take_word(ask(world, "POST", "/jobs/a%2F" NAME_WORD "/run", NULL), "run_id", world->run);
    wait_for_state(world, world->run, "ok");
}

/* A new one: of the old one it can't be told whether it is being killed. */
static void make_live(struct world *world)
{
    char path[WORD_SIZE + 16];
    if (world->live[0]) {
        snprintf(path, sizeof(path), "/runs/%s/kill", world->live);
        order(world, "POST", path, NULL);
        wait_for_state(world, world->live, "killed");
    }
    order(world, "PUT", "/jobs/a%2Flive", LIVE);
    if (take_word(ask(world, "POST", "/jobs/a%2Flive/run", NULL), "run_id", world->live))
        wait_for_state(world, world->live, "running");
}

static void put_job(const struct world *world, const char *command)
{
    char text[sizeof(JOB) + WORD_SIZE];
    snprintf(text, sizeof(text), JOB, command);
    order(world, "PUT", "/jobs/a%2F" NAME_WORD, text);
}

/* Two versions of it, of which both have the secrets. */
static void make_job(const struct world *world)
{
    put_job(world, "printf");
    put_job(world, "echo");
}

static bool is_about(const struct row *row, const char *word)
{
    return strstr(row->pattern, word) != NULL;
}

static void restore_jobs(struct world *world, const struct row *row)
{
    json_t *job = ask(world, "GET", "/jobs/a%2F" NAME_WORD, NULL);
    bool is_gone = !json_object_get(job, "revision");
    json_decref(job);
    if (is_gone)
        make_job(world);
    else
        put_job(world, "echo");
    if (is_gone || !world->run[0])
        make_run(world); /* the old one was another job's */
    order(world, "POST", "/jobs/a%2F" NAME_WORD "/resume", NULL);
    if (row->body || is_about(row, "/jobs/{name}"))
        order(world, "DELETE", "/jobs/a%2Fmade", NULL);
    if (is_about(row, "undelete")) {
        order(world, "PUT", "/jobs/a%2Fgone", GONE);
        order(world, "DELETE", "/jobs/a%2Fgone", NULL);
    }
    if (!world->live[0] || is_about(row, "kill"))
        make_live(world);
}

static void restore_calendars(const struct world *world)
{
    order(world, "PUT", "/calendars/holidays", "{\"dates\":[\"12-25\"]}");
    order(world, "PUT", "/groups/exports", "{\"cluster\":5}");
    order(world, "PUT", "/jobs/a%2Fdated", DATED);
}

static void restore_channels(const struct world *world)
{
    order(world, "PUT", "/channels/gnu", CHANNEL);
    order(world, "DELETE", "/channels/made", NULL);
}

static void restore_accounts(struct world *world)
{
    order(world, "DELETE", "/users/mallory", NULL);
    order(world, "POST", "/users",
          "{\"name\":\"" USER_WORD "\",\"role\":\"viewer\",\"password\":\"correct horse\"}");
    order(world, "PATCH", "/users/" USER_WORD, "{\"role\":\"viewer\",\"disabled\":false}");
    take_word(ask(world, "POST", "/tokens",
                  "{\"label\":\"bait\",\"user\":\"" USER_WORD "\",\"role\":\"viewer\"}"),
              "id", world->token);
}

static void restore_nodes(struct world *world)
{
    char path[WORD_SIZE + 32];
    take_word(ask(world, "GET", "/agent", NULL), "node", world->node);
    snprintf(path, sizeof(path), "/nodes/%s/undrain", world->node);
    order(world, "POST", path, NULL);
}

/* What was started before has ended, but for the run that lives. */
static void settle(const struct world *world)
{
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    size_t open = 2;
    for (int i = 0; i < 200 && open > 1; i++) {
        json_t *runs = ask(world, "GET", "/runs?state=queued,due,claimed,begun,running", NULL);
        open = json_array_size(json_object_get(runs, "items"));
        json_decref(runs);
        if (open > 1)
            nanosleep(&pause, NULL);
    }
}

void world_restore(struct world *world, const struct row *row)
{
    bool is_first = !world->node[0];
    if (is_first || is_about(row, "/calendars") || is_about(row, "/groups"))
        restore_calendars(world);
    if (is_first || is_about(row, "/channels"))
        restore_channels(world);
    if (is_first || is_about(row, "/users") || is_about(row, "/tokens"))
        restore_accounts(world);
    if (is_first || is_about(row, "/nodes"))
        restore_nodes(world);
    if (is_first || is_about(row, "job") || is_about(row, "/runs"))
        restore_jobs(world, row);
    settle(world);
}

/* ---- how things are ---- */

/* What changes by itself: by time, by being looked at, by attempts that fail. */
static void strip(json_t *value)
{
    static const char *const own[] = {
        "used_at",         "heard_at", "skew_ms",    "watch_lag_ms", "started_at",
        "delivery",        "running",  "capacity",   "free",         "cpu_pressure",
        "memory_pressure", "cpu_load", "memory_used"};
    const char *key;
    json_t *item;
    size_t i;
    void *next;
    for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        json_object_del(value, own[i]);
    json_object_foreach_safe(value, next, key, item) strip(item);
    for (i = json_array_size(value); i-- > 0;) {
        const char *action = json_string_value(json_object_get(json_array_get(value, i), "action"));
        if (action && strcmp(action, "login_failed") == 0)
            json_array_remove(value, i);
        else
            strip(json_array_get(value, i));
    }
}

static void shorten(json_t *items)
{
    while (json_array_size(items) > 5)
        json_array_remove(items, json_array_size(items) - 1);
}

char *world_digest(const struct world *world)
{
    static const char *const paths[] = {"/jobs?limit=1000",
                                        "/jobs?deleted=true&limit=1000",
                                        "/runs?ledger=true&limit=100",
                                        "/users",
                                        "/tokens",
                                        "/channels",
                                        "/calendars",
                                        "/groups",
                                        "/nodes",
                                        "/audit?limit=200"};
    struct strbuf digest;
    strbuf_init(&digest);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        json_t *value = ask(world, "GET", paths[i], NULL);
        strip(value);
        if (strstr(paths[i], "/audit")) /* attempts push others off the page */
            shorten(json_object_get(value, "items"));
        json_object_del(value, "next");
        char *text = json_dumps(value, JSON_SORT_KEYS | JSON_INDENT(1));
        strbuf_addf(&digest, "%s\n%s\n", paths[i], text);
        free(text);
        json_decref(value);
    }
    return strbuf_detach(&digest);
}

/* ---- words ---- */

struct word {
    const char *name, *there, *missing;
};

enum { WORDS = 10 };

static void list_words(const struct world *world, struct word words[WORDS])
{
    const struct word list[WORDS] = {
        {"$JOB", "a/" NAME_WORD, "a/okapi"},
        {"$PATH", "a%2F" NAME_WORD, "a%2Fokapi"},
        {"$RUN", world->run, "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
        {"$LIVE", world->live, "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
        {"$TOKEN", world->token, "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
        {"$USER", USER_WORD, "badger"},
        {"$CHANNEL", "gnu", "emu"},
        {"$CALENDAR", "holidays", "birthday"},
        {"$GROUP", "exports", "imports"},
        {"$NODE", world->node, "no-such-node"},
    };
    memcpy(words, list, sizeof(list));
}

void world_fill(const struct world *world, const char *text, bool is_there, struct strbuf *ret)
{
    struct word words[WORDS];
    list_words(world, words);
    while (*text) {
        size_t i = 0;
        while (i < WORDS && strncmp(text, words[i].name, strlen(words[i].name)) != 0)
            i++;
        if (i < WORDS) {
            strbuf_adds(ret, is_there ? words[i].there : words[i].missing);
            text += strlen(words[i].name);
        } else {
            strbuf_addc(ret, *text++);
        }
    }
}

/* "2026-11-15T12:31:54.971Z" */
static size_t time_length(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";
    size_t i = 0;
    while (form[i] && (form[i] == '0' ? isdigit((unsigned char)text[i]) != 0 : text[i] == form[i]))
        i++;
    return form[i] ? 0 : i;
}

static size_t id_length(const char *text)
{
    static const char key[] = "\"request_id\":\"";
    if (strncmp(text, key, sizeof(key) - 1) != 0)
        return 0;
    const char *end = strchr(text + sizeof(key) - 1, '"');
    return end ? (size_t)(end - text) + 1 : 0;
}

void world_level(const struct world *world, const char *text, struct strbuf *ret)
{
    struct word words[WORDS];
    list_words(world, words);
    while (*text) {
        size_t skip = time_length(text) + id_length(text), i = 0;
        while (i < WORDS &&
               (!words[i].there[0] || strncmp(text, words[i].there, strlen(words[i].there)) != 0))
            i++;
        if (skip) {
            text += skip;
        } else if (i < WORDS) {
            strbuf_adds(ret, words[i].missing);
            text += strlen(words[i].there);
        } else {
            strbuf_addc(ret, *text++);
        }
    }
}
