#include "state/inputs.h"

#include <stdlib.h>
#include <string.h>

struct known_input {
    struct id id;
    char text[];
};

static const struct table_type inputs_type = {.key_at = offsetof(struct known_input, id),
                                              .key_size = sizeof(struct id)};

void inputs_init(struct inputs *inputs)
{
    table_init(&inputs->by_id, &inputs_type);
    inputs->bytes = 0;
}

void inputs_release(struct inputs *inputs)
{
    table_release_items(&inputs->by_id);
}

enum status inputs_take(struct inputs *inputs, const struct store_doc *doc)
{
    struct id id;
    if (id_parse(doc->name, &id) != OK)
        return OK;
    struct known_input *old = table_find(&inputs->by_id, &id);
    if (old) {
        table_remove(&inputs->by_id, old);
        inputs->bytes -= strlen(old->text);
        free(old);
    }
    if (!doc->json)
        return OK;
    size_t size = strlen(doc->json) + 1;
    struct known_input *input = malloc(sizeof(*input) + size);
    if (!input)
        return E_NOMEM;
    input->id = id;
    memcpy(input->text, doc->json, size);
    enum status st = table_insert(&inputs->by_id, input);
    if (st == OK)
        inputs->bytes += size - 1;
    else
        free(input);
    return st;
}

const char *inputs_find(const struct inputs *inputs, const struct id *id)
{
    const struct known_input *input = id_is_zero(id) ? NULL : table_find(&inputs->by_id, id);
    return input ? input->text : NULL;
}
