#include "workflow/members.h"

#include <stdlib.h>

#include "state/open_run.h"

TAILQ_HEAD(company_list, open_run);

/* The runs of one instance. */
struct company {
    struct id instance;
    struct company_list runs;
};

static const struct table_type companies_type = {.key_at = offsetof(struct company, instance),
                                                 .key_size = sizeof(struct id)};
static const struct table_type by_part_type = {.key_at = offsetof(struct open_run, member.key),
                                               .key_size = sizeof(struct member_key)};

_Static_assert(sizeof(struct member_key) == sizeof(struct id) + sizeof(int64_t),
               "keys are compared byte by byte");

void members_init(struct members *members)
{
    table_init(&members->companies, &companies_type);
    table_init(&members->by_part, &by_part_type);
}

void members_release(struct members *members)
{
    table_release_items(&members->companies);
    table_release(&members->by_part);
}

/* NULL: out of memory. */
static struct company *find_or_make(struct members *members, const struct id *instance)
{
    struct company *company = table_find(&members->companies, instance);
    if (company)
        return company;
    struct company made = {.instance = *instance};
    company = table_add(&members->companies, &made, sizeof(made));
    if (company)
        TAILQ_INIT(&company->runs);
    return company;
}

static void drop_if_empty(struct members *members, struct company *company)
{
    if (!TAILQ_EMPTY(&company->runs))
        return;
    table_remove(&members->companies, company);
    free(company);
}

/* A later attempt takes the place of the one before it. */
static enum status index_part(struct members *members, struct open_run *open)
{
    const struct open_run *before = table_find(&members->by_part, &open->member.key);
    if (before && before->run.attempt > open->run.attempt)
        return OK;
    if (before)
        table_remove(&members->by_part, before);
    return table_insert(&members->by_part, open);
}

enum status members_add(struct members *members, struct open_run *open)
{
    struct member *member = &open->member;
    member->key = (struct member_key){open->run.instance, open->run.part};
    struct company *company = find_or_make(members, &open->run.instance);
    if (!company)
        return E_NOMEM;
    enum status st = index_part(members, open);
    if (st != OK) {
        drop_if_empty(members, company);
        return st;
    }
    member->of = company;
    TAILQ_INSERT_TAIL(&company->runs, open, member.link);
    return OK;
}

void members_remove(struct members *members, struct open_run *open)
{
    struct company *company = open->member.of;
    if (!company)
        return;
    if (table_find(&members->by_part, &open->member.key) == open)
        table_remove(&members->by_part, open);
    TAILQ_REMOVE(&company->runs, open, member.link);
    open->member.of = NULL;
    drop_if_empty(members, company);
}

struct open_run *members_find(const struct members *members, const struct id *instance, int part)
{
    struct member_key key = {*instance, part};
    return table_find(&members->by_part, &key);
}

struct open_run *members_first(const struct members *members, const struct id *instance)
{
    const struct company *company = table_find(&members->companies, instance);
    return company ? TAILQ_FIRST(&company->runs) : NULL;
}

struct open_run *members_next(const struct open_run *open)
{
    return TAILQ_NEXT(open, member.link);
}
