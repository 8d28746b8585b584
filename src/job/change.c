#include "change.h"

#include <stdlib.h>
#include <string.h>

#include "words.h"

static const char *const action_names[] = {
    [CHANGE_CREATE] = "create",
    [CHANGE_CHANGE] = "change",
    [CHANGE_DELETE] = "delete",
    [CHANGE_UNDELETE] = "undelete",
    [CHANGE_PAUSE] = "pause",
    [CHANGE_RESUME] = "resume",
    [CHANGE_SKIP_NEXT] = "skip_next",
    [CHANGE_ROLLBACK] = "rollback",
    [CHANGE_RUN] = "run",
    [CHANGE_RETRY] = "retry",
    [CHANGE_KILL] = "kill",
    [CHANGE_BACKFILL] = "backfill",
    [CHANGE_DRAIN] = "drain",
    [CHANGE_UNDRAIN] = "undrain",
    [CHANGE_ADVANCE_CURSORS] = "advance_cursors",
    [CHANGE_USER_CREATE] = "user_create",
    [CHANGE_USER_CHANGE] = "user_change",
    [CHANGE_USER_DELETE] = "user_delete",
    [CHANGE_TOKEN_CREATE] = "token_create",
    [CHANGE_TOKEN_REVOKE] = "token_revoke",
    [CHANGE_LOGIN] = "login",
    [CHANGE_LOGIN_FAILED] = "login_failed",
    [CHANGE_LOGOUT] = "logout",
    [CHANGE_CALENDAR_CREATE] = "calendar_create",
    [CHANGE_CALENDAR_CHANGE] = "calendar_change",
    [CHANGE_CALENDAR_DELETE] = "calendar_delete",
    [CHANGE_CHANNEL_CREATE] = "channel_create",
    [CHANGE_CHANNEL_CHANGE] = "channel_change",
    [CHANGE_CHANNEL_DELETE] = "channel_delete",
    [CHANGE_RENAME] = "rename",
    [CHANGE_WEBHOOK_CREATE] = "webhook_create",
    [CHANGE_WEBHOOK_CHANGE] = "webhook_change",
    [CHANGE_WEBHOOK_ROTATE] = "webhook_rotate",
    [CHANGE_WEBHOOK_DELETE] = "webhook_delete",
    [CHANGE_SECRET_CREATE] = "secret_create",
    [CHANGE_SECRET_CHANGE] = "secret_change",
    [CHANGE_SECRET_DELETE] = "secret_delete",
    [CHANGE_MAINTENANCE_ADD] = "maintenance_add",
    [CHANGE_MAINTENANCE_END] = "maintenance_end",
    [CHANGE_MUTE] = "mute",
    [CHANGE_ACKNOWLEDGE] = "acknowledge",
    [CHANGE_UNMUTE] = "unmute",
    [CHANGE_GROUP_CREATE] = "group_create",
    [CHANGE_GROUP_CHANGE] = "group_change",
    [CHANGE_GROUP_DELETE] = "group_delete",
};

static const char *const via_names[] = {
    [VIA_NODE] = "node",   [VIA_SOCKET] = "socket",   [VIA_SESSION] = "session",
    [VIA_TOKEN] = "token", [VIA_WEBHOOK] = "webhook",
};

static const char *const target_names[] = {
    [TARGET_JOB] = "job",           [TARGET_RUN] = "run",
    [TARGET_NODE] = "node",         [TARGET_CLUSTER] = "cluster",
    [TARGET_USER] = "user",         [TARGET_TOKEN] = "token",
    [TARGET_CALENDAR] = "calendar", [TARGET_CHANNEL] = "channel",
    [TARGET_SECRET] = "secret",     [TARGET_MAINTENANCE] = "maintenance",
    [TARGET_GROUP] = "group",
};

static const struct word_table actions = {"action", action_names, CHANGE_ACTIONS};
static const struct word_table vias = {"via", via_names, CHANGE_VIAS};
static const struct word_table targets = {"target", target_names, CHANGE_TARGETS};

_Static_assert(sizeof(action_names) == CHANGE_ACTIONS * sizeof(*action_names) &&
                   sizeof(via_names) == CHANGE_VIAS * sizeof(*via_names) &&
                   sizeof(target_names) == CHANGE_TARGETS * sizeof(*target_names),
               "every number has its word");

const char *change_action_name(enum change_action action)
{
    return words_name(&actions, action);
}

const char *change_via_name(enum change_via via)
{
    return words_name(&vias, via);
}

const char *change_target_name(enum change_target target)
{
    return words_name(&targets, target);
}

enum status change_action_by_name(const char *name, enum change_action *ret)
{
    unsigned found;
    enum status st = words_find(&actions, name, &found);
    if (st == OK)
        *ret = (enum change_action)found;
    return st;
}

bool change_action_is_private(enum change_action action)
{
    return (action >= CHANGE_USER_CREATE && action <= CHANGE_LOGOUT) ||
           (action >= CHANGE_CHANNEL_CREATE && action <= CHANGE_CHANNEL_DELETE) ||
           (action >= CHANGE_SECRET_CREATE && action <= CHANGE_SECRET_DELETE) ||
           action >= CHANGE_ACTIONS; /* of a newer peal: may be private */
}

enum status change_record_copy(const struct change_record *change, bool with_definitions,
                               struct change_record *ret)
{
    struct change_record copy = *change;
    bool has_before = with_definitions && change->before;
    bool has_after = with_definitions && change->after;
    copy.before = has_before ? strdup(change->before) : NULL;
    copy.after = has_after ? strdup(change->after) : NULL;
    if (!copy.before != !has_before || !copy.after != !has_after) {
        change_record_release(&copy);
        return E_NOMEM;
    }
    *ret = copy;
    return OK;
}

void change_record_release(struct change_record *change)
{
    free(change->before);
    free(change->after);
    change->before = change->after = NULL;
}

size_t change_record_bytes(const struct change_record *change)
{
    return (change->before ? strlen(change->before) : 0) +
           (change->after ? strlen(change->after) : 0);
}
