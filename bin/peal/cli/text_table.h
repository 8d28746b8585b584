/* A text table: columns as wide as their widest cell, with East Asian wide characters counted as
 * two. On a narrow terminal long cells are cut first, then columns go, then the line is cut;
 * elsewhere nothing is. */
#ifndef PEAL_TEXT_TABLE_H
#define PEAL_TEXT_TABLE_H

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
    enum status status;
};

/* `headers` ends with NULL. text_table_print returns E_NOMEM if memory ran out. */
void text_table_init(struct text_table *table, const char *const *headers);
void text_table_release(struct text_table *table);

/* Adds the next cell, left to right and row after row; the text is copied, without control
 * characters. */
void text_table_cell(struct text_table *table, const char *text);

/* Prints the header and all rows. A column without any text in its rows is left out, unless it is
 * the first. E_NOMEM: not all was. */
MUST_CHECK enum status text_table_print(const struct text_table *table, FILE *out);

#endif
