/* The items of a fan-out: a list, a range, numbers, or an output that is a list. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workflow/flow_internal.h"

static const char blanks[] = " \t\r\n";

/* A text, or any other value as JSON writes it. */
static char *text_of(const json_t *value)
{
    return json_is_string(value) ? strdup(json_string_value(value)) : flow_dump(value);
}

/* The item of a list of JSON, or of words. *ret_count is their number, and *ret, unless it is NULL
 * or there is no such item, the item. */
static enum status read_json_list(const struct flow_lookup *lookup, const char *of,
                                  const char *text, int item, int *ret_count, char **ret)
{
    json_error_t error;
    json_t *list = NULL;
    enum status st = flow_parse(text, strlen(text), &list, &error);
    if (st == E_INVALID)
        return flow_fail(lookup->why, lookup->size, "%s begins with [, and is no list of JSON: %s",
                         of, error.text);
    if (st != OK)
        return st;
    size_t count = json_array_size(list);
    *ret_count = count > EACH_ITEMS_MAX ? EACH_ITEMS_MAX + 1 : (int)count;
    if (ret && item < *ret_count && !(*ret = text_of(json_array_get(list, (size_t)item))))
        st = E_NOMEM;
    json_decref(list);
    return st;
}

static enum status read_words(const char *text, int item, int *ret_count, char **ret)
{
    *ret_count = 0;
    for (text += strspn(text, blanks); *text && *ret_count <= EACH_ITEMS_MAX;
         text += strspn(text, blanks)) {
        size_t length = strcspn(text, blanks);
        if (ret && *ret_count == item && !(*ret = strndup(text, length)))
            return E_NOMEM;
        (*ret_count)++;
        text += length;
    }
    return OK;
}

static enum status read_output(struct flow_lookup *lookup, const char *of, int item, int *ret_count,
                               char **ret)
{
    struct strbuf value;
    struct ref ref;
    const char *complaint = ref_read(of, strlen(of), &ref);
    if (complaint)
        return flow_fail(lookup->why, lookup->size, "each: %.80s %s", of, complaint);
    strbuf_init(&value);
    enum status st = flow_get(lookup, &ref, &value);
    if (st == OK)
        st = strbuf_status(&value);
    const char *text = value.text + strspn(value.text, blanks);
    if (st == OK)
        st = *text == '[' ? read_json_list(lookup, of, text, item, ret_count, ret)
                          : read_words(text, item, ret_count, ret);
    strbuf_release(&value);
    return st;
}

static int64_t number(const json_t *each, const char *name)
{
    return json_integer_value(json_object_get(each, name));
}

static enum status print(int64_t value, char **ret)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, value);
    *ret = strdup(text);
    return *ret ? OK : E_NOMEM;
}

/* As many as fit, and one more, so that too many are seen. */
static int range_count(int64_t from, int64_t to, int64_t by)
{
    if (by <= 0 || from > to)
        return 0;
    uint64_t count = ((uint64_t)to - (uint64_t)from) / (uint64_t)by;
    return count >= EACH_ITEMS_MAX ? EACH_ITEMS_MAX + 1 : (int)count + 1;
}

/* The number of items, and one of them, unless `ret` is NULL or it is none of them. */
static enum status read_item(struct flow_lookup *lookup, const json_t *each, int item,
                             int *ret_count, char **ret)
{
    const json_t *items = json_object_get(each, "items");
    const char *of = json_string_value(json_object_get(each, "of"));
    int64_t shards = number(each, "shards"), from = number(each, "from"), by = number(each, "by");
    if (of)
        return read_output(lookup, of, item, ret_count, ret);
    if (items) {
        size_t count = json_array_size(items);
        *ret_count = count > EACH_ITEMS_MAX ? EACH_ITEMS_MAX + 1 : (int)count;
    } else if (shards) {
        *ret_count = shards < 0 ? 0 : shards > EACH_ITEMS_MAX ? EACH_ITEMS_MAX + 1 : (int)shards;
        from = 0;
        by = 1;
    } else {
        *ret_count = range_count(from, number(each, "to"), by);
    }
    if (!ret || item >= *ret_count)
        return OK;
    if (items)
        return flow_fill_text(lookup, json_string_value(json_array_get(items, (size_t)item)), ret);
    return print((int64_t)((uint64_t)from + (uint64_t)item * (uint64_t)by), ret);
}

enum status flow_items(const struct flow *flow, int step, const struct flow_scope *scope, int *ret,
                       char *why, size_t size)
{
    const struct flow_step *asked = &flow->steps[step];
    struct flow_lookup lookup;
    int count = 0;
    enum status st = flow_lookup_init(&lookup, flow, asked->scope, scope, why, size);
    if (st == OK)
        st = asked->each ? read_item(&lookup, asked->each, 0, &count, NULL)
                         : flow_fail(why, size, "step %s has no items", asked->name);
    flow_lookup_release(&lookup);
    if (st == OK && count > EACH_ITEMS_MAX)
        return flow_fail(why, size, "step %s has more than %d items", asked->name, EACH_ITEMS_MAX);
    if (st == OK)
        *ret = count;
    return st;
}

enum status flow_item(const struct flow *flow, int step, const struct flow_scope *scope, int item,
                      char **ret, bool *ret_is_literal, char *why, size_t size)
{
    const struct flow_step *asked = &flow->steps[step];
    const json_t *items = json_object_get(asked->each, "items");
    const char *text = json_string_value(json_array_get(items, (size_t)item));
    struct flow_lookup lookup;
    int count = 0;
    char *found = NULL;
    enum status st = flow_lookup_init(&lookup, flow, asked->scope, scope, why, size);
    if (st == OK)
        st = read_item(&lookup, asked->each, item, &count, &found);
    flow_lookup_release(&lookup);
    if (st == OK && !found)
        st = flow_fail(why, size, "step %s has no item %d", asked->name, item);
    *ret_is_literal = text && !flow_is_template(text);
    if (st == OK)
        *ret = found;
    else
        free(found);
    return st;
}
