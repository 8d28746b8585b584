#include "jobs/quota.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "auth/account.h"
#include "state/catalog.h"

/* ---- the values ---- */

enum status quotas_copy(const struct quotas *from, struct quotas *ret)
{
    struct quotas copy = *from;
    size_t size = from->namespace_count * sizeof(*from->namespaces);
    copy.namespaces = malloc(size + 1);
    if (!copy.namespaces)
        return E_NOMEM;
    if (size)
        memcpy(copy.namespaces, from->namespaces, size);
    *ret = copy;
    return OK;
}

void quotas_release(struct quotas *quotas)
{
    free(quotas->namespaces);
    *quotas = (struct quotas){0};
}

static struct quota_namespace *find_own(const struct quotas *quotas, const char *name,
                                        size_t length)
{
    for (size_t i = 0; i < quotas->namespace_count; i++) {
        const char *own = quotas->namespaces[i].name;
        if (strncmp(own, name, length) == 0 && !own[length])
            return &quotas->namespaces[i];
    }
    return NULL;
}

enum status quotas_set_namespace(struct quotas *quotas, const char *name, int64_t jobs,
                                 struct parse_error *reterr)
{
    const char *complaint = namespace_complaint(name);
    struct quota_namespace *own = find_own(quotas, name, strlen(name));
    if (complaint)
        return parse_fail(reterr, 0, "%s", complaint);
    if (!own && quotas->namespace_count == QUOTA_NAMESPACES_MAX)
        return parse_fail(reterr, 0, "at most %d namespaces have a quota of their own",
                          QUOTA_NAMESPACES_MAX);
    if (!own) {
        if (array_grow(&quotas->namespaces, quotas->namespace_count, sizeof(*own)) != OK)
            return E_NOMEM;
        own = &quotas->namespaces[quotas->namespace_count++];
        snprintf(own->name, sizeof(own->name), "%s", name);
    }
    own->jobs = jobs;
    return OK;
}

/* ---- what is written ---- */

struct quota_item quota_item_of(const struct catalog *catalog, const struct store_put_job *put)
{
    const struct catalog_job *there =
        put->expected_revision ? catalog_by_uid(catalog, &put->uid) : NULL; /* else it is new */
    bool was_there = there && !there->deleted;
    struct quota_item item = {
        .name = put->name,
        .jobs = !put->deleted - was_there,
        .bytes = (int64_t)strlen(put->json) - (there ? (int64_t)strlen(there->json) : -1),
    };
    if (was_there && !put->deleted && strcmp(there->name, put->name) != 0)
        snprintf(item.from, sizeof(item.from), "%s", there->name);
    return item;
}

enum status quota_sum_init(struct quota_sum *sum, const struct quotas *quotas)
{
    enum status st = OK;
    *sum = (struct quota_sum){0};
    namespaces_init(&sum->namespaces);
    for (size_t i = 0; i < quotas->namespace_count && st == OK; i++)
        st = namespaces_watch(&sum->namespaces, quotas->namespaces[i].name, 0);
    return st;
}

void quota_sum_release(struct quota_sum *sum)
{
    namespaces_release(&sum->namespaces);
}

static enum status add(struct quota_sum *sum, const struct quota_item *item, int sign)
{
    sum->jobs += sign * item->jobs;
    sum->bytes += sign * item->bytes;
    enum status st = OK;
    if (item->from[0])
        st = namespaces_add(&sum->namespaces, item->from, -sign);
    int64_t count = item->from[0] ? 1 : item->jobs;
    return count && st == OK ? namespaces_add(&sum->namespaces, item->name, sign * count) : st;
}

enum status quota_sum_add(struct quota_sum *sum, const struct quota_item *item)
{
    return add(sum, item, 1);
}

void quota_sum_take_back(struct quota_sum *sum, const struct quota_item *item)
{
    (void)add(sum, item, -1); /* an existing counter needs no memory */
}

/* ---- the rule ---- */

static bool exceeds(int64_t limit, int64_t used, int64_t added)
{
    return limit && added > 0 && used + added > limit;
}

static int64_t in_namespace(const struct catalog *catalog, const struct quota_sum *held,
                            const struct quota_sum *planned, const char *name, size_t length)
{
    return namespaces_count(&catalog->namespaces, name, length) +
           namespaces_count(&held->namespaces, name, length) +
           (planned ? namespaces_count(&planned->namespaces, name, length) : 0);
}

/* A namespace has its own limit, or if it is top-level the general one. */
static bool namespaces_allow(const struct quotas *quotas, const struct catalog *catalog,
                             const struct quota_sum *held, const struct quota_sum *planned,
                             const struct quota_item *item, struct quota_excess *ret)
{
    bool is_first = true;
    for (const char *slash = item->name; (slash = strchr(slash, '/')); slash++) {
        size_t length = (size_t)(slash - item->name);
        const struct quota_namespace *own = find_own(quotas, item->name, length);
        int64_t limit = own ? own->jobs : is_first ? quotas->namespace_jobs : 0;
        int64_t used = limit ? in_namespace(catalog, held, planned, item->name, length) : 0;
        bool was_inside = item->from[0] && strncmp(item->from, item->name, length + 1) == 0;
        is_first = false;
        if (!exceeds(limit, used, item->from[0] ? !was_inside : item->jobs))
            continue;
        *ret = (struct quota_excess){
            .kind = QUOTA_NAMESPACE, .is_own = own, .limit = limit, .used = used};
        snprintf(ret->namespace, sizeof(ret->namespace), "%.*s", (int)length, item->name);
        return false;
    }
    return true;
}

bool quota_allows(const struct quotas *quotas, const struct catalog *catalog,
                  const struct quota_sum *held, const struct quota_sum *planned,
                  const struct quota_item *item, struct quota_excess *ret)
{
    int64_t jobs = (int64_t)catalog_count(catalog) + held->jobs + (planned ? planned->jobs : 0);
    int64_t bytes = (int64_t)catalog->json_bytes + held->bytes + (planned ? planned->bytes : 0);
    if (exceeds(quotas->jobs, jobs, item->jobs)) {
        *ret = (struct quota_excess){.kind = QUOTA_JOBS, .limit = quotas->jobs, .used = jobs};
        return false;
    }
    if (exceeds(quotas->bytes, bytes, item->bytes)) {
        *ret = (struct quota_excess){.kind = QUOTA_BYTES, .limit = quotas->bytes, .used = bytes};
        return false;
    }
    return namespaces_allow(quotas, catalog, held, planned, item, ret);
}

/* ---- in words ---- */

const char *quota_key(const struct quota_excess *excess)
{
    switch (excess->kind) {
    case QUOTA_JOBS:
        return "jobs";
    case QUOTA_NAMESPACE:
        return excess->is_own ? "namespaces" : "namespace_jobs";
    case QUOTA_BYTES:
        break;
    }
    return "definitions";
}

void quota_print(enum language language, const struct quota_excess *excess, struct strbuf *out)
{
    long long used = excess->used, limit = excess->limit;
    switch (excess->kind) {
    case QUOTA_JOBS:
        strbuf_addf(out,
                    message_in(language,
                               "there are %lld jobs, and the quota is %lld: delete some, or raise "
                               "quotas.jobs in the configuration file"),
                    used, limit);
        return;
    case QUOTA_NAMESPACE:
        strbuf_addf(out,
                    message_in(language,
                               "there are %lld jobs in the namespace \"%s\", and its quota is "
                               "%lld: delete some, or raise quotas.%s in the configuration file"),
                    used, excess->namespace, limit, quota_key(excess));
        return;
    case QUOTA_BYTES:
        strbuf_addf(out,
                    message_in(language,
                               "the definitions of all jobs, deleted ones included, have %lld "
                               "bytes, and the quota is %lld: raise quotas.definitions in the "
                               "configuration file, or wait until deleted jobs are gone"),
                    used, limit);
        return;
    }
}
