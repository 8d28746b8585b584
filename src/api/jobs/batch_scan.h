/* Cuts the body of a batch, {"put":[...],"delete":[...],"dry_run":...}, into its items without
 * making a tree of it: what is around the items is read strictly, and where an item ends is found
 * by its quotes and brackets. An item itself is JSON only if the decoder says so; if it does of all
 * of them, and BATCH_END was reached, the whole body is JSON. */
#ifndef PEAL_BATCH_SCAN_H
#define PEAL_BATCH_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

enum batch_part {
    BATCH_PUT,     /* an element of "put" */
    BATCH_DELETE,  /* of "delete" */
    BATCH_DRY_RUN, /* the value of "dry_run" */
    BATCH_END,     /* the body is over */
    BATCH_BAD,     /* it is not JSON: `mistake`, at `at` */
    BATCH_UNKNOWN, /* a field that a batch does not have: the string at [from, at) */
    BATCH_NO_LIST, /* the value of "put" or "delete" is none: `list` */
};

enum batch_state {
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
    enum batch_state state;
    bool is_first;        /* of the members, or the elements: the list may end here */
    enum batch_part list; /* BATCH_PUT, BATCH_DELETE: in which */
    unsigned seen;        /* 1 << part */
    size_t from;          /* where the last part begins; it ends at `at` */
    const char *mistake;
};

/* The text stays the caller's. */
void batch_scan_init(struct batch_scan *scan, const char *text, size_t length);

/* The next part; of an item, its text is [from, at). After BATCH_END and what is wrong there is
 * nothing more. */
enum batch_part batch_scan_next(struct batch_scan *scan);

/* Line and column, from 1, of a place in the text; a column counts characters. */
void batch_scan_place(const struct batch_scan *scan, size_t at, int *ret_line, int *ret_column);

#endif
