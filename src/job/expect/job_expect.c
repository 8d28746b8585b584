#include "expect/job_expect.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_decode.h"
#include "duration.h"
#include "expect/message_template.h"
#include "expect/pattern.h"

const char *const expect_duration_names[] = {"any", "auto", NULL};

/* ---- fields one by one ---- */

/* "7" or "3-5"; false: neither. */
static bool read_range(const char *text, int *first, int *last)
{
    int *const ends[] = {first, last};
    for (int i = 0; i < 2; i++) {
        int number = 0;
        if (!isdigit((unsigned char)*text))
            return false;
        for (; isdigit((unsigned char)*text) && number <= 255; text++)
            number = number * 10 + (*text - '0');
        *ends[i] = number;
        if (number > 255)
            return false;
        if (i == 0 && !*text) {
            *last = number;
            return true;
        }
        if (i == 0 && *text++ != '-')
            return false;
    }
    return !*text && *first <= *last;
}

const char *expect_exit_complaint(const char *range)
{
    int first = 0, last = 0;
    return read_range(range, &first, &last)
               ? NULL
               : "is not an exit code like 3, or a range of them like 3-5";
}

const char *expect_newer_complaint(const char *text)
{
    int64_t seconds;
    if (strcmp(text, "run") == 0 || strcmp(text, "any") == 0)
        return NULL;
    if (duration_parse(text, 1, &seconds, NULL) != OK || seconds < 1)
        return "is not run, any, or a duration like 90m";
    return NULL;
}

/* ---- what holds unless told ---- */

bool job_expects_anything(const struct job_expect *expect)
{
    return expect->matches || expect->not_matches || expect->exit || expect->file ||
           expect->min_s || expect->max_s || expect->duration != EXPECT_DURATION_ANY;
}

bool job_expects_exit(const struct job_expect *expect, int code)
{
    int first = 0, last = 0;
    for (char *const *range = expect->exit; range && *range; range++) {
        if (read_range(*range, &first, &last) && code >= first && code <= last)
            return true;
    }
    return !expect->exit && code == 0;
}

void job_expected_exits(const struct job_expect *expect, struct strbuf *out)
{
    if (!expect->exit)
        strbuf_adds(out, "0");
    for (size_t i = 0; expect->exit && expect->exit[i]; i++)
        strbuf_addf(out, "%s%s", i ? "," : "", expect->exit[i]);
}

enum expect_age job_expected_age(const struct job_expect *expect, int64_t *ret_s)
{
    if (!expect->newer_than || strcmp(expect->newer_than, "run") == 0)
        return EXPECT_OF_RUN;
    return duration_parse(expect->newer_than, 1, ret_s, NULL) == OK ? EXPECT_WITHIN
                                                                    : EXPECT_ANY_AGE;
}

/* ---- fields together ---- */

static enum status check_pattern(const struct decoder *d, const struct spot *expect,
                                 const char *name, const char *text)
{
    struct spot spot = {expect, name, 0, node_get(expect->node, name)};
    struct parse_error inside = {0};
    struct pattern *pattern;
    if (!text || d->with_meta) /* a stored one was checked */
        return OK;
    enum status st = pattern_parse(text, &pattern, &inside);
    if (st == OK)
        pattern_free(pattern);
    else if (st != E_NOMEM)
        spot_set_inside(d->err, &spot, &inside);
    return st;
}

enum status check_expect(const struct decoder *d, const struct spot *root)
{
    const struct job_expect *e = &d->job->expect;
    struct spot expect = {root, "expect", 0, node_get(root->node, "expect")};
    if (!expect.node)
        return OK;
    struct spot newer = {&expect, "newer_than", 0, node_get(expect.node, "newer_than")};
    struct spot bytes = {&expect, "min_bytes", 0, node_get(expect.node, "min_bytes")};
    struct spot max = {&expect, "max_duration", 0, node_get(expect.node, "max_duration")};
    struct spot duration = {&expect, "duration", 0, node_get(expect.node, "duration")};
    if (newer.node && !e->file)
        return spot_fail(d->err, &newer, "needs a \"file\" to look at");
    if (bytes.node && !e->file)
        return spot_fail(d->err, &bytes, "needs a \"file\" to look at");
    if (e->max_s && e->max_s < e->min_s)
        return spot_fail(d->err, &max, "is less than \"min_duration\"");
    if (e->duration == EXPECT_DURATION_AUTO && d->workflow)
        return spot_fail(d->err, &duration,
                         "auto is for jobs, not for steps: give \"min_duration\" and "
                         "\"max_duration\"");
    if (e->duration == EXPECT_DURATION_AUTO && e->min_s && e->max_s)
        return spot_fail(d->err, &duration,
                         "has nothing to learn: both \"min_duration\" and \"max_duration\" are "
                         "given");
    enum status st = check_pattern(d, &expect, "matches", e->matches);
    return st == OK ? check_pattern(d, &expect, "not_matches", e->not_matches) : st;
}

static enum status check_one_template(const struct decoder *d, const struct spot *notify,
                                      const char *name, const char *text)
{
    struct parse_error inside = {0};
    if (!text || d->with_meta) /* a stored one was checked, perhaps by a newer peal */
        return OK;
    struct spot spot = {notify, name, 0, node_get(notify->node, name)};
    enum status st = message_template_check(text, &inside);
    if (st != OK)
        spot_set_inside(d->err, &spot, &inside);
    return st;
}

enum status check_notify(const struct decoder *d, const struct spot *root)
{
    const struct job_notify *notify = &d->job->notify;
    struct spot spot = {root, "notify", 0, node_get(root->node, "notify")};
    enum status st = check_one_template(d, &spot, "title", notify->title);
    return st == OK ? check_one_template(d, &spot, "text", notify->text) : st;
}
