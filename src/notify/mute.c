#include "mute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {[MUTE_MUTE] = "mute", [MUTE_ACK] = "ack"};

static const char *const end_names[] = {
    [MUTE_GOES_ON] = NULL,
    [MUTE_RAN_OUT] = "time",
    [MUTE_RECOVERED] = "recovered",
    [MUTE_TAKEN_BACK] = "unmuted",
};

const char *mute_kind_name(enum mute_kind kind)
{
    return kind_names[kind];
}

const char *mute_end_name(enum mute_end end)
{
    return end_names[end];
}

/* The earlier end counts. */
static void note_end(int64_t at_ms, enum mute_end why, int64_t *end_ms, enum mute_end *end)
{
    if (at_ms && (!*end_ms || at_ms < *end_ms)) {
        *end_ms = at_ms;
        *end = why;
    }
}

enum mute_end mute_state(const struct mute *mute, int64_t succeeded_ms, int64_t now_ms,
                         int64_t *ret_end_ms)
{
    enum mute_end end = MUTE_GOES_ON;
    int64_t end_ms = 0;
    bool has_recovered = mute->kind == MUTE_ACK && succeeded_ms > mute->from_ms;
    note_end(mute->until_ms, MUTE_RAN_OUT, &end_ms, &end);
    note_end(mute->ended_ms, MUTE_TAKEN_BACK, &end_ms, &end);
    note_end(has_recovered ? succeeded_ms : 0, MUTE_RECOVERED, &end_ms, &end);
    *ret_end_ms = end_ms;
    /* a success that another node's clock puts into the future has happened all the same */
    return end == MUTE_RAN_OUT && end_ms > now_ms ? MUTE_GOES_ON : end;
}

bool mute_is_active(const struct mute *mute, int64_t succeeded_ms, int64_t now_ms)
{
    int64_t end_ms;
    return mute_state(mute, succeeded_ms, now_ms, &end_ms) == MUTE_GOES_ON;
}

bool mute_takes(const struct mute *mute, enum notify_event event)
{
    return mute->kind == MUTE_MUTE || (event != NOTIFY_RECOVERY && event != NOTIFY_SUCCESS);
}

/* ---- the document ---- */

char *mute_encode(const struct mute *mute)
{
    json_t *value =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:s, s:s}", "kind", kind_names[mute->kind], "job",
                  mute->job, "from_ms", (json_int_t)mute->from_ms, "until_ms",
                  (json_int_t)mute->until_ms, "ended_ms", (json_int_t)mute->ended_ms, "by",
                  mute->by, "ended_by", mute->ended_by, "reason", mute->reason);
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}

static bool read_kind(const char *name, enum mute_kind *ret)
{
    for (int i = 0; i < MUTE_KINDS; i++) {
        if (strcmp(kind_names[i], name) == 0) {
            *ret = (enum mute_kind)i;
            return true;
        }
    }
    return false;
}

#define COPY(to, from) (snprintf(to, sizeof(to), "%s", from) < (int)sizeof(to))

enum status mute_decode(const char *uid, const char *json, struct mute *ret)
{
    struct mute mute = {.revision = 0};
    struct id id;
    const char *kind, *job, *by, *ended_by, *reason;
    json_int_t from, until, ended;
    json_t *value = json_loads(json, 0, NULL);
    bool is_good = value && id_parse(uid, &id) == OK &&
                   json_unpack(value, "{s:s, s:s, s:I, s:I, s:I, s:s, s:s, s:s}", "kind", &kind,
                               "job", &job, "from_ms", &from, "until_ms", &until, "ended_ms",
                               &ended, "by", &by, "ended_by", &ended_by, "reason", &reason) == 0 &&
                   read_kind(kind, &mute.kind) &&
                   (until > 0 || (mute.kind == MUTE_ACK && until == 0)) && from > 0 && ended >= 0 &&
                   !job_name_complaint(job) && COPY(mute.uid, uid) && COPY(mute.job, job) &&
                   COPY(mute.by, by) && COPY(mute.ended_by, ended_by) && COPY(mute.reason, reason);
    if (is_good) {
        mute.from_ms = from;
        mute.until_ms = until;
        mute.ended_ms = ended;
        *ret = mute;
    }
    json_decref(value);
    return is_good ? OK : E_CORRUPT;
}
