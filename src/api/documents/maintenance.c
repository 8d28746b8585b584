/* Maintenance and pauses of the cluster or of a namespace: made and ended by admins of it, seen by
 * all who may see a job in it. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "documents/documents.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"

struct maintenance_edit {
    struct doc_edit doc;
    struct maintenance item; /* as it is to be; of one that is removed: as it was */
};

/* ---- showing ---- */

static const char *state_of(const struct maintenance *item, int64_t now_ms)
{
    if (maintenance_is_active(item, now_ms))
        return "active";
    return item->from_ms > now_ms ? "coming" : "over";
}

static json_t *encode(const struct call *call, const struct maintenance *item)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "id", item->id, "kind",
                     item->is_pause ? "pause" : "maintenance", "state",
                     state_of(item, call->now_ms), "namespace", json_words_or_null(item->space),
                     "from", json_time(item->from_ms), "to", json_time(item->to_ms), "reason",
                     json_words_or_null(item->reason), "set_by", json_words_or_null(item->by),
                     "set_at", json_time(item->set_ms));
}

static json_t *show(const struct call *call, const void *item)
{
    return encode(call, item);
}

static const struct table *all_maintenance(const struct call *call)
{
    return &engine_catalog(call->api->ports.engine)->maintenance;
}

/* The name of a job that could be in the namespace; NULL: of the cluster, everywhere. */
static const char *job_in(const char *space, char ret[NAMESPACE_SIZE + 2])
{
    snprintf(ret, NAMESPACE_SIZE + 2, "%s/x", space);
    return space[0] ? ret : NULL;
}

static bool sees(const struct call *call, const void *item)
{
    return call_sees_space(call, ((const struct maintenance *)item)->space);
}

json_t *encode_active_maintenance(const struct call *call)
{
    const struct table *all = all_maintenance(call);
    json_t *list = json_array();
    size_t at = 0;
    for (const struct maintenance *item; list && (item = table_next(all, &at));) {
        if (maintenance_is_active(item, call->now_ms) && sees(call, item) &&
            json_array_append_new(list, encode(call, item)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

/* ---- making ---- */

/* An older node would start the jobs all the same. False: the call has failed. */
static bool all_know(struct call *call)
{
    const struct peer *older =
        peers_without(engine_peers(call->api->ports.engine), PEER_KNOWS_MAINTENANCE);
    if (older)
        call_fail(call, 409,
                  "node %s runs an older peal, which would start jobs in spite of this: upgrade or "
                  "stop it first",
                  older->name);
    return !older;
}

/* A text of the body that may be missing. False: the call has failed. */
static bool read_text(struct call *call, const char *name, char *ret, size_t size)
{
    const json_t *value = json_object_get(call->body, name);
    const char *text = value && !json_is_null(value) ? json_string_value(value) : "";
    char pointer[32];
    if (text && strlen(text) < size) {
        memcpy(ret, text, strlen(text) + 1);
        return true;
    }
    snprintf(pointer, sizeof(pointer), "/%s", name);
    call_fail_at(call, pointer, "%s: expected a text of up to %d bytes", name, (int)size - 1);
    return false;
}

static bool read_space(struct call *call, struct maintenance *item)
{
    if (!read_text(call, "namespace", item->space, sizeof(item->space)))
        return false;
    const char *complaint = item->space[0] ? namespace_complaint(item->space) : NULL;
    if (complaint)
        call_fail_at(call, "/namespace", "namespace: %s", message_in(call->language, complaint));
    return !complaint;
}

/* Is the member there, and not null? */
static bool has(const struct call *call, const char *name)
{
    const json_t *value = json_object_get(call->body, name);
    return value && !json_is_null(value);
}

/* Without an end it is a pause. A time that has passed is now. */
static bool read_times(struct call *call, struct maintenance *item)
{
    item->from_ms = call->now_ms;
    item->is_pause = !has(call, "to");
    if ((has(call, "from") && !field_time(call, "from", NULL, &item->from_ms)) ||
        (has(call, "to") && !field_time(call, "to", NULL, &item->to_ms)))
        return false;
    if (item->from_ms < call->now_ms)
        item->from_ms = call->now_ms;
    if (item->to_ms && item->to_ms <= item->from_ms) {
        call_fail_at(call, "/to", "to: the end is not after the beginning, or has passed");
        return false;
    }
    return true;
}

/* A second pause of the same jobs would have to be ended, too. */
static bool is_new(struct call *call, const struct maintenance *item)
{
    const struct table *all = all_maintenance(call);
    size_t at = 0;
    if (known_maintenance_open(all, call->now_ms) >= MAINTENANCE_MAX) {
        call_fail(call, 409, "there are %d already that have not ended", MAINTENANCE_MAX);
        return false;
    }
    for (const struct maintenance *other; item->is_pause && (other = table_next(all, &at));) {
        if (other->is_pause && !other->to_ms && strcmp(other->space, item->space) == 0) {
            call_fail(call, 409, "it is paused already: %s", other->id);
            return false;
        }
    }
    return true;
}

/* ---- what ended long ago ---- */

struct removal {
    struct store_request request;
    struct store_put_doc put;
};

static void removed(struct store_request *request, enum status st)
{
    (void)st; /* the next one that is made tries it again */
    free(request->context);
}

/* One for each that is made: there are never many. */
static void remove_old(const struct call *call)
{
    const struct maintenance *old = known_maintenance_old(all_maintenance(call), call->now_ms);
    struct removal *removal = old ? calloc(1, sizeof(*removal)) : NULL;
    if (!removal)
        return;
    removal->put.expected_revision = old->revision;
    doc_name(&removal->put, MAINTENANCE_DOC, old->id);
    removal->request = (struct store_request){.op = STORE_PUT_DOC,
                                              .count = 1,
                                              .items.docs = &removal->put,
                                              .done = removed,
                                              .context = removal};
    store_submit(call->api->ports.store, &removal->request);
}

/* ---- making and ending ---- */

static bool prepare_new(struct call *call)
{
    struct maintenance_edit *edit = call->state;
    struct maintenance *item = &edit->item;
    struct id id = call_make_id(call);
    char job[NAMESPACE_SIZE + 2];
    *item = (struct maintenance){.set_ms = call->now_ms};
    if (!read_space(call, item) || !call_may_on(call, RIGHT_ADMIN, job_in(item->space, job)) ||
        !read_text(call, "reason", item->reason, sizeof(item->reason)) || !read_times(call, item) ||
        !is_new(call, item) || !all_know(call))
        return false;
    if (!edit->doc.is_dry_run)
        remove_old(call);
    id_format(&id, item->id);
    snprintf(item->by, sizeof(item->by), "%s", call->principal.name);
    edit->doc.json = maintenance_encode(item);
    return call_name(call, item->id);
}

/* One that has begun stays, with its end: the ticks until then are decided by it. */
static bool prepare_end(struct call *call, const struct maintenance *from)
{
    struct maintenance_edit *edit = call->state;
    char job[NAMESPACE_SIZE + 2];
    edit->item = *from;
    if (!call_may_on(call, RIGHT_ADMIN, job_in(from->space, job)))
        return false;
    if (from->to_ms && from->to_ms <= call->now_ms) {
        call_fail(call, 409, "it is over already");
        return false;
    }
    if (from->from_ms > call->now_ms)
        return true;
    edit->item.to_ms = call->now_ms;
    edit->doc.json = maintenance_encode(&edit->item);
    if (edit->doc.json)
        return true;
    call_fail(call, 500, "out of memory");
    return false;
}

static bool prepare(struct call *call, const void *item)
{
    struct maintenance_edit *edit = call->state;
    char detail[sizeof(edit->item.reason) + NAMESPACE_SIZE + 2];
    if (edit->doc.action == DOC_DELETE ? !prepare_end(call, item) : !prepare_new(call))
        return false;
    snprintf(detail, sizeof(detail), "%s%s%s", edit->item.space[0] ? edit->item.space : "*",
             edit->item.reason[0] ? ": " : "", edit->item.reason);
    edit->doc.detail = strdup(detail);
    return true;
}

static void reply(struct call *call, int status)
{
    const struct maintenance_edit *edit = call->state;
    call_reply(call, status, encode(call, &edit->item));
}

const struct doc_kind maintenance_docs = {
    .name = MAINTENANCE_DOC,
    .target = TARGET_MAINTENANCE,
    .created = CHANGE_MAINTENANCE_ADD,
    .deleted = CHANGE_MAINTENANCE_END,
    .edit_size = sizeof(struct maintenance_edit),
    .revision_at = offsetof(struct maintenance, revision),
    .all = all_maintenance,
    .sees = sees,
    .show = show,
    .prepare = prepare,
    .reply = reply,
};
