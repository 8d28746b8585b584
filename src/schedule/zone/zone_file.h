/* The file of one time zone in a directory of TZif files. */
#ifndef PEAL_ZONE_FILE_H
#define PEAL_ZONE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"
#include "zone/zone.h"

/* Changes when the file is replaced or written anew. */
struct zone_file_id {
    uint64_t device, inode;
    int64_t size, modified_ns;
};

bool zone_file_id_equal(const struct zone_file_id *a, const struct zone_file_id *b);

/* Could this be the name of a zone, so that it is safe to look for such a file? Parts of
 * [A-Za-z0-9+-_] with '/' between them: nothing that leads out of the directory. */
bool zone_name_is_safe(const char *name);

/* Is there a TZif file of this (safe) name? Its content is not looked at. */
bool zone_file_exists(const char *dir, const char *name);

/* E_NOT_FOUND: no such TZif file. E_IO: *reterr says which file and why. */
MUST_CHECK enum status zone_file_identify(const char *dir, const char *name,
                                          struct zone_file_id *ret, struct parse_error *reterr);

/* E_NOT_FOUND: no such TZif file. E_CORRUPT, E_IO: *reterr says which file and why. */
MUST_CHECK enum status zone_file_load(const char *dir, const char *name, struct zone **ret,
                                      struct zone_file_id *ret_id, struct parse_error *reterr);

#endif
