/* Rows of database tables, as tools export them: INSERTs of a dump (mysqldump, pg_dump --inserts),
 * CSV with a header, or JSON. Pure. */
#ifndef PEAL_ROWS_H
#define PEAL_ROWS_H

#include "document/node.h"

enum { ROWS_TABLES_MAX = 4 };

/* Is the text SQL or CSV with these columns in its first line? Else it is JSON, or nothing. */
bool rows_are_sql(const char *text, size_t length);
bool rows_are_csv(const char *text, size_t length, const char *const *columns);

/* Reads the rows of these tables (NULL-terminated, ROWS_TABLES_MAX at most); a name may have a
 * prefix there that ends in "_", and "task_host" stands before "host", which is its end. ret[i] is
 * the list of the rows of tables[i], each a map of its columns with their places. CSV, and JSON
 * without names of tables, are rows of the first one. E_INVALID: *reterr says where and why. */
MUST_CHECK enum status rows_read(struct tree *tree, const char *text, size_t length,
                                 const char *const *tables, const struct node **ret,
                                 struct parse_error *reterr);

/* The value of a column, whose name is compared without case and "_": "executor_param" is
 * executorParam, too. NULL: the row has none, or it is NULL. */
const struct node *row_get(const struct node *row, const char *column);

/* Are these two names of one column? */
bool row_is_column(const char *name, const char *column);

/* Its text, or "". */
const char *row_text(const struct node *row, const char *column);

/* For the two readers of texts. `lists` are those of the tables. */
struct row_lists {
    struct tree *tree;
    const char *const *tables;
    struct node *lists[ROWS_TABLES_MAX];
    struct entry **tails[ROWS_TABLES_MAX];
};
MUST_CHECK enum status rows_read_sql(struct row_lists *lists, const char *text, size_t length,
                                     struct parse_error *reterr);
MUST_CHECK enum status rows_read_csv(struct row_lists *lists, const char *text, size_t length,
                                     struct parse_error *reterr);

/* Where in a text a reader is. */
struct row_place {
    const char *at, *end;
    int line, column; /* from 1 */
};
void row_step(struct row_place *place, size_t count);

/* Appends a row of table number `table`, and a value to a row. `text` NULL: the value is NULL. */
MUST_CHECK enum status row_begin(struct row_lists *lists, size_t table, const struct row_place *at,
                                 struct node **ret, struct parse_error *reterr);
MUST_CHECK enum status row_add(struct row_lists *lists, struct node *row, struct entry ***tail,
                               const char *column, const char *text, size_t length, bool is_plain,
                               const struct row_place *at, struct parse_error *reterr);

#endif
