#include "definition/job_decode.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/job_internal.h"
#include "definition/selector.h"
#include "function/job_function.h"
#include "params/secret_use.h"

enum { FIELDS_MAX = 64 }; /* of a table */

/* "policy, queue": the fields that a group has. */
static void list_fields(const struct decoder *d, const struct field *fields, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (; fields->name && used < size; fields++) {
        if (d->with_meta || !fields->meta)
            used +=
                (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "", fields->name);
    }
}

static enum status unknown_field(const struct decoder *d, const struct field *fields,
                                 const struct spot *spot, const struct node *key)
{
    const char *nearest = field_nearest(fields, d->with_meta, key->text);
    struct spot at_key = {spot->up, spot->name, spot->index, key};
    struct spot field = {spot, key->text, 0, key};
    char known[160];
    if (nearest) {
        spot_set(d->err, &at_key, "unknown field \"%.60s\"; did you mean \"%s\"?", key->text,
                 nearest);
    } else if (fields == job_fields) { /* too many to name */
        spot_set(d->err, &at_key, "unknown field \"%.60s\"", key->text);
    } else {
        list_fields(d, fields, known, sizeof(known));
        spot_set(d->err, &at_key, "unknown field \"%.60s\"; known: %s", key->text, known);
    }
    spot_point(d->err, &field);
    return status_invalid();
}

void job_errors_init(struct job_errors *errors)
{
    *errors = (struct job_errors){NULL, 0, 0};
}

void job_errors_release(struct job_errors *errors)
{
    free(errors->items);
    job_errors_init(errors);
}

enum status job_errors_take(struct job_errors *errors, struct job_error *error)
{
    if (!*error->message)
        return OK;
    enum status st = OK;
    if (errors->count == JOB_ERRORS_MAX)
        errors->more++;
    else if ((st = array_grow(&errors->items, errors->count, sizeof(*errors->items))) == OK)
        errors->items[errors->count++] = *error;
    *error = (struct job_error){0};
    return st;
}

enum status decoder_go_on(const struct decoder *d, enum status st, enum status *inout_st)
{
    if (st == OK || st == E_NOMEM || !d->all)
        return st;
    *inout_st = st;
    return job_errors_take(d->all, d->err);
}

enum status fields_decode(struct decoder *d, const struct field *fields, const struct spot *spot)
{
    const struct node *values[FIELDS_MAX] = {0};
    const struct field *next = fields;
    enum status worst = OK;
    for (const struct entry *entry = spot->node->entries; entry; entry = entry->next) {
        const char *name = entry->key->text;
        const struct field *field = field_find(fields, &next, name, strlen(name));
        if (!field || (field->meta && !d->with_meta)) {
            enum status st = decoder_go_on(d, unknown_field(d, fields, spot, entry->key), &worst);
            if (st != OK)
                return st;
            continue;
        }
        assert(field - fields < FIELDS_MAX);
        values[field - fields] = entry->value;
    }
    for (const struct field *field = fields; field->name; field++) {
        struct spot here = {spot, field->name, 0, values[field - fields]};
        enum status st = here.node ? decoder_go_on(d, field_decode(d, field, &here), &worst) : OK;
        if (st != OK)
            return st;
    }
    return worst;
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

static bool is_workflow(const struct node *map)
{
    const struct node *kind = node_get(map, "kind");
    return node_get(map, "steps") || node_get(map, "finally") ||
           (kind && kind->kind == NODE_SCALAR && strcmp(kind->text, "workflow") == 0);
}

/* Exactly one of `command`, `shell`, `http` and `function`; a workflow has none. */
static enum status check_what(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    struct spot http = {root, "http", 0, node_get(root->node, "http")};
    const struct node *function = node_get(root->node, "function");
    const struct {
        const char *name;
        bool is_given;
    } kinds[] = {{"command", job->command != NULL},
                 {"shell", job->script != NULL},
                 {"http", job->http.url != NULL},
                 {"function", function != NULL}};
    const char *first = NULL;
    if (job->kind == JOB_WORKFLOW)
        return OK;
    if (http.node && !job->http.url)
        return spot_fail(d->err, &http, "needs a \"url\"");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (first && kinds[i].is_given)
            return spot_fail(d->err, root, "job \"%s\" has both \"%s\" and \"%s\"", job->name,
                             first, kinds[i].name);
        if (kinds[i].is_given)
            first = kinds[i].name;
    }
    if (!first)
        return spot_fail(d->err, root,
                         "job \"%s\" needs a \"command\" (a list), a \"shell\" (a script), an "
                         "\"http\" (a URL), a \"function\" (of a program) or \"steps\" (of a "
                         "workflow)",
                         job->name);
    return job->http.url ? check_http(d, root) : function ? check_function(d, root) : OK;
}

/* Only the runs of one tick go one after the other. */
static enum status check_rolling(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    struct spot rolling = {root, "rolling", 0, node_get(root->node, "rolling")};
    if (job->rolling.at_once && spread_read(job->spread).kind == SPREAD_ONE)
        return spot_fail(d->err, &rolling,
                         "needs a \"spread\" over several runs: all, a number of nodes or shards");
    if (job->rolling.stop_on_failure && !job->rolling.at_once)
        return spot_fail(d->err, &rolling, "needs \"at_once\", the number of runs at a time");
    return OK;
}

void job_settle_kind(struct job *job)
{
    if (job->http.url)
        job->kind = JOB_HTTP;
    if (job->function.program)
        job->kind = JOB_FUNCTION;
}

/* Checks that concern several fields. */
static enum status check_overlap(const struct decoder *d, const struct spot *root)
{
    struct spot overlap = {root, "overlap", 0, node_get(root->node, "overlap")};
    if (d->job->overlap_at_once && d->job->overlap != OVERLAP_ALLOW)
        return spot_fail(d->err, &overlap, "\"at_once\" is for the policy allow");
    return OK;
}

/* A run takes one slot in each. */
static enum status check_groups(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    struct spot spot = {root, "groups", 0, node_get(root->node, "groups")};
    for (size_t i = 0; job->groups && job->groups[i]; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(job->groups[k], job->groups[i]) == 0)
                return spot_fail(d->err, &spot, "\"%s\" is named twice", job->groups[i]);
    return OK;
}

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
    enum status st = check_what(d, root);
    if (st == OK)
        st = check_params(d, root);
    if (st == OK)
        st = check_secrets(d, root);
    if (st == OK)
        st = check_groups(d, root);
    if (st == OK)
        st = check_overlap(d, root);
    if (st == OK)
        st = check_rolling(d, root);
    if (st == OK)
        st = check_expect(d, root);
    if (st == OK)
        st = check_run_limits(d, root);
    if (st == OK)
        st = check_notify(d, root);
    if (st != OK)
        return st;
    if (job->start_s != TIME_UNSET && job->end_s != TIME_UNSET && job->start_s >= job->end_s) {
        struct spot end = {root, "end", 0, node_get(map, "end")};
        return spot_fail(d->err, &end, "is not after \"start\"");
    }
    return job->after_count ? check_after(d, root) : check_schedules(d, root);
}

/* The schedules of a job whose other fields have errors: they are checked by themselves, in a known
 * time zone. */
static enum status check_the_rest(struct decoder *d, const struct spot *root, enum status st)
{
    bool is_zone_known = d->zone_is_given || !node_get(root->node, "timezone");
    if (st == E_NOMEM || !d->all || !d->job->schedule_count || !is_zone_known)
        return st;
    enum status more = settle_zone(d);
    if (more == OK)
        more = check_schedules(d, root);
    return more == E_NOMEM ? more : st;
}

/* The job and, if it is a workflow, its steps: each has errors of its own. `st`: of its fields. */
static enum status check_all(struct decoder *d, const struct spot *root, enum status st)
{
    enum status worst = OK;
    if (st == OK && (st = settle_zone(d)) == OK)
        st = check_whole(d, root);
    else
        st = check_the_rest(d, root, st);
    if (d->job->kind != JOB_WORKFLOW || st == E_NOMEM)
        return st;
    st = decoder_go_on(d, st, &worst);
    if (st == OK)
        st = check_workflow(d, root);
    return st == OK ? worst : st;
}

static enum status decode(struct decoder *d, const struct node *node, struct job **ret)
{
    struct spot root = {.node = node};
    if (node->kind != NODE_MAP)
        return spot_fail(d->err, &root,
                         "expected a job (a map with name, schedule and command), found %s",
                         node_describe(node));
    d->job = job_new();
    if (!d->job)
        return E_NOMEM;
    d->object = d->job;
    enum status st = fields_decode(d, job_fields, &root);
    job_settle_kind(d->job);
    if (is_workflow(node))
        d->job->kind = JOB_WORKFLOW;
    st = check_all(d, &root, st);
    if (st == OK)
        *ret = d->job;
    else
        job_free(d->job);
    return st;
}

enum status job_decode_node(const struct node *node, bool with_meta, const char *default_tz,
                            struct zone_db *zones, struct job **ret, struct job_error *reterr)
{
    struct decoder d = {
        .default_tz = default_tz, .zones = zones, .with_meta = with_meta, .err = reterr};
    return decode(&d, node, ret);
}

enum status job_decode_node_all(const struct node *node, const char *default_tz,
                                struct zone_db *zones, struct job **ret, struct job_errors *errors)
{
    struct job_error error = {0};
    struct decoder d = {.default_tz = default_tz, .zones = zones, .err = &error, .all = errors};
    enum status st = decode(&d, node, ret);
    return st == OK || st == E_NOMEM || job_errors_take(errors, &error) == OK ? st : E_NOMEM;
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
