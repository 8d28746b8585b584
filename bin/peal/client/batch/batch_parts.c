#include "client/batch/batch_parts.h"

#include <stdlib.h>
#include <string.h>

#include "table.h"

/* A definition in a union-find structure: following `first` leads to the representative of its
 * group. */
struct member {
    const char *name;
    size_t first;
    size_t place;
    struct batch_put put;
};

struct groups {
    struct member *members;
    size_t count;
    struct table by_name;
};

static const struct table_type member_type = {.key_at = offsetof(struct member, name),
                                              .is_pointer = true};

static size_t first_of(struct groups *groups, size_t i)
{
    while (groups->members[i].first != i) {
        struct member *member = &groups->members[i];
        member->first = groups->members[member->first].first; /* path compression */
        i = member->first;
    }
    return i;
}

static void join(struct groups *groups, size_t a, size_t b)
{
    a = first_of(groups, a);
    b = first_of(groups, b);
    groups->members[a > b ? a : b].first = a > b ? b : a;
}

static void join_named(struct groups *groups, const struct member *member, const char *name)
{
    const struct member *other = table_find(&groups->by_name, name);
    if (other)
        join(groups, member->place, other->place);
}

static void join_after(struct groups *groups, struct member *member)
{
    const struct job *job = member->put.job;
    for (size_t i = 0; i < job->after_count; i++)
        join_named(groups, member, job->after[i].job);
    for (char **name = job->only_if.jobs; name && *name; name++)
        join_named(groups, member, *name);
}

static enum status add_members(struct groups *groups, const struct batch_put *puts)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct member *member = &groups->members[i];
        *member = (struct member){.name = puts[i].name, .first = i, .place = i, .put = puts[i]};
        if (table_find(&groups->by_name, member->name))
            continue; /* the agent reports the duplicate name */
        enum status st = table_insert(&groups->by_name, member);
        if (st != OK)
            return st;
    }
    return OK;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

/* Groups are not split; a new part begins when one is large enough. Returns the number of parts. */
static size_t fill_parts(const struct groups *groups, size_t size, size_t bytes,
                         struct batch_part *parts)
{
    size_t count = 0, part_bytes = 0;
    for (size_t i = 0; i < groups->count; i++) {
        const struct member *member = &groups->members[i];
        bool is_new_group = i == 0 || member->first != groups->members[i - 1].first;
        if (!count || (is_new_group && (parts[count - 1].count >= size || part_bytes >= bytes))) {
            parts[count++] = (struct batch_part){.from = i};
            part_bytes = 0;
        }
        parts[count - 1].count++;
        part_bytes += member->put.length;
    }
    return count;
}

static enum status find_groups(struct groups *groups, const struct batch_put *puts)
{
    enum status st = add_members(groups, puts);
    for (size_t i = 0; i < groups->count && st == OK; i++)
        join_after(groups, &groups->members[i]);
    for (size_t i = 0; i < groups->count && st == OK; i++)
        groups->members[i].first = first_of(groups, i);
    return st;
}

static bool depend(const struct batch_put *puts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (job_depends(puts[i].job))
            return true;
    }
    return false;
}

/* The members as they are, each a group of its own. */
static void add_single(struct groups *groups, const struct batch_put *puts)
{
    for (size_t i = 0; i < groups->count; i++)
        groups->members[i] = (struct member){.first = i, .place = i, .put = puts[i]};
}

enum status batch_split(struct batch_put *puts, size_t count, size_t size, size_t bytes,
                        struct batch_part **ret, size_t *ret_count)
{
    struct groups groups = {.count = count};
    struct batch_part *parts = calloc(count + 1, sizeof(*parts));
    table_init(&groups.by_name, &member_type);
    groups.members = calloc(count + 1, sizeof(*groups.members));
    bool is_sorted = !depend(puts, count);
    enum status st = parts && groups.members ? OK : E_NOMEM;
    if (st == OK && is_sorted)
        add_single(&groups, puts);
    else if (st == OK)
        st = find_groups(&groups, puts);
    table_release(&groups.by_name); /* before they are moved */
    if (st == OK) {
        if (!is_sorted)
            qsort(groups.members, count, sizeof(*groups.members), compare_members);
        for (size_t i = 0; i < count; i++)
            puts[i] = groups.members[i].put;
        *ret_count = fill_parts(&groups, size, bytes, parts);
        *ret = parts;
    } else {
        free(parts);
    }
    free(groups.members);
    return st;
}
