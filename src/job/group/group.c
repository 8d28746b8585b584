#include "group/group.h"

#include <stdlib.h>
#include <string.h>

#include "definition/job_decode.h"

#define AT(member) .offset = offsetof(struct decoded, member)

/* What the fields are read into. */
struct decoded {
    char *name;
    struct group group;
};

static const struct field group_fields[] = {
    {"name", FIELD_TEXT, AT(name), 1, GROUP_NAME_MAX},
    {"cluster", FIELD_INT, AT(group.limits.cluster), 1, GROUP_LIMIT_MAX},
    {"node", FIELD_INT, AT(group.limits.node), 1, GROUP_LIMIT_MAX},
    {"notes", FIELD_TEXT, AT(group.notes), 0, 2000},
    {0},
};

void group_release(struct group *group)
{
    free(group->notes);
    *group = (struct group){.notes = NULL};
}

enum status group_decode_json(const json_t *value, const char *name, struct group *ret,
                              struct job_error *reterr)
{
    struct decoded decoded = {.name = NULL};
    const struct node nowhere = {0};
    struct spot root = {.node = &nowhere};
    enum status st = fields_decode_json(group_fields, "a group (a map with cluster or node)", value,
                                        &decoded, reterr);
    if (st == OK && decoded.name && strcmp(decoded.name, name) != 0)
        st = spot_fail(reterr, &(struct spot){&root, "name", 0, &nowhere},
                       "is \"%.63s\", but it is to be \"%.63s\"", decoded.name, name);
    if (st == OK && !decoded.group.limits.cluster && !decoded.group.limits.node)
        st = spot_fail(reterr, &root,
                       "a group needs a limit: \"cluster\", \"node\" or both of them");
    free(decoded.name);
    if (st == OK)
        *ret = decoded.group;
    else
        group_release(&decoded.group);
    return st;
}

enum status group_decode_text(const char *text, const char *name, struct group *ret,
                              struct job_error *reterr)
{
    json_t *value = json_loads(text, 0, NULL);
    if (!value) /* damaged */
        return E_INVALID;
    enum status st = group_decode_json(value, name, ret, reterr);
    json_decref(value);
    return st;
}

char *group_encode_text(const struct group *group)
{
    struct decoded decoded = {.group = *group};
    json_t *value = fields_encode_json(group_fields, &decoded);
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}

/* ---- the groups of a run ---- */

bool groups_add(char text[RUN_GROUPS_SIZE], const char *name)
{
    size_t length = strlen(text), more = strlen(name);
    if (length + (length > 0) + more >= RUN_GROUPS_SIZE)
        return false;
    if (length)
        text[length++] = ' ';
    memcpy(text + length, name, more + 1);
    return true;
}

void groups_join(char *const *names, char ret[RUN_GROUPS_SIZE])
{
    ret[0] = '\0';
    while (names && *names && groups_add(ret, *names))
        names++;
}

bool groups_next(const char *text, size_t *at, char ret[GROUP_NAME_MAX + 1])
{
    const char *from = text + *at + strspn(text + *at, " ");
    size_t length = strcspn(from, " ");
    if (!length || length > GROUP_NAME_MAX)
        return false;
    memcpy(ret, from, length);
    ret[length] = '\0';
    *at = (size_t)(from - text) + length;
    return true;
}

bool groups_at(const char *text, int which, char ret[GROUP_NAME_MAX + 1])
{
    size_t at = 0;
    while (which > 0 && groups_next(text, &at, ret))
        if (--which == 0)
            return true;
    return false;
}

bool groups_have(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += length) {
        bool begins = at == text || at[-1] == ' ';
        if (begins && (at[length] == ' ' || !at[length]))
            return length > 0;
    }
    return false;
}

bool groups_meet(const char *text, const char *other)
{
    char name[GROUP_NAME_MAX + 1];
    for (size_t at = 0; groups_next(text, &at, name);)
        if (groups_have(other, name))
            return true;
    return false;
}

bool run_holds_slots(const struct run *run)
{
    bool is_known_not_to = run->state == RUN_QUEUED || run->state == RUN_DUE ||
                           run->state == RUN_RUNNING || run_state_is_end(run->state);
    return run->groups[0] && !is_known_not_to;
}

bool run_goes_before(const struct run *run, const struct run *other)
{
    if (run->priority != other->priority)
        return run->priority > other->priority;
    if (run->tick_ms != other->tick_ms)
        return run->tick_ms < other->tick_ms;
    return id_compare(&run->id, &other->id) < 0;
}
