#include "definition/job_decode.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_internal.h"

enum { FIELDS_MAX = 64 }; /* of a table */

static enum status unknown_field(const struct decoder *d, const struct field *fields,
                                 const struct spot *spot, const struct node *key)
{
    const char *nearest = field_nearest(fields, d->with_meta, key->text);
    struct spot at_key = {spot->up, spot->name, spot->index, key};
    struct spot field = {spot, key->text, 0, key};
    if (nearest)
        spot_set(d->err, &at_key, "unknown field \"%.60s\"; did you mean \"%s\"?", key->text,
                 nearest);
    else
        spot_set(d->err, &at_key, "unknown field \"%.60s\"", key->text);
    spot_point(d->err, &field);
    return status_invalid();
}

enum status fields_decode(struct decoder *d, const struct field *fields, const struct spot *spot)
{
    const struct node *values[FIELDS_MAX] = {0};
    const struct field *next = fields;
    for (const struct entry *entry = spot->node->entries; entry; entry = entry->next) {
        const char *name = entry->key->text;
        const struct field *field = field_find(fields, &next, name, strlen(name));
        if (!field || (field->meta && !d->with_meta))
            return unknown_field(d, fields, spot, entry->key);
        assert(field - fields < FIELDS_MAX);
        values[field - fields] = entry->value;
    }
    for (const struct field *field = fields; field->name; field++) {
        struct spot here = {spot, field->name, 0, values[field - fields]};
        enum status st = here.node ? field_decode(d, field, &here) : OK;
        if (st != OK)
            return st;
    }
    return OK;
}

/* The time zone in front of a schedule's fields; NULL: none. */
static const char *zone_prefix(const char *schedule, size_t *ret_length)
{
    static const char *const prefixes[] = {"CRON_TZ=", "TZ="};
    schedule += strspn(schedule, " \t\r\n");
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(schedule, prefixes[i], length) == 0) {
            *ret_length = strcspn(schedule + length, " \t\r\n");
            return schedule + length;
        }
    }
    return NULL;
}

enum status settle_zone(struct decoder *d)
{
    struct job *job = d->job;
    size_t length;
    if (job->timezone)
        return OK;
    const char *prefix = job->schedule_count ? zone_prefix(job->schedules[0], &length) : NULL;
    if (prefix)
        job->timezone = strndup(prefix, length);
    else
        job->timezone = strdup(d->default_tz && !job->after_count ? d->default_tz : "UTC");
    return job->timezone ? OK : E_NOMEM;
}

/* The spot of a schedule: `schedule`, or an item of `schedules`, whose spot is then *outer. */
static struct spot schedule_spot(const struct spot *root, size_t index, struct spot *outer)
{
    const struct node *single = node_get(root->node, "schedule");
    if (single)
        return (struct spot){root, "schedule", 0, single};
    *outer = (struct spot){root, "schedules", 0, node_get(root->node, "schedules")};
    const struct entry *entry = outer->node->entries;
    for (size_t i = 0; i < index; i++)
        entry = entry->next;
    return (struct spot){outer, NULL, index, entry->value};
}

/* If only some schedules named a zone, the others would depend on where the job is added. */
static enum status check_zones_agree(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    size_t length;
    bool first = zone_prefix(job->schedules[0], &length) != NULL;
    for (size_t i = 1; i < job->schedule_count; i++) {
        if ((zone_prefix(job->schedules[i], &length) != NULL) == first)
            continue;
        struct spot outer;
        struct spot spot = schedule_spot(root, i, &outer);
        return spot_fail(d->err, &spot,
                         "name a time zone in all schedules or in none, or use \"timezone\"");
    }
    return OK;
}

static enum status check_schedules(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    for (size_t i = 0; d->zones && i < job->schedule_count; i++) {
        struct schedule *schedule = NULL;
        struct parse_error inside = {0};
        enum status st = job_schedule_parse(job, i, d->zone_is_given, d->zones, &schedule, &inside);
        if (st != OK && st != E_NOMEM) {
            struct spot outer;
            struct spot spot = schedule_spot(root, i, &outer);
            spot_set_inside(d->err, &spot, &inside);
        }
        if (st != OK)
            return st;
        schedule_free(schedule);
    }
    return d->zone_is_given ? OK : check_zones_agree(d, root);
}

/* Checks that concern several fields. */
static enum status check_whole(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    const struct node *map = root->node;
    if (!job->name)
        return spot_fail(d->err, root, "a job needs a \"name\"");
    if (node_get(map, "schedule") && node_get(map, "schedules"))
        return spot_fail(d->err, root, "job \"%s\" has both \"schedule\" and \"schedules\"",
                         job->name);
    if (!job->schedule_count && !job->after_count)
        return spot_fail(d->err, root,
                         "job \"%s\" needs a \"schedule\"; \"@manual\" is for one that runs only "
                         "when asked",
                         job->name);
    if (job->command && job->script)
        return spot_fail(d->err, root, "job \"%s\" has both \"command\" and \"shell\"", job->name);
    if (!job->command && !job->script)
        return spot_fail(d->err, root,
                         "job \"%s\" needs a \"command\" (a list) or a \"shell\" (a script)",
                         job->name);
    if (job->start_s != TIME_UNSET && job->end_s != TIME_UNSET && job->start_s >= job->end_s) {
        struct spot end = {root, "end", 0, node_get(map, "end")};
        return spot_fail(d->err, &end, "is not after \"start\"");
    }
    return job->after_count ? check_after(d, root) : check_schedules(d, root);
}

enum status job_decode_node(const struct node *node, bool with_meta, const char *default_tz,
                            struct zone_db *zones, struct job **ret, struct job_error *reterr)
{
    struct spot root = {.node = node};
    if (node->kind != NODE_MAP)
        return spot_fail(reterr, &root,
                         "expected a job (a map with name, schedule and command), found %s",
                         node_describe(node));
    struct decoder d = {.job = job_new(),
                        .default_tz = default_tz,
                        .zones = zones,
                        .with_meta = with_meta,
                        .err = reterr};
    if (!d.job)
        return E_NOMEM;
    d.object = d.job;
    enum status st = fields_decode(&d, job_fields, &root);
    if (st == OK)
        st = settle_zone(&d);
    if (st == OK)
        st = check_whole(&d, &root);
    if (st != OK)
        goto out;
    *ret = d.job;
    d.job = NULL;
out:
    job_free(d.job);
    return st;
}

enum status fields_decode_json(const struct field *fields, const char *what, const json_t *value,
                               void *object, struct job_error *reterr)
{
    struct decoder d = {.object = object, .err = reterr};
    struct tree tree;
    struct parse_error err = {0};
    const struct node *node;
    tree_init(&tree);
    enum status st = tree_from_json(&tree, value, &node, &err);
    if (st == OK) {
        struct spot root = {.node = node};
        st = node->kind == NODE_MAP
                 ? fields_decode(&d, fields, &root)
                 : spot_fail(reterr, &root, "expected %s, found %s", what, node_describe(node));
    } else if (st != E_NOMEM) {
        spot_set_tree(reterr, &err);
    }
    tree_release(&tree);
    return st;
}

enum status job_decode_json(const json_t *value, bool with_meta, const char *default_tz,
                            struct zone_db *zones, struct job **ret, struct job_error *reterr)
{
    struct tree tree;
    struct parse_error err = {0};
    const struct node *node;
    tree_init(&tree);
    enum status st = tree_from_json(&tree, value, &node, &err);
    if (st == OK)
        st = job_decode_node(node, with_meta, default_tz, zones, ret, reterr);
    else if (st != E_NOMEM)
        spot_set_tree(reterr, &err);
    tree_release(&tree);
    return st;
}

enum status job_decode_stored(const char *text, struct zone_db *zones, struct job **ret,
                              struct job_error *reterr)
{
    struct tree tree;
    struct parse_error err = {0};
    const struct node *node;
    tree_init(&tree);
    enum status st = tree_from_json_text(&tree, text, &node, &err);
    if (st == OK)
        st = job_decode_node(node, true, NULL, zones, ret, reterr);
    else if (st != E_NOMEM)
        spot_set_tree(reterr, &err);
    tree_release(&tree);
    return st;
}
