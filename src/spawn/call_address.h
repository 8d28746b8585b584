/* Which addresses an HTTP call may reach: public ones, and those of the operator's list. Asked with
 * the address of each connection, after the name was resolved, so that a name can't be one thing
 * when it is checked and another when it is used. */
#ifndef PEAL_CALL_ADDRESS_H
#define PEAL_CALL_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "status.h"

#define CALL_ADDRESS_TEXT 64

/* What the address is, if not a public one: "loopback", "private", "link-local", ... Addresses that
 * carry one of IPv4 (v4-mapped, NAT64, 6to4) are what that is. NULL: public. */
const char *call_address_kind(const struct sockaddr *address);

/* Is it in the list, "10.0.0.0/8,127.0.0.1,fd00::/8"? An entry of IPv4 holds for addresses that
 * carry one, too. */
bool call_address_is_listed(const struct sockaddr *address, const char *list);

/* E_INVALID: an entry of the list is no address, or prefix of one. */
MUST_CHECK enum status call_address_check_list(const char *list, struct parse_error *reterr);

/* The address without its port, as people write it. */
const char *call_address_text(const struct sockaddr *address, char buf[CALL_ADDRESS_TEXT]);

/* From its text; false: it is none. */
bool call_address_read(const char *text, struct sockaddr_storage *ret);

#endif
