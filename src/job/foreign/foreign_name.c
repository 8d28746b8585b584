/* Names for jobs from free texts. */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "foreign/foreign_build.h"

enum { SUFFIX_MAX = 40 }; /* "-after-" and an id, and a number */

struct taken {
    char name[JOB_NAME_SIZE];
};

static const struct table_type taken_type = {.key_at = offsetof(struct taken, name)};

void foreign_build_init(struct foreign_build *build, const struct foreign_options *options,
                        struct zone_db *zones, struct foreign *out)
{
    *build = (struct foreign_build){.options = options, .zones = zones, .out = out};
    table_init(&build->names, &taken_type);
}

void foreign_build_release(struct foreign_build *build)
{
    table_release_items(&build->names);
}

/* Would the text be a valid name with this at its end? A slash is not kept: it would put the job
 * into a group, and a namespace, of its own. */
static bool fits(struct strbuf *out, size_t begin, const char *letter, size_t length)
{
    size_t before = out->length;
    if (*letter == '/')
        return false;
    strbuf_add(out, letter, length);
    bool is_good = !out->failed && !job_name_complaint(out->text + begin);
    if (!is_good)
        strbuf_truncate(out, before);
    return is_good;
}

static void clean(const char *text, size_t most, struct strbuf *out)
{
    size_t begin = out->length;
    bool is_gap = false;
    for (size_t rest = strlen(text); rest;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t length =
            utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)rest, &c);
        size_t step = length > 0 ? (size_t)length : 1;
        size_t mark = out->length;
        if (mark - begin + step + is_gap > most)
            break;
        if (is_gap && mark > begin)
            strbuf_addc(out, '-');
        if (length > 0 && fits(out, begin, text, step)) {
            is_gap = false;
        } else {
            strbuf_truncate(out, mark);
            is_gap = true;
        }
        text += step;
        rest -= step;
    }
}

void foreign_name_clean(const char *wish, size_t most, struct strbuf *out)
{
    utf8proc_uint8_t *composed = utf8proc_NFC((const utf8proc_uint8_t *)wish);
    clean(composed ? (const char *)composed : wish, most, out); /* NULL: not UTF-8 */
    free(composed);
}

/* NULL with *ret_st OK: the name is taken. */
static const char *take(struct foreign_build *build, const char *name, enum status *ret_st)
{
    struct taken item = {0};
    *ret_st = OK;
    if (strlen(name) > JOB_NAME_MAX || table_find(&build->names, name))
        return NULL;
    memcpy(item.name, name, strlen(name));
    const struct taken *kept = table_add(&build->names, &item, sizeof(item));
    if (!kept)
        *ret_st = E_NOMEM;
    return kept ? kept->name : NULL;
}

enum status foreign_name(struct foreign_build *build, const char *wish, const char *id,
                         const char **ret)
{
    const char *prefix = build->options->prefix ? build->options->prefix : "";
    struct strbuf name;
    enum status st = OK;
    strbuf_init(&name);
    strbuf_adds(&name, prefix);
    foreign_name_clean(wish, JOB_NAME_MAX - SUFFIX_MAX - strlen(prefix), &name);
    bool is_bare = name.length == strlen(prefix);
    if (is_bare)
        strbuf_addf(&name, "task%s%s", *id ? "-" : "", id);
    *ret = strbuf_status(&name) == OK ? take(build, name.text, &st) : NULL;
    if (!*ret && st == OK && *id && !is_bare) {
        strbuf_addf(&name, "-%s", id);
        *ret = strbuf_status(&name) == OK ? take(build, name.text, &st) : NULL;
    }
    size_t length = name.length;
    for (int number = 2; !*ret && st == OK; number++) {
        strbuf_truncate(&name, length);
        strbuf_addf(&name, "-%d", number);
        st = strbuf_status(&name);
        *ret = st == OK ? take(build, name.text, &st) : NULL;
    }
    strbuf_release(&name);
    return st;
}
