/* Imports a listing of dkron's jobs. */
#ifndef PEAL_FACADE_DKRON_IMPORT_H
#define PEAL_FACADE_DKRON_IMPORT_H

#include "foreign/foreign.h"

/* Reads the answer of dkron's GET /v1/jobs; each job is converted as if a client had sent it to the
 * facade. Otherwise as gocron_import. */
MUST_CHECK enum status dkron_import(const char *text, size_t length,
                                    const struct foreign_options *options, struct zone_db *zones,
                                    struct foreign *ret, struct parse_error *reterr);

#endif
