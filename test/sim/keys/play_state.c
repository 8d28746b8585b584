/* The state beside the keys: tags of transactions, and leases, which are those of the model with
 * counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"

int64_t play_clock_ms(const struct play *play)
{
    return play->stage->now_ms + play->clock_ahead_ms;
}

/* ---- tags ---- */

void play_note_tag(struct play *play, int64_t before, int64_t tag, const char *branches)
{
    size_t at = (size_t)before + 1;
    while (at >= play->tag_room) {
        size_t room = play->tag_room ? 2 * play->tag_room : 1024;
        play->tags = realloc(play->tags, room * sizeof(*play->tags));
        if (!play->tags)
            abort();
        memset(play->tags + play->tag_room, 0, (room - play->tag_room) * sizeof(*play->tags));
        play->tag_room = room;
    }
    free(play->tags[at].branches);
    play->tags[at] = (struct play_tag){tag, strdup(branches)};
}

int64_t play_tag(const struct play *play, int64_t revision)
{
    return revision < (int64_t)play->tag_room ? play->tags[revision].tag : 0;
}

int64_t play_find_tag(const struct play *play, int64_t seen, int64_t tag)
{
    for (int64_t rev = seen + 1; rev <= play->model->revision; rev++)
        if (play_tag(play, rev) == tag)
            return rev;
    return 0;
}

void play_state_release(struct play *play)
{
    for (size_t i = 0; i < play->tag_room; i++)
        free(play->tags[i].branches);
    free(play->tags);
    free(play->leases);
}

/* ---- leases ---- */

struct play_lease *play_find_lease(struct play *play, int64_t id)
{
    for (size_t i = 0; i < play->lease_count; i++)
        if (play->leases[i].id == id)
            return &play->leases[i];
    return NULL;
}

static struct play_lease *need_lease(struct play *play, int64_t id, int64_t ttl_ms)
{
    struct play_lease *lease = play_find_lease(play, id);
    if (lease)
        return lease;
    if (play->lease_count == play->lease_room) {
        play->lease_room = play->lease_room ? 2 * play->lease_room : 16;
        play->leases = realloc(play->leases, play->lease_room * sizeof(*play->leases));
        if (!play->leases)
            abort();
    }
    lease = &play->leases[play->lease_count++];
    *lease = (struct play_lease){.id = id, .ttl_ms = ttl_ms, .renewed_ms = play_clock_ms(play)};
    return lease;
}

void play_match_leases(struct play *play)
{
    for (size_t i = 0; i < play->lease_count;)
        if (!etcd_model_lease(play->model, play->leases[i].id))
            play->leases[i] = play->leases[--play->lease_count];
        else
            i++;
    for (size_t i = 0; i < play->model->lease_count; i++) {
        const struct model_lease *lease = &play->model->leases[i];
        need_lease(play, lease->id, lease->ttl_s * 1000);
    }
}

struct play_lease *play_grant(struct play *play, int64_t id, int64_t ttl_ms, const char *place)
{
    if (!etcd_model_lease(play->model, id))
        (void)etcd_model_grant(play->model, id, ttl_ms / 1000);
    struct play_lease *lease = need_lease(play, id, ttl_ms);
    lease->ttl_ms = ttl_ms;
    lease->renewed_ms = play_clock_ms(play);
    snprintf(lease->place, sizeof(lease->place), "%s", place);
    return lease;
}

bool play_revoke(struct play *play, int64_t id, int64_t beats, int64_t tag, int machine)
{
    play_match_leases(play);
    const struct play_lease *lease = play_find_lease(play, id);
    if (!lease || (beats >= 0 && lease->beats != beats))
        return false;
    const struct model_lease *own = etcd_model_lease(play->model, id);
    struct etcd_serve *serve = play->serve;
    if (own->machine != machine && beats < 0 && serve->revoking)
        serve->revoking(serve->context, own->machine);
    play_note_tag(play, play->model->revision, tag, "");
    (void)etcd_model_revoke(play->model, id);
    play_match_leases(play);
    return true;
}

struct play_lease *play_beat(struct play *play, int64_t id, int machine)
{
    play_match_leases(play);
    struct play_lease *lease = play_find_lease(play, id);
    if (!lease)
        return NULL;
    lease->beats++;
    lease->renewed_ms = play_clock_ms(play);
    etcd_model_lease(play->model, lease->id)->machine = machine;
    return lease;
}
