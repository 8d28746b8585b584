#include "coord.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "coord_backend.h"
#include "job_name.h"

/* ---- names ---- */

/* Printable, so that it can be a line of output and a word of a message. */
const char *coord_id_complaint(const char *id)
{
    if (!*id)
        return "is empty";
    if (strlen(id) >= COORD_ID_SIZE)
        return "is longer than 128 bytes";
    for (const char *c = id; *c; c++) {
        if (iscntrl((unsigned char)*c) || *c == ' ')
            return "may hold neither blanks nor control characters";
    }
    return NULL;
}

const char *coord_folder(enum coord_kind kind)
{
    return kind == COORD_LOCK ? "locks" : "elections";
}

/* A name has no plus sign. */
static void replace(const char *text, size_t length, char from, char to, char ret[COORD_NAME_SIZE])
{
    if (length >= COORD_NAME_SIZE)
        length = COORD_NAME_SIZE - 1;
    memcpy(ret, text, length);
    ret[length] = '\0';
    for (char *c = ret; *c; c++)
        *c = *c == from ? to : *c;
}

void coord_name_encode(const char *name, char ret[COORD_NAME_SIZE])
{
    replace(name, strlen(name), '/', '+', ret);
}

void coord_name_decode(const char *text, size_t length, char ret[COORD_NAME_SIZE])
{
    replace(text, length, '+', '/', ret);
}

/* ---- holders ---- */

void coord_holder_self(const char *id, struct coord_holder *ret)
{
    *ret = (struct coord_holder){.pid = getpid(), .since_ms = clock_now().wall.ms};
    snprintf(ret->id, sizeof(ret->id), "%s", id);
    if (gethostname(ret->host, sizeof(ret->host) - 1) != 0)
        ret->host[0] = '\0';
}

void coord_holder_print(const struct coord_holder *holder, struct strbuf *out)
{
    json_t *tree = json_pack("{s:s, s:s, s:I, s:I, s:I}", "id", holder->id, "host", holder->host,
                             "pid", (json_int_t)holder->pid, "since_ms",
                             (json_int_t)holder->since_ms, "fence", (json_int_t)holder->fence);
    char *text = tree ? json_dumps(tree, JSON_COMPACT) : NULL;
    if (text)
        strbuf_adds(out, text);
    else
        out->failed = true;
    free(text);
    json_decref(tree);
}

enum status coord_holder_parse(const char *text, size_t length, struct coord_holder *ret)
{
    const char *id, *host;
    json_int_t pid, since_ms, fence;
    enum status st = E_CORRUPT;
    json_t *tree = json_loadb(text, length, 0, NULL);
    if (tree && json_unpack(tree, "{s:s, s:s, s:I, s:I, s:I}", "id", &id, "host", &host, "pid",
                            &pid, "since_ms", &since_ms, "fence", &fence) == 0) {
        *ret = (struct coord_holder){.pid = pid, .since_ms = since_ms, .fence = fence};
        snprintf(ret->id, sizeof(ret->id), "%s", id);
        snprintf(ret->host, sizeof(ret->host), "%s", host);
        st = OK;
    }
    json_decref(tree);
    return st;
}

/* ---- to the backend ---- */

enum status coord_claim(struct coord *coord, const struct coord_want *want, coord_notify *notify,
                        void *context, struct coord_claim **ret)
{
    if (job_name_complaint(want->name) || coord_id_complaint(want->id))
        return E_INVALID;
    return coord->ops->claim(coord, want, notify, context, ret);
}

void coord_release(struct coord_claim *claim)
{
    claim->coord->ops->release(claim);
}

struct coord_claim *coord_claim_free(struct coord_claim *claim)
{
    if (claim)
        claim->coord->ops->claim_free(claim);
    return NULL;
}

int64_t coord_held_until_boot_ms(const struct coord_claim *claim)
{
    return claim->coord->ops->held_until_boot_ms(claim);
}

enum status coord_look(struct coord *coord, enum coord_kind kind, const char *name,
                       coord_seen *seen, void *context)
{
    if (name && job_name_complaint(name))
        return E_INVALID;
    return coord->ops->look(coord, kind, name, seen, context);
}

enum status coord_watch(struct coord *coord, enum coord_kind kind, const char *name,
                        coord_changed *changed, void *context, struct coord_watch **ret)
{
    if (job_name_complaint(name))
        return E_INVALID;
    return coord->ops->watch(coord, kind, name, changed, context, ret);
}

struct coord_watch *coord_watch_free(struct coord_watch *watch)
{
    if (watch)
        watch->coord->ops->watch_free(watch);
    return NULL;
}

enum status coord_select(struct coord *coord, const char *service, const char *id, int64_t hold_ms,
                         coord_chosen *chosen, void *context)
{
    if (job_name_complaint(service) || coord_id_complaint(id) || hold_ms <= 0)
        return E_INVALID;
    return coord->ops->select(coord, service, id, hold_ms, chosen, context);
}

struct coord *coord_free(struct coord *coord)
{
    if (coord)
        coord->ops->free(coord);
    return NULL;
}
