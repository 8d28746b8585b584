/* An id as JSON has it. */
#ifndef PEAL_ID_JSON_H
#define PEAL_ID_JSON_H

#include <jansson.h>

#include "id.h"

/* NULL: out of memory. */
static inline json_t *json_id(const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    return json_string(text);
}

#endif
