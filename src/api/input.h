/* Reading parameters and fields. Each function answers the call with what is wrong and returns
 * false, or fills its output and returns true. */
#ifndef PEAL_INPUT_H
#define PEAL_INPUT_H

#include "call.h"
#include "zone/zone.h"

/* ---- parameters of the query: outputs stay as they are when the parameter is not given ---- */

bool param_number(struct call *call, const char *name, int64_t min, int64_t max, int64_t *inout);
bool param_bool(struct call *call, const char *name, bool *inout);
bool param_time(struct call *call, const char *name, const struct zone *zone, int64_t *inout_ms);
bool param_duration(struct call *call, const char *name, int64_t *inout_ms);
bool param_id(struct call *call, const char *name, const char *text, struct id *ret);

/* ---- fields of the body, likewise ---- */

bool field_number(struct call *call, const char *name, int64_t min, int64_t max, int64_t *inout);
bool field_bool(struct call *call, const char *name, bool *inout);

bool field_duration(struct call *call, const char *name, int64_t *inout_ms);

/* "role", "define" and "namespaces", see scope_decode; at least a look somewhere. */
bool field_scope(struct call *call, struct scope *inout);

/* This one must be there. */
bool field_time(struct call *call, const char *name, const struct zone *zone, int64_t *ret_ms);

/* ---- the path ---- */

/* 404: the job does not exist, or has another name now. */
void fail_no_job(struct call *call, const char *name);

/* The job that the path names; NULL: the call has failed. */
struct catalog_job *path_job(struct call *call);
bool path_run_id(struct call *call, struct id *ret);

/* ---- cursors: opaque page cursors, of a name or an id ---- */

json_t *cursor_encode(const char *text);

/* Decodes a client's cursor; NULL: the call has failed. The caller frees it. */
char *cursor_decode(struct call *call, const char *cursor);

/* The same for pages whose cursor is an id. */
json_t *cursor_of_id(const struct id *id);
bool param_id_cursor(struct call *call, struct id *inout);

/* Standard base 64, with padding. The caller frees it; NULL: out of memory. */
char *base64_encode(const void *bytes, size_t length);

#endif
