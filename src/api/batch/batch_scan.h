/* Splits the body of a batch, {"put":[...],"delete":[...],"dry_run":...,"assume":{...}}, into its
 * items without building a tree: the text around the items is parsed strictly, and the end of an
 * item is found by its quotes and brackets. The decoder checks each item; if all are valid JSON,
 * and BATCH_END was reached, the whole body is. */
#ifndef PEAL_BATCH_SCAN_H
#define PEAL_BATCH_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

enum batch_part {
    BATCH_PUT,     /* an element of "put" */
    BATCH_DELETE,  /* of "delete" */
    BATCH_DRY_RUN, /* the value of "dry_run" */
    BATCH_ASSUME,  /* the value of "assume" */
    BATCH_END,     /* the end of the body */
    BATCH_BAD,     /* not JSON: `mistake`, at `at` */
    BATCH_UNKNOWN, /* an unknown field: the string at [from, at) */
    BATCH_NO_LIST, /* the value of "put" or "delete" is not a list: `list` */
};

enum batch_scan_state {
    BATCH_AT_START,
    BATCH_AT_MEMBER,  /* behind a brace or a comma */
    BATCH_BEHIND,     /* behind the value of a member */
    BATCH_AT_ELEMENT, /* behind the bracket of a list, or a comma in it */
    BATCH_BEHIND_ELEMENT,
    BATCH_AT_END,
};

struct batch_scan {
    const char *text;
    size_t length, at;
    enum batch_scan_state state;
    bool is_first;        /* before the first member or element: the list may end here */
    enum batch_part list; /* BATCH_PUT or BATCH_DELETE: the current list */
    unsigned seen;        /* 1 << part */
    size_t from;          /* where the last part begins; it ends at `at` */
    const char *mistake;
};

/* The text stays the caller's. */
void batch_scan_init(struct batch_scan *scan, const char *text, size_t length);

/* The next part; the text of an item is [from, at). BATCH_END and errors are final. */
enum batch_part batch_scan_next(struct batch_scan *scan);

/* Line and column, from 1, of a place in the text; a column counts characters. */
void batch_scan_place(const struct batch_scan *scan, size_t at, int *ret_line, int *ret_column);

#endif
