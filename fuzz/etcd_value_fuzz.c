/* Any value below any of the store's keys is read or set aside, whatever wrote it; what was read
 * can be written and read again as the same. The first byte chooses the kind of key; the rest is
 * the value. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mirror/store_kv_mirror.h"
#include "run_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static const char *const keys[] = {
    "/peal/cursors/01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "/peal/jobs/01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "/peal/runs/01ARZ3NDEKTSV4RRFFQ69G5FAW",
    "/peal/entries/01ARZ3NDEKTSV4RRFFQ69G5FAX",
    "/peal/names/a",
    "/peal/docs/user/anna",
    "/peal/nodes/n1",
    "/peal/drains/n1",
    "/peal/metas/n1/boot",
    "/peal/epoch",
    "/peal/halt",
};

enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

/* Every name is printed, as the API does it. */
static size_t print(const struct store_change *change)
{
    if (change->run)
        return strlen(run_state_name(change->run->state)) +
               strlen(run_reason_name(change->run->reason)) +
               strlen(run_reason_text(change->run->reason, LANGUAGE_EN)) +
               strlen(run_cause_name(change->run->cause));
    if (change->entry)
        return strlen(run_state_name(change->entry->state)) +
               strlen(run_reason_name(change->entry->reason));
    if (change->peer)
        return strlen(peer_refusal_name(change->peer->refusal)) +
               strlen(peer_refusal_text(change->peer->refusal));
    return strlen(run_state_name(change->last.state));
}

static void check_run(const struct kv_pair *kv)
{
    const struct epoch epoch = {.generation = 1};
    struct run_row row, again;
    struct strbuf text;
    enum tell tell, tell_again;
    if (value_read_run(kv, &epoch, &row, &tell) != OK)
        return;
    strbuf_init(&text);
    value_write_run(&text, &row, tell, 0);
    struct kv_pair written = {.value = {text.text, text.length}};
    require(value_read_run(&written, &epoch, &again, &tell_again) == OK);
    require(again.run.state == row.run.state && again.run.reason == row.run.reason &&
            again.run.cause == row.run.cause && again.run.tick_ms == row.run.tick_ms &&
            again.kill_reason == row.kill_reason && tell_again == tell);
    require(strcmp(again.run.job_name, row.run.job_name) == 0);
    strbuf_release(&text);
}

static void check_mirror(const char *key, const struct kv_pair *value, struct feed *feed)
{
    struct mirror mirror, before;
    struct feed_item *held = NULL;
    struct store_change change;
    struct kv_pair kv = *value;
    size_t printed = 0;
    mirror_init(&mirror, "/peal", "n1");
    mirror_init(&before, "/peal", "n1");
    kv.key = (struct kv_bytes){key, strlen(key)};
    enum status st = mirror_put(&mirror, &kv, feed);
    require(st == OK || strcmp(key, "/peal/epoch") == 0);
    mirror_feed_difference(&before, &mirror, SAME_PAST, feed);
    mirror_feed_difference(&mirror, &mirror, OTHER_PAST, feed);
    require(mirror_delete(&mirror, kv.key, feed) == OK);
    require(mirror.asides.count == 0 && mirror.runs.count == 0 && mirror.entries.count == 0);
    while (feed_next(feed, &held, &change))
        printed += print(&change);
    require(printed < 1 << 20);
    feed_item_free(held);
    mirror_release(&mirror);
    mirror_release(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct feed feed = {0};
    if (!length)
        return 0;
    char *value = malloc(length); /* of the exact size */
    require(value != NULL);
    memcpy(value, bytes + 1, length - 1);
    struct kv_pair kv = {.value = {value, length - 1}, .mod_revision = 7, .create_revision = 3};
    check_run(&kv);
    check_mirror(keys[bytes[0] % KEYS], &kv, &feed);
    feed_release(&feed);
    free(value);
    return 0;
}
