#include "group/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_decode.h"
#include "peer.h"

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

/* ---- limits by label ---- */

/* "zone" or "zone=eu": a name, and a value that is not empty. */
static bool is_label(const char *label)
{
    char labels[sizeof(((struct peer *)0)->labels)] = "";
    return peer_add_label(labels, label) == OK && label[strlen(label) - 1] != '=';
}

static int by_label(const void *a, const void *b)
{
    return strcmp(((const struct group_label *)a)->label, ((const struct group_label *)b)->label);
}

static enum status decode_label(const struct spot *labels, const char *label, const json_t *most,
                                struct group_limits *limits, struct job_error *reterr)
{
    const struct spot spot = {labels, label, 0, labels->node};
    if (strlen(label) >= GROUP_LABEL_SIZE || !is_label(label))
        return spot_fail(reterr, &spot,
                         "expected a label, \"zone\", or one value of it, \"zone=eu\", of up to 63 "
                         "bytes");
    if (!json_is_integer(most) || json_integer_value(most) < 1 ||
        json_integer_value(most) > GROUP_LIMIT_MAX)
        return spot_fail(reterr, &spot, "expected a number from 1 to 100000");
    struct group_label *row = &limits->labels[limits->label_count++];
    row->most = (int)json_integer_value(most);
    memcpy(row->label, label, strlen(label) + 1);
    return OK;
}

static enum status decode_labels(json_t *value, struct group_limits *limits,
                                 struct job_error *reterr)
{
    const struct node nowhere = {0};
    const struct spot root = {.node = &nowhere}, spot = {&root, "labels", 0, &nowhere};
    const char *label;
    json_t *most;
    if (!json_is_object(value))
        return spot_fail(reterr, &spot, "expected a map of labels: {zone: 2, \"zone=eu\": 4}");
    if (json_object_size(value) > GROUP_LABELS_MAX)
        return spot_fail(reterr, &spot, "at most 16 limits by label");
    json_object_foreach (value, label, most) {
        enum status st = decode_label(&spot, label, most, limits, reterr);
        if (st != OK)
            return st;
    }
    qsort(limits->labels, limits->label_count, sizeof(limits->labels[0]), by_label);
    return OK;
}

/* NULL: there are none, or out of memory. */
static json_t *encode_labels(const struct group_limits *limits)
{
    json_t *labels = limits->label_count ? json_object() : NULL;
    for (size_t i = 0; labels && i < limits->label_count; i++)
        json_object_set_new(labels, limits->labels[i].label, json_integer(limits->labels[i].most));
    return labels;
}

bool group_label_is_lacked(const char *label, int *ret_length)
{
    size_t length = strcspn(label, "=");
    *ret_length = (int)length;
    return strcmp(label + length, "=!") == 0;
}

/* The value that a node has of the label with this name. */
static void find_value(const char *node_labels, const char *name, size_t length, const char **ret,
                       size_t *ret_length)
{
    *ret = "!";
    *ret_length = 1;
    for (const char *at = node_labels; *at; at += strcspn(at, ","), at += *at == ',') {
        if (strncmp(at, name, length) != 0 || (at[length] && !strchr("=,", at[length])))
            continue;
        *ret = at + length + (at[length] == '=');
        *ret_length = strcspn(*ret, ",");
        return;
    }
}

/* The limit of nodes whose label, with a name of this length, is `label`; 0: none. */
static int limit_of(const struct group_limits *limits, const char *label, size_t length)
{
    int of_any = 0;
    for (size_t i = 0; i < limits->label_count; i++) {
        const struct group_label *row = &limits->labels[i];
        if (strcmp(row->label, label) == 0)
            return row->most;
        if (strlen(row->label) == length && strncmp(row->label, label, length) == 0)
            of_any = row->most;
    }
    return of_any;
}

static bool is_among(const struct group_label *labels, size_t count, const char *label)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(labels[i].label, label) == 0)
            return true;
    return false;
}

size_t group_labels_of(const struct group_limits *limits, const char *node_labels,
                       struct group_label ret[GROUP_LABELS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < limits->label_count; i++) {
        const char *name = limits->labels[i].label, *value;
        size_t length = strcspn(name, "="), value_length;
        struct group_label *label = &ret[count];
        find_value(node_labels, name, length, &value, &value_length);
        snprintf(label->label, sizeof(label->label), "%.*s=%.*s", (int)length, name,
                 (int)value_length, value);
        label->most = limit_of(limits, label->label, length);
        count += label->most && !is_among(ret, count, label->label);
    }
    return count;
}

/* ---- the document ---- */

static enum status check_limits(const struct group_limits *limits, struct job_error *reterr)
{
    const struct node nowhere = {0};
    const struct spot root = {.node = &nowhere};
    if (limits->cluster || limits->node || limits->label_count)
        return OK;
    return spot_fail(reterr, &root,
                     "a group needs a limit: \"cluster\", \"node\" or \"labels\", or several of "
                     "them");
}

static enum status check_name(const char *is, const char *wanted, struct job_error *reterr)
{
    const struct node nowhere = {0};
    const struct spot root = {.node = &nowhere};
    if (!is || strcmp(is, wanted) == 0)
        return OK;
    return spot_fail(reterr, &(struct spot){&root, "name", 0, &nowhere},
                     "is \"%.63s\", but it is to be \"%.63s\"", is, wanted);
}

/* The fields of the table, and the labels. */
static enum status decode_fields(const json_t *value, struct decoded *decoded,
                                 struct job_error *reterr)
{
    static const char what[] = "a group (a map with cluster, node or labels)";
    json_t *labels = json_object_get(value, "labels");
    if (!labels)
        return fields_decode_json(group_fields, what, value, decoded, reterr);
    json_t *rest = json_copy((json_t *)(uintptr_t)value);
    if (!rest)
        return E_NOMEM;
    json_object_del(rest, "labels");
    enum status st = fields_decode_json(group_fields, what, rest, decoded, reterr);
    if (st == OK)
        st = decode_labels(labels, &decoded->group.limits, reterr);
    json_decref(rest);
    return st;
}

enum status group_decode_json(const json_t *value, const char *name, struct group *ret,
                              struct job_error *reterr)
{
    struct decoded decoded = {.name = NULL};
    enum status st = decode_fields(value, &decoded, reterr);
    if (st == OK)
        st = check_name(decoded.name, name, reterr);
    if (st == OK)
        st = check_limits(&decoded.group.limits, reterr);
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
    json_t *labels = encode_labels(&group->limits);
    bool is_whole = value && (!group->limits.label_count || labels);
    if (labels && is_whole)
        is_whole = json_object_set(value, "labels", labels) == 0;
    char *text = is_whole ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(labels);
    json_decref(value);
    return text;
}

/* ---- groups of namespaces ---- */

bool group_is_space(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && name[length - 1] == '/';
}

const char *group_any_name_complaint(const char *name)
{
    char space[GROUP_NAME_MAX + 1];
    size_t length = strlen(name);
    if (!group_is_space(name))
        return group_name_complaint(name);
    if (length > GROUP_NAME_MAX)
        return "is longer than 63 bytes";
    snprintf(space, sizeof(space), "%.*s", (int)length - 1, name);
    const char *slash = strchr(space, '/');
    if (slash && strchr(slash + 1, '/'))
        return "has more than two parts: a limit is for \"shop/\" or \"shop/eu/\"";
    return namespace_complaint(space);
}

bool group_space_has(const char *name, const char *job_name)
{
    return group_is_space(name) && strncmp(job_name, name, strlen(name)) == 0;
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

/* The next word, a label or a name, of less than `size` bytes. */
static bool next_word(const char *text, size_t *at, bool is_label, char *ret, size_t size)
{
    for (const char *from = text + *at; *from;) {
        from += strspn(from, " ");
        size_t length = strcspn(from, " ");
        bool is_one = length && (memchr(from, '=', length) != NULL) == is_label;
        if (is_one && length < size) {
            memcpy(ret, from, length);
            ret[length] = '\0';
            *at = (size_t)(from - text) + length;
            return true;
        }
        from += length;
    }
    return false;
}

bool groups_next(const char *text, size_t *at, char ret[GROUP_NAME_MAX + 1])
{
    return next_word(text, at, false, ret, GROUP_NAME_MAX + 1);
}

bool groups_next_label(const char *text, size_t *at, char ret[GROUP_LABEL_SIZE])
{
    return next_word(text, at, true, ret, GROUP_LABEL_SIZE);
}

void groups_set_labels(char text[RUN_GROUPS_SIZE], const char *labels)
{
    char word[GROUP_LABEL_SIZE], *mark = strchr(text, '=');
    while (mark && mark > text && mark[-1] != ' ')
        mark--;
    if (mark)
        mark[mark > text ? -1 : 0] = '\0';
    for (size_t at = 0; groups_next_label(labels, &at, word) && groups_add(text, word);)
        continue;
}

bool groups_count_for(const char *text, const char *label)
{
    char word[GROUP_LABEL_SIZE];
    size_t name = strcspn(label, "=") + 1;
    for (size_t at = 0; groups_next_label(text, &at, word);)
        if (strncmp(word, label, name) == 0)
            return strcmp(word, label) == 0;
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
