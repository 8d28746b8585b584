/* The field `after`: a job's name, {job, on}, {jobs, on}, or a list of these. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/job_decode.h"

static const struct field on_field = {"on", FIELD_CHOICE, .words = after_on_names};

static enum status append(struct job *job, const char *name, enum after_on on)
{
    if (array_grow(&job->after, job->after_count, sizeof(*job->after)) != OK)
        return E_NOMEM;
    struct job_after *last = &job->after[job->after_count++];
    memset(last, 0, sizeof(*last));
    memcpy(last->job, name, strlen(name));
    last->on = on;
    return OK;
}

static enum status decode_name(struct decoder *d, const struct spot *spot, enum after_on on)
{
    struct job *job = d->job;
    const char *name;
    enum status st = get_text(d, spot, false, &name);
    if (st != OK)
        return st;
    const char *complaint = job_name_complaint(name);
    if (complaint)
        return spot_fail(d->err, spot, "\"%.60s\" %s", name, complaint);
    if (job->name && strcmp(job->name, name) == 0)
        return spot_fail(d->err, spot, "a job can't wait for itself");
    for (size_t i = 0; i < job->after_count; i++) {
        if (strcmp(job->after[i].job, name) == 0)
            return spot_fail(d->err, spot, "\"%.60s\" is named twice", name);
    }
    if (job->after_count == JOB_AFTER_MAX)
        return spot_fail(d->err, spot, "a job can wait for %d others, not more", JOB_AFTER_MAX);
    return append(job, name, on);
}

/* The value of `job` or `jobs`: one name, or a list. */
static enum status decode_names(struct decoder *d, const struct spot *spot, enum after_on on)
{
    if (spot->node->kind != NODE_LIST)
        return decode_name(d, spot, on);
    struct spot item = {.up = spot};
    enum status st = OK;
    for (const struct entry *entry = spot->node->entries; entry && st == OK; entry = entry->next) {
        item.node = entry->value;
        st = decode_name(d, &item, on);
        item.index++;
    }
    return st;
}

static enum status decode_map(struct decoder *d, const struct spot *spot)
{
    struct spot names = {.up = spot};
    int on = AFTER_SUCCESS;
    for (const struct entry *entry = spot->node->entries; entry; entry = entry->next) {
        const char *key = entry->key->text;
        struct spot here = {spot, key, 0, entry->value};
        if (strcmp(key, "job") == 0 || strcmp(key, "jobs") == 0) {
            if (names.node)
                return spot_fail(d->err, &here, "has \"job\" and \"jobs\"; one of them is enough");
            names = here;
        } else if (strcmp(key, "on") == 0) {
            enum status st = find_word(d, &on_field, &here, &on);
            if (st != OK)
                return st;
        } else {
            here.node = entry->key;
            return spot_fail(d->err, &here, "unknown field; \"job\" and \"on\" may stand here");
        }
    }
    if (!names.node)
        return spot_fail(d->err, spot, "needs a \"job\" to wait for");
    return decode_names(d, &names, (enum after_on)on);
}

static enum status decode_item(struct decoder *d, const struct spot *spot)
{
    return spot->node->kind == NODE_MAP ? decode_map(d, spot) : decode_name(d, spot, AFTER_SUCCESS);
}

enum status decode_after(struct decoder *d, const struct field *field, const struct spot *spot)
{
    enum status st = OK;
    struct spot item = {.up = spot};
    (void)field;
    if (spot->node->kind != NODE_LIST)
        st = decode_item(d, spot);
    for (const struct entry *entry = spot->node->entries;
         spot->node->kind == NODE_LIST && entry && st == OK; entry = entry->next) {
        item.node = entry->value;
        st = decode_item(d, &item);
        item.index++;
    }
    if (st == OK && !d->job->after_count)
        return spot_fail(d->err, spot, "names no job; leave it out, or name one to wait for");
    return st;
}

enum status check_after(const struct decoder *d, const struct spot *root)
{
    for (const struct field *field = job_fields; field->name; field++) {
        struct spot spot = {root, field->name, 0, node_get(root->node, field->name)};
        if (!field->of_ticks || !spot.node)
            continue;
        if (field->kind == FIELD_SCHEDULE || field->kind == FIELD_SCHEDULES)
            return spot_fail(d->err, &spot,
                             "job \"%.128s\" has \"after\" too; it runs by a schedule or after "
                             "other jobs, not both",
                             d->job->name);
        return spot_fail(d->err, &spot,
                         "is for jobs with a schedule; one with \"after\" has no ticks");
    }
    return OK;
}
