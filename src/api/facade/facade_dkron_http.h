/* Converts dkron's executor `http` into the field `http` of a job, and back. */
#ifndef PEAL_FACADE_DKRON_HTTP_H
#define PEAL_FACADE_DKRON_HTTP_H

#include <jansson.h>

/* The field `http` from an executor_config; *ret_timeout is the field `timeout`. NULL: *ret_field
 * is the name of the field that can't be converted (NULL: out of memory), *ret_why the reason. */
json_t *dkron_read_http(const json_t *config, json_t **ret_timeout, const char **ret_field,
                        const char **ret_why);

/* The executor_config of a job that is an HTTP call. NULL: out of memory. */
json_t *dkron_show_http(const json_t *native);

#endif
