/* The description of the API (OpenAPI 3.1): the routes and a job's definition come from their
 * tables, the other shapes of what is sent and answered from openapi_parts.json. */
#ifndef PEAL_OPENAPI_H
#define PEAL_OPENAPI_H

#include <jansson.h>

#include "strbuf.h"

/* The text of openapi_parts.json. */
extern const char openapi_parts[];

/* The schema of a job's definition. NULL: out of memory. */
json_t *openapi_definition(void);

/* Without the routes that have a flag of `hidden`. NULL: out of memory. */
json_t *openapi_describe(const char *version, unsigned hidden);

/* The same for people: a page without scripts or styles. */
void openapi_print_html(unsigned hidden, struct strbuf *out);

#endif
