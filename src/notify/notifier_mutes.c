/* Mutes of jobs, as the feed tells them, and what became of messages that one of them takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "notifier_internal.h"

static const struct table_type mutes_type = {.key_at = offsetof(struct mute, uid)};

void mutes_init(struct notifier *notifier)
{
    table_init(&notifier->mutes, &mutes_type);
}

void mutes_release(struct notifier *notifier)
{
    if (notifier->mutes.type)
        table_release_items(&notifier->mutes);
}

void notifier_take_mute(struct notifier *notifier, const char *uid, const char *json,
                        int64_t revision)
{
    struct mute read, *known = table_find(&notifier->mutes, uid);
    bool is_there = json && mute_decode(uid, json, &read) == OK;
    if (json && !is_there)
        notifier_log(notifier, "mute_broken", "job_uid=%s", uid);
    if (is_there)
        read.revision = revision;
    if (is_there && known) {
        *known = read;
    } else if (is_there) {
        (void)table_add(&notifier->mutes, &read, sizeof(read)); /* no memory: it is not obeyed */
    } else if (known) {
        table_remove(&notifier->mutes, known);
        free(known);
    }
}

const struct mute *notifier_mute(const struct notifier *notifier, const struct id *job_uid)
{
    char uid[ID_TEXT + 1];
    if (!notifier->mutes.count)
        return NULL;
    id_format(job_uid, uid);
    return table_find(&notifier->mutes, uid);
}

const struct mute *notifier_next_mute(const struct notifier *notifier, size_t *at)
{
    return table_next(&notifier->mutes, at);
}

/* The last message of the same job and event that was muted; NULL: none. */
static struct past *find_muted(const struct lane *lane, const struct notice *notice)
{
    struct past *past;
    TAILQ_FOREACH_REVERSE(past, &lane->past, past_list, link)
    {
        if (past->was_muted && past->event == notice->event && strcmp(past->job, notice->job) == 0)
            return past;
    }
    return NULL;
}

/* Those of one job and event become one line, so that a muted job that fails all the time does not
 * push the others out. In memory alone until the journal is compacted. */
void lane_note_muted(struct lane *lane, const struct notice *notice, const struct mute *mute)
{
    const char *what = mute->kind == MUTE_ACK ? "acknowledged by" : "muted by";
    struct past *past = find_muted(lane, notice);
    lane->stats.muted++;
    if (past && past->made_ms >= mute->from_ms) {
        past->held++;
        past->id = notice->id;
        past->is_entry = notice->is_entry;
        past->made_ms = past->ended_ms = notice->made_ms;
        return;
    }
    char why[sizeof(mute->by) + sizeof(mute->reason) + 32];
    snprintf(why, sizeof(why), "%s %s%s%s", what, mute->by, *mute->reason ? ": " : "",
             mute->reason);
    struct waiting muted = {.notice = *notice};
    past = past_add(lane, &muted, false, why, notice->made_ms);
    if (past)
        past->was_muted = true;
}
