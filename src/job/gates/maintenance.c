#include "gates/maintenance.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* The end of the year 9999: later values are invalid, and could overflow sums. */
static const int64_t latest_ms = INT64_C(253402300799999);

static bool is_time(json_int_t ms)
{
    return ms >= 0 && ms <= latest_ms;
}

/* A member that may be missing. False: it is no text, or too long. */
static bool read_text(const json_t *tree, const char *name, char *ret, size_t size)
{
    const json_t *member = json_object_get(tree, name);
    const char *text = member ? json_string_value(member) : "";
    if (!text || strlen(text) >= size)
        return false;
    memcpy(ret, text, strlen(text) + 1);
    return true;
}

static bool read_times(const json_t *tree, struct maintenance *ret)
{
    json_int_t from_ms, to_ms, set_ms;
    int is_pause; /* as jansson wants it */
    if (json_unpack((json_t *)tree, "{s:I, s:I, s:I, s:b}", "from_ms", &from_ms, "to_ms", &to_ms,
                    "set_ms", &set_ms, "is_pause", &is_pause) != 0 ||
        !is_time(from_ms) || !is_time(to_ms) || !is_time(set_ms) || (to_ms && to_ms < from_ms))
        return false;
    ret->from_ms = from_ms;
    ret->to_ms = to_ms;
    ret->set_ms = set_ms;
    ret->is_pause = is_pause != 0;
    return true;
}

enum status maintenance_decode(const char *id, const char *json, struct maintenance *ret)
{
    struct maintenance made = {.revision = 0};
    struct id parsed;
    json_t *tree = json_loads(json, 0, NULL);
    bool is_good = id_parse(id, &parsed) == OK && strlen(id) == ID_TEXT &&
                   read_times(tree, &made) &&
                   read_text(tree, "namespace", made.space, sizeof(made.space)) &&
                   (!made.space[0] || !namespace_complaint(made.space)) &&
                   read_text(tree, "by", made.by, sizeof(made.by)) &&
                   read_text(tree, "reason", made.reason, sizeof(made.reason));
    json_decref(tree);
    if (!is_good)
        return status_invalid();
    memcpy(made.id, id, sizeof(made.id));
    *ret = made;
    return OK;
}

char *maintenance_encode(const struct maintenance *maintenance)
{
    json_t *tree =
        json_pack("{s:s, s:I, s:I, s:I, s:b, s:s, s:s}", "namespace", maintenance->space, "from_ms",
                  (json_int_t)maintenance->from_ms, "to_ms", (json_int_t)maintenance->to_ms,
                  "set_ms", (json_int_t)maintenance->set_ms, "is_pause", maintenance->is_pause,
                  "by", maintenance->by, "reason", maintenance->reason);
    char *text = tree ? json_dumps(tree, JSON_COMPACT) : NULL;
    json_decref(tree);
    return text;
}

bool maintenance_space_has(const char *space, const char *job_name)
{
    size_t length = strlen(space);
    return !length || (strncmp(space, job_name, length) == 0 && job_name[length] == '/');
}

bool maintenance_is_active(const struct maintenance *maintenance, int64_t now_ms)
{
    return now_ms >= maintenance->from_ms && (!maintenance->to_ms || now_ms < maintenance->to_ms);
}

bool maintenance_covers(const struct maintenance *maintenance, const char *job_name, int64_t at_ms)
{
    return maintenance_is_active(maintenance, at_ms) &&
           maintenance_space_has(maintenance->space, job_name);
}

void maintenance_tell(const struct maintenance *maintenance, char *ret, size_t size)
{
    if (maintenance->reason[0])
        snprintf(ret, size, "%s", maintenance->reason);
    else if (maintenance->space[0])
        snprintf(ret, size, "namespace %s", maintenance->space);
    else
        snprintf(ret, size, "the cluster");
}
