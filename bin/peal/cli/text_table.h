/* A text table: columns as wide as their widest cell, with East Asian wide characters counted as
 * two. On a narrow terminal long cells are cut first, then columns go, then the line is cut;
 * elsewhere nothing is. */
#ifndef PEAL_TEXT_TABLE_H
#define PEAL_TEXT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "status.h"

struct text_table {
    size_t columns;
    char **cells; /* row after row; the first row is the header */
    size_t count, capacity;
    int room; /* width limit; 0: that of the terminal */
    /* By column: the order in which they go if there is no room, from 1 on; 0: it stays, and is cut
     * rather than lost. NULL: all stay, and the end of the line is lost. */
    const unsigned char *goes;
    bool goes_on; /* more rows follow those that are printed next */
    int *widths;  /* of the columns, once rows were printed that others follow; 0: left out */
    enum status status;
};

/* `headers` ends with NULL, in English: they are translated. text_table_print returns E_NOMEM if
 * memory ran out. */
void text_table_init(struct text_table *table, const char *const *headers);
void text_table_release(struct text_table *table);

/* Adds the next cell, left to right and row after row; the text is copied, without control
 * characters. */
void text_table_cell(struct text_table *table, const char *text);

/* Prints the header and all rows. A column without any text in its rows is left out, unless it is
 * the first. E_NOMEM: not all was.
 *
 * With `goes_on` the rows are the first of many: no column is left out for its empty rows, and rows
 * that are added and printed afterwards are put below, in columns that only grow, if at all. */
MUST_CHECK enum status text_table_print(struct text_table *table, FILE *out);

#endif
