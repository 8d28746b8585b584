/* A table of text: columns as wide as their widest cell, wide characters counted as such. On a
 * terminal the last column is cut where the line would break; elsewhere nothing is cut. */
#ifndef PEAL_TABLE_H
#define PEAL_TABLE_H

#include <stdio.h>

#include "status.h"

struct table {
    size_t columns;
    char **cells; /* row after row; the first row is the header */
    size_t count, capacity;
    enum status status;
};

/* `headers` ends with NULL. Out of memory is remembered and told by table_print. */
void table_init(struct table *table, const char *const *headers);
void table_release(struct table *table);

/* The next cell, copied, left to right and row after row. Control characters do not get through. */
void table_cell(struct table *table, const char *text);

/* Prints the header and all rows. A column without any text in its rows is left out, unless it is
 * the first. E_NOMEM: not all was. */
MUST_CHECK enum status table_print(const struct table *table, FILE *out);

#endif
