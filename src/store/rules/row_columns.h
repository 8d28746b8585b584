/* The columns of a job's row, as columns.h has those of runs and entries: where it is planned up
 * to, and what its definition is. Name and JSON of the definition are apart. */
#ifndef PEAL_ROW_COLUMNS_H
#define PEAL_ROW_COLUMNS_H

#include "columns.h"

/* In etcd the definition has a value of its own; IN_ETCD is that of the cursor. */
enum { IN_DEFINITION = COLUMN_USES };

struct column_set job_row_columns(unsigned with, unsigned without); /* of struct job_row */

#endif
