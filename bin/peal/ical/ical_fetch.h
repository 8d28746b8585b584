/* An iCalendar file from where it is published: an http://, https:// or webcal:// address. */
#ifndef PEAL_ICAL_FETCH_H
#define PEAL_ICAL_FETCH_H

#include <stdbool.h>

#include "status.h"
#include "strbuf.h"

bool ical_is_address(const char *text);

/* Appends what is there, in half a minute and up to 10 MB; redirects lead to web addresses only.
 * E_IO: *why says what went wrong, without the address, which may be a secret; E_NOMEM. */
MUST_CHECK enum status ical_fetch(const char *address, struct strbuf *ret, struct strbuf *why);

#endif
