/* The description of the API (OpenAPI 3.1): the routes come from their table, the shapes of what is
 * sent and answered from openapi_parts.json. */
#ifndef PEAL_OPENAPI_H
#define PEAL_OPENAPI_H

#include <jansson.h>

#include "strbuf.h"

/* The text of openapi_parts.json. */
extern const char openapi_parts[];

/* NULL: out of memory. */
json_t *openapi_describe(const char *version);

/* The same for people: a page without scripts or styles. */
void openapi_print_html(struct strbuf *out);

#endif
