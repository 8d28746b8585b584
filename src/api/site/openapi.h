/* The OpenAPI 3.1 document: the routes and a job's definition come from their tables, the other
 * schemas from openapi_parts.json. */
#ifndef PEAL_OPENAPI_H
#define PEAL_OPENAPI_H

#include <jansson.h>

/* The text of openapi_parts.json. */
extern const char openapi_parts[];

/* The schema of a job's definition. NULL: out of memory. */
json_t *openapi_definition(void);

#endif
