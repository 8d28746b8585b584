/* The unit of systemd that runs this program's agent: of the machine, for root, or of one user. */
#ifndef PEAL_UNIT_H
#define PEAL_UNIT_H

#include <stdbool.h>

#include "status.h"
#include "strbuf.h"

struct unit {
    bool is_users;
    const char *program; /* PREFIX/bin/peal */
    const char *data;    /* absolute */
    const char *config;  /* absolute; NULL: none */
};

/* Appends the text. E_INVALID: one of the paths has a character that a unit can't have as it is. */
MUST_CHECK enum status unit_text(const struct unit *unit, struct strbuf *out);

/* Appends where the unit belongs: /etc/systemd/system/peal.service, or below the user's
 * configuration. E_NOT_FOUND: this user has no home. */
MUST_CHECK enum status unit_path(const struct unit *unit, struct strbuf *out);

/* Was the text written by unit_text? */
bool unit_is_ours(const char *text);

/* The unit that a package, or `make install`, has put on this machine; NULL: there is none. */
const char *unit_of_package(void);

#endif
