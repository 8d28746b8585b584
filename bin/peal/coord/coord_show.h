/* Who holds a lock or leads, on stdout. */
#ifndef PEAL_COORD_SHOW_H
#define PEAL_COORD_SHOW_H

#include "cli/output.h"
#include "coord/coord_place.h"

/* All that are held. */
MUST_CHECK enum exit_code coord_show_all(struct coord_place *place, enum coord_kind kind,
                                         enum output output);

/* The id of the one that holds; EXIT_NOT_FOUND: nobody, which is reported. */
MUST_CHECK enum exit_code coord_show_one(struct coord_place *place, enum coord_kind kind,
                                         const char *name, enum output output);

/* The same, and again at each change, until a signal ends the program; "-": nobody. */
MUST_CHECK enum exit_code coord_show_changes(struct coord_place *place, enum coord_kind kind,
                                             const char *name, enum output output);

#endif
