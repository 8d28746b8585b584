/* A table of text: columns as wide as their widest cell, wide characters counted as such. Where a
 * terminal is too narrow, long cells are cut first, so that one long name does not push all that
 * follows off the screen, and then the line's end; elsewhere nothing is cut. */
#ifndef PEAL_TEXT_TABLE_H
#define PEAL_TEXT_TABLE_H

#include <stdio.h>

#include "status.h"

struct text_table {
    size_t columns;
    char **cells; /* row after row; the first row is the header */
    size_t count, capacity;
    int room; /* columns to keep to; 0: those of the terminal that is printed to */
    enum status status;
};

/* `headers` ends with NULL. Out of memory is remembered and told by text_table_print. */
void text_table_init(struct text_table *table, const char *const *headers);
void text_table_release(struct text_table *table);

/* The next cell, copied, left to right and row after row. Control characters do not get through. */
void text_table_cell(struct text_table *table, const char *text);

/* Prints the header and all rows. A column without any text in its rows is left out, unless it is
 * the first. E_NOMEM: not all was. */
MUST_CHECK enum status text_table_print(const struct text_table *table, FILE *out);

#endif
