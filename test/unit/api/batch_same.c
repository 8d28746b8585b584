#include "batch_same.h"

#include <jansson.h>
#include <string.h>

#include "batch/batch_scan.h"

/* The same object, put together from the parts; NULL: one of them is no JSON, or it is refused. */
static json_t *read_by_parts(const char *text, size_t length)
{
    struct batch_scan scan;
    json_t *whole = json_object();
    batch_scan_init(&scan, text, length);
    for (;;) {
        enum batch_part part = batch_scan_next(&scan);
        if (part == BATCH_END)
            break;
        json_t *value = part <= BATCH_DRY_RUN
                            ? json_loadb(text + scan.from, scan.at - scan.from,
                                         JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL)
                            : NULL;
        if (!value) {
            json_decref(whole);
            return NULL;
        }
        const char *list = part == BATCH_PUT ? "put" : "delete";
        if (part == BATCH_DRY_RUN)
            json_object_set_new(whole, "dry_run", value);
        else if (json_object_get(whole, list))
            json_array_append_new(json_object_get(whole, list), value);
        else
            json_object_set_new(whole, list, json_pack("[o]", value));
    }
    return whole;
}

/* As the scanner is to see it: an empty list is as none. NULL: it is no batch. */
static json_t *read_whole(const char *text, size_t length)
{
    json_t *whole = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    bool is_batch = json_is_object(whole);
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(whole, next, name, value)
    {
        bool is_list = strcmp(name, "put") == 0 || strcmp(name, "delete") == 0;
        is_batch = is_batch && (is_list ? json_is_array(value) : strcmp(name, "dry_run") == 0);
        if (is_list && json_is_array(value) && !json_array_size(value))
            json_object_del(whole, name);
    }
    if (is_batch)
        return whole;
    json_decref(whole);
    return NULL;
}

bool batch_is_same(const char *text, size_t length, bool *ret_taken)
{
    json_t *parts = read_by_parts(text, length), *whole = read_whole(text, length);
    bool same = parts && whole ? json_equal(parts, whole) : parts == whole;
    if (memchr(text, 0, length)) /* jansson overlooks some of them; no JSON has one */
        same = !parts;
    *ret_taken = parts != NULL;
    json_decref(parts);
    json_decref(whole);
    return same;
}
