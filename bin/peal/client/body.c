#include "client/body.h"

#include <string.h>

bool take_commas(const struct option_use *use)
{
    return take_list(use);
}

static json_t *words_of(const struct option_list *list)
{
    json_t *words = json_array();
    for (size_t i = 0; i < list->count; i++) {
        for (const char *text = list->items[i]; *text;) {
            size_t length = strcspn(text, ", ");
            if (length && json_array_append_new(words, json_stringn(text, length)) != 0)
                goto failed;
            text += length + (text[length] != '\0');
        }
    }
    return words;
failed:
    json_decref(words);
    return NULL;
}

static json_t *texts_of(const struct option_list *list)
{
    json_t *texts = json_array();
    for (size_t i = 0; i < list->count; i++) {
        if (json_array_append_new(texts, json_string(list->items[i])) == 0)
            continue;
        json_decref(texts);
        return NULL;
    }
    return texts;
}

static json_t *pairs_of(const struct option_list *list)
{
    json_t *pairs = json_object();
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->items[i];
        size_t length = strcspn(text, "=");
        if (json_object_setn_new(pairs, text, length, json_string(text + length + 1)) == 0)
            continue;
        json_decref(pairs);
        return NULL;
    }
    return pairs;
}

static bool is_given(const struct option_row *row, const void *place)
{
    if (row->take == take_flag)
        return *(const bool *)place;
    if (row->take == take_list || row->take == take_pairs || row->take == take_commas)
        return ((const struct option_list *)place)->count;
    return *(const char *const *)place;
}

static json_t *value_of(const struct option_row *row, const void *place)
{
    return row->take == take_flag     ? json_true()
           : row->take == take_list   ? texts_of(place)
           : row->take == take_pairs  ? pairs_of(place)
           : row->take == take_commas ? words_of(place)
                                      : json_string(*(const char *const *)place);
}

enum exit_code body_fill(json_t *body, const struct option_row *rows, const void *request)
{
    const struct option_row *row;
    struct option_walk walk = option_walk(rows);
    while ((row = option_next(&walk))) {
        const void *place = (const char *)request + walk.place;
        if (!row->field || row->take == take_variable || !is_given(row, place))
            continue;
        if (json_object_set_new(body, row->field, value_of(row, place)) != 0) {
            cli_error("--%s: not text in UTF-8", row->name);
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}
